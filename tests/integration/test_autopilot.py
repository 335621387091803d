"""Five faults planted in flows that run: each is found and proposed, and mended or taken back where a program may."""

import json
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from streamhouse.autopilot import act, rounds, rules
from streamhouse.autopilot.rounds import Autopilot
from streamhouse.change.apply import apply
from streamhouse.errors import StreamhouseError
from streamhouse.jobs import upkeep as upkeep_module
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.types import Tier
from streamhouse.project.autopilot import AutopilotMode, AutopilotSettings
from streamhouse.project.compare import compare_project
from streamhouse.project.desired import desired_plans
from streamhouse.project.edits import to_run
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open
from streamhouse.runtime.stores import open_stores
from streamhouse.state.autopilot import DecisionState
from tests.command import clean_environment, document_of
from tests.gate.levels import deep
from tests.patience import PATIENCE_S, until

pytestmark = [
    deep(
        "findings that need many epochs, and processes that are killed; the others stay",
        only=(
            "test_epochs_that_are_too_small_become_larger_and_files_that_are_too_many_fewer",
            "test_what_no_limit_allows_is_a_decision_and_what_was_killed_goes_on",
        ),
    ),
    pytest.mark.spark,
]

FLOW = "piloted"
COLUMNS = "{id: bigint, customer: bigint}"
TAKE = f"""\
/* ---
action: take
step: ingest
inputs: {{rows: {COLUMNS}}}
--- */
SELECT id, customer FROM rows
"""
CLEAN = f"""\
/* ---
action: clean
step: clean
inputs: {{rows: {COLUMNS}}}
output: {{primary_key: [customer, id]}}
--- */
SELECT id, customer FROM rows
"""
YAML = f"""\
flow: {FLOW}
owner: ada
freshness: 30s  # promised to the shop
commit_interval: 100ms
sources: {{rows: {{files: {{path: data/*.json, columns: {COLUMNS}}}}}}}
steps:
  - {{use: take, reads: {{rows: rows}}, writes: ods.ap_rows}}
  - {{use: clean, reads: {{rows: ods.ap_rows}}, writes: dwd.ap_rows}}
"""
WARM = """\
tables:
  ods.ap_rows: {tiers: {warm: forever}}
  dwd.ap_rows: {tiers: {warm: forever}}
"""
HOT = """\
tables:
  ods.ap_rows: {tiers: {hot: 1d}, buckets: 4, bucket_key: [customer]}
  dwd.ap_rows: {tiers: {warm: forever}}
"""
DIES = """\
import json, os, signal, sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from streamhouse.autopilot.act import Actor
from streamhouse.autopilot.rounds import Autopilot
from streamhouse.project.autopilot import AutopilotMode, AutopilotSettings
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings

given = json.loads(sys.argv[1])
real_move, real_write = Actor._move, Actor._write

def move(self, decision, state, reason, **more):
    if given["at"] == "applied" and state == "applied":
        os.kill(os.getpid(), signal.SIGKILL)
    return real_move(self, decision, state, reason, **more)

def write(self, decision, old, new):
    done = real_write(self, decision, old, new)
    if given["at"] == "taking back" and decision.state == "taking back":
        os.kill(os.getpid(), signal.SIGKILL)
    return done

Actor._move, Actor._write = move, write
limits = AutopilotSettings(window=timedelta(minutes=3), changes_per_day=9, cool_down=timedelta(milliseconds=1))
ahead = timedelta(seconds=given["ahead_s"])
project = Project(Path(given["root"]), Settings(fluss=None, autopilot=limits))
Autopilot(project, AutopilotMode.AUTO, now=lambda: datetime.now(UTC) + ahead).round()
"""
WINDOW = timedelta(minutes=3)
LIMITS = AutopilotSettings(window=WINDOW, changes_per_day=9, cool_down=timedelta(milliseconds=1))


class Made:
    """A flow that runs in a thread of this process, and an autopilot with a clock that can be put forward."""

    def __init__(self, open_):
        self.open, self.root, self.error, self.ahead = open_, open_.project.root, None, timedelta(0)
        self._runners, self._thread, self._added = [], None, 0

    def add(self, rows, customer=lambda number: number):
        lines = [json.dumps({"id": self._added + n, "customer": customer(n)}) for n in range(rows)]
        new = self.root / "data" / ".new"
        new.write_text("\n".join(lines) + "\n")
        new.replace(self.root / "data" / f"{self._added:06}.json")
        self._added += rows

    def _run(self):
        try:
            wanted = to_run(self.open.project, FLOW)
            meter = Meter(wanted.plan, lambda _: None, once=False)
            carry(
                self.open, wanted.plan, meter, once=False, follow=True, wanted=wanted, on_execution=self._runners.append
            )
        except StreamhouseError as error:
            self.error = error

    @contextmanager
    def running(self):
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        try:
            yield
        finally:
            for runner in self._runners:
                runner.stop()
            self._thread.join(PATIENCE_S)

    def until(self, condition):
        def look():
            found = condition()
            if self.error and not found:
                raise self.error
            return found

        until(look, saw=lambda: [(one.state, one.text, one.reason) for one in self.log()])

    def epochs(self):
        return [
            one for one in self.open.state.recent_epochs(FLOW, limit=1_000) if one.end["rows"] != one.start.get("rows")
        ]

    def now(self):
        return datetime.now(UTC) + self.ahead

    def round(self, mode=AutopilotMode.AUTO, **limits):
        settings = Settings(fluss=self.open.project.settings.fluss, autopilot=LIMITS.model_copy(update=limits))
        return Autopilot(Project(self.root, settings), mode, now=self.now).round()

    def round_that_dies(self, at):
        """A round in a process of its own, which SIGKILL ends."""
        given = json.dumps({"root": str(self.root), "ahead_s": self.ahead.total_seconds(), "at": at})
        done = subprocess.run(
            [sys.executable, "-c", DIES, given], env=clean_environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == -signal.SIGKILL, done.stderr

    def log_command(self):
        document = document_of("autopilot", "log", FLOW, cwd=self.root, environment=clean_environment())
        return {one["kind"]: (one["state"], one["reason"]) for one in document["decisions"]}

    def log(self):
        return self.open.state.autopilot.log(FLOW)

    def decision(self, kind):
        found = [one for one in self.log() if one.kind == kind]
        assert found, [(one.kind, one.text) for one in self.log()]
        return found[0]

    @property
    def applied(self):
        return self.open.state.plan(FLOW)[1]

    def file(self):
        return (self.root / "flows" / f"{FLOW}.yaml").read_text()


def disk_is_full(*_, **__):
    raise OSError(28, "No space left on device")


@contextmanager
def made_project(root, spark, yaml, fluss=None):
    for folder in ("actions", "flows", "data"):
        (root / folder).mkdir()
    (root / "actions" / "take.sql").write_text(TAKE)
    (root / "actions" / "clean.sql").write_text(CLEAN)
    (root / "flows" / f"{FLOW}.yaml").write_text(yaml)
    project = Project(root, Settings(fluss=fluss, autopilot=LIMITS))
    stores = open_stores(project, spark, fluss, [Tier.WARM] if fluss is None else [Tier.HOT, Tier.WARM])
    with project.state() as state:
        open_ = Open(project, spark, fluss, stores, state)
        yield Made(open_)
        for table in (state.plan(FLOW) or (0, None))[1].tables.values():
            stores[table.tiers.target].drop(table.name)
    for store in stores.values():
        store.close()


def test_epochs_that_are_too_small_become_larger_and_files_that_are_too_many_fewer(tmp_path, spark, monkeypatch):
    with made_project(tmp_path, spark, YAML + "max_rows_per_epoch: 20\n" + WARM) as made:
        made.add(1_500)
        with made.running():
            made.until(lambda: len(made.epochs()) >= 14)
            made.round()
            small = made.decision("small_epochs")
            assert (small.state, small.outcome, small.edits) == (
                DecisionState.APPLIED,
                "swap",
                {"max_rows_per_epoch": 200},
            ), small.reason
            assert "epochs read as many rows as they may (20), so rows wait" in small.text
            assert made.applied.max_rows_per_epoch == 200
            assert made.file() == YAML + "max_rows_per_epoch: 200\n" + WARM, "the comment and all else stay"
            made.until(lambda: made.epochs()[0].end["rows"] and sum(made.epochs()[0].end["rows"].values()) == 1_500)
            made.ahead = WINDOW
            made.round()
            small = made.decision("small_epochs")
            assert small.state is DecisionState.KEPT, small.reason
            assert small.after > small.before, "more rows in a second of work"

            monkeypatch.setattr(rules, "_MANY_FILES", 10)  # else this would take fifty epochs

            @contextmanager
            def as_it_is(*_, **__):
                yield made.open

            monkeypatch.setattr(upkeep_module, "opened", as_it_is)  # else it would stop the session that tests share
            made.round()
            files = made.decision("small_files")
            assert files.state is DecisionState.KEPT, files.reason
            assert files.before >= 14 > files.after
        assert made.open.stores[Tier.WARM].read_state(made.applied.tables["dwd.ap_rows"]).num_rows == 1_500
        kinds = [event.text.partition(" (")[0] for event in made.open.state.events(FLOW) if event.kind == "autopilot"]
        assert kinds.count("applied") == kinds.count("kept") >= 2


def test_what_got_worse_is_taken_back_while_the_flow_runs(tmp_path, spark, monkeypatch):
    with made_project(tmp_path, spark, YAML + "max_rows_per_epoch: 20\n" + WARM) as made:
        made.add(2_000)
        with made.running():
            made.until(lambda: len(made.epochs()) >= 12)
            made.round()
            assert made.applied.max_rows_per_epoch == 200
            monkeypatch.setattr(rounds, "number", lambda *_: 0.1)  # as if epochs had become slow
            made.ahead = WINDOW
            made.round()
            taken = made.decision("small_epochs")
            assert (taken.state, taken.after) == (DecisionState.ROLLED_BACK, 0.1), taken.reason
            assert taken.reason.startswith("it got worse; rows a second of work")
            assert made.applied.max_rows_per_epoch == 20
            assert made.file() == YAML + "max_rows_per_epoch: 20\n" + WARM
            changes = made.open.state.recent_changes(FLOW)
            assert [(one.requested_by, one.phase.value) for one in changes] == [("autopilot", "applied")] * 2


def test_what_no_limit_allows_is_a_decision_and_what_was_killed_goes_on(tmp_path, spark, monkeypatch):
    monkeypatch.setattr(rules, "_MANY_FILES", 10_000)
    yaml, larger = (YAML.replace("30s", "40s") + f"max_rows_per_epoch: {rows}\n{WARM}" for rows in (20, 200))
    with made_project(tmp_path, spark, YAML + "max_rows_per_epoch: 20\n" + WARM) as made, made.running():
        file, other = tmp_path / "flows" / f"{FLOW}.yaml", tmp_path / "flows" / "other.yaml"
        made.add(60)
        made.until(lambda: len(made.epochs()) >= 3)
        file.write_text(yaml)
        [compared] = compare_project(made.open.project, FLOW)
        apply(made.open.project, compared, "ada")
        began = len(made.epochs())
        made.add(2_000)
        made.until(lambda: len(made.epochs()) >= began + 15)
        other.write_text(YAML.replace(FLOW, "other").replace("ap_rows", "other_rows"))
        now = made.now()
        around = f"{now - timedelta(hours=1):%H:%M}-{now + timedelta(hours=1):%H:%M}"

        def refused_by(**limits):
            made.round(**limits)
            assert (made.applied.max_rows_per_epoch, made.file()) == (20, yaml)
            state, reason = made.log_command()["small_epochs"]
            assert state == "suggested", reason
            return reason

        assert refused_by(flows=("other",)) == f"{FLOW} is not among the flows that may be changed: other"
        assert refused_by(quiet_hours=around) == f"these are the quiet hours, {around} UTC"
        assert "by change 1 of ada and stays so for 1d" in refused_by(cool_down=timedelta(days=1))
        assert refused_by(changes_per_day=0) == "0 changes were applied in 24 hours, and no more than 0 may be"
        file.write_text(yaml.replace("dwd.ap_rows: {", "dwd.ap_rows: {buckets: 3, "))
        rebuilding = desired_plans(Project(tmp_path, made.open.project.settings))[FLOW]
        file.write_text(yaml)
        with monkeypatch.context() as patched:
            patched.setattr(act, "with_edits", lambda *_: rebuilding)
            assert refused_by().startswith("it would rebuild, and only no-op and swap")
        said = [one.text for one in made.open.state.events(FLOW) if one.kind == "autopilot"]
        assert sum("still suggested" in text for text in said) == 4, "each reason is an event"
        other.unlink()

        made.round_that_dies("applied")
        assert (made.decision("small_epochs").state, made.file()) == (DecisionState.APPLYING, larger)
        assert made.applied.max_rows_per_epoch == 200
        made.round()
        small = made.decision("small_epochs")
        assert small.state is DecisionState.APPLIED, small.reason
        assert small.reason.startswith("it was applied already; it is measured until ")

        made.ahead = WINDOW
        with monkeypatch.context() as patched:
            patched.setattr(rounds, "number", lambda *_: 0.1)  # as if epochs had become slow
            patched.setattr(act, "write_whole", disk_is_full)
            failed = made.round().failed[FLOW]
        assert f"flows/{file.name} cannot be written" in str(failed)
        state, reason = made.log_command()["small_epochs"]
        assert (state, made.file()) == ("taking back", larger)
        assert reason.startswith("it got worse; rows a second of work")
        assert f"flows/{file.name} cannot be written" in reason

        made.round_that_dies("taking back")
        assert (made.decision("small_epochs").state, made.file()) == (DecisionState.TAKING_BACK, yaml)
        assert made.applied.max_rows_per_epoch == 200
        made.round()
        small = made.decision("small_epochs")
        assert (small.state, made.applied.max_rows_per_epoch, made.file()) == (DecisionState.ROLLED_BACK, 20, yaml)
        assert small.reason.startswith("it got worse; rows a second of work")
        assert "cannot be written" not in small.reason, "that is over"

        monkeypatch.setattr(rules, "_MANY_FILES", 10)
        made.round(changes_per_day=1)
        assert made.log_command()["small_files"] == (
            "suggested",
            "1 change was applied in 24 hours, and no more than 1 may be",
        )


def test_a_freshness_that_cannot_hold_and_then_a_source_that_falls_silent(tmp_path, spark):
    with made_project(tmp_path, spark, YAML.replace("30s", "1ms") + WARM) as made, made.running():
        for number in range(13):
            made.add(5)
            made.until(lambda number=number: len(made.epochs()) > number)
        made.round()
        late = made.decision("freshness")
        assert late.state is DecisionState.APPLIED, late.reason
        assert "epochs took longer than the promised 1ms" in late.text
        assert made.applied.freshness > timedelta(milliseconds=1)
        assert "  # promised to the shop\n" in made.file()
        for number in range(13, 18):
            made.add(5)
            made.until(lambda number=number: len(made.epochs()) > number)
        made.ahead = WINDOW
        made.round()
        late = made.decision("freshness")
        assert (late.state, late.before) == (DecisionState.KEPT, 100.0), late.reason
        assert late.after is not None, "how many of them still are depends on the machine"
        made.ahead = timedelta(hours=3)
        made.round()
        silent = made.decision("late_source")
        assert (silent.state, silent.reason) == (DecisionState.SUGGESTED, "a person must do it")
        assert silent.text.startswith("no rows from rows for 10,8")
        assert silent.remedy == "ask ada whether it still delivers"


@pytest.mark.services
def test_one_bucket_that_takes_most_rows(tmp_path, spark, fluss):
    with made_project(tmp_path, spark, YAML + HOT, fluss) as made, made.running():
        made.add(2_000, customer=lambda number: 7 if number % 10 else number)
        made.until(
            lambda: (
                sum(
                    sum(one.end["ods.ap_rows"].values()) - sum(one.start.get("ods.ap_rows", {}).values())
                    for one in made.open.state.recent_epochs(FLOW)
                    if "ods.ap_rows" in one.end
                )
                == 2_000
            )
        )
        made.round()
        skew = made.decision("skew")
        assert (skew.state, skew.reason) == (DecisionState.SUGGESTED, "a person must do it")
        assert "times its share; they are spread by customer" in skew.text
        assert skew.numbers["rows"] == 2_000
        assert skew.numbers["largest"] >= 1_800
        assert "bucket_key" in skew.remedy
