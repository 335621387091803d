"""Tables that must be there: recorded when they were made, when a round of tiering filled them, and by epochs."""

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, insert, select, update

from streamhouse.errors import StateConflictError
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.model.writer import flow_and_segment
from streamhouse.state import epochs
from streamhouse.state.connect import Database
from streamhouse.state.damage import parsing
from streamhouse.state.instants import to_ms
from streamhouse.state.records import EpochRecord
from streamhouse.state.schema import known_table as tables
from streamhouse.stores.ledger import LedgerEntry, NoLedger

_DROPPED = ""  # for an identity: what epochs left in the table until then is gone with it, as it was meant to


class KnownTables:
    """The `Ledger` of one project; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        """Touches nothing yet."""
        self._database = database

    def known(self, table: Table, tier: Tier) -> LedgerEntry | None:
        """See `Ledger.known`. What a flow writes ends where its last finished epoch left it, or later."""
        with self._database.read() as connection:
            row = connection.execute(select(tables).where(*_this(table.name, tier))).one_or_none()
            newest = epochs.newest(connection) if tier is table.tiers.target else ()
        return _entry(row, newest, table, tier)

    def together(self) -> "KnownTogether":
        """A ledger for a look at all tables, which asks the database once."""
        return KnownTogether(self, self._database)

    def made(self) -> dict[str, dict[Tier, int]]:
        """Table as stores call it → tier → when what stands there was made, in milliseconds since 1970."""
        found: dict[str, dict[Tier, int]] = {}
        with self._database.read() as connection:
            for row in connection.execute(select(tables).where(tables.c.identity != _DROPPED)):
                with parsing(f"when {row.table_name} was made"):
                    found.setdefault(row.table_name, {})[Tier(row.tier)] = int(row.made_ms)
        return found

    def record_table(self, table: Table, tier: Tier, identity: str) -> None:
        """See `Ledger.record_table`."""
        now_ms = to_ms(datetime.now(UTC))

        def work(connection: Connection) -> None:
            found = connection.execute(select(tables).where(*_this(table.name, tier))).one_or_none()
            if found is None:
                connection.execute(insert(tables).values(**_row(table.name, tier, identity, now_ms)))
            elif found.identity == _DROPPED:
                connection.execute(
                    update(tables).where(*_this(table.name, tier)).values(identity=identity, made_ms=now_ms)
                )

        self._database.write(work)

    def filled(self, table: Table, tier: Tier, round_: int, end: Position) -> None:
        """See `Ledger.filled`."""
        older = tables.c.round.is_(None) | (tables.c.round < round_)
        change = update(tables).where(*_this(table.name, tier), older).values(round=round_, ends=end)
        self._database.write(lambda connection: connection.execute(change))

    def dropped(self, name: str, tier: Tier) -> None:
        """See `Ledger.dropped`."""
        now_ms = to_ms(datetime.now(UTC))

        def work(connection: Connection) -> None:
            connection.execute(delete(tables).where(*_this(name, tier)))
            connection.execute(insert(tables).values(**_row(name, tier, _DROPPED, now_ms)))

        self._database.write(work)

    def recorded_times(self, writer: str, numbers: Collection[int]) -> Mapping[int, int | None]:
        """See `Ledger.recorded_times`."""
        flow, segment = flow_and_segment(writer)
        with self._database.read() as connection:
            return epochs.times_or_never(connection, flow, segment, numbers)


class KnownTogether(NoLedger):
    """What was recorded of all tables at one moment; it records nothing.

    A look at all tables of many flows asks several times for each of them, and each answer of the database needs the
    newest epochs of all flows.
    """

    def __init__(self, each: KnownTables, database: Database) -> None:
        """Nothing is read before the first question."""
        self._each, self._database = each, database
        self._rows: dict[tuple[str, str], Row[Any]] | None = None
        self._writers: dict[str, list[EpochRecord]] = {}
        self._is_damaged = False

    def known(self, table: Table, tier: Tier) -> LedgerEntry | None:
        """See `KnownTables.known`; as it was when the first question came, or the first one after `renew`."""
        if self._rows is None and not self._is_damaged:
            self._read()
        if self._rows is None:
            return self._each.known(table, tier)
        return _entry(self._rows.get((table.name, tier.value)), self._writers.get(table.name, ()), table, tier)

    def recorded_times(self, writer: str, numbers: Collection[int]) -> Mapping[int, int | None]:
        """See `Ledger.recorded_times`."""
        return self._each.recorded_times(writer, numbers)

    def renew(self) -> None:
        """Read again at the next question."""
        self._rows, self._is_damaged = None, False

    def _read(self) -> None:
        try:
            with self._database.read() as connection:
                rows = {(row.table_name, row.tier): row for row in connection.execute(select(tables))}
                newest = epochs.newest(connection)
        except StateConflictError:  # a record is damaged, maybe of a table that is not asked for
            self._is_damaged = True
            return
        self._rows, self._writers = rows, {}
        for record in newest:
            for name in record.ends:
                self._writers.setdefault(name, []).append(record)


def _row(name: str, tier: Tier, identity: str, created_ms: int) -> dict[str, object]:
    return {"table_name": name, "tier": tier.value, "identity": identity, "made_ms": created_ms}


def _this(name: str, tier: Tier) -> tuple[ColumnElement[bool], ...]:
    return tables.c.table_name == name, tables.c.tier == tier.value


def _entry(row: Row[Any] | None, newest: Iterable[EpochRecord], table: Table, tier: Tier) -> LedgerEntry | None:
    """See `KnownTables.known`.

    Args:
        row: What was recorded of the table; None: nothing.
        newest: The last finished epochs, at least of those who write the table.
        table: As a tier stores it.
        tier: That stores it.
    """
    end: Position = dict(row.ends or {}) if row is not None else {}
    if tier is table.tiers.target:
        end = _left_by_epochs(newest, table.name, row.made_ms if row is not None else 0)
    if row is None or row.identity == _DROPPED:
        return LedgerEntry(end=end) if any(end.values()) else None
    return LedgerEntry(row.identity, end, row.round)


def _left_by_epochs(newest: Iterable[EpochRecord], name: str, since_ms: int) -> Position:
    """Where the last finished epochs of those who write a table left it."""
    left: Position = {}
    for record in newest:
        if record.finished_ms >= since_ms:
            for bucket, end in record.ends.get(name, {}).items():
                left[bucket] = max(end, left.get(bucket, 0))
    return left
