"""A wider type upstream that a person grants: it is carried out, or every place says that it failed and what to do."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamhouse.change.building import Building
from streamhouse.errors import BlockedError, ChangeFailedError, WriteRefusedError
from streamhouse.jobs.run import Meter, carry
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import plan_of
from streamhouse.state.upstream import EventStatus
from streamhouse.state.waits import WaitsFor, waits_of
from tests.gate.levels import deep
from tests.live import opened, served

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep("other ends of a change", stays=("test_what_is_granted_and_fails_is_tried_again",)),
]

FLOW = "wide"
YAML = f"""flow: {FLOW}
sources: {{rows: {{files: {{path: data/*.parquet}}}}}}
schema_change: freeze
tables:
  ods.gf_rows: {{tiers: {{warm: 30d}}}}
  dws.gf_sums: {{tiers: {{cold: forever}}}}
steps:
  - {{use: take, reads: {{rows: rows}}, writes: ods.gf_rows}}
  - {{use: sums, reads: {{rows: ods.gf_rows}}, writes: dws.gf_sums}}
"""
ACTIONS = {
    "take": ("ingest", "{rows: {}}", "{primary_key: [id], extra_columns: pass}", "SELECT * FROM rows"),
    "sums": ("aggregate", "{rows: {id: bigint, v: bigint}}", "{}", "SELECT id, MAX(v) AS v FROM rows GROUP BY id"),
}


def write_action(root, name, port="bigint"):
    step, inputs, output, sql = ACTIONS[name]
    header = f"action: {name}\nstep: {step}\ninputs: {inputs.replace('v: bigint', f'v: {port}')}\noutput: {output}"
    (root / "actions" / f"{name}.sql").write_text(f"/* ---\n{header}\n--- */\n{sql}\n")


@pytest.fixture
def wide(fluss, spark, tmp_path, request):
    for folder in ("actions", "flows", "data"):
        (tmp_path / folder).mkdir()
    write_action(tmp_path, "take")
    write_action(tmp_path, "sums", getattr(request, "param", "bigint"))
    (tmp_path / "flows" / f"{FLOW}.yaml").write_text(YAML)
    rows(tmp_path, 1, pa.int32(), (1, 2))
    with opened(Project(tmp_path, Settings(fluss=fluss, auto_apply="all")), fluss, spark) as open_:
        run(open_)
        rows(tmp_path, 2, pa.int64(), (3, 4_000_000_000))
        with pytest.raises(BlockedError, match="waits for a person"):
            run(open_)
        (question,) = open_.state.approvals.list(FLOW)
        open_.state.approvals.decide(question.id, grant=True, by="ada")
        yield open_, question


def rows(root, number, kind, values):
    table = pa.table({"id": pa.array(values, pa.int64()), "v": pa.array(values, kind)})
    pq.write_table(table, root / "data" / f"{number}.parquet")


def run(open_):
    plan = plan_of(open_.project, FLOW) if open_.state.plan(FLOW) is None else open_.state.plan(FLOW)[1]
    return carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True, follow=True)


def held(open_, name):
    return sorted(tuple(row.values()) for row in served(open_, name, flow=FLOW).select(["id", "v"]).to_pylist())


ALL = [(1, 1), (2, 2), (3, 3), (4_000_000_000, 4_000_000_000)]


def test_what_is_granted_is_carried_out(wide):
    open_, _ = wide
    run(open_)
    assert waits_of(open_.state, FLOW) == ()
    assert held(open_, "ods.gf_rows") == held(open_, "dws.gf_sums") == ALL
    assert open_.state.versions() == {"ods.gf_rows": 2, "dws.gf_sums": 2}


def failing(monkeypatch):
    def refuse(_):
        raise WriteRefusedError("the warm tier cannot widen v")

    monkeypatch.setattr(Building, "fill", refuse)


def test_what_is_granted_and_fails_is_tried_again(wide, monkeypatch):
    open_, question = wide
    with monkeypatch.context() as patched:
        failing(patched)
        with pytest.raises(ChangeFailedError) as error:
            run(open_)
    assert "could not be carried out" in str(error.value)
    assert "the warm tier cannot widen v" in str(error.value)
    assert f"streamhouse refuse {question.id}" in str(error.value)
    [wait] = waits_of(open_.state, FLOW)
    assert (wait.whom, wait.question) == (WaitsFor.REPAIR, question.id)
    assert held(open_, "ods.gf_rows") == [(1, 1), (2, 2)], "no row went on with another type"
    run(open_)
    assert waits_of(open_.state, FLOW) == ()
    assert held(open_, "ods.gf_rows") == held(open_, "dws.gf_sums") == ALL


def test_what_is_granted_and_fails_is_given_up(wide, monkeypatch):
    open_, question = wide
    with monkeypatch.context() as patched:
        failing(patched)
        with pytest.raises(ChangeFailedError):
            run(open_)
    open_.state.approvals.decide(question.id, grant=False, by="bob")
    run(open_)
    assert waits_of(open_.state, FLOW) == ()
    statuses = {record.status for record in open_.state.upstream.events(FLOW)}
    assert statuses == {EventStatus.REFUSED}
    assert held(open_, "ods.gf_rows")[:3] == ALL[:3]


@pytest.mark.parametrize("wide", ["int"], indirect=True)
def test_what_is_granted_and_does_not_compile_waits_for_another_action(wide):
    open_, _ = wide
    with pytest.raises(ChangeFailedError, match=r"SH203 ods\.gf_rows\.v is bigint, but port 'rows' of sums takes int"):
        run(open_)
    [wait] = waits_of(open_.state, FLOW)
    assert wait.whom is WaitsFor.REPAIR
    write_action(open_.project.root, "sums")
    with pytest.raises(
        BlockedError, match="apply a plan that would rebuild"
    ):  # an edit that rebuilds needs its own word
        run(open_)
    [question] = open_.state.approvals.list(FLOW)
    open_.state.approvals.decide(question.id, grant=True, by="ada")
    run(open_)
    assert waits_of(open_.state, FLOW) == ()
    assert held(open_, "ods.gf_rows") == held(open_, "dws.gf_sums") == ALL
