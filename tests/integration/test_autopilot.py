"""Five faults planted in flows that run: each is found and proposed, and mended or taken back where a program may."""

import json
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from streamhouse.autopilot import rounds, rules
from streamhouse.autopilot.rounds import Autopilot
from streamhouse.errors import StreamhouseError
from streamhouse.jobs import upkeep as upkeep_module
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.types import Tier
from streamhouse.project.autopilot import AutopilotMode, AutopilotSettings
from streamhouse.project.edits import to_run
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open
from streamhouse.runtime.stores import open_stores
from streamhouse.state.autopilot import DecisionState
from tests.gate.levels import deep
from tests.patience import PATIENCE_S, until

pytestmark = [
    deep(
        "a finding that needs many epochs; the others stay",
        only=("test_epochs_that_are_too_small_become_larger_and_files_that_are_too_many_fewer",),
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

    def round(self, mode=AutopilotMode.AUTO):
        return Autopilot(self.open.project, mode, now=self.now).round()

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
