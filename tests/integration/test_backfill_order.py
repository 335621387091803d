"""History that is read from a lake's copy is read in its order: an older version of a key never wins."""

from types import SimpleNamespace

import pytest

from streamhouse.change.building import Building, last_epochs
from streamhouse.engine.row_order import ROW
from streamhouse.errors import RestateError
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.types import Tier
from streamhouse.model.version import at_versions, table_name
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import plan_of
from streamhouse.runtime.restating import Restating
from streamhouse.runtime.stores import open_upkeep
from streamhouse.tiering.move import tier_all
from streamhouse.tiering.union import union_frame
from tests.gate.levels import deep
from tests.live import opened

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep(
        "each kind of log and tier",
        stays=("test_versions_of_a_key_are_applied_in_the_order_they_came[one bucket warm]",),
    ),
]

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
NO_ORDER = "several buckets"
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


BY_LAKE = [(log, lake) for log in LOGS for lake in ("warm", "cold")]


@pytest.fixture
def open_(request, tmp_path, fluss, spark):
    log, lake = request.param
    for folder in ("actions", "flows", "data"):
        (tmp_path / folder).mkdir()
    for name, (step, output, sql) in ACTIONS.items():
        header = f"action: {name}\nstep: {step}\ninputs: {{rows: {COLUMNS}}}\n{output}"
        (tmp_path / "actions" / f"{name}.sql").write_text(f"/* ---\n{header}--- */\n{sql}\n")
    text = YAML.format(log={**LOGS, NO_ORDER: "buckets: 3, "}[log], lake=lake).replace("COLUMNS", COLUMNS)
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


def restated(open_, *tables, dry_run=True):
    """What a backfill of some tables, or of the last one alone, writes to that one: rows, and keys that go."""
    plan = plan_of(open_.project, FLOW)
    restating, found = Restating(open_, plan, last_epochs(open_.state, plan), dry_run=dry_run), None
    for segment, step in steps_of(plan, *tables or ("dwd.vs_last",)):
        found = restating.step(segment, step)
    return found.upserts, found.deletes


def steps_of(plan, *tables):
    return [(g, s) for g in plan.segments for s in g.steps if table_name(s.writes.name) in tables]


def built_again(open_, *, copy):
    """Fill a second version of both tables, the log with rows of the first or with what the source has."""
    old = plan_of(open_.project, FLOW)
    plan = at_versions(old, dict.fromkeys(old.tables, 2))
    for table in plan.tables.values():
        open_.stores[Tier.HOT].drop(table.name)
        open_.stores[Tier.HOT].create(table)
    last = last_epochs(open_.state, old)
    restating = Restating(open_, plan, last)
    [log, (segment, step)] = steps_of(plan, "ods.vs_log", "dwd.vs_last")
    if copy:
        served = old.tables["ods.vs_log"]
        found = restating.copy(*log, log[1].writes, served, last["main"].ends[served.name])
    else:
        found = restating.fill(*log)
    tables = {table_name(name): table for name, table in plan.tables.items()}
    return found, lambda: restating.fill(segment, step), tables


def rows_of_keys(rows):
    found = {}
    for row in rows.to_pylist():
        found.setdefault(row["k"], []).append(row["n"])
    return found


def versions_in_order(open_):
    """Key → its versions in the order that the copy tells."""
    table = plan_of(open_.project, FLOW).tables["ods.vs_log"]
    rows = union_frame(open_.spark, table, open_.stores, order=ROW)
    found = {}
    for row in (rows.orderBy(ROW) if ROW in rows.columns else rows).collect():
        found.setdefault(row["k"], []).append(row["n"])
    return found


@pytest.mark.parametrize("open_", BY_LAKE, indirect=True, ids=" ".join)
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
    with pytest.raises(RestateError, match=rf"which of {ROUNDS * 2} rows with k = \d+ is the newest is unknown"):
        restated(open_)
    run(open_, ROUNDS)  # what came later is known to be later
    assert restated(open_) == (0, 0)


@pytest.mark.parametrize("open_", [(NO_ORDER, "warm")], indirect=True, ids=" ".join)
def test_an_order_that_a_log_of_several_buckets_never_had_is_not_guessed(open_):
    for number in range(ROUNDS):
        run(open_, number)
    with pytest.raises(RestateError, match=rf"which of {ROUNDS * 2} rows with k = \d+ is the newest is unknown"):
        restated(open_)
    for dry_run in (True, False):  # the step that writes the log knows its order
        assert restated(open_, "ods.vs_log", "dwd.vs_last", dry_run=dry_run) == (0, 0)
    _, fill, tables = built_again(open_, copy=False)
    fill()
    last = open_.stores[Tier.HOT].read_state(tables["dwd.vs_last"])
    assert rows_of_keys(last) == {k: [ROUNDS * 2 - 1] for k in range(KEYS)}


@pytest.mark.parametrize("open_", BY_LAKE, indirect=True, ids=" ".join)
def test_another_version_of_a_log_has_its_order_or_tells_that_it_is_lost(open_):
    for number in range(ROUNDS):
        run(open_, number)
    found, fill, tables = built_again(open_, copy=True)
    assert (found.upserts, found.unordered) == (KEYS * ROUNDS * 2, 0)
    hot = open_.stores[Tier.HOT]
    assert rows_of_keys(hot.read_state(tables["ods.vs_log"])) == {k: [*range(ROUNDS * 2)] for k in range(KEYS)}
    fill()
    assert rows_of_keys(hot.read_state(tables["dwd.vs_last"])) == {k: [ROUNDS * 2 - 1] for k in range(KEYS)}
    log = plan_of(open_.project, FLOW).tables["ods.vs_log"]
    open_upkeep(open_.project, open_.spark)[log.tiers.present[-1]].compact(log.replica, full=True)
    found, fill, tables = built_again(open_, copy=True)
    assert (found.upserts, found.unordered) == (KEYS * ROUNDS * 2, KEYS * ROUNDS * 2)
    with pytest.raises(RestateError, match=rf"which of {ROUNDS * 2} rows with k = \d+ is the newest is unknown"):
        fill()
    assert hot.read_state(tables["dwd.vs_last"]).num_rows == 0
    old, last = plan_of(open_.project, FLOW), last_epochs(open_.state, plan_of(open_.project, FLOW))
    building = Building(open_, SimpleNamespace(flow=FLOW, copies={"ods.vs_log"}, forgetting=None))
    with pytest.raises(RestateError, match="is the newest is unknown"):
        building._fill(at_versions(old, dict.fromkeys(old.tables, 2)), last, last["main"].ends)
    [lost] = [event.text for event in open_.state.events(FLOW) if event.kind == "loss"]
    assert lost == f"ods.vs_log: the order of {KEYS * ROUNDS * 2} rows, which upkeep wrote together in a lake"
