"""A clock that goes back: what is newest stays so, as numbers say it and not times."""

from datetime import UTC, datetime

import pytest

from streamhouse.model.definition import Definition
from streamhouse.model.outcome import Outcome
from streamhouse.model.schema_change import EventType
from streamhouse.model.table import Column
from streamhouse.model.upstream import UpstreamEvent
from streamhouse.state.approvals import ApprovalState
from streamhouse.state.changes import Wish
from streamhouse.state.records import EpochRecord
from streamhouse.state.upstream import EventStatus

TABLE = "ods.orders"
LATE, EARLY = 1_000_000, 10_000


@pytest.fixture
def clock(monkeypatch):
    """Milliseconds, in a list of one."""
    at = [LATE]
    monkeypatch.setattr("streamhouse.state.store.to_ms", lambda _: at[0])
    return at


def at(ms):
    return datetime.fromtimestamp(ms / 1000, UTC)


def finished(segment, epoch, finished_ms):
    return EpochRecord("retail", segment, epoch, 1, 1, finished_ms, end={"orders": {"0": epoch}})


def test_the_last_epoch_of_a_segment_is_the_one_of_the_highest_number(store):
    for number, finished_ms in enumerate((LATE, LATE + 1, EARLY, EARLY + 1)):
        store.begin_at([finished("main", number, finished_ms)])
    assert store.last_epoch("retail", "main").end == {"orders": {"0": 3}}
    assert [one.epoch for one in store.recent_epochs("retail", "main", 3)] == [3, 2, 1]
    assert [one.epoch for one in store.recent_epochs("retail", None, 3)] == [3, 2, 1]


def test_epochs_of_several_segments_are_in_the_order_of_each(store):
    store.begin_at([finished("a", 0, LATE), finished("a", 1, EARLY)])
    store.begin_at([finished("b", 0, EARLY + 1), finished("b", 1, EARLY + 2)])
    found = [(one.segment, one.epoch) for one in store.recent_epochs("retail", None, 9)]
    assert found == [("b", 1), ("b", 0), ("a", 1), ("a", 0)]
    assert store.recent_epochs("retail", None, 1) == [finished("b", 1, EARLY + 2)]
    assert store.recent_epochs("nothing", None, 1) == []


def applied(store, lease, plan, tables=frozenset({TABLE})):
    change = store.ask_change(Wish(plan, Outcome.REBUILD if tables else Outcome.SWAP, tables), "ann")
    assert store.complete_change(lease, change, at={TABLE: {}})
    return change


def test_the_change_that_was_applied_last_is_the_newest(store, lease, flow_plan, clock):
    store.save_plan(flow_plan("SELECT 0 AS id"))
    applied(store, lease, flow_plan("SELECT 1 AS id"), frozenset())
    clock[0] = EARLY
    last = applied(store, lease, flow_plan("SELECT 2 AS id"), frozenset())
    assert store.overview.newest_applied_change("retail").id == last.id


def test_a_change_that_keeps_the_plan_is_the_newest_too(store, lease, flow_plan, clock):
    plan = flow_plan("SELECT 0 AS id")
    store.save_plan(plan)
    applied(store, lease, plan, frozenset())
    clock[0] = EARLY
    last = applied(store, lease, plan, frozenset())
    found = store.overview.newest_applied_change("retail")
    assert (found.id, found.at) == (last.id, store.change(last.id).updated_at)


def test_versions_serve_one_after_the_other(store, lease, flow_plan, clock):
    store.save_plan(flow_plan("SELECT 0 AS id"))
    applied(store, lease, flow_plan("SELECT 1 AS id"))
    clock[0] = EARLY
    applied(store, lease, flow_plan("SELECT 2 AS id"))
    served = store.tables.served()[TABLE]
    assert [one.version for one in served] == [1, 2, 3]
    assert served[1].since_ms < served[2].since_ms
    assert [one.version for one in store.tables.retired()] == [1, 2]


def test_a_question_that_is_asked_again_is_the_newest(store):
    first = store.approvals.ask("retail", "subject", "asks", "evidence", now=at(LATE))
    store.approvals.withdraw("retail", ["subject"], at(EARLY))
    second = store.approvals.ask("retail", "subject", "asks", "evidence", now=at(EARLY + 1))
    assert second.id != first.id
    assert store.approvals.ask("retail", "subject", "asks", "evidence", now=at(EARLY + 2)) == second
    store.approvals.decide(second.id, grant=True, by="ann", now=at(EARLY + 3))
    assert store.approvals.about("retail", "subject", at(EARLY + 4)).state is ApprovalState.GRANTED


def test_stamps_change(store, flow_plan, clock):
    tax = Column(name="tax", type="int")
    seen = UpstreamEvent(type=EventType.ADD_COLUMN, object="orders", before="1", after="2", now=tax)
    other = UpstreamEvent(type=EventType.ADD_COLUMN, object="orders", before="2", after="3", now=tax)
    store.upstream.record("retail", [seen, other], at(LATE))
    store.upstream.settle("retail", other.id, EventStatus.WAITING, now=at(LATE + 1))
    plan = flow_plan()
    store.save_plan(plan, definition=Definition(flow="retail", files={"a": "1"}))
    other_plan = flow_plan("SELECT 9 AS id")
    clock[0] = LATE + 1
    store.save_plan(other_plan, definition=Definition(flow="retail", files={"a": "1"}))
    stamps = store.upstream.stamp(), store.definitions.stamp()
    clock[0] = EARLY
    store.upstream.settle("retail", seen.id, EventStatus.WAITING, now=at(EARLY))
    store.save_plan(plan, definition=Definition(flow="retail", files={"a": "2"}))
    assert store.upstream.stamp() != stamps[0]
    assert store.definitions.stamp() != stamps[1]


def test_the_generation_of_a_flow_rises_with_each_plan_and_each_version(store, lease, flow_plan):
    """Also where the plan stays as it is, and where the state store is older than its tables."""
    seen = [store.tables.generation("retail")]
    plan = flow_plan("SELECT 0 AS id")
    store.save_plan(plan)
    seen.append(store.tables.generation("retail"))
    applied(store, lease, plan)
    seen.append(store.tables.generation("retail"))
    store.restore(lease, plan, {}, {}, above=70)
    seen.append(store.tables.generation("retail"))
    store.restore(lease, None, {}, {}, above=7)
    seen.append(store.tables.generation("retail"))
    assert seen[0] == 0
    assert seen == sorted(set(seen))
    assert seen[3] > 70
    assert store.tables.generation("other") == 0
