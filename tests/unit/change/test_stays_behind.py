"""A change that moves a flow to the next version of what it reads, and that fails: the flow goes on where it is."""

from types import SimpleNamespace

import pytest

from streamhouse.change.reconcile import Reconciler
from streamhouse.errors import ChangeFailedError, StoreUnavailableError
from streamhouse.model.outcome import Outcome
from streamhouse.state.changes import Wish
from streamhouse.state.records import Phase
from streamhouse.state.waits import WaitsFor, behind
from tests.unit.state.conftest import flow_plan, lease, now, owner, sqlite_url, store, url
from tests.unit.state.test_changes import NEW, TABLE
from tests.unit.state.test_outdated_reads import FIRST, reader, reader_lease, swapped

__all__ = ["flow_plan", "lease", "now", "owner", "reader", "reader_lease", "sqlite_url", "store", "url"]
WHY = "dwd.copy does not fit"


@pytest.fixture
def between(store, reader_lease, monkeypatch, tmp_path):
    """Begins a run of the reader whose changes fail; gives what is said, and the execution."""
    monkeypatch.setattr("streamhouse.change.reconcile.show_written", lambda *_: None)
    monkeypatch.setattr("streamhouse.change.reconcile.drop_retired", lambda *_: None)

    def begin(error):
        said = []
        execution = SimpleNamespace(plan=SimpleNamespace(tables={}, aside=()), waiting=frozenset({"a"}))
        steward = Reconciler(
            SimpleNamespace(state=store, project=SimpleNamespace(state_dir=tmp_path), stores={}), "other", said.append
        )

        class Failing:
            def carry_out(self, execution, change):
                execution.waiting = frozenset()
                if not error.retryable:
                    store.move_change(reader_lease, change, Phase.FAILED, str(error))
                raise error

        steward._at_rest = Failing()
        steward.between(execution)
        return said, execution

    return begin


def test_the_flow_goes_on_and_what_it_is_behind_is_named(store, lease, reader, flow_plan, between):
    follow = swapped(store, lease, flow_plan(NEW))
    for attempt in range(2):
        said, execution = between(ChangeFailedError(WHY))
        change = store.change(follow.id + attempt)
        assert change.phase is Phase.FAILED
        assert said == [f"change {change.id} failed; other goes on in the versions that it reads: {WHY}"]
        assert execution.waiting == {"a"}
        assert store.open_change("other") is None
        [wait] = behind(store, "other")
        assert (wait.whom, wait.what) == (WaitsFor.REPAIR, f"version 1 of {TABLE}")
        assert store.go_on("other").moves == {TABLE: FIRST}, "the next start asks again"


def test_a_person_who_edits_the_flow_gets_the_error(store, lease, reader, flow_plan, between):
    swapped(store, lease, flow_plan(NEW))
    edited = reader.model_copy(update={"description": "edited"})
    store.ask_change(Wish(edited, Outcome.SWAP), "ann")
    with pytest.raises(ChangeFailedError, match=WHY):
        between(ChangeFailedError(WHY))


def test_a_store_that_is_away_ends_the_run_and_fails_no_change(store, lease, reader, flow_plan, between):
    follow = swapped(store, lease, flow_plan(NEW))
    with pytest.raises(StoreUnavailableError):
        between(StoreUnavailableError("no answer"))
    assert store.open_change("other") == follow
