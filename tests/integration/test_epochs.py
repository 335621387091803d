"""Exactly once, for every kind of table: a flow that is killed at every named point equals the batch."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from streamhouse.engine.points import KILL_AT, POINTS
from streamhouse.ingest.kinds import open_source
from streamhouse.model.types import Position, Strategy
from streamhouse.runtime.project import Project
from streamhouse.runtime.run import plan_of
from streamhouse.runtime.stores import open_stores
from streamhouse.state.records import EpochRecord
from tests.oracle import assert_same_rows, batch

PROJECT = Path(__file__).parents[1] / "fixtures" / "every_sink"
FLOW = "sinks"
SOAKING = bool(os.environ.get("STREAMHOUSE_SOAK"))  # make soak

pytestmark = [pytest.mark.services, pytest.mark.spark]

# One process after the other: each recovers the epoch that the one before died in, and dies in the next one
# (`#2`) or in the recovery itself. Steps run side by side, so which other tables are written by then differs.
# A segment is drained before the next one begins, so what is killed in `main` comes first.
KILLS = {
    "main": [
        "between_writes:dws.hot_totals#2",
        "between_writes:dws.hot_wide#2",
        "during_recovery",
        "between_writes:ods.hot_log",  # while it recovers, for the second time
        "after_last_write#2",
        "before_commit_log#2",
    ],
    "lake": [
        "between_writes:ods.warm_log",
        "during_recovery",
        "between_writes:dws.warm_wide",
        "between_writes:dwd.cold_keyed",
    ],
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
        f"during_write:{tables[-1]}#2",
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
    if SOAKING:  # each kill takes an epoch; there must be some left at the end
        flow = tmp_path / "project" / "flows" / "sinks.yaml"
        text = flow.read_text()
        assert "max_rows_per_epoch: 400" in text
        flow.write_text(text.replace("max_rows_per_epoch: 400", "max_rows_per_epoch: 200"))
    monkeypatch.setenv("STREAMHOUSE_FLUSS", fluss)
    monkeypatch.setenv("STREAMHOUSE_COLD", spark.conf.get("spark.sql.catalog.cold.warehouse"))
    monkeypatch.setenv("STREAMHOUSE_SPARK_MASTER", "local[2]")
    found = Project.at(tmp_path / "project")
    yield found
    with_stores(found, spark, lambda plan, stores: [stores[t.tiers.target].drop(t.name) for t in plan.tables.values()])


def with_stores(project, spark, act):
    stores = open_stores(project, spark, project.settings.fluss)
    try:
        return act(plan_of(project, FLOW), stores)
    finally:
        for store in stores.values():
            store.close()


def command(project):
    return [Path(sys.executable).with_name("streamhouse"), "run", FLOW, "--once", "--project", str(project.root)]


def run(project, kill_at=None, timeout=600):
    """One process that drains the flow; its exit code and what it printed."""
    environment = dict(os.environ)
    if kill_at:
        environment[KILL_AT] = kill_at
    done = subprocess.run(
        command(project), env=environment, capture_output=True, text=True, timeout=timeout, check=False
    )
    return done.returncode, done.stdout + done.stderr


@dataclass(frozen=True)
class Records:
    """What the three records of a flow say, by the epoch's number, and where its tables end."""

    logged: int  # by Spark's offset log
    committed: int  # by Spark's commit log
    unfinished: int | None
    last: EpochRecord | None
    ends: dict[str, Position]

    @property
    def finished(self) -> int:
        return self.last.epoch if self.last else -1

    def moved(self, table: str) -> bool:
        """Whether the table holds more than the last finished epoch left."""
        return self.ends[table] != (self.last.ends[table] if self.last else {})


def records(project, spark, segment):
    with project.state() as state:
        last, unfinished = state.last_epoch(FLOW, segment), state.unfinished(FLOW, segment)
    [checkpoint] = (project.state_dir / "checkpoints" / FLOW / segment).iterdir()

    def newest(log):
        return max((int(p.name) for p in (checkpoint / log).glob("[0-9]*")), default=-1) + int(checkpoint.name)

    def ends(plan, stores):
        [found] = [s for s in plan.segments if s.name == segment]
        return {name: stores[table.tiers.target].end(table) for name, table in found.tables.items()}

    return Records(newest("offsets"), newest("commits"), unfinished, last, with_stores(project, spark, ends))


def assert_died_at(point, left, logs):
    """The records are those of a process that went exactly so far; `logs`: tables that every epoch writes."""
    name, _, detail = point.partition("#")[0].partition(":")
    assert name in POINTS
    assert left.logged == left.finished + (name != "before_commit_log"), (point, left)
    if name == "after_offset_log":
        assert left.unfinished is None, (point, left)
    elif name == "before_commit_log":
        assert left.unfinished is None, (point, left)
        assert left.committed == left.logged - 1, (point, left)
    else:
        assert left.unfinished == left.logged, (point, left)
    if name == "after_begin":
        assert not any(left.moved(table) for table in left.ends), (point, left)
    if name == "during_write" and point.endswith("#2"):  # not a recovery, so no earlier attempt wrote it
        assert not left.moved(detail), (point, left)
    if name == "between_writes":
        assert left.moved(detail), (point, left)
    if name == "after_last_write":
        assert any(left.moved(table) for table in logs), (point, left)


def expected_tables(spark, project, plan):
    sources = {}
    for source in plan.sources:
        opened = open_source(source, project.root)
        sources[source.name] = opened.read({}, opened.available())
    return batch(spark, plan, sources)


def assert_equals_batch(spark, project):
    def compare(plan, stores):
        expected = expected_tables(spark, project, plan)
        for name, table in plan.tables.items():
            actual = stores[table.tiers.target].read_state(table)
            assert_same_rows(actual, expected[name], key=table.primary_key, name=name)

    with_stores(project, spark, compare)


def kill_at_any_time(project, segment, after_s):
    """Kill a process so long after its first epoch of the segment."""
    with project.state() as state:
        before = state.last_epoch(FLOW, segment)
        process = subprocess.Popen(
            command(project), env=dict(os.environ), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            until = time.monotonic() + 240
            while state.last_epoch(FLOW, segment) == before:
                assert process.poll() is None, "it ended by itself"
                assert time.monotonic() < until
                time.sleep(0.02)
            time.sleep(after_s)
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


@pytest.mark.timeout(5400 if SOAKING else 1200)
def test_killed_at_every_point_it_equals_the_batch(project, spark):
    moments = random.Random(_SEED)
    for segment, points in KILLS.items():
        for point in points + (SOAK[segment] if SOAKING else []):
            code, printed = run(project, point)
            assert code == -signal.SIGKILL, f"{point} was not reached; exit {code}\n{printed}"
            assert_died_at(point, records(project, spark, segment), KINDS[segment])
        for _ in range(AT_ANY_TIME if SOAKING else 0):
            kill_at_any_time(project, segment, moments.uniform(0.0, 1.5))
    code, printed = run(project)
    assert code == 0, printed
    assert_equals_batch(spark, project)

    code, printed = run(project)  # nothing is left to do, and doing it changes nothing
    assert code == 0, printed
    assert "nothing new" in printed
    assert_equals_batch(spark, project)
