"""History that is read from a lake's copy is read in its order: an older version of a key never wins."""

import pytest

from streamhouse.engine.row_order import ROW
from streamhouse.errors import RestateError
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import plan_of
from streamhouse.runtime.restating import Restating
from streamhouse.runtime.stores import open_upkeep
from streamhouse.tiering.move import tier_all
from streamhouse.tiering.union import union_frame
from tests.live import opened

pytestmark = [pytest.mark.services, pytest.mark.spark]

FLOW = "versions"
COLUMNS = "{k: int, part: int, n: int}"
KEYS, ROUNDS = 40, 8
ACTIONS = {
    "keep": ("ingest", "", "SELECT k, part, n FROM rows"),
    "last": ("clean", "output: {primary_key: [k]}\n", "SELECT k, n FROM rows"),
}
LOGS = {
    "one bucket": "buckets: 1, ",
    "by key": "buckets: 3, bucket_key: [k], ",
}
YAML = """\
flow: versions
freshness: 100ms
sources: {{rows: {{files: {{path: data/*.csv, columns: COLUMNS}}}}}}
steps:
  - {{use: keep, reads: {{rows: rows}}, writes: ods.vs_log}}
  - {{use: last, reads: {{rows: ods.vs_log}}, writes: dwd.vs_last}}
tables:
  ods.vs_log: {{{log}tiers: {{hot: 7d, {lake}: forever}}}}
"""


@pytest.fixture(params=[(log, lake) for log in LOGS for lake in ("warm", "cold")], ids=" ".join)
def open_(request, tmp_path, fluss, spark):
    log, lake = request.param
    for folder in ("actions", "flows", "data"):
        (tmp_path / folder).mkdir()
    for name, (step, output, sql) in ACTIONS.items():
        header = f"action: {name}\nstep: {step}\ninputs: {{rows: {COLUMNS}}}\n{output}"
        (tmp_path / "actions" / f"{name}.sql").write_text(f"/* ---\n{header}--- */\n{sql}\n")
    text = YAML.format(log=LOGS[log], lake=lake).replace("COLUMNS", COLUMNS)
    (tmp_path / "flows" / f"{FLOW}.yaml").write_text(text)
    with opened(Project(tmp_path, Settings(fluss=fluss)), fluss, spark) as found:
        yield found


def run(open_, number):
    """Every key has two more versions, the later ones in the file with the higher number."""
    rows = [f"{k},{k % 3},{number * 2 + more}" for more in range(2) for k in range(KEYS)]
    (open_.project.root / "data" / f"{number:02}.csv").write_text("\n".join(["k,part,n", *rows]) + "\n")
    plan = plan_of(open_.project, FLOW)
    carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True)
    tier_all(plan, open_.stores)


def restated(open_):
    plan = plan_of(open_.project, FLOW)
    last = {segment.name: open_.state.last_epoch(FLOW, segment.name) for segment in plan.segments}
    restating = Restating(open_, plan, last, dry_run=True)
    [(segment, step)] = [(g, s) for g in plan.segments for s in g.steps if s.writes.name == "dwd.vs_last"]
    found = restating.step(segment, step)
    return found.upserts, found.deletes


def versions_in_order(open_):
    """Key → its versions in the order that the copy tells."""
    table = plan_of(open_.project, FLOW).tables["ods.vs_log"]
    rows = union_frame(open_.spark, table, open_.stores, order=ROW)
    found = {}
    for row in (rows.orderBy(ROW) if ROW in rows.columns else rows).collect():
        found.setdefault(row["k"], []).append(row["n"])
    return found


@pytest.mark.timeout(900)
def test_versions_of_a_key_are_applied_in_the_order_they_came(open_):
    for number in range(ROUNDS):
        run(open_, number)
    plan = plan_of(open_.project, FLOW)
    log = plan.tables["ods.vs_log"]
    served = open_.stores[Tier.HOT].read_state(plan.tables["dwd.vs_last"])
    assert set(served["n"].to_pylist()) == {ROUNDS * 2 - 1}
    assert restated(open_) == (0, 0)
    assert set(map(tuple, versions_in_order(open_).values())) == {tuple(range(ROUNDS * 2))}
    open_upkeep(open_.project, open_.spark)[log.tiers.present[-1]].compact(log.replica)
    with pytest.raises(RestateError, match=rf"which of {ROUNDS * 2} rows with k = \d+ is the newest cannot be told"):
        restated(open_)
    run(open_, ROUNDS)  # what came later is known to be later
    assert restated(open_) == (0, 0)
