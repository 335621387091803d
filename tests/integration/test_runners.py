"""Two runners of one flow: the second is refused, a dead one is replaced, and one that was replaced writes no more."""

import json
import os
import signal
import subprocess
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path

import pytest

from streamhouse.engine.lease import LEASE_TTL
from streamhouse.ingest.kinds import open_source
from streamhouse.project.project import Project
from streamhouse.runtime.open import plan_of
from streamhouse.runtime.owner import this_owner
from streamhouse.runtime.stores import open_stores
from streamhouse.state.records import RunnerState
from tests.gate.levels import deep, soak
from tests.oracle import assert_same_rows, batch
from tests.patience import PATIENCE_S, until

pytestmark = [pytest.mark.services, pytest.mark.spark, deep("two runners of one flow; test_runner_command.py stays")]

COLUMNS = "{id: bigint, shop: string, cents: bigint}"
FILES = {
    "actions/keep.sql": "/* ---\naction: keep\nstep: ingest\ninputs: {rows: {}}\n--- */\nSELECT * FROM rows\n",
    "actions/totals.sql": "/* ---\naction: totals\nstep: aggregate\ninputs: {lines: {}}\n--- */\n"
    "SELECT shop, SUM(cents) AS cents, COUNT(*) AS lines FROM lines GROUP BY shop\n",
    "flows/shops.yaml": f"""\
flow: shops
freshness: 100ms
max_rows_per_epoch: 20
sources:
  lines: {{files: {{path: data/*.csv, columns: {COLUMNS}}}}}
steps:
  - {{use: keep, reads: {{rows: lines}}, writes: ods.run_lines}}
  - {{use: totals, reads: {{lines: ods.run_lines}}, writes: dws.run_totals}}
""",
}
FLOW, SEGMENT = "shops", "main"


@pytest.fixture
def project(tmp_path, fluss, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("STREAMHOUSE_FLUSS", fluss)
    monkeypatch.setenv("STREAMHOUSE_SPARK_MASTER", "local[2]")
    found = Project.at(tmp_path)
    add(found, 0)
    yield found
    stores = open_stores(found, None, fluss, [])
    plan = plan_of(found, FLOW)
    stores = open_stores(found, None, fluss, {table.tiers.target for table in plan.tables.values()})
    for table in plan.tables.values():
        stores[table.tiers.target].drop(table.name)
    for store in stores.values():
        store.close()


def add(project, number, rows=60):
    """One more file, which appears as a whole."""
    lines = [f"{number * 1000 + i},shop{i % 3},{i * 7 % 50}" for i in range(rows)]
    new = project.root / "data" / ".new"
    new.write_text("\n".join(["id,shop,cents", *lines]) + "\n")
    new.replace(project.root / "data" / f"{number:03}.csv")


class Process:
    """`streamhouse run` as a person starts it."""

    def __init__(self, project, *options) -> None:
        command = [Path(sys.executable).with_name("streamhouse"), "run", FLOW, *options]
        self.output = project.root / f"output-{uuid.uuid4().hex}"
        with self.output.open("w") as output:
            self.popen = subprocess.Popen(
                [*command, "--project", str(project.root)],
                env=dict(os.environ),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Spark's JVM is of the same session and outlives a kill of Python for a moment.
        for number in (signal.SIGCONT, signal.SIGKILL):
            try:
                os.killpg(self.popen.pid, number)
            except ProcessLookupError:
                break
        self.popen.wait(PATIENCE_S)

    def send(self, number):
        os.kill(self.popen.pid, number)

    def ended(self):
        """Its exit code and what it printed."""
        code = self.popen.wait(PATIENCE_S)
        return code, self.output.read_text()

    def until(self, condition):
        """Wait for something to become true while the process lives."""

        def look():
            found = condition()
            assert found or self.popen.poll() is None, self.output.read_text()
            return found

        until(look, saw=self.output.read_text)


def last_epoch(state):
    found = state.last_epoch(FLOW, SEGMENT)
    return found.epoch if found else -1


def is_drained(project, state):
    last = state.last_epoch(FLOW, SEGMENT)
    (source,) = plan_of(project, FLOW).sources
    return last is not None and last.end.get(source.name) == open_source(source, project.root).available()


def everything_recorded(state):
    progress = state.progress(FLOW)
    return (
        progress.owner,
        progress.state,
        progress.epochs,
        progress.rows,
        state.last_epoch(FLOW, SEGMENT),
        state.unfinished(FLOW, SEGMENT),
        [(event.kind, event.text) for event in state.events(FLOW)],
    )


def assert_equals_batch(project, spark):
    plan = plan_of(project, FLOW)
    (source,) = plan.sources
    opened = open_source(source, project.root)
    expected = batch(spark, plan, {source.name: opened.read({}, opened.available())})
    stores = open_stores(project, spark, project.settings.fluss)
    try:
        for name, table in plan.tables.items():
            actual = stores[table.tiers.target].read_state(table)
            assert_same_rows(actual, expected[name], key=table.primary_key, name=name)
    finally:
        for store in stores.values():
            store.close()


def test_a_second_runner_is_refused_and_takes_over_at_once_when_the_first_is_killed(project, spark):
    with Process(project) as first, project.state() as state:
        first.until(lambda: is_drained(project, state))
        before = everything_recorded(state)
        with Process(project, "--once") as second:
            code, printed = second.ended()
            pid = first.popen.pid
        assert code == 6, printed
        assert "SH501" in printed or "is run by process" in printed
        assert f"flow '{FLOW}' is run by process {pid} on " in printed
        assert "hint: stop that process" in printed
        assert "Traceback" not in printed
        assert everything_recorded(state) == before
        assert first.popen.poll() is None

        add(project, 1)  # the first is not disturbed
        first.until(lambda: is_drained(project, state))
        add(project, 2)
        first.until(lambda: last_epoch(state) > before[4].epoch + 3)
        first.send(signal.SIGKILL)
        assert first.popen.wait(PATIENCE_S) == -signal.SIGKILL
        killed_at = datetime.now(UTC)

        with Process(project, "--once", "--json") as third:
            code, printed = third.ended()
            owner = state.progress(FLOW).owner
        assert code == 0, printed
        assert owner.pid == third.popen.pid
        assert is_drained(project, state)
        record = state.last_epoch(FLOW, SEGMENT)
        assert record.finished_ms > killed_at.timestamp() * 1000
        assert state.progress(FLOW).state is RunnerState.STOPPED
    assert_equals_batch(project, spark)


@soak
def test_a_runner_that_slept_through_its_lease_records_nothing_more(project, spark):
    with Process(project) as runner, project.state() as state:
        runner.until(lambda: is_drained(project, state))
        runner.send(signal.SIGSTOP)
        # What another host would do when the lease has run out; here the clock says so, to save the wait.
        later = datetime.now(UTC) + LEASE_TTL * 2
        newer = state.acquire(FLOW, this_owner(), LEASE_TTL, later, alive=lambda _: True)
        add(project, 1)
        before = everything_recorded(state)
        runner.send(signal.SIGCONT)
        code, printed = runner.ended()
        assert code == 6, printed
        assert f"flow '{FLOW}' was taken over by process {os.getpid()} on " in printed
        assert f"this runner (process {runner.popen.pid} on " in printed
        assert "Traceback" not in printed
        assert everything_recorded(state) == before
        state.renew(newer, later)  # it did not release what is not its own
        state.release(newer)

        with Process(project, "--once", "--json") as after:
            code, printed = after.ended()
        assert code == 0, printed
        assert json.loads(printed[printed.index("{") :])["rows"]["ods.run_lines"] == 60
        assert is_drained(project, state)
    assert_equals_batch(project, spark)
