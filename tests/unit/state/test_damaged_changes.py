"""A letter in a change that is not as it was recorded: an error, never another change."""

import json

import pytest
from sqlalchemy import create_engine, text

from streamhouse.model.forgetting import Forgetting, KeyPart
from streamhouse.model.outcome import Outcome
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
