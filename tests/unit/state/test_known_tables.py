"""Which tables must be there, and how far."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import event

from streamhouse.errors import StateConflictError
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Tier
from streamhouse.runtime.owner import this_owner
from streamhouse.state.damage import damaged
from streamhouse.state.records import EpochRecord
from streamhouse.stores.ledger import LedgerEntry

TABLE = Table(
    name="dwd.sales", columns=(Column(name="k", type="bigint"),), tiers={"hot": "1d", "warm": "30d", "cold": "forever"}
)
LATER_MS = 10**15


def finish(store, epoch, ends, at_ms):
    now = datetime.now(UTC)
    lease = store.acquire("retail", this_owner(), timedelta(minutes=1), now)
    store.begin_epoch(lease, "main", epoch, 1, now)
    store.finish_epoch(lease, EpochRecord("retail", "main", epoch, 1, 1, at_ms, ends={TABLE.name: ends}))


def selects(store):
    """The queries that the database answers from now on."""
    found = []

    def note(*given):
        if given[2].startswith("SELECT"):
            found.append(given[2])

    event.listen(store._database._engine, "before_cursor_execute", note)
    return found


def test_nothing_is_known_of_a_table_that_nobody_made(store):
    assert store.stored_tables.known(TABLE, Tier.WARM) is None


def test_the_first_identity_stays_until_the_table_is_dropped(store):
    tables = store.stored_tables
    tables.record_table(TABLE, Tier.WARM, "one")
    tables.record_table(TABLE, Tier.WARM, "another")
    assert tables.known(TABLE, Tier.WARM) == LedgerEntry("one")
    assert tables.known(TABLE, Tier.COLD) is None
    tables.dropped(TABLE.name, Tier.WARM)
    assert tables.known(TABLE, Tier.WARM) is None


def test_rounds_only_rise(store):
    tables = store.stored_tables
    tables.record_table(TABLE, Tier.COLD, "one")
    for round_, snapshot in ((0, 3), (4, 9), (2, 5)):
        tables.filled(TABLE, Tier.COLD, round_, {"snapshot": snapshot})
    assert tables.known(TABLE, Tier.COLD) == LedgerEntry("one", {"snapshot": 9}, 4)


def test_what_a_flow_writes_ends_where_its_last_epoch_left_it(store):
    finish(store, 0, {"0": 5, "1": 2}, LATER_MS)
    assert store.stored_tables.known(TABLE, Tier.HOT) == LedgerEntry(end={"0": 5, "1": 2}), "nobody recorded who it is"
    store.stored_tables.record_table(TABLE, Tier.HOT, "one")
    finish(store, 1, {"0": 8, "1": 2}, LATER_MS)
    assert store.stored_tables.known(TABLE, Tier.HOT) == LedgerEntry("one", {"0": 8, "1": 2})
    assert store.stored_tables.known(TABLE, Tier.WARM) is None, "a copy has positions of its own"


def test_epochs_before_the_table_was_made_are_of_another_one(store):
    finish(store, 0, {"0": 5}, 1)
    store.stored_tables.record_table(TABLE, Tier.HOT, "one")
    assert store.stored_tables.known(TABLE, Tier.HOT) == LedgerEntry("one")


def test_all_tables_together_are_known_as_each_alone(store):
    finish(store, 0, {"0": 5, "1": 2}, LATER_MS)
    tables, together = store.stored_tables, store.stored_tables.together()
    tables.record_table(TABLE, Tier.WARM, "one")
    tables.filled(TABLE, Tier.WARM, 3, {"snapshot": 4})
    tables.dropped(TABLE.name, Tier.COLD)
    for tier in Tier:
        assert together.known(TABLE, tier) == tables.known(TABLE, tier)
    tables.record_table(TABLE, Tier.HOT, "two")
    assert together.known(TABLE, Tier.HOT) == LedgerEntry(end={"0": 5, "1": 2}), "as it was"
    together.renew()
    assert together.known(TABLE, Tier.HOT) == LedgerEntry("two", {"0": 5, "1": 2})


def test_a_look_at_all_tables_asks_the_database_once(store):
    finish(store, 0, {"0": 5}, LATER_MS)
    asked, together = selects(store), store.stored_tables.together()
    for number in range(50):
        together.known(TABLE.model_copy(update={"name": f"dwd.sales_{number}"}), Tier.HOT)
    assert len(asked) == 2


def test_a_damaged_record_hides_no_other_table(store, monkeypatch):
    store.stored_tables.record_table(TABLE, Tier.WARM, "one")
    together = store.stored_tables.together()
    monkeypatch.setattr("streamhouse.state.epochs.newest", lambda _: (_ for _ in ()).throw(damaged("an epoch")))
    assert together.known(TABLE, Tier.WARM) == LedgerEntry("one")
    with pytest.raises(StateConflictError):
        together.known(TABLE, Tier.HOT)


@pytest.mark.parametrize(
    ("recorded", "found"),
    [
        ((), {}),
        ((6,), {}),
        ((4, 6), {4: 40, 5: None}),
        ((4, 5, 6), {4: 40, 5: 50}),
        ((6, 9), {8: None}),
        ((2, 9), {4: None, 5: None, 8: None}),
    ],
    ids=str,
)
def test_an_epoch_is_known_never_to_have_been_where_an_earlier_and_a_later_one_are_known(store, recorded, found):
    store.begin_at([EpochRecord("retail", "main", one, 10 * one, 1, 1) for one in recorded])
    assert store.stored_tables.recorded_times("retail/main", [4, 5, 8]) == found


def test_an_epoch_of_which_a_restore_does_not_know_the_time_is_no_other_one(store):
    times = {4: 0, 6: 0, 7: 70}
    store.begin_at([EpochRecord("retail", "main", epoch, at_ms, 1, 1) for epoch, at_ms in times.items()])
    assert store.stored_tables.recorded_times("retail/main", [4, 5, 6, 7]) == {5: None, 7: 70}
    assert store.recorded_times("retail", "main", [4, 6, 7]) == {7: 70}


def test_times_of_epochs_are_read_once(store):
    store.begin_at([EpochRecord("retail", "main", one, 10 * one, 1, 1) for one in (2, 9)])
    asked = selects(store)
    assert store.stored_tables.recorded_times("retail/main", [2, 4, 9]) == {2: 20, 4: None, 9: 90}
    assert len(asked) == 2, "their bounds, and the epochs between them"
