"""A lost hot log is filled from a lake in the order of its rows; where that is not known any more, it is told."""

import pytest

from streamhouse.jobs.restore import restore_flow
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import plan_of
from streamhouse.runtime.stores import open_upkeep
from streamhouse.stores.fluss.notes import NAME as NOTES
from streamhouse.tiering.move import tier_all
from tests.gate.levels import deep
from tests.live import opened

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep(
        "each kind of log and tier",
        stays=("test_a_log_comes_back_in_its_order_and_what_depends_on_it_is_computed[by key warm]",),
    ),
]

FLOW = "versions"
COLUMNS = "{k: int, n: int}"
KEYS, ROUNDS = 40, 6
VERSIONS = ROUNDS * 2
ACTIONS = {
    "keep": ("ingest", "", "SELECT k, n FROM rows"),
    "last": ("clean", "output: {primary_key: [k]}\n", "SELECT k, n FROM rows"),
}
LOGS = {
    "one bucket": "buckets: 1, ",
    "by key": "buckets: 3, bucket_key: [k], ",
    "no order": "buckets: 3, ",
}
YAML = """\
flow: versions
freshness: 100ms
sources: {{rows: {{files: {{path: data/*.csv, columns: COLUMNS}}}}}}
steps:
  - {{use: keep, reads: {{rows: rows}}, writes: ods.ro_log}}
  - {{use: last, reads: {{rows: ods.ro_log}}, writes: dwd.ro_last}}
tables:
  ods.ro_log: {{{log}tiers: {{hot: 7d, {lake}: forever}}}}
  dwd.ro_last: {{tiers: {{hot: 7d}}}}
"""


@pytest.fixture
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
        found.stores[Tier.HOT].drop(NOTES)


def plan(open_):
    return plan_of(open_.project, FLOW)


def run(open_, number):
    """Every key has two more versions, the later ones in the file with the higher number."""
    rows = [f"{k},{number * 2 + more}" for more in range(2) for k in range(KEYS)]
    (open_.project.root / "data" / f"{number:02}.csv").write_text("\n".join(["k,n", *rows]) + "\n")
    carry(open_, plan(open_), Meter(plan(open_), lambda _: None, once=True), once=True)
    tier_all(plan(open_), open_.stores)


def lose_hot_tier(open_):
    for name in (*plan(open_).tables, NOTES):
        open_.stores[Tier.HOT].drop(name)


def compact(open_):
    log = plan(open_).tables["ods.ro_log"]
    open_upkeep(open_.project, open_.spark)[log.tiers.present[-1]].compact(log.replica, full=True)


def versions_in_order(open_):
    """Key → its versions in the order of the hot log."""
    hot, log = open_.stores[Tier.HOT], plan(open_).tables["ods.ro_log"]
    found = {}
    for row in hot.read_changes(log, {}, hot.end(log)).upserts.to_pylist():
        found.setdefault(row["k"], []).append(row["n"])
    return found


def of_order(told):
    return [text for text in told if "order of" in text]


ORDERED = [(log, lake) for log in ("one bucket", "by key") for lake in ("warm", "cold")]


@pytest.mark.parametrize("open_", ORDERED, indirect=True, ids=" ".join)
def test_a_log_comes_back_in_its_order_and_what_depends_on_it_is_computed(open_):
    for number in range(ROUNDS):
        run(open_, number)
    lose_hot_tier(open_)
    done = restore_flow(open_, plan(open_), from_sources=True)
    assert of_order(done.lost) == []
    assert set(map(tuple, versions_in_order(open_).values())) == {tuple(range(VERSIONS))}
    assert f"dwd.ro_last: {KEYS} rows were computed again from what the flow reads" in done.did
    last = open_.stores[Tier.HOT].read_state(plan(open_).tables["dwd.ro_last"])
    assert set(last["n"].to_pylist()) == {VERSIONS - 1}


@pytest.mark.parametrize("open_", ORDERED, indirect=True, ids=" ".join)
def test_an_order_that_upkeep_lost_is_told_before_anything_is_written_and_never_guessed(open_):
    for number in range(ROUNDS):
        run(open_, number)
    compact(open_)
    lose_hot_tier(open_)
    hot, tables = open_.stores[Tier.HOT], plan(open_).tables
    tier = tables["ods.ro_log"].tiers.present[-1]
    told = f"ods.ro_log: the order of {KEYS * VERSIONS:,} rows, which upkeep wrote together in the {tier} tier"
    assert of_order(restore_flow(open_, plan(open_), from_sources=True, dry_run=True).lost) == [told]
    assert [hot.columns(name) for name in tables] == [None, None]
    done = restore_flow(open_, plan(open_), from_sources=True)
    assert of_order(done.lost) == [told]
    assert {k: sorted(found) for k, found in versions_in_order(open_).items()} == {
        k: [*range(VERSIONS)] for k in range(KEYS)
    }
    [refused] = [text for text in done.did if text.startswith("dwd.ro_last: nothing was computed again")]
    assert f"which of {VERSIONS} rows with k = " in refused
    assert hot.read_state(tables["dwd.ro_last"]).num_rows == 0


@pytest.mark.parametrize("open_", [("no order", "warm")], indirect=True, ids=" ".join)
def test_of_a_log_without_an_order_none_is_lost(open_):
    for number in range(2):
        run(open_, number)
    compact(open_)
    lose_hot_tier(open_)
    assert of_order(restore_flow(open_, plan(open_)).lost) == []
