"""Exactly once, for every kind of table: a flow that is killed at every named point equals the batch."""

import os
import random
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from streamhouse.model.types import Strategy
from streamhouse.project.project import Project
from streamhouse.runtime.open import plan_of
from tests.flows import assert_holds, batch_of, command, drop_tables
from tests.kills import assert_died_at, records, run
from tests.patience import SOAKING, pause, until

PROJECT = Path(__file__).parents[1] / "fixtures" / "every_sink"
FLOW = "sinks"

pytestmark = [pytest.mark.services, pytest.mark.spark]

# One process after the other: each recovers the epoch that the one before died in, and dies in the next one
# (`#2`) or in the recovery itself. Steps run side by side, so which other tables are written by then differs.
# A segment is drained before the next one begins, so what is killed in `main` comes first.
KILLS = {
    "main": [
        "between_writes:dws.hot_totals#2",
        "between_writes:ods.hot_log",  # while it recovers
    ],
    "lake": ["between_writes:dwd.cold_keyed"],
}
# One table of each kind, by tier: log, keyed, merging; shared by several steps. A kind that joins the flow must
# join here.
KINDS = {
    "main": ["ods.hot_log", "dwd.hot_keyed", "dws.hot_totals", "dws.hot_wide"],
    "lake": ["ods.warm_log", "ods.cold_log", "dwd.warm_keyed", "dwd.cold_keyed", "dws.warm_totals", "dws.warm_wide"],
}
SOAK = {
    segment: [
        "after_offset_log#2",
        "after_begin#2",
        f"during_write:{tables[-2]}#2",  # has one writer: the second time is in another epoch
        *(f"between_writes:{table}#2" for table in tables),
        "after_last_write#2",
        "during_recovery",
        f"between_writes:{tables[0]}",  # while it recovers, and again
        "during_recovery",
        "before_commit_log#2",
    ]
    for segment, tables in KINDS.items()
}
AT_ANY_TIME = 2  # kills in each segment that ask for no point, so they hit stores in the middle of a write too
_SEED = 4


@pytest.fixture
def project(tmp_path, fluss, spark, monkeypatch):
    """A project of its own, whose tables nobody else has, in the Fluss and Iceberg catalog all tests share."""
    shutil.copytree(PROJECT, tmp_path / "project")
    flow = tmp_path / "project" / "flows" / "sinks.yaml"
    text = flow.read_text()
    # Each kill takes an epoch; there must be some left at the end.
    was, now = ("max_rows_per_epoch: 400", "max_rows_per_epoch: 200") if SOAKING else ("limit: 6000", "limit: 1200")
    assert was in text
    flow.write_text(text.replace(was, now))
    monkeypatch.setenv("STREAMHOUSE_FLUSS", fluss)
    monkeypatch.setenv("STREAMHOUSE_COLD", spark.conf.get("spark.sql.catalog.cold.warehouse"))
    monkeypatch.setenv("STREAMHOUSE_SPARK_MASTER", "local[2]")
    found = Project.at(tmp_path / "project")
    yield found
    drop_tables(found, FLOW, spark)


def kill_at_any_time(project, segment, after_s):
    """Kill a process so long after its first epoch of the segment."""
    with project.state() as state:
        before = state.last_epoch(FLOW, segment)
        process = subprocess.Popen(
            command(project, FLOW), env=dict(os.environ), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:

            def has_begun():
                assert process.poll() is None, "it ended by itself"
                return state.last_epoch(FLOW, segment) != before

            until(has_begun)
            pause(after_s)
            assert process.poll() is None, "it ended by itself"
        finally:
            process.kill()
            process.wait()


def test_the_flow_has_every_strategy_and_kind_of_table(project):
    plan = plan_of(project, FLOW)
    assert {step.strategy for step in plan.steps} == set(Strategy)
    assert [segment.name for segment in plan.segments] == list(KILLS)

    shared = {step.writes.name for step in plan.steps if step.part}  # by steps that write columns of one row each

    def kind(table):
        return table.tiers.target, bool(table.primary_key), bool(table.merge), table.name in shared

    named = [kind(plan.tables[name]) for names in KINDS.values() for name in names]
    assert set(named) == {kind(table) for table in plan.tables.values()}
    assert len(set(named)) == len(named)


@pytest.mark.timeout(5400 if SOAKING else 1800)
@pytest.mark.parametrize("segments", [[one] for one in KILLS] if SOAKING else [list(KILLS)], ids="-".join)
def test_killed_at_every_point_it_equals_the_batch(project, spark, segments):
    moments = random.Random(_SEED)
    for segment in segments:
        for point in KILLS[segment] + (SOAK[segment] if SOAKING else []):
            code, printed = run(project, FLOW, point)
            assert code == -signal.SIGKILL, f"{point} was not reached; exit {code}\n{printed}"
            assert_died_at(point, records(project, FLOW, spark, segment), KINDS[segment])
        for _ in range(AT_ANY_TIME if SOAKING else 0):
            kill_at_any_time(project, segment, moments.uniform(0.0, 1.5))
    code, printed = run(project, FLOW)
    assert code == 0, printed
    expected = batch_of(project, FLOW, spark)
    assert_holds(project, FLOW, spark, expected)

    # Nothing is left to do, and doing it changes nothing. The process above did so to `main`, which was drained before
    # the death in `lake`; test_demo has it of whole flows.
    if SOAKING:
        code, printed = run(project, FLOW)
        assert code == 0, printed
        assert "nothing new" in printed
        assert_holds(project, FLOW, spark, expected)
