"""What the ledger knows of must be there: in every store a table that is gone, another one or older is an error."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streamhouse.errors import TableLostError
from streamhouse.model.table import Table, Tiers
from streamhouse.state.records import EpochRecord, Owner
from streamhouse.state.store import StateStore
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, Store, WriteContext
from streamhouse.stores.ledger import NoLedger, behind_record, verify

Make = Callable[..., Table]


@pytest.fixture
def state(tmp_path: Path) -> Iterator[StateStore]:
    with StateStore(f"sqlite:///{tmp_path / 'state.db'}") as opened:
        yield opened


@pytest.fixture
def recorded(store: Store, state: StateStore, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(store, "ledger", state.stored_tables)
    return store


@pytest.fixture
def table(make_table: Make) -> Table:
    return make_table(k="bigint", v="string")


def write(store: Store, table: Table, epoch: int) -> Any:
    rows = pa.Table.from_pylist([{"k": epoch, "v": "a"}], schema=arrow_schema(table.columns))
    return store.write(table, Changes(rows), WriteContext("flow/segment", epoch))


def behind_its_back(store: Store, do: Callable[[], Any]) -> None:
    ledger, store.ledger = store.ledger, NoLedger()
    do()
    store.ledger = ledger


def test_a_table_that_stands_is_itself(recorded: Store, table: Table) -> None:
    assert verify(recorded, table) is None, "nobody knows of it"
    recorded.create(table)
    known = verify(recorded, table)
    assert known is not None
    assert known.identity == recorded.identity(table.name)
    write(recorded, table, 0)
    recorded.create(table)
    assert verify(recorded, table) == known


def test_a_table_that_is_gone_is_not_made_again(recorded: Store, table: Table) -> None:
    recorded.create(table)
    behind_its_back(recorded, lambda: recorded.drop(table.name))
    with pytest.raises(TableLostError, match="is gone") as lost:
        verify(recorded, table)
    assert "bring back its data" in str(lost.value.hint)
    with pytest.raises(TableLostError, match="is gone"):
        recorded.create(table)
    assert recorded.identity(table.name) is None


def test_another_table_of_its_name_is_refused(recorded: Store, table: Table) -> None:
    recorded.create(table)

    def replace() -> None:
        recorded.drop(table.name)
        recorded.create(table)

    behind_its_back(recorded, replace)
    for look in (verify, type(recorded).create, type(recorded).add_columns):
        with pytest.raises(TableLostError, match="another table"):
            look(recorded, table)


def test_a_table_that_is_dropped_is_forgotten(recorded: Store, table: Table) -> None:
    recorded.create(table)
    recorded.drop(table.name)
    assert verify(recorded, table) is None
    recorded.create(table)
    assert verify(recorded, table) is not None


def test_a_table_that_ends_before_its_record_is_refused(recorded: Store, table: Table, state: StateStore) -> None:
    if recorded.tier is table.tiers.target:
        pytest.skip("what a flow writes ends where its epochs left it")
    recorded.create(table)
    end = write(recorded, table, 0)
    state.stored_tables.filled(table, recorded.tier, 3, end)
    assert verify(recorded, table) is not None
    state.stored_tables.filled(table, recorded.tier, 4, {bucket: at + 1 for bucket, at in end.items()})
    with pytest.raises(TableLostError, match="ends before its record"):
        verify(recorded, table)


def test_what_a_flow_writes_ends_where_its_last_epoch_left_it(store: Store, state: StateStore, table: Table) -> None:
    written = table.model_copy(update={"tiers": Tiers(**{store.tier.value: timedelta(days=1)})})
    store.create(written)
    end = write(store, written, 0)
    now = datetime.now(UTC)
    lease = state.acquire("f", Owner("host", 1, now), timedelta(minutes=1), now)
    ledger, store.ledger = store.ledger, state.stored_tables
    try:
        for epoch, ends in enumerate((end, {bucket: at + 1 for bucket, at in end.items()})):
            state.begin_epoch(lease, "main", epoch, 1, now)
            state.finish_epoch(lease, EpochRecord("f", "main", epoch, 1, 1, 1, ends={written.name: ends}))
            if not epoch:
                assert verify(store, written) is not None
        with pytest.raises(TableLostError, match="ends before its record"):
            verify(store, written)
    finally:
        store.ledger = ledger


def test_only_a_bucket_of_a_partition_may_be_gone() -> None:
    assert behind_record({"0": 3}, {"0": 3, "2026-01-31#4/0": 9}) is None
    assert behind_record({"0": 3}, {"0": 3, "1": 9}) == "bucket 1 ends at 0, recorded is 9"
    assert behind_record({"snapshot": 2}, {"snapshot": 3}) == "snapshot ends at 2, recorded is 3"
