"""Exactly once on the executors: tasks that die with their driver in the middle of a write, and those that do not."""

import json
import os
import shutil
import signal
from collections import defaultdict
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import pytest

from streamhouse.ingest.kinds import open_source
from streamhouse.model.types import Strategy, Tier
from streamhouse.project.project import Project
from streamhouse.runtime.open import plan_of
from tests import late_workers
from tests.flows import assert_equals_batch, drop_tables, with_stores
from tests.gate.levels import soak
from tests.kills import assert_died_at, records, run
from tests.patience import PATIENCE_S, SOAKING, until
from tests.production import LOOPBACK, spark_cluster

PROJECT = Path(__file__).parents[1] / "fixtures" / "spread_sinks"
FLOW = "spread"

pytestmark = [pytest.mark.services, pytest.mark.spark]

# As in test_epochs.py: each process recovers, in the driver, what the one before left, and dies in its next epoch,
# or while it recovers. `in_tasks:table` is no point of the engine: tasks have written half of their rows when the
# driver dies. The JVM finds out by itself, or dies too (`SIGKILL`), or hangs (`SIGSTOP`).
HOT = ["ods.spread_log", "dwd.spread_keyed", "dws.spread_totals"]
KILLS = {
    "main": ["in_tasks:ods.spread_log", "in_tasks:dws.spread_totals SIGSTOP"],
    "lake": ["between_writes:dws.spread_warm"],
}
SOAK = {
    "main": [
        "after_offset_log#2",
        "after_begin#2",
        *(f"in_tasks:{table} {jvm}".strip() for table in HOT for jvm in ("", "SIGKILL", "SIGSTOP")),
        f"between_writes:{HOT[0]}",  # while it recovers
        *(f"during_write:{table}#2" for table in HOT),
        *(f"between_writes:{table}#2" for table in HOT),
        "after_last_write#2",
        "during_recovery",
        f"between_writes:{HOT[2]}",  # while it recovers, and again
        "during_recovery",
        "before_commit_log#2",
    ],
    "lake": ["after_last_write#2", "during_recovery", "before_commit_log#2"],
}
JVMS = "pyspark-shell", "CoarseGrainedExecutorBackend"  # of a driver, of an executor
LOGS = {"main": HOT[:1], "lake": ["dws.spread_warm"]}


@pytest.fixture
def project(tmp_path, fluss, spark, monkeypatch):
    """A project of its own, whose workers can be late, in the Fluss all tests share."""
    root = tmp_path / "project"
    shutil.copytree(PROJECT, root)
    if SOAKING:  # each kill takes an epoch; there must be some left at the end
        flow = root / "flows" / "spread.yaml"
        text = flow.read_text()
        assert "limit: 75000" in text
        flow.write_text(text.replace("limit: 75000", "limit: 375000"))
    monkeypatch.setenv("STREAMHOUSE_SPARK_CONF", json.dumps({"spark.python.daemon.module": late_workers.MODULE}))
    repository = str(Path(__file__).parents[2])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(p for p in (repository, os.environ.get("PYTHONPATH")) if p))
    monkeypatch.setenv("STREAMHOUSE_FLUSS", fluss)
    monkeypatch.setenv("STREAMHOUSE_COLD", spark.conf.get("spark.sql.catalog.cold.warehouse"))
    monkeypatch.setenv("STREAMHOUSE_SPARK_MASTER", "local[2]")
    monkeypatch.setenv(late_workers.FOLDER, str(tmp_path / "late"))
    (tmp_path / "late").mkdir()
    found = Project.at(root)
    yield found
    for process in late_processes(tmp_path / "late"):
        process.kill()
    drop_tables(found, FLOW, spark)


def noted(folder, name):
    file = folder / name
    return [line.split() for line in file.read_text().splitlines()] if file.exists() else []


def late_processes(folder, kinds=(late_workers.MODULE, *JVMS)):
    """The workers and JVMs of killed drivers that still live."""
    found = []
    for pids in noted(folder, late_workers.PROCESSES):
        for pid in pids:
            with suppress(psutil.NoSuchProcess):
                process = psutil.Process(int(pid))
                if any(own in part for part in process.cmdline() for own in kinds):
                    found.append(process)
    return found


def die_in_tasks(project, spark, folder, table, jvm):
    halves = len(noted(folder, late_workers.FIRST_HALF))
    code, printed = run(project, FLOW, environment={late_workers.TABLE: table, late_workers.JVM: jvm})
    assert code == -signal.SIGKILL, f"no task wrote {table}; exit {code}\n{printed}"
    assert len(noted(folder, late_workers.FIRST_HALF)) > halves
    left = records(project, FLOW, spark, "main")
    assert left.unfinished == left.logged == left.finished + 1, left
    assert left.moved(table), left


def test_the_flow_writes_every_kind_of_hot_table_and_a_lake_table(project):
    plan = plan_of(project, FLOW)
    assert plan.local_epoch_rows < 15_000
    assert [segment.name for segment in plan.segments] == list(KILLS)
    assert {step.strategy for step in plan.steps} == {Strategy.MAP, Strategy.MERGE}
    hot = [table for table in plan.tables.values() if table.tiers.target is Tier.HOT]
    assert [table.name for table in hot] == HOT
    assert [(bool(table.primary_key), bool(table.merge)) for table in hot] == [
        (False, False),
        (True, False),
        (True, True),
    ]


@soak
@pytest.mark.timeout(5400 if SOAKING else 1800)
def test_killed_while_tasks_write_it_equals_the_batch(project, spark, tmp_path):
    folder = tmp_path / "late"
    for segment, points in KILLS.items():
        for point in points + (SOAK[segment] if SOAKING else []):
            if point.startswith("in_tasks:"):
                table, _, jvm = point.removeprefix("in_tasks:").partition(" ")
                die_in_tasks(project, spark, folder, table, jvm)
                continue
            code, printed = run(project, FLOW, point)
            assert code == -signal.SIGKILL, f"{point} was not reached; exit {code}\n{printed}"
            assert_died_at(point, records(project, FLOW, spark, segment), LOGS[segment])
    code, printed = run(project, FLOW)
    assert code == 0, printed

    (folder / late_workers.GO).touch()
    until(lambda: not late_processes(folder, kinds=(late_workers.MODULE,)))
    assert not noted(folder, late_workers.SECOND_HALF), "a task outlived its driver, and wrote"
    assert_equals_batch(project, FLOW, spark)
    given, stored = with_stores(project, FLOW, spark, rows_in_order)
    assert stored == given, "the log has rows of one household in another order than its source"


@soak
def test_on_a_cluster_no_task_outlives_its_driver(project, spark, tmp_path, monkeypatch):
    folder, table = tmp_path / "late", HOT[0]
    monkeypatch.setenv("SPARK_LOCAL_IP", LOOPBACK)
    # The JVMs of the executors hang, so nobody but the tasks themselves can end them.
    late = {late_workers.TABLE: table, late_workers.JVM: "SIGSTOP", late_workers.DRIVER: str(project.root)}
    with spark_cluster(tmp_path / "first", 2, {**os.environ, **late}) as master:
        monkeypatch.setenv("STREAMHOUSE_SPARK_MASTER", master)
        die_in_tasks(project, spark, folder, table, "SIGSTOP")
        workers = [
            psutil.Process(int(pid)) for pid, _ in noted(folder, late_workers.PROCESSES) if psutil.pid_exists(int(pid))
        ]
        assert not psutil.wait_procs(workers, timeout=PATIENCE_S)[1], "a task outlived its driver"
        (folder / late_workers.GO).touch()
        for process in late_processes(folder):
            process.kill()
    with ExitStack() as stack:
        # Without soaking what it left is recovered beside the driver; production has a whole run on a cluster.
        second = stack.enter_context(spark_cluster(tmp_path / "second", 2, os.environ)) if SOAKING else "local[2]"
        monkeypatch.setenv("STREAMHOUSE_SPARK_MASTER", second)
        code, printed = run(project, FLOW)
        assert code == 0, printed
    monkeypatch.setenv("STREAMHOUSE_SPARK_MASTER", "local[2]")
    assert not noted(folder, late_workers.SECOND_HALF)
    assert_equals_batch(project, FLOW, spark)


def rows_in_order(plan, stores):
    """Household → its lines, as the source gives them and as the log that Spark's tasks wrote has them."""
    (planned,) = plan.sources
    source, log = open_source(planned, Path()), plan.tables["ods.spread_log"]
    found = []
    for rows in (source.read({}, source.available()), stores[Tier.HOT].read_state(log)):
        lines = defaultdict(list)
        for row in rows.select(log.column_names).to_pylist():
            lines[row["household_id"]].append(tuple(row.values()))
        found.append(dict(lines))
    return found
