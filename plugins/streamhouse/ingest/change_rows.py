"""The changes of a table as rows: each insert, update and delete is one row, and none is ever changed."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.cdc import Captured, Cdc, open_cdc
from streamhouse.ingest.cdc_options import CdcOptions, ChangeMetadata
from streamhouse.ingest.debezium import last_of_each
from streamhouse.ingest.event_run import EventRun, event_runs
from streamhouse.ingest.journal_base import BASE
from streamhouse.ingest.listing import in_order
from streamhouse.ingest.options import check_options
from streamhouse.ingest.rising_times import Rise, RisingTimes
from streamhouse.ingest.truncations import FOLLOWED
from streamhouse.model.plan import PlannedSource
from streamhouse.model.table import Column
from streamhouse.model.types import Position
from streamhouse.stores.arrow import arrow_schema

_DELETE, _READ = "d", "r"


class ChangeRows:
    """The rows of a `cdc` source with `mode: append`; positions are those of `Cdc`.

    A row has the values after the change, and of a delete those of the key alone. A change of the key is a delete of
    the old one and a row of the new one. Where all rows are removed, each key that was there is deleted; no row here
    goes, so no person is asked. A range that is read again has the same rows. An event that Debezium wrote twice is
    there twice; the journal of a capture has none twice.

    Args:
        changes: What happened, in its order.
        columns: Those of the rows, in their order: of `changes`, and of `metadata`.
        metadata: Column → what it says of each change.
    """

    def __init__(self, changes: Cdc, columns: tuple[Column, ...], metadata: Mapping[str, ChangeMetadata]) -> None:
        self._changes = changes
        self._columns = columns
        self._metadata = metadata
        self._times = RisingTimes(changes, changes.wanted.table)
        self.available = changes.available
        self.advance = changes.advance
        self.rows_between = changes.rows_between

    def columns(self) -> tuple[Column, ...]:
        """See `Cdc.columns`; and those of the metadata.

        Raises:
            SourceError: no row of these has a column.
        """
        self._changes.columns()
        return self._columns

    def read(self, start: Position, end: Position, columns: tuple[str, ...] | None = None) -> pa.Table:
        """The changes in `[start, end)`, in their order.

        Raises:
            RowsLostError: a file of the range is gone, or shorter than it was.
            SourceError: a line is no change event, a value does not fit, or an event lacks a time that is wanted; with
                its file and line.
        """
        wanted = tuple(one for one in self._columns if columns is None or one.name in columns)
        schema = arrow_schema(wanted)
        found = self._changes.lines_between(start, end)
        rise = Rise(self._times, start)
        of_base = [one for one in found if self._is_base(one[0])]
        parts = [self._rows(changes, 0, schema) for changes in self._of_base(of_base, rise)]
        for part in (one for one in found if not self._is_base(one[0])):
            parts += [self._rows(changes, number, schema) for changes, number in self._runs(*part, end, rise)]
        rise.end(end)
        return pa.concat_tables([schema.empty_table(), *parts])

    def _is_base(self, name: str) -> bool:  # noqa: ARG002  only a journal has one
        """Whether lines are of a base; a file of a person is none, whatever it is called."""
        return False

    def _of_base(self, parts: list[tuple[str, int, list[bytes]]], rise: Rise) -> "Iterator[_Changes]":
        """The rows of a base, if there is one: as of the end of the changes that it replaces."""
        name = next((name for name, _, _ in parts), "")
        for run in self._checked([line for _, _, lines in parts for line in lines], name, 0, rise):
            yield _Changes.of_base(run, self._changes.primary_key)

    def _checked(self, lines: list[bytes], name: str, first: int, rise: Rise) -> Iterator[EventRun]:
        for run in event_runs(lines, replace(self._changes.wanted, are_rows=True), name, first + 1, exact=True):
            if "committed_at" in self._metadata.values():
                self._refuse_without_time(run, name, first + 1)
                rise.lift(run)
            yield run

    def _runs(
        self, name: str, first: int, lines: list[bytes], end: Position, rise: Rise
    ) -> "list[tuple[_Changes, int]]":
        """Changes, and the number of the first line's."""
        before = {one: count for one, count in end.items() if in_order(one) < in_order(name)}
        number = 2 * (sum(before.values()) + first)
        found = []
        for run in self._checked(lines, name, first, rise):
            if run.cleared_at is None:
                found.append((_Changes.of(run), number))
            else:
                there = self._changes.state({**before, name: first + run.cleared_at}, self._changes.primary_key)
                found.append((_Changes.clearing(run, run.cleared_at, there), number))
        return found

    def _refuse_without_time(self, run: EventRun, name: str, first: int) -> None:
        without = next((line for line, mark in run.marks.items() if mark.committed_at is None), None)
        if without is not None:
            what = "the event does not say in 'source' when it was committed: it has no ts_ms"
            raise SourceError(what, at=Location(name, first + without), hint="leave committed_at out of 'metadata'")

    def _rows(self, changes: "_Changes", number: int, schema: pa.Schema) -> pa.Table:
        metadata: dict[ChangeMetadata, pa.Array] = {
            "op": changes.ops,
            "committed_at": changes.times,
            "transaction": changes.transactions,
            "number": pa.array(changes.places + number, pa.int64()),
        }
        there, nothing = set(changes.rows.column_names), len(changes.places)
        arrays: list[Any] = []
        for field in schema:
            if (of := self._metadata.get(field.name)) is not None:
                arrays.append(metadata[of])
            else:
                arrays.append(changes.rows.column(field.name) if field.name in there else pa.nulls(nothing, field.type))
        return pa.table(arrays, schema=schema)


class CapturedChangeRows(ChangeRows):
    """The same of a table of a database, which a capture reads."""

    def __init__(self, changes: Captured, columns: tuple[Column, ...], metadata: Mapping[str, ChangeMetadata]) -> None:
        super().__init__(changes, columns, metadata)
        self.oldest = changes.oldest
        self.identity = changes.identity

    def _is_base(self, name: str) -> bool:
        return name.endswith(BASE)


class _Changes:
    """Changes in their order.

    Attributes:
        rows: Their values; of a delete those of the key.
        places: Rise, but for those of one event that removed all rows.
        ops: Of each.
        times: When each was committed.
        transactions: What the database calls the transaction of each; NULL: it does not say, or it is of a snapshot.
    """

    def __init__(self, rows: pa.Table, places: NDArray[np.int64], ops: list[str], run: EventRun) -> None:
        self.rows = rows
        self.places = places
        self.ops = pa.array(ops, pa.string())
        marks = [run.marks[at // 2] for at in places.tolist()]
        self.times = pa.array([mark.committed_at for mark in marks], pa.timestamp("us", tz="UTC"))
        of_base = [op == _READ for op in ops]
        found = [None if base else mark.transaction for mark, base in zip(marks, of_base, strict=True)]
        self.transactions = pa.array(found, pa.string())

    @classmethod
    def of(cls, run: EventRun) -> "_Changes":
        """The inserts, updates and deletes of a run."""
        events = run.events()
        places = np.concatenate([events.rows_at, events.deletes_at])
        order = np.argsort(places)
        both = pa.concat_tables([events.rows, events.deletes], promote_options="default")
        ops = [*(run.marks[at // 2].op for at in events.rows_at.tolist()), *[_DELETE] * len(events.deletes_at)]
        return cls(both.take(pa.array(order)), places[order], [ops[at] for at in order.tolist()], run)

    @classmethod
    def of_base(cls, run: EventRun, key: tuple[str, ...]) -> "_Changes":
        """The rows that are there at the end of a base."""
        there = last_of_each([run.events()], key)
        return cls(there.rows, there.rows_at, [_READ] * len(there.rows_at), run)

    @classmethod
    def clearing(cls, run: EventRun, line: int, there: pa.Table) -> "_Changes":
        """A delete of each key that was there, in the order of the keys."""
        there = there.sort_by([(name, "ascending") for name in there.column_names])
        places = np.full(there.num_rows, 2 * line + 1, dtype=np.int64)
        return cls(there, places, [_DELETE] * there.num_rows, run)


def open_change_rows(
    options: Mapping[str, Any], root: Path, planned: PlannedSource | None, at: Location | None
) -> ChangeRows:
    """The changes of a source as rows; no file is read.

    Args:
        options: Of the source.
        root: The project's folder.
        planned: As a plan has it, which fixes the columns and their order; None: those declared, then the metadata.
        at: Where the source is defined.

    Raises:
        SourceError: an option is wrong, or the file or folder does not exist.
    """
    checked = check_options(CdcOptions, "cdc", options, at)
    own = tuple(one for one in planned.columns if one.name not in checked.metadata) if planned is not None else None
    loose = planned.optional if planned is not None else ()
    changes = open_cdc(options, root, columns=own, truncations=FOLLOWED, loose=loose, at=at)
    there = [one.model_copy(update={"nullable": one.name not in checked.primary_key}) for one in changes.wanted.columns]
    columns = {one.name: one for one in (*there, *checked.metadata_columns)}
    ordered = tuple(columns[one.name] for one in planned.columns) if planned is not None else tuple(columns.values())
    if isinstance(changes, Captured):
        return CapturedChangeRows(changes, ordered, checked.metadata)
    return ChangeRows(changes, ordered, checked.metadata)
