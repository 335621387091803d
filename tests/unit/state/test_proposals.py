"""What was proposed is in the state store: for all machines, of several writers at once, and bounded."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import create_engine, text

from streamhouse.state import proposals
from streamhouse.state.proposals import RecordedEvent, RecordedProposal, RecordedSent
from streamhouse.state.store import StateStore

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
ASKED = RecordedEvent(AT, "asked")
ONE = RecordedProposal("a1", "shop", '{"wish": "ü"}', '{"alone": true}', (ASKED,))


def event(what, detail="", seconds=0):
    return RecordedEvent(AT + timedelta(seconds=seconds), what, detail)


def test_another_machine_sees_what_was_proposed(store, url):
    assert (store.proposals.all(), store.proposals.get("a1"), store.proposals.ids()) == ([], None, [])
    store.proposals.add(ONE)
    with StateStore(url) as other:
        assert other.proposals.get("a1") == ONE
        assert other.proposals.all() == [ONE]
        assert other.proposals.all("shop") == [ONE]
        assert other.proposals.all("other") == []
        assert other.proposals.ids() == ["a1"]


def test_the_same_proposal_again_is_one_and_its_last_text_counts(store):
    store.proposals.add(ONE)
    store.proposals.add(replace(ONE, body="{}", asked="{}", events=(event("asked", seconds=1),)))
    store.proposals.add(replace(ONE, body="[]", asked="[]", events=(event("failed", "why", 2),)), keeps_asked=True)
    assert store.proposals.all() == [replace(ONE, body="[]", asked="{}", events=(ASKED, event("failed", "why", 2)))]


def test_what_becomes_of_a_proposal_leaves_its_text(store):
    assert not store.proposals.note("a1", event("revised", "b2"))
    store.proposals.add(ONE)
    assert store.proposals.note("a1", event("revised", "b2", 1))
    assert store.proposals.get("a1") == replace(ONE, events=(ASKED, event("revised", "b2", 1)))


def test_that_to_which_something_happened_last_is_first(store):
    for number, name in enumerate(("a1", "b2", "c3")):
        store.proposals.add(replace(ONE, id=name, events=(event("asked", seconds=number),)))
    store.proposals.note("a1", event("written", "the project", 9))
    assert [one.id for one in store.proposals.all()] == ["a1", "c3", "b2"]


def test_writers_at_once_lose_nothing(store, url):
    store.flows()

    def work(writer):
        with StateStore(url) as mine:
            for number in range(8):
                mine.proposals.add(replace(ONE, events=(event("failed", f"{writer} {number}", number),)))
                mine.proposals.add(replace(ONE, id=f"{writer}{number}", events=(event("asked"),)))
                mine.proposals.note(f"{writer}{number}", event("written", "the project", 1))

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, "xyz"))
    assert len(store.proposals.all()) == 25
    assert sorted(one.detail for one in store.proposals.get("a1").events) == sorted(
        f"{writer} {number}" for writer in "xyz" for number in range(8)
    )
    assert {len(one.events) for one in store.proposals.all() if one.id != "a1"} == {2}


def test_the_newest_stay_and_what_was_written_longer(store, monkeypatch):
    monkeypatch.setattr(proposals, "RETAINED", 2)
    store.proposals.add(ONE)
    store.proposals.note("a1", event("written", "the project", 1))
    store.proposals.send("draft", "[]", AT)
    store.proposals.belongs_to("draft", "p2")
    for number in range(2, 7):
        store.proposals.add(replace(ONE, id=f"p{number}", events=(event("asked", seconds=number),)))
    assert [one.id for one in store.proposals.all()] == ["p6", "p5", "a1"]
    assert store.proposals.get("p2") is None
    assert store.proposals.sent_for("p2") == [], "what was sent for it goes with it"
    for number in (5, 6):
        store.proposals.note(f"p{number}", event("written", "the project", 10 + number))
    assert [one.id for one in store.proposals.all()] == ["p6", "p5"]


def test_the_events_of_one_proposal_are_bounded_and_that_it_was_written_stays(store):
    store.proposals.add(replace(ONE, events=(ASKED, event("written", "the project", 1))))
    for number in range(2, 120):
        store.proposals.note("a1", event("failed", str(number), number))
    found = store.proposals.get("a1").events
    assert len(found) == 100
    assert [one.what for one in found[:2]] == ["written", "failed"]
    assert found[-1].detail == "119"


def test_what_is_sent_is_recorded_before_there_is_a_proposal(store):
    assert store.proposals.sent_last() is None
    store.proposals.send("draft", "[1]", AT)
    store.proposals.send("draft", "[1, 2]", AT)
    assert store.proposals.sent_for("draft") == [RecordedSent(AT, "[1, 2]", unfinished=True)]
    assert store.proposals.sent_last() == "draft"
    store.proposals.belongs_to("draft", "a1")
    assert store.proposals.sent_for("draft") == []
    assert store.proposals.sent_for("a1") == [RecordedSent(AT, "[1, 2]")]
    store.proposals.send("more", "[3]", AT)
    store.proposals.belongs_to("more", "a1")
    assert [one.requests for one in store.proposals.sent_for("a1")] == ["[1, 2]", "[3]"]
    assert store.proposals.all_sent() == [("a1", RecordedSent(AT, text)) for text in ("[1, 2]", "[3]")]


def test_what_was_sent_is_bounded(store):
    for number in range(30):
        store.proposals.send(f"d{number}", f"[{number}]", AT)
        store.proposals.belongs_to(f"d{number}", "a1")
    assert [one.requests for one in store.proposals.sent_for("a1")] == [f"[{number}]" for number in range(10, 30)]
    for number in range(110):
        store.proposals.send(f"u{number}", "[]", AT)
    assert [name for name, one in store.proposals.all_sent() if one.unfinished] == [f"u{n}" for n in range(10, 110)]


def test_a_proposal_is_removed_with_all_that_belongs_to_it(store):
    store.proposals.add(ONE)
    store.proposals.send("draft", "[1]", AT)
    store.proposals.belongs_to("draft", "a1")
    assert store.proposals.remove("a1")
    assert (store.proposals.all(), store.proposals.all_sent()) == ([], [])
    assert not store.proposals.remove("a1")
    store.proposals.add(replace(ONE, events=()))
    assert store.proposals.all() == [replace(ONE, events=())], "no event of the old one is left"


def test_what_is_removed_is_in_no_file(sqlite_url, tmp_path):
    with StateStore(sqlite_url) as store:
        store.proposals.add(replace(ONE, body="household_id: 4711"))
        store.proposals.remove("a1")
        store.proposals.remove_deleted()
        files = [file.read_bytes() for file in (tmp_path / "deep").iterdir()]
    assert files
    assert all(b"4711" not in one for one in files)


def test_taking_over_again_changes_nothing(store):
    old = replace(ONE, events=(ASKED, event("written", "the project", 5)))
    sent = [("a1", RecordedSent(AT, "[1]")), ("a1", RecordedSent(AT + timedelta(seconds=1), "[2]"))]
    for _ in range(2):
        store.proposals.take_over([old], sent)
    assert store.proposals.all() == [old]
    assert store.proposals.all_sent() == sent


def test_of_a_proposal_that_two_machines_have_all_events_are_taken_over(store):
    store.proposals.add(replace(ONE, body="newer", events=(event("asked", seconds=9),)))
    store.proposals.take_over([replace(ONE, events=(ASKED, event("written", "the project", 5)))], [])
    found = store.proposals.get("a1")
    assert found.body == "newer"
    assert found.events == (event("written", "the project", 5), event("asked", seconds=9))


@pytest.mark.parametrize("version", [6, 9])
def test_an_older_store_gets_the_tables(url, version):
    with StateStore(url) as store:
        store.append_event("shop", "run", "one", AT)
    engine = create_engine(url)
    with engine.begin() as connection:
        for table in ("proposal", "proposal_event", "sent"):
            connection.execute(text(f"DROP TABLE streamhouse_{table}"))
        connection.execute(text("UPDATE streamhouse_schema SET version = :version"), {"version": version})
    engine.dispose()
    with StateStore(url) as store:
        store.proposals.add(ONE)
        store.proposals.send("draft", "[1]", AT)
        assert store.proposals.all() == [ONE]
        assert [one.text for one in store.events("shop")] == ["one"]
