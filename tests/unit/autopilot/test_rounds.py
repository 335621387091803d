"""Rounds over a real project and state store; what a flow's runner does to apply a plan is recorded at once."""

import shutil
from datetime import UTC, datetime, timedelta

import pytest
from filelock import FileLock

from streamhouse.autopilot import act, rounds, rules
from streamhouse.autopilot.finding import FaultKind, FlowFault, LakeFiles, Means
from streamhouse.autopilot.off_switch import turn_off, was_turned_off
from streamhouse.autopilot.rounds import Autopilot
from streamhouse.change.change_request import ask
from streamhouse.errors import ChangeFailedError, LeaseHeldError, StoreUnavailableError
from streamhouse.model.outcome import Outcome
from streamhouse.model.types import Tier
from streamhouse.project.autopilot import AutopilotMode
from streamhouse.project.project import Project
from streamhouse.runtime.owner import this_owner
from streamhouse.state.autopilot import DecisionState
from streamhouse.state.changes import Wish
from streamhouse.state.overview import Overview
from streamhouse.state.records import AppliedChange, EpochRecord, RunnerState
from tests.shop import FLOW, World, made_world

AUTO = AutopilotMode.AUTO
LIMIT = "max_rows_per_epoch: 20  # small, on purpose\n"
WINDOW = timedelta(minutes=10)


class Killed(BaseException):
    """What a process that is killed does: nothing any more."""


class Pilot:
    def __init__(self, world, monkeypatch):
        self.world, self.state, self.patch = world, world.state, monkeypatch
        self.file = world.project.root / "flows" / "shop.yaml"
        self.clock, self.applied, self.epoch = datetime.now(UTC), [], 0
        self.lease = self.state.acquire("shop", this_owner(), timedelta(days=9), self.clock)
        monkeypatch.setattr(act, "apply", self.apply)
        monkeypatch.setattr(rounds.Observer, "_reader", lambda *_: None)  # no lakes

    def apply(self, project, compared, by, say):
        assert by == "autopilot"
        self.applied.append(compared.plan.max_rows_per_epoch)
        self.state.save_plan(compared.plan, definition=compared.definition(project))

    def epochs(self, *, rows=20, took_ms=500, count=12, lag_ms=100):
        """Epochs from now on, of a second each; the clock goes on."""
        for _ in range(count):
            at = round(self.clock.timestamp() * 1000)
            self.state.begin_epoch(self.lease, "main", self.epoch, at, self.clock)
            start, end = ({"rows": {"a": n}} for n in (self.epoch * 1_000, self.epoch * 1_000 + rows))
            visible = dict.fromkeys(("ods", "dwd", "dws"), at + lag_ms)
            record = EpochRecord(
                "shop",
                "main",
                self.epoch,
                at,
                at,
                at + took_ms,
                start,
                end,
                rows={"ods.rows": rows},
                layer_visible_ms=visible,
            )
            self.state.finish_epoch(self.lease, record)
            self.epoch += 1
            self.clock += timedelta(seconds=1)

    def round(self, mode=AUTO, *flows):
        return Autopilot(Project.at(self.world.project.root), mode, now=lambda: self.clock).round(flows)

    def killed_in(self, place, name):
        def die(*_, **__):
            raise Killed

        with self.patch.context() as patched:
            patched.setattr(place, name, die)
            with pytest.raises(Killed):
                self.round()

    def changed_by_a_person(self, **settings):
        plan = self.state.plan("shop")[1].model_copy(update=settings)
        self.state.complete_change(self.lease, self.state.ask_change(Wish(plan, Outcome.SWAP), "ada"))

    @property
    def decision(self):
        return next(one for one in self.state.autopilot.log("shop") if one.kind == "small_epochs")

    @property
    def limit(self):
        return self.state.plan("shop")[1].max_rows_per_epoch

    def events(self):
        return [event.text.partition(" (")[0] for event in self.state.events("shop") if event.kind == "autopilot"]


@pytest.fixture(scope="module")
def applied(tmp_path_factory):
    """The folder of a project whose flows are applied; each test goes on in a copy."""
    root = tmp_path_factory.mktemp("applied")
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("STREAMHOUSE_STATE", raising=False)
        with made_world(root, "off") as world:
            (root / "streamhouse.yaml").write_text("auto_apply: off\nautopilot: {mode: auto}  # mine\n")
            world.flow(LIMIT)
            world.run()
    return root


@pytest.fixture
def pilot(applied, tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    shutil.copytree(applied, tmp_path, dirs_exist_ok=True)
    project = Project.at(tmp_path)
    with project.state() as state:
        made = Pilot(World(project, state), monkeypatch)
        made.epochs()
        yield made


def of_kind(done, kind="small_epochs"):
    return [one for one in done.proposals if one.finding.kind == kind]


def test_to_look_changes_and_records_nothing(pilot):
    text = pilot.file.read_text()
    found = Autopilot(pilot.world.project, AUTO, now=lambda: pilot.clock).look()
    (one,) = of_kind(found)
    assert (one.outcome, one.why_not, one.before) == (Outcome.SWAP, None, 40.0)
    assert found.unseen, "lakes that cannot be looked at are told"
    assert (pilot.file.read_text(), pilot.state.autopilot.log(), pilot.applied) == (text, [], [])


def test_a_fault_is_there_since_it_was_seen_first(pilot):
    pilot.patch.setattr(rules, "ONE_FLOW", (unused,))
    looks = Autopilot(pilot.world.project, AUTO, now=lambda: pilot.clock)
    (found,) = looks.look().proposals
    assert found.finding.since is None, "nobody saw it before"
    first = pilot.clock
    pilot.round()
    pilot.clock += timedelta(hours=9)
    (found,) = looks.look().proposals
    assert abs(found.finding.since - first) < timedelta(milliseconds=1)


def unused(evidence):
    if evidence.flow == "shop":
        kind = FaultKind.UNUSED_TABLE
        yield FlowFault(kind, "shop", "ods.rows", "no step reads it", {}, None, Means.PERSON, "remove it")


def test_a_flow_in_the_limits_that_is_none_is_an_error_with_its_place(pilot):
    (pilot.world.project.root / "streamhouse.yaml").write_text("autopilot:\n  mode: auto\n  flows: [boards, shp]\n")
    error = pilot.round().failed["shp"]
    assert str(error) == "streamhouse.yaml:3:19: SH213 unknown flow 'shp'\n  hint: did you mean 'shop'?"
    looks = Autopilot(Project.at(pilot.world.project.root), AUTO, now=lambda: pilot.clock)
    assert set(looks.look().failed) == {"shp"}


def loosened(pilot, lag_ms):
    """The freshness that every epoch missed was promised weaker; then epochs took so long."""
    pilot.patch.setattr(rules, "ONE_FLOW", (rules.freshness,))
    pilot.clock += WINDOW
    pilot.epochs(rows=3, lag_ms=1_500)
    pilot.round()
    assert pilot.state.plan("shop")[1].freshness == timedelta(seconds=2)
    pilot.epochs(rows=3, lag_ms=lag_ms, count=5)
    pilot.clock += WINDOW
    pilot.round()
    return next(one for one in pilot.state.autopilot.log("shop") if one.kind == "freshness")


def test_a_weaker_promise_that_holds_is_kept_and_is_no_fresher_table(pilot):
    done = loosened(pilot, 1_900)
    assert (done.state, done.before, done.after) == (DecisionState.KEPT, 100, 100)
    assert done.reason.startswith("0 of 100 epochs took longer than 2s; epochs of a hundred that took longer than")


def test_a_weaker_promise_that_does_not_hold_is_taken_back(pilot):
    done = loosened(pilot, 2_500)
    assert done.state is DecisionState.ROLLED_BACK
    assert done.reason.startswith("the promise does not hold: 100 of 100 epochs took longer than 2s")
    assert pilot.state.plan("shop")[1].freshness == timedelta(seconds=1)


def test_to_suggest_records_once_and_applies_nothing(pilot):
    for _ in range(2):
        pilot.round(AutopilotMode.SUGGEST)
    assert (pilot.decision.state, pilot.decision.reason) == (DecisionState.SUGGESTED, "the mode is suggest")
    assert (pilot.applied, pilot.events().count("suggested")) == ([], len(pilot.state.autopilot.log("shop")))
    pilot.clock += timedelta(hours=1)  # the faults are of another hour
    pilot.round(AutopilotMode.SUGGEST)
    assert pilot.decision.state is DecisionState.OVER


def test_a_flow_that_a_person_changed_cools_down(pilot):
    pilot.changed_by_a_person()
    pilot.clock += timedelta(minutes=5)
    pilot.epochs()
    (found,) = of_kind(pilot.round())
    assert "of ada and stays so for 1h" in found.why_not
    assert pilot.applied == []
    pilot.clock += timedelta(hours=1)
    pilot.epochs()
    pilot.round()
    assert pilot.applied == [200]


def test_epochs_after_a_change_of_a_person_do_not_measure_an_earlier_one(pilot):
    pilot.round()
    pilot.epochs(rows=200, count=5)
    at = pilot.clock
    pilot.epochs(rows=200, took_ms=90_000, count=5)
    pilot.patch.setattr(Overview, "newest_applied_change", lambda *_: AppliedChange(9, "ada", at))
    pilot.clock += WINDOW
    pilot.round()
    assert (pilot.decision.state, pilot.decision.after) == (DecisionState.KEPT, 400.0)


def test_a_round_that_is_off_does_nothing(pilot):
    assert pilot.round(AutopilotMode.OFF).flows == ()
    assert pilot.state.autopilot.log() == []


def test_what_helps_is_applied_measured_and_kept(pilot):
    pilot.round()
    assert pilot.applied == [200]
    assert (pilot.decision.state, pilot.decision.before) == (DecisionState.APPLIED, 40.0)
    assert pilot.file.read_text() == FLOW + LIMIT.replace("20", "200"), "the comment and all else stay"
    pilot.epochs(rows=200, count=5)
    pilot.round()
    assert pilot.decision.state is DecisionState.APPLIED, "the window is not over"
    pilot.clock += WINDOW
    pilot.round()
    assert (pilot.decision.state, pilot.decision.after) == (DecisionState.KEPT, 400.0)
    assert pilot.decision.reason == "rows a second of work: 40 before, 400 after"
    assert [text for text in pilot.events() if text != "suggested"][:2] == ["applied", "kept"]
    assert pilot.limit == 200


def test_what_makes_it_worse_is_taken_back_and_not_tried_again(pilot):
    text = pilot.file.read_text()
    pilot.round()
    pilot.epochs(rows=200, took_ms=9_000, count=5)
    pilot.clock += WINDOW
    pilot.round()
    assert pilot.decision.state is DecisionState.ROLLED_BACK
    assert pilot.decision.reason == "it got worse; rows a second of work: 40 before, 22 after"
    assert (pilot.file.read_text(), pilot.limit, pilot.applied) == (text, 20, [200, 20])
    pilot.epochs()
    pilot.clock += timedelta(hours=2)
    pilot.epochs()
    (again,) = of_kind(pilot.round())
    assert "the same was rolled back" in again.why_not
    assert pilot.applied == [200, 20]


def test_a_flow_that_failed_after_it_gets_back_what_it_had_at_once(pilot):
    pilot.round()
    pilot.state.set_runner_state(pilot.lease, RunnerState.FAILED, "SH503 no memory", pilot.clock)
    pilot.clock += timedelta(seconds=9)
    pilot.round()
    assert (pilot.decision.state, pilot.limit) == (DecisionState.ROLLED_BACK, 20)
    assert pilot.decision.reason == "the flow failed after it: SH503 no memory"


def test_a_backlog_that_is_gone_is_no_loss(pilot):
    pilot.round()
    pilot.epochs(rows=3, took_ms=400, count=9)
    pilot.clock += WINDOW
    pilot.round()
    assert (pilot.decision.state, pilot.limit) == (DecisionState.KEPT, 200)
    assert pilot.decision.reason.startswith("no rows wait any more")


def test_without_epochs_it_waits_and_then_says_so(pilot):
    pilot.round()
    for _ in range(2):
        pilot.clock += WINDOW
        pilot.round()
        assert pilot.decision.state is DecisionState.APPLIED
    pilot.clock += WINDOW
    pilot.round()
    assert pilot.decision.reason.startswith("too few epochs came to measure it")


def test_what_a_person_wrote_meanwhile_stays(pilot):
    pilot.round()
    pilot.epochs(rows=200, took_ms=9_000, count=5)
    pilot.file.write_text(FLOW + "max_rows_per_epoch: 77\n")
    pilot.clock += WINDOW
    pilot.round()
    assert pilot.decision.state is DecisionState.LEFT
    assert "flows/shop.yaml was edited meanwhile" in pilot.decision.reason
    assert (pilot.file.read_text(), pilot.limit) == (FLOW + "max_rows_per_epoch: 77\n", 200)


def test_an_edit_that_waits_for_a_person_is_not_applied_with_it(pilot):
    pilot.world.action("clean", "price > 0", "price > 4")
    (one,) = of_kind(pilot.round())
    assert one.why_not == "an edit of its files waits for a person: streamhouse plan shop"
    assert (pilot.applied, pilot.limit) == ([], 20)


def test_a_flow_that_does_not_run_is_not_changed(pilot):
    pilot.state.release(pilot.lease)
    (one,) = of_kind(pilot.round())
    assert (one.why_not, pilot.applied) == ("the flow does not run", [])


def test_what_cannot_be_applied_leaves_all_as_it_was(pilot):
    def fails(*_, **__):
        raise ChangeFailedError("shop: it did not succeed")

    text = pilot.file.read_text()
    pilot.patch.setattr(act, "apply", fails)
    pilot.round()
    assert pilot.decision.state is DecisionState.REFUSED
    assert "it did not succeed" in pilot.decision.reason
    assert pilot.file.read_text() == text


@pytest.mark.parametrize("place", ["_write", "_apply"])
def test_killed_while_it_is_applied_the_next_round_goes_on(pilot, place):
    pilot.killed_in(act.Actor, place)
    assert (pilot.decision.state, pilot.limit) == (DecisionState.APPLYING, 20)
    pilot.clock += timedelta(seconds=1)
    pilot.round()
    assert (pilot.decision.state, pilot.limit) == (DecisionState.APPLIED, 200)
    assert pilot.file.read_text() == FLOW + LIMIT.replace("20", "200")


def test_killed_after_it_was_applied_the_next_round_measures(pilot):
    real = act.Actor._move

    def dies_then(self, decision, state, reason, **more):
        if state is DecisionState.APPLIED:
            raise Killed
        return real(self, decision, state, reason, **more)

    with pilot.patch.context() as patched:
        patched.setattr(act.Actor, "_move", dies_then)
        with pytest.raises(Killed):
            pilot.round()
    assert (pilot.decision.state, pilot.limit) == (DecisionState.APPLYING, 200)
    pilot.round()
    assert (pilot.decision.state, pilot.applied) == (DecisionState.APPLIED, [200])
    pilot.epochs(rows=200, count=5)
    pilot.clock += WINDOW
    pilot.round()
    assert pilot.decision.state is DecisionState.KEPT


def test_killed_while_it_waits_a_change_whose_file_was_put_back_is_withdrawn(pilot):
    text = pilot.file.read_text()

    def asks_and_dies(project, compared, by, say):
        ask(pilot.state, compared, by, definition=compared.definition(project))
        raise Killed

    with pilot.patch.context() as patched:
        patched.setattr(act, "apply", asks_and_dies)
        with pytest.raises(Killed):
            pilot.round()
    pilot.file.write_text(text)
    assert pilot.state.open_change("shop") is not None
    pilot.round(AutopilotMode.SUGGEST)
    assert pilot.state.open_change("shop") is None
    assert (pilot.decision.state, pilot.limit, pilot.file.read_text()) == (DecisionState.SUGGESTED, 20, text)


@pytest.mark.parametrize("place", ["_write", "_undone"])
def test_killed_while_it_is_taken_back_the_next_round_goes_on(pilot, place):
    pilot.round()
    pilot.epochs(rows=200, took_ms=9_000, count=5)
    pilot.clock += WINDOW
    pilot.killed_in(act.Actor, place)
    assert (pilot.decision.state, pilot.limit) == (DecisionState.TAKING_BACK, 200)
    pilot.round()
    assert (pilot.decision.state, pilot.limit) == (DecisionState.ROLLED_BACK, 20)
    assert pilot.file.read_text() == FLOW + LIMIT


def test_a_person_who_edits_a_file_of_a_round_that_was_killed_keeps_it(pilot):
    pilot.killed_in(act.Actor, "_apply")
    pilot.file.write_text(FLOW + "max_rows_per_epoch: 77\n")
    pilot.round()
    assert (pilot.decision.state, pilot.limit) == (DecisionState.LEFT, 20)
    assert pilot.file.read_text() == FLOW + "max_rows_per_epoch: 77\n"


def test_what_cannot_be_taken_back_is_told_and_tried_again(pilot):
    pilot.round()
    pilot.epochs(rows=200, took_ms=9_000, count=5)
    pilot.clock += WINDOW

    def away(*_, **__):
        raise StoreUnavailableError("the state store does not answer")

    with pilot.patch.context() as patched:
        patched.setattr(act, "apply", away)
        for _ in range(2):
            assert str(pilot.round().failed["shop"]).endswith("the state store does not answer")
    assert pilot.decision.state is DecisionState.TAKING_BACK
    before, _, problem = pilot.decision.reason.partition("; not done yet: ")
    assert problem.endswith("the state store does not answer")
    assert pilot.events().count("taking back") == 1, "once, though two rounds failed"
    pilot.round()
    assert (pilot.decision.state, pilot.limit, pilot.decision.reason) == (DecisionState.ROLLED_BACK, 20, before)


def test_a_person_who_saves_while_the_autopilot_writes_is_not_overwritten(pilot):
    real = act.Actor._move

    def saves_then(self, decision, state, reason, **more):
        if state is DecisionState.APPLYING:
            pilot.file.write_text(FLOW + "max_rows_per_epoch: 77\n")
        return real(self, decision, state, reason, **more)

    pilot.patch.setattr(act.Actor, "_move", saves_then)
    pilot.round()
    assert (pilot.decision.state, pilot.limit, pilot.applied) == (DecisionState.LEFT, 20, [])
    assert pilot.file.read_text() == FLOW + "max_rows_per_epoch: 77\n"
    assert [file.name for file in pilot.file.parent.iterdir() if file.name.endswith(".new")] == []


def test_a_folder_that_cannot_be_written_is_told(pilot):
    def no_room(*_, **__):
        raise OSError(30, "Read-only file system")

    pilot.patch.setattr("streamhouse.autopilot.act.write_whole", no_room)
    pilot.round()
    assert pilot.decision.state is DecisionState.REFUSED
    assert pilot.decision.reason == "flows/shop.yaml cannot be written: Read-only file system"


def test_two_at_once_are_refused(pilot):
    folder = pilot.world.project.state_dir / "locks"
    folder.mkdir(exist_ok=True)
    with FileLock(folder / "autopilot.lock"), pytest.raises(LeaseHeldError, match="another autopilot"):
        pilot.round()


def test_a_round_of_upkeep_is_measured_at_once(pilot):
    held, real = {"files": 60}, rounds.Observer.look

    def look(self, *arguments):
        place, files = ("ods.rows", Tier.WARM), LakeFiles(held["files"], 60_000)
        found = real(self, *arguments)
        return {
            name: rounds.replace(one, files={place: files}, unseen={}) for name, one in found.items() if name == "shop"
        }

    def keep_up(project, flows, say):
        assert flows == ["shop"]
        held["files"] = 2

    pilot.patch.setattr(rounds.Observer, "look", look)
    pilot.patch.setattr(act, "keep_up", keep_up)
    pilot.clock += timedelta(hours=1)  # no epochs in the window
    pilot.round()
    (done,) = [one for one in pilot.state.autopilot.log("shop") if one.kind == "small_files"]
    assert (done.state, done.before, done.after) == (DecisionState.KEPT, 60, 2)
    assert done.reason == "files: 60 before, 2 after"


def test_to_turn_it_off_changes_one_word_of_the_settings_and_ends_loops(pilot):
    root = pilot.world.project.root
    project, before = Project.at(root), datetime.now(UTC) - timedelta(seconds=1)
    assert not was_turned_off(project, before)
    turn_off(project)
    assert was_turned_off(project, before)
    assert not was_turned_off(project, datetime.now(UTC) + timedelta(seconds=1))
    assert (root / "streamhouse.yaml").read_text() == "auto_apply: off\nautopilot: {mode: off}  # mine\n"
    assert Project.at(root).settings.autopilot.mode is AutopilotMode.OFF
