"""What the autopilot proposed and did is kept, and is told as events."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import create_engine, text

from streamhouse.state.autopilot import DecisionState, NewDecision
from streamhouse.state.store import StateStore

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
NEW = NewDecision(
    "shop", "shop:small_epochs:", "small_epochs", "edit", "epochs are full", "let them be larger", "rows_per_second",
    timedelta(minutes=10), AT - timedelta(minutes=3), "the mode is suggest", {"epochs": 12},
    {"max_rows_per_epoch": 80}, "swap",
)  # fmt: skip


def told(store):
    return [event.text for event in store.events("shop") if event.kind == "autopilot"]


def test_a_suggestion_is_recorded_once_while_it_stands(store):
    first, is_new = store.autopilot.suggest(NEW, AT)
    assert is_new
    again, is_new = store.autopilot.suggest(
        NewDecision(**{**vars(NEW), "text": "still full"}), AT + timedelta(minutes=1)
    )
    assert (again.id, again.text, again.found_at, is_new) == (first.id, "still full", AT, False)
    assert (again.numbers, again.edits, again.outcome) == ({"epochs": 12}, {"max_rows_per_epoch": 80}, "swap")
    assert told(store) == ["suggested (1, let them be larger): epochs are full; the mode is suggest"]


def test_another_reason_why_it_is_not_applied_is_told_once(store):
    store.autopilot.suggest(NEW, AT)
    for _ in range(2):
        again, is_new = store.autopilot.suggest(replace(NEW, reason="these are the quiet hours"), AT)
    assert (again.reason, is_new) == ("these are the quiet hours", False)
    assert told(store)[1:] == ["still suggested (1, let them be larger): these are the quiet hours"]


def test_a_suggestion_whose_fault_is_gone_is_over_and_may_come_again(store):
    first, _ = store.autopilot.suggest(NEW, AT)
    assert store.autopilot.over(["other"], [], AT) == []
    assert store.autopilot.over(["shop"], [NEW.finding], AT) == []
    (over,) = store.autopilot.over(["shop"], [], AT)
    assert (over.id, over.state) == (first.id, DecisionState.OVER)
    second, is_new = store.autopilot.suggest(NEW, AT)
    assert is_new
    assert second.id != first.id


def test_what_becomes_of_it_is_kept_with_its_reason_and_numbers(store):
    first, _ = store.autopilot.suggest(NEW, AT)
    later = AT + timedelta(minutes=1)
    begun = store.autopilot.move(
        first, DecisionState.APPLYING, "", later, before=12.5, file="flows/shop.yaml", old_text="a", new_hash="b"
    )
    assert store.autopilot.suggest(NEW, later) == (begun, False), "what is being done stays as it is"
    applied = store.autopilot.move(begun, DecisionState.APPLIED, "change 3, swap", later)
    assert (applied.applied_at, applied.before, applied.old_text) == (later, 12.5, "a")
    kept = store.autopilot.move(applied, DecisionState.KEPT, "12 before, 99 after", later, after=99.0)
    assert store.autopilot.open() == []
    assert store.autopilot.log("shop") == [kept]
    assert store.autopilot.log("other") == []
    assert told(store)[1:] == [
        "applied (1, let them be larger): change 3, swap",
        "kept (1, let them be larger): 12 before, 99 after",
    ]


def test_what_was_moved_or_applied_since(store):
    first, _ = store.autopilot.suggest(NEW, AT)
    applied = store.autopilot.move(first, DecisionState.APPLIED, "", AT)
    assert store.autopilot.moved_since(AT) == [applied]
    assert store.autopilot.moved_since(AT + timedelta(seconds=1)) == []


def test_an_older_store_gets_the_table(sqlite_url):
    with StateStore(sqlite_url) as store:
        store.flows()
    engine = create_engine(sqlite_url)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE streamhouse_autopilot"))
        connection.execute(text("UPDATE streamhouse_schema SET version = 6"))
    engine.dispose()
    with StateStore(sqlite_url) as store:
        store.autopilot.suggest(NEW, AT)
        assert len(store.autopilot.open("shop")) == 1
