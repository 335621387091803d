"""A record with a value that nothing ever recorded: who reads it gets an error that says so, and no other."""

from datetime import timedelta
from itertools import product

import pytest
from sqlalchemy import JSON, create_engine, event, text

from streamhouse.errors import StoreError, StreamhouseError
from streamhouse.model.definition import Definition
from streamhouse.model.outcome import Outcome
from streamhouse.model.schema_change import EventType
from streamhouse.model.table import Column
from streamhouse.model.types import Tier
from streamhouse.model.upstream import UpstreamEvent
from streamhouse.state.autopilot import NewDecision
from streamhouse.state.changes import Wish
from streamhouse.state.checked import BigInteger, Integer, Text
from streamhouse.state.proposals import RecordedEvent, RecordedProposal
from streamhouse.state.records import EpochRecord
from streamhouse.state.runners import WantedState
from streamhouse.state.schema import metadata
from streamhouse.state.store import StateStore
from streamhouse.state.troubles import RESTORE

pytestmark = pytest.mark.proof
OTHERS = ("no such word", 2**62, -7, 1.5, b"\xff\xfe")
OTHER_DOCUMENTS = ("[]", "7", '{"7": 7}', "{", "null", '"text"')
EMPTY = {f"streamhouse_{name}" for name in ("read_version", "forgetting", "meaning", "kept_meaning")}
"""Tables that no row of this test is in."""
DONE = EpochRecord(
    "retail", "main", 0, 1_000, 1_005, 1_090,
    start={"orders": {"row": 0}}, end={"orders": {"row": 7}}, ends={"ods.orders": {"0": 9}}, rows={"ods.orders": 7},
    layer_visible_ms={"ods": 1_080},
)  # fmt: skip


def fill(store, owner, now, flow_plan):
    """At least one row in most tables."""
    lease = store.acquire("retail", owner, timedelta(seconds=30), now)
    store.save_plan(flow_plan(), definition=Definition(flow="retail", files={}))
    store.begin_epoch(lease, "main", 0, DONE.at_ms, now)
    store.finish_epoch(lease, DONE)
    store.metrics.flush()
    change = store.ask_change(Wish(flow_plan("SELECT 2 AS id"), Outcome.REBUILD, frozenset({"ods.orders"})), "ann")
    store.complete_change(lease, change, at={"ods.orders": {}})
    store.ask_change(Wish(flow_plan("SELECT 3 AS id"), Outcome.REBUILD, frozenset({"ods.orders"})), "ann")
    tax = Column(name="tax", type="int")
    seen = UpstreamEvent(type=EventType.ADD_COLUMN, object="orders", before="1", after="2", now=tax)
    store.upstream.record("retail", [seen])
    store.upstream.save_pins("retail", {"orders": "{}"})
    [table] = flow_plan().tables.values()
    store.stored_tables.record_table(table, Tier.HOT, "an identity")
    store.approvals.ask("retail", seen.id, "take it up", "it is new", now=now)
    store.troubles.failed("retail", "ods.orders", Tier.WARM, RESTORE, StoreError("no answer"))
    store.autopilot.suggest(
        NewDecision("retail", "a", "b", "c", "d", "e", "f", timedelta(1), now, "g", {"n": 1}, {}, "swap"), now
    )
    store.runners.claim("main", owner, timedelta(seconds=30), alive=lambda _: True, now=now)
    store.runners.ask("retail", WantedState.RUNNING, "ann")
    store.tier_asks.ask("retail", is_check=False)
    store.proposals.add(RecordedProposal("p", "retail", "{}", "{}", (RecordedEvent(now, "made", ""),)))
    store.proposals.send("p", "[]", now)


def readers(store, owner, now):
    lease = store.acquire("retail", owner, timedelta(seconds=30), now)
    return [
        lambda: store.plans(), lambda: store.history("retail"), lambda: store.definitions.applied(),
        lambda: store.recent_changes(), lambda: store.open_change("retail"), lambda: store.versions(),
        lambda: store.running_plans(), lambda: store.newest_epochs(), lambda: store.recent_epochs("retail"),
        lambda: store.progress("retail", now), lambda: store.progress("retail", now, alive=lambda _: True),
        lambda: store.events(), lambda: store.overview.flows(5, now), lambda: store.tables.retired(),
        lambda: store.upstream.events(), lambda: store.upstream.open("retail"), lambda: store.upstream.paused("retail"),
        lambda: store.approvals.list(every=True), lambda: store.troubles.current(),
        lambda: store.autopilot.log(), lambda: store.runners.all(now), lambda: store.runners.all_wanted(),
        lambda: store.tier_asks.due("main"), lambda: store.proposals.all(), lambda: store.proposals.all_sent(),
        lambda: store.metrics.read("retail", 0, 60), lambda: store.stored_tables.made(),
        lambda: store.renew(lease, now), lambda: store.upstream.pins("retail"),
    ]  # fmt: skip


def refused(read):
    """The errors of the readers that are none of ours."""
    try:
        read()
    except StreamhouseError:
        return []
    except Exception as error:  # noqa: BLE001  the subject of the test
        return [repr(error)]
    return []


def is_rowid(column):
    """SQLite takes nothing else than a whole number there."""
    return isinstance(column.type, Integer | BigInteger) and [*column.table.primary_key] == [column]


def wrong_values(column):
    documents = OTHER_DOCUMENTS if isinstance(column.type, JSON | Text) else ()
    return [*OTHERS, *documents, *([None] if column.nullable else [])]


def those_that_read(store, tries):
    """Table → the readers that ask for it."""
    found = {table.name: [] for table in metadata.sorted_tables}
    for read in tries:
        asked = []

        def listen(_connection, _cursor, words, *_, to=asked):
            to.append(words)

        event.listen(store._database._engine, "before_cursor_execute", listen)
        assert refused(read) == []
        event.remove(store._database._engine, "before_cursor_execute", listen)
        for table, its in found.items():
            if any(f"{table} " in f"{words} ".replace(chr(10), " ") for words in asked):
                its.append(read)
    return found


def test_no_value_of_any_column_is_an_unknown_error(sqlite_url, owner, now, flow_plan):
    found, empty = {}, set()
    with StateStore(sqlite_url) as store:
        fill(store, owner, now, flow_plan)
    with StateStore(sqlite_url) as store, create_engine(sqlite_url).connect() as connection:
        connection.execute(text("PRAGMA synchronous=OFF"))
        tries = those_that_read(store, readers(store, owner, now))
        for table in metadata.sorted_tables:
            names = ", ".join(f'"{one.name}"' for one in table.columns)
            rows = connection.execute(text(f"SELECT rowid AS place, {names} FROM {table.name}")).all()
            connection.commit()
            empty |= set() if rows else {table.name}
            for row, column in product(rows[:1], (one for one in table.columns if not is_rowid(one))):
                change = text(f'UPDATE OR IGNORE {table.name} SET "{column.name}" = :value WHERE rowid = :row')
                for value in wrong_values(column):
                    connection.execute(change, {"value": value, "row": row.place})
                    connection.commit()
                    for words in (words for read in tries[table.name] for words in refused(read)):
                        found.setdefault(words, f"{table.name}.{column.name} = {value!r}")
                connection.execute(change, {"value": getattr(row, column.name), "row": row.place})
                connection.commit()
    assert not found, "\n".join(f"{where}: {error}" for error, where in found.items())
    assert empty == EMPTY
