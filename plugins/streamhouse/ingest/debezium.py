"""Change events of Debezium, from lines of JSON to rows by key. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from streamhouse.errors import Location, SourceError, did_you_mean
from streamhouse.ingest.debezium_schema import is_ddl, truncation_id
from streamhouse.ingest.encodings import (
    Encoding,
    NotConverted,
    SchemaPartError,
    TimeUnit,
    encodings_of,
    is_unavailable,
    parsed,
    to_arrow,
)
from streamhouse.ingest.floats import has_infinity
from streamhouse.ingest.not_null import HINT
from streamhouse.ingest.truncations import NO_DECISIONS, Truncations
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.equality import plain_keys

_Row = Mapping[str, Any]
_MAY_BE_LONG = ("string", "binary", "array<", "map<", "struct<")
_WRITES = ("c", "u", "r")
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
    """

    columns: tuple[Column, ...]
    key: tuple[str, ...]
    unit: TimeUnit | None = None
    truncations: Truncations = NO_DECISIONS
    loose: tuple[str, ...] = ()
    nulls_kept: bool = False
    table: str | None = None
    zero_is_null: bool = False

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


def rows_alone(rows: pa.Table, key: Sequence[str]) -> Events:
    """Rows that are there, as if they had just been written."""
    return Events(rows, np.arange(rows.num_rows), rows.select(list(key)).slice(0, 0), np.empty(0, dtype=np.int64))


def last_of_each(events: Sequence[Events], key: Sequence[str]) -> Events:
    """What remains of events that happened one part after the other: of each key the last thing that was done to it.

    An event that is delivered again, and an insert of a row that is there, replace it by the same key.

    Args:
        events: At least one part.
        key: Primary key.
    """
    lengths = [int(max([-1, *e.rows_at[-1:], *e.deletes_at[-1:]])) + 1 for e in events]
    offsets = np.cumsum([0, *lengths[:-1]])
    rows = pa.concat_tables([e.rows for e in events])
    deletes = pa.concat_tables([e.deletes for e in events])
    rows_at = np.concatenate([e.rows_at + offset for e, offset in zip(events, offsets, strict=True)])
    deletes_at = np.concatenate([e.deletes_at + offset for e, offset in zip(events, offsets, strict=True)])
    keys = pa.concat_tables([rows.select(list(key)), deletes.select(list(key))])
    placed = plain_keys(keys, key).append_column("", pa.array(np.concatenate([rows_at, deletes_at])))
    last = placed.group_by(list(key), use_threads=False).aggregate([("", "max")]).column("_max").to_numpy()
    row_mask, delete_mask = np.isin(rows_at, last), np.isin(deletes_at, last)
    return Events(
        rows.filter(pa.array(row_mask)),
        rows_at[row_mask],
        deletes.filter(pa.array(delete_mask)),
        deletes_at[delete_mask],
    )


def decode(lines: Sequence[bytes], wanted: WantedEvents, name: str, first: int) -> Events:
    """The events of some lines of a file.

    Args:
        lines: One event each, in the order they happened; an empty line, `null`, and an envelope
            without payload are tombstones and mean nothing.
        wanted: What to take from them.
        name: The file, for messages.
        first: The number of the first line, counted from 1.

    Raises:
        SourceError: a line is no change event, lacks its key or has a value that does not fit; with its place.
    """
    found = _decoded(lines, wanted, name, first, exact=wanted.has_decimals)
    if not wanted.has_decimals and any(map(_has_infinity, (found.rows, found.deletes))):
        return _decoded(lines, wanted, name, first, exact=True)  # which shows whether `Infinity` was written, or 1e400
    return found


def _has_infinity(rows: pa.Table) -> bool:
    return any(has_infinity(chunk) for column in rows.columns for chunk in column.chunks)


def _decoded(lines: Sequence[bytes], wanted: WantedEvents, name: str, first: int, *, exact: bool) -> Events:
    reader = _reader(wanted, exact=exact)
    runs: list[_Run] = []
    run: _Run | None = None
    cleared = False
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
        if isinstance(event, dict) and event.get("op") == "t":
            match wanted.truncations.of(truncation_id(_reader(wanted).event(line))):
                case "removed":
                    runs, run, cleared = [], None, True
                case "asked":
                    raise _error(UNDECIDED, name, first + number, _TRUNCATED)
            continue
        if run is None or run.encodings is not reader.encodings:
            run = _Run(reader.encodings, wanted, name, first)
            runs.append(run)
        run.take(event, number)
    parts = [run.events() for run in runs]
    if not parts:
        nothing = rows_alone(arrow_schema(wanted.columns).empty_table(), wanted.key)
        return replace(nothing, cleared=cleared)
    return Events(
        pa.concat_tables([p.rows for p in parts]),
        np.concatenate([p.rows_at for p in parts]),
        pa.concat_tables([p.deletes for p in parts]),
        np.concatenate([p.deletes_at for p in parts]),
        cleared,
    )


def removals_in(lines: Sequence[bytes], wanted: WantedEvents) -> Iterator[tuple[int, str]]:
    """Each removal of all rows: the number of its line, from 0, and its id. What is no event is passed over."""
    reader = _reader(wanted)
    for number, line in enumerate(lines):
        if b'"t"' not in line and b"\\u00" not in line:
            continue  # no `op` is `t`, also not as an escape
        try:
            event = reader.event(line)
        except ValueError:
            continue
        if isinstance(event, dict) and event.get("op") == "t":
            yield number, truncation_id(event)


def _reader(wanted: WantedEvents, *, exact: bool = False) -> "_Envelopes | _Journaled":
    return _Envelopes(exact=exact) if wanted.table is None else _Journaled(wanted.table, exact=exact)


def row_columns(lines: Sequence[bytes]) -> tuple[str, ...]:
    """Every column that a row in some lines has; none where there are no rows. What is no event is passed over."""
    reader = _Envelopes()
    found: dict[str, None] = {}
    for line in lines:
        try:
            event = reader.event(line)
        except ValueError:
            continue
        # A delete may tell the key alone, so it does not count.
        after = event.get("after") if isinstance(event, dict) and event.get("op") in _WRITES else None
        if isinstance(after, dict):
            found.update(dict.fromkeys(after))
    return tuple(found)


class _Envelopes:
    """Takes the event out of its envelope, if there is one; a schema part that repeats is parsed once."""

    def __init__(self, *, exact: bool = False) -> None:
        self.encodings: dict[str, Encoding] = {}
        self._exact = exact
        self._schema: Any = None
        self._prefix = b""

    def event(self, line: bytes) -> Any:
        """The event of a line, or None; `encodings` then are those of the event.

        Raises:
            SchemaPartError: its schema part is none that Kafka Connect writes.
            ValueError: the line is no JSON.
        """
        if self._prefix and line.startswith(self._prefix) and line.endswith(b"}"):
            try:
                return parsed(line[len(self._prefix) : -1], exact=self._exact)
            except ValueError:
                pass  # not as it seemed, or no JSON at all: the whole line shows it
        text = line.strip()
        message = parsed(text, exact=self._exact) if text else None
        if not isinstance(message, dict) or "payload" not in message or "op" in message:
            self._use(None, b"")
            return message
        self._use(message.get("schema"), _prefix(text, message))
        return message["payload"]

    def _use(self, schema: Any, prefix: bytes) -> None:
        if schema != self._schema:
            self.encodings, self._schema = encodings_of(schema), schema
        self._prefix = prefix


class _Journaled:
    """Takes the event out of a line of a capture's journal, which has key, value and headers."""

    def __init__(self, table: str, *, exact: bool = False) -> None:
        self.encodings: dict[str, Encoding] = {}
        self._table = table
        self._exact = exact

    def event(self, line: bytes) -> Any:
        """The event of a line; None: it is of another table.

        Raises:
            ValueError: the line is no JSON.
        """
        return journaled(line, self._table, exact=self._exact)


def journaled(line: bytes, table: str, *, exact: bool = False) -> Any:
    """The event in a line of a capture's journal; None: it is of another table.

    Raises:
        ValueError: the line is no JSON.
    """
    message = parsed(line, exact=exact)
    event = message.get("value") if isinstance(message, dict) else None
    source = event.get("source") if isinstance(event, dict) else None
    # MariaDB and MySQL have databases where others have schemas.
    if not isinstance(source, dict) or f"{source.get('schema', source.get('db'))}.{source.get('table')}" != table:
        return None
    return event


def _prefix(line: bytes, message: _Row) -> bytes:
    """What stands before the payload, so that a line which begins with it needs only its rest parsed; b"": unknown."""
    if list(message) != ["schema", "payload"]:
        return b""
    at = -1
    while (at := line.find(b'"payload"', at + 1)) >= 0:
        colon = line.find(b":", at)
        prefix = line[: colon + 1]
        try:
            if parsed(prefix + b"null}", exact=True) == {"schema": message["schema"], "payload": None}:
                return prefix
        except ValueError:
            continue  # the word stands within the schema
    return b""


class _Run:
    """Consecutive events whose values are written in one way; line N, from 0, has the places 2N and 2N + 1."""

    def __init__(self, encodings: Mapping[str, Encoding], wanted: WantedEvents, name: str, first: int) -> None:
        self.encodings = encodings
        self._wanted = wanted
        self._name = name
        self._first = first
        self._rows: list[_Row] = []
        self._rows_at: list[int] = []
        self._deletes: list[_Row] = []
        self._deletes_at: list[int] = []

    def take(self, event: Any, number: int) -> None:
        """Add the event of a line."""
        if not isinstance(event, dict):
            raise self._error("the line is no object", number, _NO_EVENT)
        op, after, before = event.get("op"), event.get("after"), event.get("before")
        if op in _WRITES:
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
        """All that were added, as columns."""
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
