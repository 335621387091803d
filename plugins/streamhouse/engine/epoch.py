"""One epoch: read the ranges, run the steps, write every table, and tell where all ended."""

import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from streamhouse.engine.frames import Frames
from streamhouse.engine.inputs import EpochInput
from streamhouse.engine.keys import key_rows, with_keys
from streamhouse.engine.points import reach
from streamhouse.engine.strategies import StepInputs, StepResult, run_step
from streamhouse.engine.vector import Vector
from streamhouse.errors import StateConflictError
from streamhouse.model.plan import FlowPlan, PlannedStep, Segment
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Layer, Position, ReadMode, Strategy, Tier
from streamhouse.stores.arrow import arrow_schema, conform
from streamhouse.stores.base import Changes, Store, WriteContext

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Outcome:
    """What an epoch did.

    Attributes:
        ends: Table written by the segment → its end now, whether or not this epoch wrote it.
        rows: Table → rows written (upserts and deletes).
        visible_ms: Layer → when the last of its tables was written, epoch milliseconds.
    """

    ends: dict[str, Position]
    rows: dict[str, int] = field(default_factory=dict)
    visible_ms: dict[Layer, int] = field(default_factory=dict)
    read: dict[str, int] = field(default_factory=dict)  # source or foreign table → rows read from it
    violations: dict[str, int] = field(default_factory=dict)  # `table.expectation` → rows that violate it

    @property
    def read_rows(self) -> int:
        """Rows read, over all inputs."""
        return sum(self.read.values())


class SegmentRunner:
    """Runs the epochs of one segment in one process. Keeps caches, but nothing it could not lose."""

    def __init__(
        self,
        plan: FlowPlan,
        segment: Segment,
        inputs: Mapping[str, EpochInput],
        stores: Mapping[Tier, Store],
        frames: Frames,
    ) -> None:
        self._segment = segment
        self._inputs = inputs
        self._stores = stores
        self._frames = frames
        self._writer = f"{plan.flow}/{segment.name}"
        self._tables = {step.writes.name: step.writes for step in segment.steps}
        self._columns: dict[str, tuple[Column, ...]] = {source.name: source.columns for source in plan.sources}
        self._columns |= {t.name: t.columns for t in (*plan.external, *self._tables.values())}
        self._keys = {t.name: t.primary_key for t in (*plan.external, *self._tables.values())}
        self._read_back = {name for name, table in self._tables.items() if self._needs_read_back(table)}
        self._states: dict[str, tuple[Position, DataFrame]] = {}
        self._loading = threading.Lock()
        self._last_full_ms: dict[str, int] = {}
        # One thread for each step: a step waits in its thread for the steps it reads from.
        self._pool = ThreadPoolExecutor(len(segment.steps) + len(inputs), thread_name_prefix=self._writer)

    def prepare(self) -> None:
        """Create the tables that are missing, and hold the plan's types against Spark's.

        Raises:
            SchemaConflictError: a table stands with another schema.
            TypeMismatchError: Spark gives a step's result another type than the plan.
        """
        for table in self._segment.tables.values():
            self._store(table).create(table)
        for step in self._segment.steps:
            self._frames.check(step, self._columns)

    def check_empty(self) -> None:
        """Refuse to begin a flow anew over tables that hold rows: it would write them again.

        Raises:
            StateConflictError: a table is not empty.
        """
        for table in self._segment.tables.values():
            if any(self._store(table).end(table).values()):
                raise StateConflictError(
                    f"{table.name} holds rows, but the state store knows of no epoch that wrote them",
                    hint="bring the state store back, or drop the flow's tables to begin anew",
                )

    def run(self, epoch: int, start: Vector, end: Vector, ends: dict[str, Position], *, replay: bool) -> Outcome:
        """Run one epoch.

        Args:
            epoch: Its number.
            start: Where the epoch before it ended.
            end: Where this one ends.
            ends: Table → its end after the epoch before it.
            replay: Whether an earlier attempt may have written something.

        Raises:
            StreamhouseError: the epoch failed; what it wrote is completed, not repeated, by a replay.
        """
        run = _EpochRun(self, epoch, start, end, ends, replay=replay)
        return run.all()

    def close(self) -> None:
        """Stop the threads."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _store(self, table: Table) -> Store:
        return self._stores[table.tiers.target]

    def _needs_read_back(self, table: Table) -> bool:
        """Whether later steps need more of this table's changes than the rows that were written."""
        readers = [
            step
            for step in self._segment.steps
            for read in step.reads
            if read.table == table.name and read.mode is ReadMode.CHANGES
        ]
        if table.merge:  # a reader wants folded values, not what was added to them
            return bool(readers)
        return bool(table.primary_key) and any(step.strategy is Strategy.RECOMPUTE for step in readers)


class _EpochRun:
    """The threads of one epoch. A step's changes and its write are futures that others wait for."""

    def __init__(
        self, owner: SegmentRunner, epoch: int, start: Vector, end: Vector, ends: dict[str, Position], *, replay: bool
    ) -> None:
        self.o = owner
        self.epoch = epoch
        self.start = start
        self.end = end
        self.ends_before = ends
        self.replay = replay
        self.changes: dict[str, Future[Changes | None]] = {}
        self.written: dict[str, Future[Position]] = {}
        self.outcome = Outcome(ends=dict(ends))
        self.frames: dict[str, DataFrame] = {}
        self.framing = threading.Lock()

    def all(self) -> Outcome:
        """Start everything, wait for everything, raise the first error in step order."""
        steps = self.o._segment.steps
        for step in steps:
            self.changes[step.id] = Future()
        for name, given in self.o._inputs.items():
            self.changes[name] = self.o._pool.submit(self._read, name, given)
        for step in steps:
            self.written[step.id] = self.o._pool.submit(self._step, step)
        failures = [e for step in steps if (e := self.written[step.id].exception())]
        if failures:
            raise next((e for e in failures if not isinstance(e, _UpstreamFailed)), failures[0])
        return self.outcome

    def _read(self, name: str, given: EpochInput) -> Changes | None:
        start, end = self.start.positions.get(name, {}), self.end.positions.get(name, {})
        if start == end or not self._drives_a_step(name):
            return None
        changes = given.changes(start, end, None)
        self.outcome.read[name] = _count(changes)
        return changes

    def _drives_a_step(self, name: str) -> bool:
        reads = (read for step in self.o._segment.steps for read in step.reads)
        return any(read.table == name and read.mode is ReadMode.CHANGES for read in reads)

    def _step(self, step: PlannedStep) -> Position:
        table = step.writes
        store = self.o._store(table)
        position = self.ends_before.get(table.name, {})
        try:
            inputs = self._inputs_of(step)
            if self._is_due(step, inputs.changes):
                result = run_step(step, inputs, self.o._frames, lambda: store.read_state(table))
                changes = result.changes
                early = table.name not in self.o._read_back
                if early:
                    self.changes[step.id].set_result(changes)
                if step.quarantine:
                    self._write(step.quarantine, store, Changes(self._quarantined(step.quarantine, result)))
                position = self._write(table, store, changes)
                for rule, rows in result.judged.violations.items():
                    self.outcome.violations[f"{step.id}.{rule}"] = rows
                if not early:
                    self.changes[step.id].set_result(self._read_changes(table, store, position))
            else:
                self.changes[step.id].set_result(None)
            self.outcome.visible_ms[table.layer] = _now_ms()
        except BaseException as error:
            if not self.changes[step.id].done():
                self.changes[step.id].set_exception(_UpstreamFailed(step.id, error))
            raise
        return position

    def _inputs_of(self, step: PlannedStep) -> StepInputs:
        changes: dict[str, Changes] = {}
        for read in step.reads:
            if read.mode is ReadMode.CHANGES and (found := self.changes[read.table].result()) is not None:
                changes[read.table] = found
        return StepInputs(self.o._columns, self.o._keys, changes, self._changed, self._state, self.end.at_ms)

    def _changed(self, name: str) -> "DataFrame":
        """What the epoch added or changed in a table that some step reads; one DataFrame for all its readers."""
        with self.framing:
            if name not in self.frames:
                changes = self.changes[name].result()
                assert changes is not None, "asked for only where there are changes"
                self.frames[name] = self.o._frames.frame(changes.upserts)
            return self.frames[name]

    def _is_due(self, step: PlannedStep, changes: Mapping[str, Changes]) -> bool:
        if step.strategy is not Strategy.FULL:
            return bool(changes)
        last = self.o._last_full_ms.get(step.id)
        interval_ms = round(step.interval.total_seconds() * 1000) if step.interval else 0
        due = self.end.tick or last is None or self.end.at_ms - last >= interval_ms
        if due and (changes or self.end.tick or interval_ms):
            self.o._last_full_ms[step.id] = self.end.at_ms
            for read in step.reads:  # what it reads as a whole must be written first
                if read.table in self.written:
                    self.written[read.table].result()
            return True
        return False

    def _quarantined(self, table: Table, result: StepResult) -> pa.Table:
        rows = result.judged.quarantined
        return arrow_schema(table.columns).empty_table() if rows is None else conform(rows, table.columns)

    def _write(self, table: Table, store: Store, changes: Changes) -> Position:
        before = self.ends_before.get(table.name, {})
        if not _count(changes) and not self.replay:
            return before
        reach("during_write", table.name)
        context = WriteContext(
            self.o._writer,
            self.epoch,
            replay_from=before if self.replay else None,
            properties={"streamhouse.at_ms": str(self.end.at_ms)},
        )
        position = store.write(table, changes, context)
        reach("between_writes", table.name)
        self.outcome.ends[table.name] = position
        self.outcome.rows[table.name] = _count(changes)
        return position

    def _read_changes(self, table: Table, store: Store, end: Position) -> Changes | None:
        start = self.ends_before.get(table.name, {})
        if start == end:
            return None
        changes = store.read_changes(table, start, end)
        if table.merge and not store.capabilities.before_images:
            folded = with_keys(store.read_state(table), key_rows(changes.upserts, table.primary_key))
            return Changes(folded, changes.deletes)
        return changes

    def _state(self, name: str) -> "DataFrame":
        """All rows of a source or table at the end of this epoch; kept while the table does not move."""
        own = name in self.written
        position = self.written[name].result() if own else self.end.positions.get(name, {})
        with self.o._loading:
            cached = self.o._states.get(name)
            if cached is None or cached[0] != position:
                table = self.o._tables[name] if own else None
                rows = self.o._store(table).read_state(table) if table else self.o._inputs[name].state(position)
                cached = self.o._states[name] = (position, self.o._frames.frame(rows))
        return cached[1]


class _UpstreamFailed(Exception):  # noqa: N818  never leaves this module
    """A step did not run because one before it failed; the epoch raises that one's error."""

    def __init__(self, step: str, cause: BaseException) -> None:
        super().__init__(f"step {step} failed")
        self.__cause__ = cause


def _count(changes: Changes) -> int:
    rows: int = changes.upserts.num_rows
    return rows + (changes.deletes.num_rows if changes.deletes is not None else 0)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
