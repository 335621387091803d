"""A letter in a change that is not as it was recorded: an error, never another change."""

import json
from datetime import timedelta

import pytest
from sqlalchemy import create_engine, text

from streamhouse.model.forgetting import Forgetting, KeyPart
from streamhouse.model.outcome import Outcome
from streamhouse.model.schema_change import EventType
from streamhouse.model.table import Column
from streamhouse.model.upstream import UpstreamEvent
from streamhouse.state.autopilot import NewDecision
from streamhouse.state.changes import Wish
from streamhouse.state.damage import DamagedStateError
from streamhouse.state.records import Phase
from tests.unit.state.test_changes import NEW, OLD, TABLE

PERSON = Forgetting(tables={TABLE: (KeyPart(columns=("id",), values=("zoe-4711",)),)}, sources={})
LETTERS = {
    "flow": "retain",
    "outcome": "swap",
    "environment": "del",
    "base": 2,
    "asked_by": "anm",
    "versions": json.dumps({TABLE: 3}),
    "moves": json.dumps({TABLE: {"version": 2, "ended": {"0": 3}, "began": {"0": 8}}}),
    "followers": json.dumps({"other": ["dwd.copx"]}),
    "copies": json.dumps(["ods.ordert"]),
    "marks": None,
    "body": None,
    "phase": "askee",
}
"""Column → a value that another letter makes of the one that was recorded; None: see `damage`."""


@pytest.fixture
def execute(url):
    """Changes records as no command does."""
    engine = create_engine(url)

    def run(statement, **values):
        with engine.begin() as connection:
            return connection.execute(text(statement), values)

    yield run
    engine.dispose()


@pytest.fixture
def change(store, flow_plan):
    store.save_plan(flow_plan(OLD))
    wish = Wish(
        flow_plan(NEW),
        Outcome.REBUILD,
        frozenset({TABLE}),
        followers={"other": {"dwd.copy"}},
        copies=frozenset({TABLE}),
        marks={TABLE: ("id",)},
        environment="dev",
        forgetting=PERSON,
    )
    return store.ask_change(wish, "ann")


def damage(execute, column):
    value = LETTERS[column]
    if value is None:
        recorded = execute(f"SELECT CAST({column} AS TEXT) FROM streamhouse_change").scalar_one()
        old, new = {"body": ("id + 1", "id + 3"), "marks": ('"id"', '"ie"')}[column]
        assert old in recorded
        value = recorded.replace(old, new)
    execute(f"UPDATE streamhouse_change SET {column} = :value", value=value)


@pytest.mark.parametrize("column", LETTERS)
def test_a_change_with_another_letter_is_damaged(store, change, execute, column):
    assert store.change(change.id) == change
    damage(execute, column)
    with pytest.raises(DamagedStateError, match=f"change {change.id} of flow"):
        store.change(change.id)
    found = []
    assert store.recent_changes(None, 9, found) == []
    assert [one.id for one in found] == [change.id]
    assert store.give_up(change.id).phase == Phase.WITHDRAWN


def test_another_person_is_damage(store, change, execute):
    body = execute("SELECT body FROM streamhouse_forgetting").scalar_one()
    execute("UPDATE streamhouse_forgetting SET body = :body", body=body.replace("zoe-4711", "zoe-4712"))
    with pytest.raises(DamagedStateError, match=f"change {change.id} of flow"):
        store.change(change.id)


def test_a_change_of_an_earlier_version_has_no_checksum(store, change, execute):
    execute("UPDATE streamhouse_change SET marks = :marks", marks=json.dumps({TABLE: ["id"]}))
    execute("UPDATE streamhouse_forgetting SET body = :body", body=PERSON.model_dump_json())
    assert store.change(change.id) == change
    assert store.promote(change).marks == change.marks


def test_a_change_is_whole_after_all_that_is_done_with_it(store, change, lease, execute):
    promoted = store.promote(change)
    assert (promoted.environment, promoted.marks) == (None, {TABLE: ("id",)})
    assert store.move_change(lease, promoted, Phase.BUILDING)
    assert store.complete_change(lease, promoted, at={TABLE: {}})
    assert store.change(change.id).phase is Phase.APPLIED
    damage(execute, "body")
    with pytest.raises(DamagedStateError):
        store.change(change.id)


@pytest.mark.parametrize("phase", ["askee", "applief", "gailed"])
def test_a_change_with_another_letter_in_its_phase_is_not_hidden(store, flow_plan, execute, phase):
    """Neither from the flow that would begin without it, nor from the environments."""
    store.save_plan(flow_plan(OLD))
    for environment in (None, "dev"):
        asked = store.ask_change(Wish(flow_plan(NEW), Outcome.SWAP, environment=environment), "ann")
        execute("UPDATE streamhouse_change SET phase = :phase WHERE id = :id", phase=phase, id=asked.id)
        with pytest.raises(DamagedStateError, match=f"change {asked.id} of flow") as refused:
            store.open_change("retail", environment)
        assert ("--withdraw" if environment is None else "env discard") in refused.value.hint
        unreadable = []
        store.recent_changes(None, 9, unreadable)
        assert unreadable[0].is_open
        assert unreadable[0].error.hint in unreadable[0].text
    unreadable = []
    assert store.environments(unreadable) == []
    assert [one.environment for one in unreadable] == ["dev"]
    store.withdraw_change("retail", "dev")
    assert store.environments() == []


def test_a_version_that_serves_stays_when_its_change_is_given_up(store, flow_plan, lease, execute):
    store.save_plan(flow_plan(OLD))
    asked = store.ask_change(Wish(flow_plan(NEW), Outcome.REBUILD, frozenset({TABLE})), "ann")
    assert store.complete_change(lease, asked, at={TABLE: {}})
    execute("UPDATE streamhouse_change SET phase = 'applief'")
    assert store.give_up(asked.id).phase is Phase.WITHDRAWN
    assert store.versions() == {TABLE: 2}
    assert store.open_change("retail") is None


def test_another_letter_in_the_status_of_a_change_upstream_is_damage(store, execute):
    tax = Column(name="tax", type="int")
    seen = UpstreamEvent(type=EventType.ADD_COLUMN, object="orders", before="1", after="2", now=tax)
    store.upstream.record("retail", [seen])
    execute("UPDATE streamhouse_upstream_event SET status = 'waitinf', decision = '{}'")
    for read in (store.upstream.open, store.upstream.unsettled, store.upstream.paused, store.upstream.waiting):
        with pytest.raises(DamagedStateError, match="a change upstream of flow 'retail'"):
            read("retail")


def test_another_letter_in_the_state_of_a_decision_of_the_autopilot_is_damage(store, execute, now):
    new = NewDecision("retail", "a", "b", "c", "d", "e", "f", timedelta(1), now, "g", {"n": 1}, {}, "swap")
    store.autopilot.suggest(new, now)
    execute("UPDATE streamhouse_autopilot SET state = 'applyinf'")
    for read in (store.autopilot.open, lambda: store.autopilot.suggest(new, now)):
        with pytest.raises(DamagedStateError, match="decision 1 of the autopilot"):
            read()
