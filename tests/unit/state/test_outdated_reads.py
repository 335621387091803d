"""A flow that reads a table of another flow, after another version of this table serves.

Whichever way the change ends that lets the flow go on there, the flow is asked again, or it is named.
"""

from datetime import timedelta

import pytest

from streamhouse.change.change_request import begin
from streamhouse.model.outcome import Outcome
from streamhouse.model.review import SwapGate
from streamhouse.state.changes import Wish
from streamhouse.state.records import Move, Phase
from streamhouse.state.waits import WaitsFor, waits_of
from tests.unit.state.test_changes import NEW, NEWER, OLD, TABLE, other_flow

FIRST = Move(2, {"0": 3}, {"0": 9})
AT = {TABLE: FIRST.ended, "ods.orders__v2": FIRST.began}
SECOND = Move(3, {"0": 20}, {"0": 40})
AT_SECOND = {"ods.orders__v2": SECOND.ended, "ods.orders__v3": SECOND.began}
REBUILT = {"other": {"dwd.copy"}}


@pytest.fixture
def reader(store, flow_plan):
    """The plan of a flow that reads the table of another one; both are applied."""
    store.save_plan(flow_plan(OLD))
    plan = other_flow(flow_plan)
    store.save_plan(plan)
    return plan


@pytest.fixture
def reader_lease(store, owner, now):
    return store.acquire("other", owner, timedelta(seconds=30), now)


def swapped(store, lease, plan, at=AT, followers=None, ahead=False):
    """The change of the other flow that it is asked for, after another version of the table it reads serves."""
    wish = Wish(plan, Outcome.REBUILD, frozenset({TABLE}), followers=followers or {})
    assert store.complete_change(lease, store.ask_change(wish, "ann"), at=at, ahead=ahead)
    return store.open_change("other")


@pytest.fixture
def follow(store, reader, lease, flow_plan):
    return swapped(store, lease, flow_plan(NEW))


def asked_again(store, before):
    """The change that takes the place of another one."""
    found = store.open_change("other")
    assert found is not None, "its reader stays in a version that gets no more rows"
    assert found.id > before.id
    return found


def test_a_reader_whose_change_a_person_gives_up_is_asked_again(store, reader, follow):
    assert store.give_up(follow.id).phase is Phase.WITHDRAWN
    again = asked_again(store, follow)
    assert (again.moves, again.plan, again.outcome) == ({TABLE: FIRST}, reader, Outcome.SWAP)
    assert again.requested_by == follow.requested_by


def test_a_reader_whose_changes_are_all_given_up_is_asked_again(store, follow):
    store.withdraw_change("other")
    assert asked_again(store, follow).moves == {TABLE: FIRST}


def test_the_edit_that_is_given_up_is_not_asked_for_again(store, reader, follow):
    edited = reader.model_copy(update={"description": "edited"})
    both = store.ask_change(Wish(edited, Outcome.REBUILD, frozenset({"dwd.copy"}), gate=SwapGate.PERSON), "bob")
    store.give_up(both.id)
    again = asked_again(store, both)
    assert (again.plan, again.moves, again.versions) == (reader, {TABLE: FIRST}, {})


def test_what_rests_on_the_new_version_is_rebuilt_also_when_asked_again(store, reader, lease, flow_plan):
    follow = swapped(store, lease, flow_plan(NEW), followers=REBUILT)
    store.give_up(follow.id)
    again = asked_again(store, follow)
    assert (set(again.versions), again.moves, again.outcome) == ({"dwd.copy"}, {TABLE: FIRST}, Outcome.REBUILD)


def test_positions_that_only_the_change_has_are_those_it_is_asked_with_again(store, reader, lease, flow_plan):
    follow = swapped(store, lease, flow_plan(NEW), ahead=True)
    assert store.tables.retired()[0].positions == {}
    store.give_up(follow.id)
    assert asked_again(store, follow).moves == {TABLE: FIRST}


def test_a_reader_whose_environment_is_promoted_is_asked_after_that(store, reader, lease, reader_lease, flow_plan):
    edited = reader.model_copy(update={"description": "edited"})
    built = store.ask_change(Wish(edited, Outcome.SWAP, environment="dev"), "bob")
    follow = swapped(store, lease, flow_plan(NEW))
    promoted = store.promote(built)
    assert store.open_change("other") == promoted
    assert store.complete_change(reader_lease, promoted)
    again = asked_again(store, follow)
    assert (again.plan, again.moves) == (edited, {TABLE: FIRST})
    assert store.complete_change(reader_lease, again)
    assert store.versions("other") == {TABLE: 2}
    assert store.open_change("other") is None


def test_a_reader_two_versions_behind_goes_from_each_to_the_next(store, lease, reader_lease, follow, flow_plan):
    assert swapped(store, lease, flow_plan(NEWER), AT_SECOND) == follow, "it reads the first one to its end"
    assert store.complete_change(reader_lease, follow)
    assert store.versions("other") == {TABLE: 2}
    second = asked_again(store, follow)
    assert second.moves == {TABLE: SECOND}
    assert store.complete_change(reader_lease, second)
    assert store.versions("other") == {TABLE: 3}
    assert store.open_change("other") is None


def test_a_reader_two_versions_behind_rebuilds_what_each_says(store, lease, reader_lease, follow, flow_plan):
    swapped(store, lease, flow_plan(NEWER), AT_SECOND, REBUILT)
    assert store.open_change("other").versions == {}
    assert store.complete_change(reader_lease, follow)
    assert set(asked_again(store, follow).versions) == {"dwd.copy"}


@pytest.fixture
def rebuilt_once(store, reader, lease, reader_lease, flow_plan):
    """The table of the reader was rebuilt for the sake of the second version of what it reads."""
    first = swapped(store, lease, flow_plan(NEW), {**AT, "orders": {"0": 5}}, REBUILT)
    assert store.complete_change(reader_lease, first, at={**AT, "dwd.copy": {}, "dwd.copy__v2": {}})
    assert store.versions("other") == {TABLE: 2, "dwd.copy": 2}


def test_what_rests_on_a_third_version_is_never_what_rested_on_the_first(store, lease, rebuilt_once, flow_plan):
    follow = swapped(store, lease, flow_plan(NEWER), {**AT_SECOND, "orders": {"0": 5}}, REBUILT)
    assert (follow.moves, follow.versions) == ({TABLE: SECOND}, {"dwd.copy": 3})


def test_what_rests_on_the_version_that_serves_again_serves_again(store, lease, rebuilt_once, flow_plan):
    follow = swapped(store, lease, flow_plan(OLD), {**AT, "orders": {"0": 5}}, REBUILT)
    assert (follow.moves, follow.versions) == ({TABLE: Move(1, FIRST.began, FIRST.ended)}, {"dwd.copy": 1})


def test_a_reader_of_the_version_that_serves_again_stays_there(store, lease, reader, flow_plan):
    at = {**AT, "orders": {"0": 5}}
    follow = swapped(store, lease, flow_plan(NEW), at)
    assert swapped(store, lease, flow_plan(OLD), at) == follow
    store.give_up(follow.id)
    assert store.open_change("other") is None
    assert store.versions("other") == {TABLE: 1}


@pytest.fixture
def failed(store, reader_lease, follow):
    assert store.move_change(reader_lease, follow, Phase.FAILED, "a row violates an expectation")
    return follow


def test_a_reader_whose_change_failed_is_named(store, failed):
    assert store.open_change("other") is None, "what fails is not tried again at once"
    [wait] = waits_of(store, "other")
    assert (wait.whom, wait.what) == (WaitsFor.REPAIR, f"version 1 of {TABLE}")
    assert "gets no more rows since change 1 of retail" in wait.why
    assert "version 2" in wait.why
    assert wait.remedy.startswith("streamhouse run other")
    assert waits_of(store, "retail") == ()


def test_a_reader_whose_change_failed_is_asked_again_when_it_starts(store, reader, failed):
    begun = begin(store, reader)
    assert begun.change == asked_again(store, failed)
    assert begun.change.moves == {TABLE: FIRST}
    [wait] = waits_of(store, "other")
    assert wait.what == f"change {begun.change.id}"
    assert begin(store, reader).change == begun.change


def test_an_edit_that_mends_a_reader_comes_before_it_goes_on(store, reader, reader_lease, failed):
    """An epoch that fails on a row can end with an edit, and not with an edit that reads other tables."""
    edited = reader.model_copy(update={"description": "edited"})
    mended = store.ask_change(Wish(edited, Outcome.NO_OP), "bob")
    assert mended.moves == {}
    assert store.complete_change(reader_lease, mended)
    again = asked_again(store, mended)
    assert (again.plan, again.moves) == (edited, {TABLE: FIRST})


def test_a_reader_of_which_no_record_says_where_it_goes_on_is_named(store, reader, failed):
    store.tables.dropped(TABLE, 1)
    assert begin(store, reader).change is None
    [wait] = waits_of(store, "other")
    assert "no record says where other goes on" in wait.why
    assert "streamhouse restore" in wait.remedy


def test_a_flow_that_reads_what_serves_waits_for_nothing(store, reader):
    assert waits_of(store, "other") == ()
    assert store.tables.outdated_reads("other") == []
