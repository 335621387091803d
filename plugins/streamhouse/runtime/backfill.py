"""Restates a flow's tables from their whole history, while the flow stands still (design D6, D9)."""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamhouse.engine.frames import Frames
from streamhouse.engine.lease import leased
from streamhouse.engine.rows_source import spread_changes
from streamhouse.errors import RestateError, StateConflictError, UnknownTableError, did_you_mean
from streamhouse.ingest.base import KeyedSource
from streamhouse.ingest.kinds import open_source
from streamhouse.model.plan import FlowPlan, PlannedRead, PlannedSource, PlannedStep, Segment
from streamhouse.model.table import Table
from streamhouse.model.types import Position
from streamhouse.model.version import at_versions, table_name
from streamhouse.runtime.open import Open, opened, plan_of
from streamhouse.runtime.owner import is_alive, this_owner
from streamhouse.runtime.project import Project
from streamhouse.runtime.stores import places
from streamhouse.state.records import EpochRecord
from streamhouse.stores.base import WriteContext
from streamhouse.stores.frame import arrow_frame
from streamhouse.tiering.restate import EVERYTHING, Difference, Span, apply, difference
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
    """

    table: str
    upserts: int
    deletes: int


def backfill(
    project: Project,
    flow: str,
    *,
    tables: Collection[str] = (),
    span: Span = EVERYTHING,
    dry_run: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> list[Restated]:
    """Bring tables of a flow to what their SQL says of all rows read so far, up to the flow's own positions.

    History is read from the coldest tier that holds it. The flow must not run meanwhile; it goes on from
    where it stood, so between history and stream no row is missed or counted twice. Cut short, a backfill
    leaves right rows beside old ones; run again, it does the rest.

    Args:
        project: Holds the flow.
        flow: Its name; it must have run before.
        tables: Those to restate, with all that this flow makes from them; empty: every table.
        span: Only rows of this event time.
        dry_run: Compare, and write nothing.
        say: Told what is being done.

    Returns:
        One entry for each table looked at, upstream first.

    Raises:
        LeaseHeldError: the flow runs.
        UnknownTableError: the flow does not write a table named.
        RestateError: a table cannot be restated, the flow has not run, or its files are not what is applied.
        StateConflictError: an epoch is unfinished.
    """
    plan = plan_of(project, flow)
    _chosen(plan, tables)
    _check_applied(project, plan)
    with opened(project, say=say) as open_, leased(open_.state, flow, this_owner(), alive=is_alive):
        last = {segment.name: _last_epoch(open_, plan, segment) for segment in plan.segments}
        restating = Restating(open_, at_versions(plan, open_.state.versions(flow)), last, span, say, dry_run=dry_run)
        return [restating.step(segment, step) for segment, step in _chosen(restating.plan, tables)]


def _check_applied(project: Project, plan: FlowPlan) -> None:
    with project.state() as state:
        known = state.plan(plan.flow)
    if known is not None and known[1].fingerprint != plan.fingerprint:
        raise RestateError(
            f"the files of {plan.flow} differ from revision {known[0]}, which is applied",
            hint=f"apply them first: streamhouse apply {plan.flow}",
        )


def _chosen(plan: FlowPlan, tables: Collection[str]) -> list[tuple[Segment, PlannedStep]]:
    every = [(segment, step) for segment in plan.segments for step in segment.steps]
    written = [table_name(step.writes.name) for _, step in every]
    for name in tables:
        if name not in written:
            raise UnknownTableError(
                f"{plan.flow} does not write {name}",
                hint=did_you_mean(name, written, f"it writes: {', '.join(written)}"),
            )
    if not tables:
        return every
    touched = {step.writes.name for _, step in every if table_name(step.writes.name) in tables}
    for _, step in every:
        if any(read.table in touched for read in step.reads):
            touched.add(step.writes.name)
    return [(segment, step) for segment, step in every if step.writes.name in touched]


class Restating:
    """Brings tables to what their SQL says, one after the other; a dry run passes what it would write on to readers."""

    def __init__(
        self,
        open_: Open,
        plan: FlowPlan,
        last: Mapping[str, EpochRecord],
        span: Span = EVERYTHING,
        say: Callable[[str], None] = lambda _: None,
        *,
        dry_run: bool = False,
    ) -> None:
        """Begin.

        Args:
            open_: Everything connected.
            plan: Over the names that stores hold.
            last: Segment → how far it has read; rows beyond are not looked at.
            span: Only rows of this event time.
            say: Told what is being done.
            dry_run: Compare, and write nothing.
        """
        self._open = open_
        self.plan = plan
        self._last = last
        self._span = span
        self._say = say
        self._dry_run = dry_run
        self._frames = Frames(open_.spark)
        self._made: dict[str, DataFrame] = {}

    def fill(self, segment: Segment, step: PlannedStep) -> Restated:
        """Fill the table of a step and its quarantine table, which are empty; those it reads must be done."""
        results = self._results(segment, step)
        if step.quarantine is not None:
            self._put(segment, step, step.quarantine, self._frames.quarantined(step, results))
        return self._put(segment, step, step.writes, self._kept(step, results))

    def copy(self, segment: Segment, step: PlannedStep, table: Table, old: Table, at: Position) -> Restated:
        """Fill a table, which is empty, with the rows that another version of it has.

        Args:
            segment: Of the step.
            step: Writes the table.
            table: Its table, or its quarantine table.
            old: The other version, with columns that a store could have given those of `table` in place.
            at: Where that one is to be read to.
        """
        from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

        self._say(f"{table.name}: copying {old.name}")
        rows, had = union_frame(self._open.spark, old, self._open.stores, at=at), old.column_names
        names = {c.name: c.name if c.name in had else step.renamed.get(c.name, c.name) for c in table.columns}
        return self._put(
            segment,
            step,
            table,
            rows.select(
                *(
                    (F.col(names[c.name]) if names[c.name] in had else F.lit(None)).cast(c.type).alias(c.name)
                    for c in table.columns
                )
            ),
        )

    def _put(self, segment: Segment, step: PlannedStep, table: Table, rows: "DataFrame") -> Restated:
        rows = rows.persist()
        try:
            found = Difference(rows, None, rows.count(), 0)
            self._write(segment, step, table, found)
        finally:
            rows.unpersist()
        return Restated(table_name(table.name), found.rows, 0)

    def step(self, segment: Segment, step: PlannedStep) -> Restated:
        """Restate the table of a step; those it reads must be done."""
        table, expected = step.writes, self._kept(step, self._results(segment, step))
        try:
            current = union_frame(self._open.spark, table, self._open.stores)
            found = difference(step, expected, current, self._span)
            if self._dry_run:
                self._made[table.name] = expected
            else:
                self._write(segment, step, table, found)
        finally:
            self._open.spark.catalog.clearCache()
        return Restated(table_name(table.name), found.rows, found.gone)

    def _results(self, segment: Segment, step: PlannedStep) -> "DataFrame":
        """What the SQL makes of the whole history, with a flag for each expectation."""
        last = self._last[segment.name]
        self._say(f"{step.writes.name}: reading its history")
        bound = {read.port: self._history(segment, read, last) for read in step.reads}
        return self._frames.run(step, bound, last.at_ms)

    def _kept(self, step: PlannedStep, results: "DataFrame") -> "DataFrame":
        """The rows that the table should hold; each key once."""
        expected, key = self._frames.kept(step, results), step.writes.primary_key
        return self._frames.last_of_each_key(expected, key) if key else expected

    def _write(self, segment: Segment, step: PlannedStep, table: Table, found: Difference) -> None:
        began = time.time_ns() // 1_000_000
        writer = f"{self.plan.flow}/{segment.name}/backfill"
        total, done = found.rows + found.gone, 0

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

    def _history(self, segment: Segment, read: PlannedRead, last: EpochRecord) -> "DataFrame":
        """All rows of a source or table up to where the segment has read."""
        if read.table in self._made:
            return self._made[read.table]
        at = last.end.get(read.table, {})
        sources = {source.name: source for source in self.plan.sources}
        if read.table in sources:
            return _source_rows(self._open, sources[read.table], read, at)
        table = next(table for table in self.plan.readable if table.name == read.table)
        own = table.name in segment.tables
        columns = tuple(dict.fromkeys((*read.columns, *table.primary_key))) or table.column_names[:1]
        return union_frame(self._open.spark, table, self._open.stores, columns, at=None if own else at)


def _last_epoch(open_: Open, plan: FlowPlan, segment: Segment) -> EpochRecord:
    last = open_.state.last_epoch(plan.flow, segment.name)
    if last is None:
        raise RestateError(
            f"{plan.flow} has not run yet, so there is no history to restate",
            hint=f"streamhouse run {plan.flow} --once",
        )
    if (unfinished := open_.state.unfinished(plan.flow, segment.name)) is not None:
        raise StateConflictError(
            f"epoch {unfinished} of {plan.flow} is not finished",
            hint=f"finish it first: streamhouse run {plan.flow} --once",
        )
    return last


def _source_rows(open_: Open, planned: PlannedSource, read: PlannedRead, at: Position) -> "DataFrame":
    root = open_.project.root
    source = open_source(planned, root)
    columns = read.columns or tuple(column.name for column in planned.columns[:1])
    if isinstance(source, KeyedSource):
        return arrow_frame(open_.spark, source.state(at, columns))
    return spread_changes(open_.spark, planned, places(open_.project, open_.fluss), root, {}, at, columns)
