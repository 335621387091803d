"""Exactly once, for every kind of table: a flow that is killed at every named point equals the batch."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from streamhouse.engine.points import KILL_AT
from streamhouse.ingest.kinds import open_source
from streamhouse.model.types import Strategy
from streamhouse.runtime.project import Project
from streamhouse.runtime.run import plan_of
from streamhouse.runtime.stores import open_stores
from tests.oracle import assert_same_rows, batch

PROJECT = Path(__file__).parents[1] / "fixtures" / "every_sink"
FLOW = "sinks"

pytestmark = [pytest.mark.services, pytest.mark.spark]

# One process after the other: each recovers the epoch that the one before died in, and dies in the next one.
# Steps run side by side, so which other tables are written by then differs from run to run.
KILLS = [
    "during_write:ods.hot_log#2",
    "between_writes:dws.hot_totals#2",
    "between_writes:dwd.cold_keyed#2",
    "after_last_write#2",
    "during_recovery",
    "before_commit_log#2",
]
SOAK = [
    "after_offset_log#2",
    "after_begin#2",
    "between_writes:ods.hot_log#2",
    "between_writes:ods.warm_log#2",
    "between_writes:ods.cold_log#2",
    "between_writes:dwd.hot_keyed#2",
    "between_writes:dwd.warm_keyed#2",
    "between_writes:dws.warm_totals#2",
    "between_writes:dws.average_line#2",
]
if os.environ.get("STREAMHOUSE_SOAK"):  # make soak
    KILLS += SOAK


@pytest.fixture
def project(tmp_path, fluss, spark, monkeypatch):
    """A project of its own, whose tables nobody else has, in the Fluss and Iceberg catalog all tests share."""
    shutil.copytree(PROJECT, tmp_path / "project")
    monkeypatch.setenv("STREAMHOUSE_FLUSS", fluss)
    monkeypatch.setenv("STREAMHOUSE_COLD", spark.conf.get("spark.sql.catalog.cold.warehouse"))
    monkeypatch.setenv("STREAMHOUSE_SPARK_MASTER", "local[2]")
    found = Project.at(tmp_path / "project")
    yield found
    stores = open_stores(found, spark, fluss)
    for table in plan_of(found, FLOW).tables.values():
        stores[table.tiers.target].drop(table.name)
    for store in stores.values():
        store.close()


def run(project, kill_at=None, timeout=240):
    """One process that drains the flow; its exit code and what it printed."""
    environment = dict(os.environ)
    if kill_at:
        environment[KILL_AT] = kill_at
    done = subprocess.run(
        [Path(sys.executable).with_name("streamhouse"), "run", FLOW, "--once", "--project", str(project.root)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def expected_tables(spark, project, plan):
    sources = {}
    for source in plan.sources:
        opened = open_source(source, project.root)
        sources[source.name] = opened.read({}, opened.available())
    return batch(spark, plan, sources)


def assert_equals_batch(spark, project):
    plan = plan_of(project, FLOW)
    expected = expected_tables(spark, project, plan)
    stores = open_stores(project, spark, project.settings.fluss)
    try:
        for name, table in plan.tables.items():
            actual = stores[table.tiers.target].read_state(table)
            assert_same_rows(actual, expected[name], key=table.primary_key, name=name)
    finally:
        for store in stores.values():
            store.close()


def test_the_flow_has_every_strategy(project):
    assert {step.strategy for step in plan_of(project, FLOW).steps} == set(Strategy)


@pytest.mark.timeout(3000)
def test_killed_at_every_point_it_equals_the_batch(project, spark):
    for point in KILLS:
        code, printed = run(project, point)
        assert code == -signal.SIGKILL, f"{point} was not reached; exit {code}\n{printed}"
    code, printed = run(project)
    assert code == 0, printed
    assert_equals_batch(spark, project)

    code, printed = run(project)  # nothing is left to do, and doing it changes nothing
    assert code == 0, printed
    assert "nothing new" in printed
    assert_equals_batch(spark, project)
