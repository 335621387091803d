"""Files of Debezium's change events: rows that are inserted, updated and deleted by their key."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar

import pyarrow as pa

from streamhouse.errors import Location, RowsLostError, SourceError, did_you_mean
from streamhouse.ingest.bad_rows import BadRow, Letter, Split
from streamhouse.ingest.cdc_options import CdcOptions
from streamhouse.ingest.cdc_order import LaterEvents
from streamhouse.ingest.debezium import decode, last_of_each, row_columns, rows_alone
from streamhouse.ingest.debezium_letters import decode_apart
from streamhouse.ingest.encodings import TimeUnit
from streamhouse.ingest.event_files import AnyBase, BasedFiles, EventFiles, JournalFiles, NamedFiles
from streamhouse.ingest.event_run import Events, WantedEvents
from streamhouse.ingest.journal import TableBase
from streamhouse.ingest.listing import check_place, in_order
from streamhouse.ingest.long_values import LongValues
from streamhouse.ingest.not_null import required_of_those
from streamhouse.ingest.options import check_options
from streamhouse.ingest.replays import Replays, rows_again, without_replays
from streamhouse.ingest.truncations import NO_DECISIONS, Truncations
from streamhouse.ingest.wrong_option import of_option
from streamhouse.model.table import Column
from streamhouse.model.types import Position
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes
from streamhouse.stores.keyed import with_keys, without_keys

_EVENTS_AT_ONCE = 100_000
_OF_CAPTURES: TimeUnit = "us"  # as we have the engine write times
T = TypeVar("T")
Base = TypeVar("Base", bound=AnyBase)


class Cdc:
    """The rows that change events make; the position is `{file: lines taken}`.

    Files are read one after the other in the order of their names, where numbers count as numbers, so
    that `orders-9` comes before `orders-10`. The last file may grow; one that a later file follows must
    not, and a new file must come after those that were read. Each line is one event; empty lines and
    tombstones count and change nothing. Positions keep one entry for each file ever read.

    Rows are folded by key, so an event that is delivered twice changes nothing in the end.

    Args:
        options: What to read.
        events: Where the events are.
        root: The project's folder.
        columns: Fixed by a plan. None: those that the options declare.
        truncations: What is done when the table was truncated.
        loose: Columns of text that were of another type: numbers are taken as they are written.
        at: Where the source is defined.
    """

    def __init__(
        self,
        options: CdcOptions,
        events: EventFiles,
        root: Path,
        *,
        columns: tuple[Column, ...] | None = None,
        truncations: Truncations = NO_DECISIONS,
        loose: tuple[str, ...] = (),
        at: Location | None = None,
    ) -> None:
        declared = tuple(Column(name=name, type=type_) for name, type_ in options.columns.items())
        taken = required_of_those(columns or declared, {*options.primary_key, *options.not_null})
        if (captured := options.captured) is not None:
            of = (truncations, loose, True, captured.table, options.postgres is None)
            self._wanted = WantedEvents(taken, options.primary_key, _OF_CAPTURES, *of)
        else:
            of_files = (options.time_unit, truncations, loose, options.nulls_kept)
            self._wanted = WantedEvents(taken, options.primary_key, *of_files)
        self._source = events
        self.on_bad_rows = options.on_bad_rows
        table = options.on_bad_rows.table
        self._replays = Replays(root, table) if table is not None else None
        self._at = at
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
        names = self._source.names()
        if names:
            row_names = row_columns(self._source.some(names))
            for column in self._wanted.columns if row_names else ():
                if column.name not in row_names:
                    raise SourceError(
                        f"no row in '{names[0]}' or '{names[-1]}' has a column '{column.name}'"
                        if names[0] != names[-1]
                        else f"no row in '{names[0]}' has a column '{column.name}'",
                        at=self._at,
                        hint=did_you_mean(column.name, row_names, f"the rows have: {', '.join(row_names)}"),
                    )
        return self._wanted.columns

    def available(self) -> Position:
        """Every file that is there now, with all its lines.

        Raises:
            SourceError: a file is shorter than it was.
        """
        return self._written()

    def _written(self) -> Position:
        files = {name: self._source.lines(name).count() for name in self._source.names()}
        return files | (self._replays.available() if self._replays is not None else {})

    def advance(self, start: Position, max_rows: int) -> Position:
        """At most `max_rows` events further, file by file; may end within a file.

        Raises:
            SourceError: events appeared before some that were read already.
        """
        there = without_replays(self._there())
        self._refuse_events_before(start, there)
        end = dict(start)
        for name, lines in there.items():
            taken = start.get(name, 0)
            step = min(max(0, lines - taken), max_rows)
            if step:
                end[name] = taken + step
                max_rows -= step
        return end if self._replays is None else self._replays.advance(start, end, max_rows)

    def _there(self) -> Position:
        """What `advance` may reach."""
        return self.available()

    def rows_between(self, start: Position, end: Position) -> int:
        """How many lines `[start, end)` has."""
        files = without_replays(end).items()
        return sum(max(0, lines - start.get(name, 0)) for name, lines in files) + rows_again(start, end)

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
        rows, deletes = done.rows, done.deletes
        if done.cleared:
            there = self.state(start).select(deletes.column_names)
            deletes = without_keys(there, rows.select(deletes.column_names))
        old = None
        if before:
            state = self.state(start)
            old = self._select(
                with_keys(state, pa.concat_tables([rows.select(deletes.column_names), deletes])), columns
            )
            before_all = [] if done.cleared else [rows_alone(state, self.primary_key)]
            self._keep(end, last_of_each([*before_all, done], self.primary_key).rows)
        return Changes(self._select(rows, columns), deletes if deletes.num_rows else None, old)

    def state(self, at: Position, columns: tuple[str, ...] | None = None) -> pa.Table:
        """All rows at `at`: the events from the beginning, folded. The last two answers are kept in memory."""
        with self._lock:
            state_rows = next((rows for position, rows in self._states if position == at), None)
        if state_rows is None:
            state_rows = self._folded({}, at).rows
            self._keep(at, state_rows)
        return self._select(state_rows, columns)

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
        for name, first, lines in self._chunks(start, end):
            if self._tolerant:
                yield from decode_apart(lines, self._wanted, name, first + 1, [])
            else:
                yield decode(lines, self._wanted, name, first + 1)
        if self._replays is not None:
            yield from self._events_again(self._replays, start, end)

    def _chunks(self, start: Position, end: Position) -> Iterator[tuple[str, int, list[bytes]]]:
        """File, number of the first line, from 0, and lines; not many at once, in their order."""
        for name in sorted(without_replays(end), key=in_order):
            for first in range(start.get(name, 0), end[name], _EVENTS_AT_ONCE):
                yield name, first, self._lines(name, first, min(end[name], first + _EVENTS_AT_ONCE))

    @property
    def _tolerant(self) -> bool:
        return self.on_bad_rows.action == "dead_letter"

    @property
    def wanted(self) -> WantedEvents:
        """What is taken from the events."""
        return self._wanted

    def lines_between(self, start: Position, end: Position) -> list[tuple[str, int, list[bytes]]]:
        """File, number of the first line, from 0, and lines of `[start, end)`, in their order.

        Raises:
            RowsLostError: a file of the range is gone, or shorter than it was.
        """
        return list(self._chunks(start, end))

    def bad_rows(self, start: Position, end: Position) -> list[BadRow]:
        """See `LetterSource`; of files alone."""
        bad: list[BadRow] = []
        for name, first, lines in self._chunks(start, end):
            for _ in decode_apart(lines, self._wanted, name, first + 1, bad):
                pass
        return bad

    def read_again(self, letters: Sequence[Letter], columns: tuple[str, ...] | None) -> Split:
        """See `LetterSource`. Their rows are among `changes`, where no later event of the key is known."""
        bad = tuple(found for letter in letters for found in self._again(letter)[1])
        still = {one.letter.position for one in bad}
        places = tuple(letter.position for letter in letters if letter.position not in still)
        return Split(self._select(arrow_schema(self._wanted.columns).empty_table(), columns), places, bad)

    def _again(self, letter: Letter) -> tuple[list[Events], tuple[BadRow, ...]]:
        bad: list[BadRow] = []
        events = list(decode_apart([letter.raw], self._wanted, letter.position, 1, bad))
        return events, tuple(BadRow(letter, one.reason, one.message) for one in bad)

    def _events_again(self, replays: Replays, start: Position, end: Position) -> Iterator[Events]:
        """Events of requests; not those that a later event of their key, or a later request, has outdone."""
        requested_letters = [letter for _, letters in replays.between(start, end) for letter in letters]
        if not requested_letters:
            return
        later = LaterEvents(requested_letters, self.primary_key)
        self._see_later(later, end, lambda some: list(decode_apart(some, self._wanted, "", 1, [])))
        for letter in requested_letters:
            for events in self._again(letter)[0]:
                yield later.left(letter, events)

    def _see_later(self, later: LaterEvents, end: Position, decoded: Callable[[list[bytes]], list[Events]]) -> None:
        for name, first, lines in self._chunks(later.since(end), end):
            later.see(name, first, lines, decoded)

    def _select(self, rows: pa.Table, columns: tuple[str, ...] | None) -> pa.Table:
        if columns is None:
            return rows
        return rows.select([c.name for c in self._wanted.columns if c.name in columns or c.name in self.primary_key])

    def _lines(self, name: str, first: int, end: int) -> list[bytes]:
        return self._source.lines(name).read(first, end)

    def _refuse_events_before(self, start: Position, there: Position) -> None:
        last = max((name for name, taken in without_replays(start).items() if taken), key=in_order, default=None)
        if last is None:
            return
        for name, lines in there.items():
            if in_order(name) < in_order(last) and lines > start.get(name, 0):
                what = "new events are in" if start.get(name) else "there is a new file"
                raise SourceError(
                    f"{what} '{name}', which comes before '{last}', and that was read already",
                    at=self._at,
                    hint="changes must come in their order: name new files so that they sort last",
                )


class Based(Cdc, Generic[Base]):
    """Rows of a journal whose oldest segments a base replaces.

    A position before the end of the base can no longer be read from, except for the empty one: the base has the rows
    at its end, so a reader that begins takes all of them in its first epoch, however many they are.
    """

    _journal: BasedFiles[Base]

    def _written(self) -> Position:
        """Segments that are gone count with the events they had."""
        there = super()._written
        return self._of_one_moment(lambda base: {**(base.covers if base is not None else {}), **there()})

    def advance(self, start: Position, max_rows: int) -> Position:
        """See `Cdc`; from the empty position to the end of the base, if there is one.

        Raises:
            RowsLostError: the events after `start` are gone.
        """
        base = self._journal.base()
        if base is None or self._is_past(start, base):
            return super().advance(start, max_rows)
        return {**start, **base.covers}

    def _chunks(self, start: Position, end: Position) -> Iterator[tuple[str, int, list[bytes]]]:
        base = self._journal.base()
        if base is not None and any(without_replays(end).values()) and not self._is_past(start, base):
            self._is_past(end, base)  # or it is an error
            there = {name: taken for name, taken in end.items() if name not in base.covers}
            before = {name: taken for name, taken in there.items() if in_order(name) < in_order(base.name)}
            yield from super()._chunks(start, before)  # of a topic that was made again
            for first in range(0, base.rows, _EVENTS_AT_ONCE):
                yield base.name, first, self._of_base(base, first, min(base.rows, first + _EVENTS_AT_ONCE))
            start = {**before, **base.covers}
        yield from super()._chunks(start, end)

    def _of_base(self, base: Base, first: int, end: int) -> list[bytes]:
        return base.lines.read(first, end)

    def _is_past(self, at: Position, base: Base) -> bool:
        """Whether a position is at the end of the base or after it; if not, it is the empty one.

        Raises:
            RowsLostError: it is neither.
        """
        if self._is_behind(at, base):
            return True
        if not any(without_replays(at).values()):
            self._refuse_begin(base)
            return False
        raise RowsLostError(
            f"the journal of {self._journal.title} begins after the position of this reader: the events between "
            "were dropped, because no flow that the state store knows of had yet to read them",
            hint="if the state store is an older copy: streamhouse restore FLOW; else give the source another name "
            "in the flow's file, then it is read from its beginning: the journal has all rows",
        )

    @staticmethod
    def _is_behind(at: Position, base: Base) -> bool:
        return all(at.get(name, 0) == count for name, count in base.covers.items())

    def _refuse_begin(self, base: Base) -> None:
        """Refuse a base that does not have the rows of this reader."""

    def _folded(self, start: Position, end: Position) -> Events:
        folded = super()._folded
        return self._of_one_moment(lambda _: folded(start, end))

    def lines_between(self, start: Position, end: Position) -> list[tuple[str, int, list[bytes]]]:
        """See `Cdc`; of a base those that make its rows."""
        lines_between = super().lines_between
        return self._of_one_moment(lambda _: lines_between(start, end))

    def _of_one_moment(self, ask: Callable[[Base | None], T]) -> T:
        """An answer for which no base took the place of segments meanwhile."""
        while True:
            base = self._journal.base()
            try:
                answer = ask(base)
            except RowsLostError:
                if self._journal.base() is base:
                    raise
            else:
                if self._journal.base() is base:
                    return answer

    def oldest(self) -> Position:
        """The first event of each part: what is gone is known to `advance`, and nothing is lost to a new reader."""
        return dict.fromkeys(self._journal.names(), 0)


class Captured(Based[TableBase]):
    """The rows of a database's table, as a capture wrote down what happens to them."""

    def __init__(self, journal: JournalFiles, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._journal: JournalFiles = journal
        self._long = LongValues(journal)

    def _of_base(self, base: TableBase, first: int, end: int) -> list[bytes]:
        return self._long.put_into(super()._of_base(base, first, end), base.name, first)

    def _lines(self, name: str, first: int, end: int) -> list[bytes]:
        return self._long.put_into(super()._lines(name, first, end), name, first)

    def identity(self) -> str:
        """Another one when the capture began from the start."""
        return self._journal.identity()


def open_cdc(
    options: Mapping[str, Any],
    root: Path,
    *,
    columns: tuple[Column, ...] | None = None,
    truncations: Truncations = NO_DECISIONS,
    loose: tuple[str, ...] = (),
    at: Location | None = None,
) -> Cdc:
    """Check the options and that there is a folder to watch; no file is read.

    `columns` are those fixed by a plan, which may have more than the options declare. Of `mode: append` it is what the
    rows are made of.

    Raises:
        SourceError: an option is wrong, the file or folder does not exist, or a variable is not permitted.
    """
    checked = check_options(CdcOptions, "cdc", options, at)
    if (table := checked.captured) is not None:
        journal = JournalFiles(root, table.connection, table.table, has_schema=checked.postgres is not None)
        return Captured(journal, checked, journal, root, columns=columns, truncations=truncations, loose=loose, at=at)
    if checked.kafka is not None:
        from streamhouse.ingest.cdc_topic import open_topic

        return open_topic(checked, root, columns=columns, truncations=truncations, loose=loose, at=at)
    assert checked.path is not None, "the model asks for one"
    with of_option("path"):
        check_place(checked.path, root, at)
    files = NamedFiles(checked.path, root, at)
    return Cdc(checked, files, root, columns=columns, truncations=truncations, loose=loose, at=at)
