"""Events of Debezium as columns of Arrow: which are wanted, and what each says of its row. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from streamhouse.errors import Location, SourceError, did_you_mean
from streamhouse.ingest.debezium_schema import is_ddl, truncation_id
from streamhouse.ingest.encodings import Encoding, NotConverted, SchemaPartError, TimeUnit, is_unavailable, to_arrow
from streamhouse.ingest.event_readers import Envelopes, Journaled
from streamhouse.ingest.not_null import HINT
from streamhouse.ingest.truncations import NO_DECISIONS, Truncations
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_schema

_MAY_BE_LONG = ("string", "binary", "array<", "map<", "struct<")
_OTHERS = {
    "m": "let Debezium leave messages out: skipped.operations=m",
}
UNDECIDED = "the table was truncated, and no decision about it is recorded"
_TRUNCATED = (
    "look at it with: streamhouse approvals; or never follow it: schema_change: {exclude: [truncate_table]}, or "
    "let Debezium leave it out: skipped.operations=t"
)
_ZERO = "1970-01-01T00:00:00Z"
"""How a TIMESTAMP comes that is `0000-00-00 00:00:00`; in a snapshot it is NULL. The first one that is a time is a
second later."""
_NO_SCHEMA_PART = "let the converter write schema parts as they are, or none: value.converter.schemas.enable=false"
_NO_EVENT = "cdc reads Debezium's change events as they are, without the transformation ExtractNewRecordState"
_Row = Mapping[str, Any]
WRITES = ("c", "u", "r")
_OF_COMMITS = {"ts_us": 1, "ts_ms": 1000}
_OF_TRANSACTIONS = ("txId", "gtid")
_OF_BINLOG = ("mariadb", "mysql")


class EventMark(NamedTuple):
    """What an event says of itself.

    Attributes:
        op: Its kind.
        committed_at: In microseconds since 1970; None: it does not say.
        transaction: What the database calls its transaction; None: it does not say, or the row is of a snapshot.
        of_binlog: Whether `committed_at` is when its statement began, so that a later event may have an earlier time.
    """

    op: str
    committed_at: int | None
    transaction: str | None
    of_binlog: bool = False

    def at(self, microseconds: int) -> "EventMark":
        """The mark with another time."""
        return EventMark(self.op, microseconds, self.transaction, self.of_binlog)


@dataclass(frozen=True)
class WantedEvents:
    """What to take from the events.

    Attributes:
        columns: Of the rows; the key is among them. A column that a row lacks is null.
        key: Primary key.
        unit: Of times that are numbers, where an event has no schema part.
        truncations: What is done when all rows were removed.
        loose: Columns of text in which numbers are taken as they are written.
        nulls_kept: Whether the connector is known to write NULL as null, and not as the column's DEFAULT.
        table: `schema.table` of the events, which are lines of a capture's journal; None: they are as Kafka has them.
        zero_is_null: Whether an instant may be MariaDB's zero, which no row can have as a time.
        are_rows: Whether each event is wanted as a row, so that a run has the kind and the time of each.
    """

    columns: tuple[Column, ...]
    key: tuple[str, ...]
    unit: TimeUnit | None = None
    truncations: Truncations = NO_DECISIONS
    loose: tuple[str, ...] = ()
    nulls_kept: bool = False
    table: str | None = None
    zero_is_null: bool = False
    are_rows: bool = False

    @property
    def has_decimals(self) -> bool:
        """Whether digits of numbers count: of decimals at any depth, and of numbers that become texts."""
        return bool(self.loose) or any("decimal(" in column.type for column in self.columns)

    @property
    def key_columns(self) -> tuple[Column, ...]:
        """The columns of the key, in the order it was declared."""
        named = {c.name: c for c in self.columns}
        return tuple(named[name] for name in self.key)


@dataclass(frozen=True)
class Events:
    """Rows that were written and keys that were removed; each carries its place in the common order.

    Columns of `deletes` are the key, in the order it was declared.

    Attributes:
        rows: Of inserts, updates and snapshots.
        rows_at: Place of each row; rises.
        deletes: Keys of deletes, and of rows whose key changed.
        deletes_at: Place of each key; rises. No place is in both.
        cleared: Whether every row that was there before these events is gone.
    """

    rows: pa.Table
    rows_at: NDArray[np.int64]
    deletes: pa.Table
    deletes_at: NDArray[np.int64]
    cleared: bool = False

    def __len__(self) -> int:
        return len(self.rows_at) + len(self.deletes_at)


def event_reader(wanted: WantedEvents, *, exact: bool = False) -> Envelopes | Journaled:
    """Reads lines as they are written; `exact`: numbers keep all their digits."""
    return Envelopes(exact=exact) if wanted.table is None else Journaled(wanted.table, exact=exact)


def event_runs(
    lines: Sequence[bytes], wanted: WantedEvents, name: str, first: int, *, exact: bool
) -> "Iterator[EventRun]":
    """The events of some lines, in their order.

    Args:
        lines: One event each.
        wanted: What to take from them.
        name: The file.
        first: The number of the first line, counted from 1.
        exact: Whether numbers keep all their digits.

    Yields:
        Events that follow each other and whose values are written in one way; or one that removes all rows.

    Raises:
        SourceError: a line is no change event, or removes all rows and a person has to say whether that is followed.
    """
    reader = event_reader(wanted, exact=exact)
    run: EventRun | None = None
    for number, line in enumerate(lines):
        try:
            event = reader.event(line)
        except SchemaPartError as error:
            raise _error(str(error), name, first + number, _NO_SCHEMA_PART) from error
        except ValueError as error:
            hint = "write each event in one line"
            raise _error(f"the line is no JSON: {error}", name, first + number, hint) from error
        if event is None:
            continue
        removes = isinstance(event, dict) and event.get("op") == "t"
        if removes and not _is_followed(line, wanted, name, first + number):
            continue
        if run is None or removes or run.cleared_at is not None or run.encodings is not reader.encodings:
            if run is not None:
                yield run
            run = EventRun(reader.encodings, wanted, name, first, number if removes else None)
        run.take(event, number)
    if run is not None:
        yield run


def _is_followed(line: bytes, wanted: WantedEvents, name: str, number: int) -> bool:
    """Whether rows are removed here too, as all were there.

    Raises:
        SourceError: a person has to say that.
    """
    found = wanted.truncations.of(truncation_id(event_reader(wanted).event(line)))
    if found == "asked":
        raise _error(UNDECIDED, name, number, _TRUNCATED)
    return found == "removed"


class EventRun:
    """Consecutive events whose values are written in one way; line N, from 0, has the places 2N and 2N + 1.

    Args:
        encodings: How they are written.
        wanted: What to take from them.
        name: The file.
        first: The number of the line with N = 0, counted from 1.
        cleared_at: Of the one event that removes all rows; None: there is none.

    Attributes:
        marks: N of each event → what it says of itself, where each event is wanted as a row.
    """

    def __init__(
        self,
        encodings: Mapping[str, Encoding],
        wanted: WantedEvents,
        name: str,
        first: int,
        cleared_at: int | None = None,
    ) -> None:
        self.encodings = encodings
        self.cleared_at = cleared_at
        self.marks: dict[int, EventMark] = {}
        self._wanted = wanted
        self._name = name
        self._first = first
        self._rows: list[_Row] = []
        self._rows_at: list[int] = []
        self._deletes: list[_Row] = []
        self._deletes_at: list[int] = []

    def take(self, event: Any, number: int) -> None:
        """Add the event of a line.

        Raises:
            SourceError: it is no change event.
        """
        if not isinstance(event, dict):
            raise self._error("the line is no object", number, _NO_EVENT)
        op, after, before = event.get("op"), event.get("after"), event.get("before")
        if self._wanted.are_rows and isinstance(op, str):
            source = event.get("source")
            self.marks[number] = EventMark(op, committed_at(source), transaction_of(event), is_of_binlog(source))
        if self.cleared_at is not None:
            return
        if op in WRITES:
            if not isinstance(after, dict):
                raise self._error(f"the event has op '{op}', but no row in 'after'", number, _NO_EVENT)
            if isinstance(before, dict):
                for column in self._wanted.key:
                    if before.get(column) != after.get(column):
                        self._moved(before, number)
                        break
            self._rows.append(after)
            self._rows_at.append(2 * number + 1)
        elif op == "d":
            if not isinstance(before, dict):
                hint = "the database must send the key of a deleted row: not REPLICA IDENTITY NOTHING"
                raise self._error("the event has op 'd', but no row in 'before'", number, hint)
            self._deletes.append(before)
            self._deletes_at.append(2 * number + 1)
        elif is_ddl(event):
            return  # of the table and no row; the trigger reads it
        elif op is None:
            raise self._error("the line has no 'op', so it is no change event", number, _NO_EVENT)
        else:
            hint = _OTHERS.get(op, "") if isinstance(op, str) else ""
            raise self._error(f"the event has the unknown op '{op}'", number, hint or "known: c, r, u, d")

    def events(self) -> Events:
        """All that were added, as columns.

        Raises:
            SourceError: an event lacks its key, or has a value that does not fit.
        """
        return Events(
            self._table(self._rows, self._rows_at, self._wanted.columns),
            np.array(self._rows_at, dtype=np.int64),
            self._table(self._deletes, self._deletes_at, self._wanted.key_columns),
            np.array(self._deletes_at, dtype=np.int64),
        )

    def _moved(self, before: _Row, number: int) -> None:
        """The key changed: the row is gone from the old one, unless `before` does not tell the whole key."""
        if all(before.get(column) is not None for column in self._wanted.key):
            self._deletes.append(before)
            self._deletes_at.append(2 * number)

    def _table(self, rows: list[_Row], places: list[int], columns: tuple[Column, ...]) -> pa.Table:
        arrays = []
        for column in columns:
            values = [row.get(column.name) for row in rows]
            if column.name in self._wanted.key and None in values:
                at = values.index(None)
                message = f"the row has no {column.name}, which is part of the primary key"
                raise self._error(message, places[at] // 2, _other_names(column.name, rows[at]))
            array = self._column(values, places, column)
            if not column.nullable and array.null_count:
                message = f"column '{column.name}' has no value, and it is declared as not null"
                at = pc.index(pc.is_null(array), value=True).as_py()
                raise self._error(message, places[at] // 2, HINT)
            arrays.append(array)
        return pa.table(arrays, schema=arrow_schema(columns))

    def _column(self, values: list[Any], places: list[int], column: Column) -> pa.Array:
        encoding = self.encodings.get(column.name, Encoding())
        if column.type.startswith(_MAY_BE_LONG):
            for value, place in zip(values, places, strict=True):
                if is_unavailable(value):
                    raise self._error(
                        f"column '{column.name}': the database did not send the value, which did not change",
                        place // 2,
                        "ALTER TABLE … REPLICA IDENTITY FULL makes PostgreSQL send it; or leave the column out",
                    )
        if encoding.default is not None and not self._wanted.nulls_kept and column.name not in self._wanted.key:
            self._refuse_default(values, places, column, encoding.default)
        if column.type == "string" and column.name in self._wanted.loose:
            values = [_written(v) for v in values]
        if self._wanted.zero_is_null and column.type == "timestamp":
            values = [None if value == _ZERO else value for value in values]
        convert = partial(to_arrow, type_=column.type, encoding=encoding, unit=self._wanted.unit)
        try:
            return convert(values)
        except NotConverted as failure:
            at, cause = _first_wrong(values, convert, failure)
            raise self._error(
                f"column '{column.name}' is no {column.type}: {_shown(values[at]):.60} ({cause})",
                places[at] // 2,
                _hint(column, values[at], encoding),
            ) from failure

    def _refuse_default(self, values: list[Any], places: list[int], column: Column, default: Any) -> None:
        for value, place in zip(values, places, strict=True):
            if value == default and type(value) is type(default):
                raise self._error(
                    f"column '{column.name}' is {value!r:.60}, its DEFAULT, which the converter also writes for NULL",
                    place // 2,
                    "set value.converter.replace.null.with.default=false (of Protobuf optional.for.nullables=true), "
                    "take a new snapshot of the rows that came before, then say 'nulls_kept: true'",
                )

    def _error(self, message: str, number: int, hint: str) -> SourceError:
        return _error(message, self._name, self._first + number, hint)


def committed_at(source: Any) -> int | None:
    """When the database committed an event, in microseconds since 1970, by its `source`; None: it does not say.

    Example:
        >>> committed_at({"ts_ms": 1767225600123, "ts_us": 1767225600123456})
        1767225600123456
    """
    for unit, factor in _OF_COMMITS.items() if isinstance(source, dict) else ():
        value = source.get(unit)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value * factor
    return None


def is_of_binlog(source: Any) -> bool:
    """Whether an event with this `source` is of MariaDB's or MySQL's connector.

    Example:
        >>> is_of_binlog({"connector": "mariadb"}), is_of_binlog({"connector": "postgresql"}), is_of_binlog(None)
        (True, False, False)
    """
    return isinstance(source, dict) and source.get("connector") in _OF_BINLOG


def transaction_of(event: Mapping[str, Any]) -> str | None:
    """What the database calls the transaction of an event; None: it does not say, or the row is of a snapshot.

    Example:
        >>> transaction_of({"op": "c", "transaction": {"id": "571:53195832"}, "source": {"txId": 571}})
        '571:53195832'
        >>> transaction_of({"op": "u", "source": {"txId": 571}}), transaction_of({"op": "r", "source": {"txId": 571}})
        ('571', None)
    """
    if event.get("op") == "r":
        return None
    named, source = event.get("transaction"), event.get("source")
    if isinstance(named, dict) and isinstance(named.get("id"), str):
        return str(named["id"])
    if isinstance(source, dict):
        for field in _OF_TRANSACTIONS:
            if isinstance(found := source.get(field), int | str) and not isinstance(found, bool):
                return str(found)
    return None


def _written(value: Any) -> Any:
    """A number as text; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return value
    return _shown(value)


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, Decimal) else repr(value)


def _first_wrong(
    values: list[Any], convert: Callable[[list[Any]], pa.Array], failure: BaseException
) -> tuple[int, BaseException]:
    for at, value in enumerate(values):
        try:
            convert([value])
        except NotConverted as error:
            return at, error
    return 0, failure


def _hint(column: Column, value: Any, encoding: Encoding) -> str:
    if column.type.startswith("timestamp") and isinstance(value, int):
        return "say 'time_unit: ms', us or ns, or let the converter write schemas: value.converter.schemas.enable=true"
    if column.type.startswith("decimal") and isinstance(value, str) and encoding.scale is None:
        return "let Debezium write decimal.handling.mode=string, or schemas: value.converter.schemas.enable=true"
    return "declare the column with a wider type under 'columns'"


def _other_names(column: str, row: _Row) -> str:
    listed = f"the row has: {', '.join(row) or 'nothing'}"
    if column in row:
        return f"the value is null; {listed}"
    return did_you_mean(column, row, listed) or listed


def _error(message: str, name: str, line: int, hint: str) -> SourceError:
    return SourceError(message, at=Location(name, line), hint=hint)
