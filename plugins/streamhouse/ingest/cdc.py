"""Files of Debezium's change events: rows that are inserted, updated and deleted by their key."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from os import SEEK_END
from pathlib import Path
from threading import Lock
from typing import Any, Self

import pyarrow as pa
from pydantic import Field, field_validator, model_validator

from streamhouse.errors import Location, SourceError, did_you_mean
from streamhouse.ingest.debezium import Events, Wanted, decode, last_of_each, row_columns, rows_alone
from streamhouse.ingest.encodings import TimeUnit
from streamhouse.ingest.folders import data_path
from streamhouse.ingest.lines import Lines
from streamhouse.ingest.listing import check_place, list_files
from streamhouse.ingest.options import check_options, stored_types
from streamhouse.ingest.truncations import ASKED, Truncations
from streamhouse.model.table import Column
from streamhouse.model.types import Frozen, Position
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes
from streamhouse.stores.keyed import with_keys, without_keys

_EVENTS_AT_ONCE = 100_000
_SAMPLE_BYTES = 1 << 18
_NO_KEY_TYPES = ("array<", "map<", "struct<", "float", "double")
_NUMBER = re.compile(r"(\d+)")


class CdcOptions(Frozen):
    """Options of `cdc`."""

    path: str = Field(min_length=1, description="file or pattern (*, ?, [a-z], **), relative to the project")
    primary_key: tuple[str, ...] = Field(min_length=1, description="the columns by which rows are told apart: [id]")
    columns: dict[str, str] = Field(min_length=1, description="what to take of each row: {id: bigint, name: string}")
    time_unit: TimeUnit | None = Field(
        default=None, description="ms, us or ns: of times that are numbers, in events without a schema part"
    )
    nulls_kept: bool = Field(
        default=False,
        description="the connector has value.converter.replace.null.with.default=false, so NULL never came as DEFAULT",
    )

    @field_validator("columns")
    @classmethod
    def _types_can_be_stored(cls, value: dict[str, str]) -> dict[str, str]:
        return stored_types(value)

    @model_validator(mode="after")
    def _key_is_of_columns(self) -> Self:
        for name in self.primary_key:
            if name not in self.columns:
                raise ValueError(f"primary_key names '{name}', which is not among the columns")
            if self.columns[name].startswith(_NO_KEY_TYPES):
                raise ValueError(f"'{name}' is {self.columns[name]} and cannot be part of a primary key")
        if len(set(self.primary_key)) != len(self.primary_key):
            raise ValueError("primary_key names a column twice")
        return self


class Cdc:
    """The rows that change events make; the position is `{file: lines taken}`.

    Files are read one after the other in the order of their names, where numbers count as numbers, so
    that `orders-9` comes before `orders-10`. The last file may grow; one that a later file follows must
    not, and a new file must come after those that were read. Each line is one event; empty lines and
    tombstones count and change nothing. Positions keep one entry for each file ever read.

    Rows are folded by key, so an event that is delivered twice changes nothing in the end.

    Args:
        options: What to read.
        root: The folder to which `options.path` is relative.
        columns: Fixed by a plan. None: those that the options declare.
        truncations: What is done when the table was truncated.
        loose: Columns of text that were of another type: numbers are taken as they are written.
        at: Where the source is defined.
    """

    def __init__(
        self,
        options: CdcOptions,
        root: Path,
        *,
        columns: tuple[Column, ...] | None = None,
        truncations: Truncations = ASKED,
        loose: tuple[str, ...] = (),
        at: Location | None = None,
    ) -> None:
        declared = tuple(
            Column(name=name, type=type_, nullable=name not in options.primary_key)
            for name, type_ in options.columns.items()
        )
        self._wanted = Wanted(
            columns or declared, options.primary_key, options.time_unit, truncations, loose, options.nulls_kept
        )
        self._path = options.path
        self._root = root
        self._at = at
        self._files: dict[str, Lines] = {}
        self._states: list[tuple[Position, pa.Table]] = []
        self._lock = Lock()

    @property
    def primary_key(self) -> tuple[str, ...]:
        """The columns of the key, as declared."""
        return self._wanted.key

    def columns(self) -> tuple[Column, ...]:
        """The declared columns; looks at some of the oldest and newest events, so that a misspelt name is noticed.

        Raises:
            SourceError: no row of these has a column.
        """
        names = sorted(list_files(self._path, self._root), key=_in_order)
        if names:
            lines = [*_beginning(data_path(self._root, names[0])), *_ending(data_path(self._root, names[-1]))]
            seen = row_columns(lines)
            for column in self._wanted.columns if seen else ():
                if column.name not in seen:
                    raise SourceError(
                        f"no row in '{names[0]}' or '{names[-1]}' has a column '{column.name}'"
                        if names[0] != names[-1]
                        else f"no row in '{names[0]}' has a column '{column.name}'",
                        at=self._at,
                        hint=did_you_mean(column.name, seen, f"the rows have: {', '.join(seen)}"),
                    )
        return self._wanted.columns

    def available(self) -> Position:
        """Every file that is there now, with all its lines.

        Raises:
            SourceError: a file is shorter than it was.
        """
        return {name: self._lines(name).count() for name in sorted(list_files(self._path, self._root), key=_in_order)}

    def advance(self, start: Position, max_rows: int) -> Position:
        """At most `max_rows` events further, file by file; may end within a file.

        Raises:
            SourceError: events appeared before some that were read already.
        """
        there = self.available()
        self._refuse_events_before(start, there)
        end = dict(start)
        for name, lines in there.items():
            taken = start.get(name, 0)
            step = min(max(0, lines - taken), max_rows)
            if step:
                end[name] = taken + step
                max_rows -= step
        return end

    def rows_between(self, start: Position, end: Position) -> int:
        """How many lines `[start, end)` has."""
        return sum(max(0, lines - start.get(name, 0)) for name, lines in end.items())

    def read(self, start: Position, end: Position, columns: tuple[str, ...] | None = None) -> pa.Table:
        """The last row of each key that was written in `[start, end)` and is there at its end."""
        return self.changes(start, end, columns, before=False).upserts

    def changes(
        self, start: Position, end: Position, columns: tuple[str, ...] | None = None, *, before: bool = True
    ) -> Changes:
        """What happened in `[start, end)`.

        Debezium's own `before` is not used for the rows before: it is absent in snapshots and after a
        PostgreSQL table's default REPLICA IDENTITY, and of an event that is delivered again it is older
        than what is there.

        Raises:
            RowsLostError: a file of the range is gone, or shorter than it was.
            SourceError: a line is no change event, or a value does not fit; with its file and line.
        """
        done = self._folded(start, end)
        rows, gone = done.rows, done.gone
        if done.cleared:
            there = self.state(start).select(gone.column_names)
            gone = without_keys(there, rows.select(gone.column_names))
        old = None
        if before:
            state = self.state(start)
            old = self._select(with_keys(state, pa.concat_tables([rows.select(gone.column_names), gone])), columns)
            before_all = [] if done.cleared else [rows_alone(state, self.primary_key)]
            self._keep(end, last_of_each([*before_all, done], self.primary_key).rows)
        return Changes(self._select(rows, columns), gone if gone.num_rows else None, old)

    def state(self, at: Position, columns: tuple[str, ...] | None = None) -> pa.Table:
        """All rows at `at`: the events from the beginning, folded. The last two answers are kept in memory."""
        with self._lock:
            held = next((rows for position, rows in self._states if position == at), None)
        if held is None:
            held = self._folded({}, at).rows
            self._keep(at, held)
        return self._select(held, columns)

    def _keep(self, at: Position, rows: pa.Table) -> None:
        with self._lock:  # two, for an epoch that failed begins again where it began
            self._states = [*[s for s in self._states if s[0] != at], (dict(at), rows)][-2:]

    def _folded(self, start: Position, end: Position) -> Events:
        """What remains of `[start, end)`; holds few events in memory at once."""
        done = rows_alone(arrow_schema(self._wanted.columns).empty_table(), self.primary_key)
        waiting: list[Events] = []
        cleared = False
        for events in self._events(start, end):
            if events.cleared:
                cleared, waiting = True, []
                done = rows_alone(arrow_schema(self._wanted.columns).empty_table(), self.primary_key)
            waiting.append(last_of_each([events], self.primary_key))
            # A part waits until there is as much as is done: else each would cost as much as all before it.
            if sum(map(len, waiting)) > max(_EVENTS_AT_ONCE, len(done)):
                done, waiting = last_of_each([done, *waiting], self.primary_key), []
        return replace(last_of_each([done, *waiting], self.primary_key), cleared=cleared)

    def _events(self, start: Position, end: Position) -> Iterator[Events]:
        for name in sorted(end, key=_in_order):
            for first in range(start.get(name, 0), end[name], _EVENTS_AT_ONCE):
                lines = self._lines(name).read(first, min(end[name], first + _EVENTS_AT_ONCE))
                yield decode(lines, self._wanted, name, first + 1)

    def _select(self, rows: pa.Table, columns: tuple[str, ...] | None) -> pa.Table:
        if columns is None:
            return rows
        return rows.select([c.name for c in self._wanted.columns if c.name in columns or c.name in self.primary_key])

    def _lines(self, name: str) -> Lines:
        with self._lock:
            if name not in self._files:
                self._files[name] = Lines(data_path(self._root, name), name)
            return self._files[name]

    def _refuse_events_before(self, start: Position, there: Position) -> None:
        last = max((name for name, taken in start.items() if taken), key=_in_order, default=None)
        if last is None:
            return
        for name, lines in there.items():
            if _in_order(name) < _in_order(last) and lines > start.get(name, 0):
                what = "new events are in" if start.get(name) else "there is a new file"
                raise SourceError(
                    f"{what} '{name}', which comes before '{last}', and that was read already",
                    at=self._at,
                    hint="changes must come in their order: name new files so that they sort last",
                )


def _beginning(file: Path) -> list[bytes]:
    """Whole lines that a file begins with; its only one, if that has no end yet."""
    try:
        with file.open("rb") as opened:
            read = opened.read(_SAMPLE_BYTES)
    except OSError:
        return []  # whoever reads it is told
    lines = read.split(b"\n")
    return lines if len(read) < _SAMPLE_BYTES else lines[:-1]


def _ending(file: Path) -> list[bytes]:
    """Whole lines that a file ends with."""
    try:
        with file.open("rb") as opened:
            size = opened.seek(0, SEEK_END)
            opened.seek(max(0, size - _SAMPLE_BYTES))
            lines = opened.read().split(b"\n")
    except OSError:
        return []
    return lines if size <= _SAMPLE_BYTES else lines[1:]


def _in_order(name: str) -> tuple[tuple[str | int, ...], str]:
    parts = _NUMBER.split(name)
    return tuple(int(part) if at % 2 else part for at, part in enumerate(parts)), name


def newest_lines(pattern: str, root: Path) -> list[bytes]:
    """The last lines of the last file that a pattern names; none when there is no file."""
    names = sorted(list_files(pattern, root), key=_in_order)
    return _ending(root / names[-1]) if names else []


def open_cdc(
    options: Mapping[str, Any],
    root: Path,
    *,
    columns: tuple[Column, ...] | None = None,
    truncations: Truncations = ASKED,
    loose: tuple[str, ...] = (),
    at: Location | None = None,
) -> Cdc:
    """Check the options and that there is a folder to watch; no file is read.

    `columns` are those fixed by a plan, which may have more than the options declare.

    Raises:
        SourceError: an option is wrong, or the file or folder does not exist.
    """
    checked = check_options(CdcOptions, "cdc", options, at)
    check_place(checked.path, root, at)
    return Cdc(checked, root, columns=columns, truncations=truncations, loose=loose, at=at)
