"""Restates tables from the whole history of what they are made from (design D6, D9)."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamhouse.compiler.segments import loses_order
from streamhouse.engine.adapt import adapted_frame, stored_names
from streamhouse.engine.frames import Frames, may_repeat
from streamhouse.engine.keys import two_rows
from streamhouse.engine.row_order import ORIGIN, ROW, unplaced, without_places
from streamhouse.engine.rows_source import can_spread_changes, spread_changes
from streamhouse.errors import RestateError
from streamhouse.ingest.base import KeyedSource
from streamhouse.ingest.kinds import open_source
from streamhouse.model.plan import FlowPlan, PlannedRead, PlannedSource, PlannedStep, Segment
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Position, ReadMode, Strategy
from streamhouse.model.version import table_name
from streamhouse.model.writer import segment_writer
from streamhouse.runtime.left_out import LeftOut
from streamhouse.runtime.open import Open
from streamhouse.spark.failures import ResultTooLargeError, failed_queries, first_line
from streamhouse.spark.frame import arrow_frame
from streamhouse.spark.results import collected_rows
from streamhouse.spark.worker_error import from_worker
from streamhouse.state.records import EpochRecord
from streamhouse.stores.arrow import conform
from streamhouse.stores.base import WriteContext
from streamhouse.stores.keyed import deciding
from streamhouse.tiering.restate import (
    EVERYTHING,
    TableDifference,
    TimeSpan,
    apply,
    difference,
    filling,
    refuse_deletes,
)
from streamhouse.tiering.union import union_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Restated:
    """What a backfill did, or would do, to one table.

    Attributes:
        table: Its name.
        upserts: Rows added or replaced.
        deletes: Keys removed.
        unordered: Rows added to a log that keeps an order, whose own order a lake does not know any more.
    """

    table: str
    upserts: int
    deletes: int
    unordered: int = 0

    @property
    def lost(self) -> str:
        """For people: whether rows came without their order; empty: they did not."""
        if not self.unordered:
            return ""
        return f"{self.table}: the order of {self.unordered:,} rows, which upkeep wrote together in a lake"


class Restating:
    """Brings tables to what their SQL says, one after the other; a dry run passes what it would write on to readers."""

    def __init__(
        self,
        open_: Open,
        plan: FlowPlan,
        last: Mapping[str, EpochRecord],
        span: TimeSpan = EVERYTHING,
        say: Callable[[str], None] = lambda _: None,
        *,
        dry_run: bool = False,
        left_out: LeftOut | None = None,
    ) -> None:
        """Begin.

        Args:
            open_: Everything connected.
            plan: Over the names that stores hold.
            last: Segment → how far it has read; rows beyond are not looked at.
            span: Only rows of this event time.
            say: Is called with what is being done.
            dry_run: Compare, and write nothing.
            left_out: Rows that tables which are filled do not get; None: they get all.
        """
        self._left_out = left_out or LeftOut()
        self._open = open_
        self.plan = plan
        self._last = last
        self._span = span
        self._say = say
        self._dry_run = dry_run
        self._frames = Frames(open_.spark)
        self._rows_by_table: dict[str, DataFrame] = {}
        self._unordered: set[str] = set()  # logs that were given rows whose order is not known

    def fill(self, segment: Segment, step: PlannedStep) -> Restated:
        """Fill the table of a step and its quarantine table, which are empty; those it reads must be done.

        Raises:
            RestateError: its rows cannot be computed: the SQL fails on one, or nothing says which is the newest.
        """
        with _computing(step):
            results = self._results(segment, step)
            if step.quarantine is not None:
                self._put(segment, step, step.quarantine, self._frames.quarantined(step, results))
            return self._put(segment, step, step.writes, self._expected_rows(step, results))

    def copy(self, segment: Segment, step: PlannedStep, table: Table, old: Table, at: Position) -> Restated:
        """Fill a table, which is empty, with the rows that another version of it has.

        Args:
            segment: Of the step.
            step: Writes the table.
            table: Its table, or its quarantine table.
            old: The other version, with columns that a store could have given those of `table` in place.
            at: Where that one is to be read to.

        Raises:
            RestateError: its rows cannot be read.
        """
        from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

        with _computing(step):
            self._say(f"{table.name}: copying {old.name}")
            rows, had = union_frame(self._open.spark, old, self._open.stores, at=at, order=ROW), old.column_names
            names = {c.name: c.name if c.name in had else step.renamed.get(c.name, c.name) for c in table.columns}
            return self._put(
                segment,
                step,
                table,
                rows.select(
                    *(
                        (F.col(names[c.name]) if names[c.name] in had else F.lit(None)).cast(c.type).alias(c.name)
                        for c in table.columns
                    ),
                    *({ROW} & set(rows.columns)),
                ),
            )

    def _put(self, segment: Segment, step: PlannedStep, table: Table, rows: "DataFrame") -> Restated:
        rows = self._left_out.of_table(table, rows)
        with filling(table, rows) as found:
            self._write(segment, step, table, found)
        return self._done(table, rows, found)

    def step(self, segment: Segment, step: PlannedStep) -> Restated:
        """Restate the table of a step; those it reads must be done.

        Raises:
            RestateError: it cannot be restated; a dry run finds so too.
        """
        with _computing(step):
            table, expected = step.writes, self._expected_rows(step, self._results(segment, step))
            columns = tuple(column.name for column in step.columns)
            current = union_frame(self._open.spark, table, self._open.stores, columns)
            with difference(step, expected, current, self._span) as found:
                refuse_deletes(self.plan.flow, table, found)
                if not self._dry_run:
                    self._write(segment, step, table, found)
            return self._done(table, expected, found)

    def _done(self, table: Table, rows: "DataFrame", found: TableDifference) -> Restated:
        self._rows_by_table[table.name] = rows
        unordered = found.unordered if table.keeps_order else 0
        if unordered:
            self._unordered.add(table.name)
        return Restated(table_name(table.name), found.rows, found.deletes, unordered)

    def _results(self, segment: Segment, step: PlannedStep) -> "DataFrame":
        """What the SQL makes of the whole history, with a flag for each expectation."""
        last = self._last[segment.name]
        self._say(f"{step.writes.name}: reading its history")
        ordered = [read.port for read in step.reads if read.mode is ReadMode.CHANGES and step.strategy is Strategy.MAP]
        bound = {
            read.port: self._history(segment, step, read, last, ordered=read.port in ordered) for read in step.reads
        }
        return self._frames.run(step, bound, last.at_ms)

    def _expected_rows(self, step: PlannedStep, results: "DataFrame") -> "DataFrame":
        """The rows that the table should hold; each key once."""
        expected = self._frames.valid_rows(step, results)
        if step.writes.primary_key:
            self._refuse_unplaced(step, expected)
            if step.strategy.reads_state:
                _refuse_two_rows(step.writes, expected)
            elif may_repeat(step):
                _refuse_two_rows(step.writes, expected, of_one_row=True)
                expected = expected.drop(ORIGIN)
            return self._frames.winners(expected, step.writes)
        return expected

    def _refuse_unplaced(self, step: PlannedStep, rows: "DataFrame") -> None:
        """Raise where the order of a key's rows decides which one is kept, and a compaction or buckets lost it.

        Raises:
            RestateError: so it is.
        """
        from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

        table = step.writes
        if ROW not in rows.columns or table.version_column is not None:
            return
        decides = F.max(unplaced()) if table.first_row else F.max_by(unplaced(), ROW)
        found = rows.groupBy(*table.primary_key).agg(F.count("*").alias("n"), decides.alias("unplaced"))
        for row in collected_rows(found.where("unplaced AND n > 1"), limit=1):
            key = ", ".join(f"{name} = {row[name]!r}" for name in table.primary_key)
            raise RestateError(
                f"{table.name}: which of {row['n']} rows with {key} is the newest is unknown: they are from "
                "several buckets or partitions, or from files of a lake that upkeep wrote together",
                hint="name a version_column for the table, whose highest value wins",
            )

    def _write(self, segment: Segment, step: PlannedStep, table: Table, found: TableDifference) -> None:
        began = time.time_ns() // 1_000_000
        writer = f"{segment_writer(self.plan.flow, segment.name)}/backfill"
        total, done = found.rows + found.deletes, 0

        def tell(rows: int) -> None:
            nonlocal done
            done += rows
            self._say(f"{table.name}: {done:,} of {total:,} rows")

        # The number of a write must only rise, also from one backfill to the next: so it is a time.
        apply(
            table,
            found,
            self._open.stores[table.tiers.target],
            lambda number: WriteContext(writer, began + number, columns=step.part or None),
            tell,
        )

    def _history(
        self, segment: Segment, step: PlannedStep, read: PlannedRead, last: EpochRecord, *, ordered: bool
    ) -> "DataFrame":
        """All rows of a source or table up to where the segment has read; if `ordered`, `ROW` may tell their order."""
        origins: list[PlannedSource | Table] = [*self.plan.sources, *self.plan.readable]
        origin = next(origin for origin in origins if origin.name == read.table)
        loses = ordered and isinstance(origin, Table) and loses_order(step, origin)
        # The written rows no longer have the order of their input, or the record that this order is lost.
        if read.table in self._rows_by_table and (
            self._dry_run or loses or (ordered and read.table in self._unordered)
        ):
            return self._rows_by_table[read.table] if ordered else self._rows_by_table[read.table].drop(ROW)
        at = last.end.get(read.table, {})
        names = dict.fromkeys((*read.columns, *origin.primary_key)) or {origin.columns[0].name: None}
        wanted = tuple(column for column in origin.columns if column.name in names)
        adapted = self.plan.adapted.get(origin.name, ())
        stored = self.plan.as_there(origin)
        columns = stored_names(origin.columns, wanted, adapted)
        if isinstance(stored, Table):
            own = stored.name in segment.tables
            order = ROW if ordered else None
            rows = union_frame(
                self._open.spark, stored, self._open.stores, columns, at=None if own else at, order=order
            )
        else:
            rows = self._source_rows(stored, columns, at)
        if loses:
            rows = without_places(rows)
        if adapted:
            number = [Column(name=ROW, type="bigint")] if ROW in rows.columns else []
            return adapted_frame(rows, (*wanted, *number), adapted)
        return rows

    def _source_rows(self, planned: PlannedSource, columns: tuple[str, ...], at: Position) -> "DataFrame":
        """The rows of a source up to a position, without those that are left out."""
        further = [name for name in self._left_out.columns(planned) if name not in columns]
        if not further:
            return self._left_out.of_source(planned, self._all_source_rows(planned, columns, at))
        rows = self._all_source_rows(planned, (*columns, *further), at)
        kept = self._left_out.of_source(planned, rows)
        return kept.select(*columns) if columns else kept

    def _all_source_rows(self, planned: PlannedSource, columns: tuple[str, ...], at: Position) -> "DataFrame":
        open_, root = self._open, self._open.project.root
        source = open_source(planned, root)
        if isinstance(source, KeyedSource):
            return arrow_frame(open_.spark, source.state(at, columns))
        if source.rows_between({}, at) > self.plan.local_epoch_rows and can_spread_changes(planned):
            return spread_changes(open_.spark, planned, open_.places(), root, {}, at, columns)
        names = columns or (planned.columns[0].name,)
        wanted = [column for column in planned.columns if column.name in names]
        return arrow_frame(open_.spark, conform(source.read({}, at, names), wanted))


@contextmanager
def _computing(step: PlannedStep) -> Iterator[None]:
    """Say in words what Spark raises in the block.

    Raises:
        RestateError: the rows of the step cannot be computed.
    """
    try:
        yield
    except failed_queries(ResultTooLargeError) as error:
        raise from_worker(error) or RestateError(
            f"{step.id}: the rows of action '{step.action}' cannot be computed: {first_line(error)}",
            hint="where the SQL fails on a row: use TRY_CAST, or a WHERE that keeps such rows out",
        ) from error


def _refuse_two_rows(table: Table, rows: "DataFrame", *, of_one_row: bool = False) -> None:
    """Raise where a key has two rows that differ, in a result that was computed as a whole.

    Args:
        table: Gets the rows.
        rows: Its rows.
        of_one_row: Only those of one row of the input are compared, which have one `ORIGIN`; see `refuse_several`.

    Raises:
        WriteRefusedError: so it is.
    """
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

    by = [*deciding(table), ORIGIN] if of_one_row else table.primary_key
    others = [name for name in rows.columns if name not in by and name != ROW]
    if not others:
        return
    texts = F.to_json(F.struct(*others))
    found = rows.groupBy(*by).agg(F.min(texts).alias("first"), F.max(texts).alias("last"))
    for row in collected_rows(found.where("first <> last").select(*table.primary_key), limit=1):
        raise two_rows(table, {name: row[name] for name in table.primary_key}, of_one_row=of_one_row)
