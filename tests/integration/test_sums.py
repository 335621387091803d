"""A sum that overflows across epochs stops the flow before the write, as the batch would; a wider type goes on."""

import pytest

from streamhouse.change.change_request import ask
from streamhouse.errors import StreamhouseError
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.outcome import Outcome
from streamhouse.project.compare import Applied, compare
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import plan_of
from tests.gate.levels import deep
from tests.live import opened, served
from tests.spark_cache import has_rows

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep(
        "each type on each route; one of each stays",
        stays=("test_a_sum_that_overflows_stops_the_flow_until_it_is_wider[driver-n]",),
    ),
]

ROWS = "{k: string, n: bigint, d: 'decimal(38,2)'}"
HUGE, WIDE = 5 * 10**18, 5 * 10**35
TABLES = ("dws.sm_hot", "dws.sm_warm")
OTHER = "{use: other, reads: {rows: ods.sm_rows}, writes: dws.sm_warm}"


def action(root, name, inputs, sql, step="aggregate"):
    (root / "actions" / f"{name}.sql").write_text(
        f"/* ---\naction: {name}\nstep: {step}\ninputs: {inputs}\n--- */\n{sql}\n"
    )


def total(root, n="n", d="d"):
    sql = f"SELECT k, SUM({n}) AS n, SUM({d}) AS d, COUNT(*) AS c FROM rows GROUP BY k"
    action(root, "total", f"{{rows: {ROWS}}}", sql)


def add(root, number, *rows):
    lines = [f"{k},{n},{d}" for k, n, d in rows]
    new = root / "data" / ".new"
    new.write_text("\n".join(["k,n,d", *lines]) + "\n")
    new.replace(root / "data" / f"{number:02}.csv")


@pytest.fixture(params=[1, 300_000], ids=["executors", "driver"])
def flow(request, tmp_path, fluss, spark):
    for folder in ("actions", "flows", "data"):
        (tmp_path / folder).mkdir()
    action(tmp_path, "keep", "{rows: {}}", "SELECT * FROM rows", "ingest")
    total(tmp_path)
    (tmp_path / "flows" / "sums.yaml").write_text(f"""\
flow: sums
freshness: 100ms
local_epoch_rows: {request.param}
sources: {{rows: {{files: {{path: data/*.csv, columns: {ROWS}}}}}}}
steps:
  - {{use: keep, reads: {{rows: rows}}, writes: ods.sm_rows}}
  - {{use: total, reads: {{rows: ods.sm_rows}}, writes: dws.sm_hot}}
  - {{use: total, reads: {{rows: ods.sm_rows}}, writes: dws.sm_warm}}
tables: {{dws.sm_warm: {{tiers: {{warm: forever}}}}}}
""")
    (tmp_path / "streamhouse.yaml").write_text(f"fluss: {fluss}\n")
    with opened(Project(tmp_path, Settings(fluss=fluss)), fluss, spark) as open_:
        yield open_


def drain(open_):
    plan = plan_of(open_.project, "sums")
    carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True)


def held(open_, name):
    return {row["k"]: (row["n"], row["d"], row["c"]) for row in served(open_, name, flow="sums").to_pylist()}


def widened(flow, choose=TABLES):
    """Apply what the files say now: the tables are built anew."""
    compared = compare(plan_of(flow.project, "sums"), Applied.of(flow.state), {})
    ask(flow.state, compared, "test", dict.fromkeys(choose, Outcome.REBUILD))
    drain(flow)


def refused(flow, *words):
    with pytest.raises(StreamhouseError) as stopped:
        drain(flow)
    assert not has_rows(flow.spark), "Spark keeps rows of an epoch that was refused"
    assert stopped.value.code == "SH405"
    for word in ("overflows", "k = 'a'", *words):
        assert word in str(stopped.value)


@pytest.mark.parametrize("column", ["n", "d"])
def test_a_sum_that_overflows_stops_the_flow_until_it_is_wider(flow, column):
    n, d = (HUGE, 1) if column == "n" else (1, WIDE)
    root = flow.project.root
    add(root, 1, ("a", n, d), ("b", 1, 1), ("c", 1, 1))
    drain(flow)
    add(root, 2, ("a", n, d), ("b", 2, 2), ("c", 2, 2))
    before = {name: held(flow, name) for name in TABLES}
    assert before["dws.sm_hot"]["a"] == before["dws.sm_warm"]["a"] == (n, d, 1)
    for _ in range(2):  # a restart says it again
        refused(flow)
        assert {name: held(flow, name) for name in TABLES} == before
    total(root, *(("CAST(n AS DECIMAL(28,0))", "d") if column == "n" else ("n", "CAST(d AS DOUBLE)")))
    widened(flow)
    for name in TABLES:
        sums = held(flow, name)
        assert tuple(map(float, sums["a"])) == (float(2 * n), float(2 * d), 2.0)
        assert sums["b"][2] == sums["c"][2] == 2
    add(root, 3, ("a", 0, 0), ("b", 3, 3))
    drain(flow)
    for name in TABLES:
        sums = held(flow, name)
        assert tuple(map(float, sums["a"])) == (float(2 * n), float(2 * d), 3.0)
        assert tuple(map(float, sums["b"])) == (6.0, 6.0, 3.0)


def test_what_a_refused_epoch_wrote_to_other_tables_is_there_once(flow):
    """Of two tables that are built anew one was written by the epoch that the other refused."""
    root = flow.project.root
    yaml = root / "flows" / "sums.yaml"
    text = yaml.read_text().replace("{use: total, reads: {rows: ods.sm_rows}, writes: dws.sm_warm}", OTHER)
    yaml.write_text(text.replace("tables: {dws.sm_warm: {tiers: {warm: forever}}}\n", ""))
    counts = "SELECT k, SUM(CAST(n AS DECIMAL({wide},0))) AS n, SUM(d) AS d, COUNT(*) AS c FROM rows GROUP BY k"
    action(root, "other", f"{{rows: {ROWS}}}", counts.format(wide=20))
    add(root, 1, ("a", HUGE, 1), ("b", 1, 1))
    drain(flow)
    add(root, 2, ("a", HUGE, 1), ("b", 2, 2))
    refused(flow, "dws.sm_hot.n")
    assert held(flow, "dws.sm_hot")["b"] == (1, 1, 1)
    assert held(flow, "dws.sm_warm")["b"] == (3, 3, 2)
    total(root, "CAST(n AS DECIMAL(20,0))")
    action(root, "other", f"{{rows: {ROWS}}}", counts.format(wide=24))
    widened(flow)
    add(root, 3, ("a", HUGE, 1), ("b", 3, 3))
    drain(flow)
    for name in TABLES:
        assert held(flow, name) == {"a": (3 * HUGE, 3, 3), "b": (6, 6, 3)}
    # Nobody goes back to a version that has more than is known of it.
    assert not any(one.positions for one in flow.state.tables.retired() if one.table.name in TABLES)
