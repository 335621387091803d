"""One epoch: read the ranges, run the steps, write every table, and tell where all ended."""

import threading
import time
from collections.abc import Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from streamhouse.engine.adapt import losses
from streamhouse.engine.dead_letters import check_limit, is_dead_letters, letters_after
from streamhouse.engine.delta import Delta, count
from streamhouse.engine.delta_step import run_delta
from streamhouse.engine.epoch_states import EpochStates
from streamhouse.engine.frames import Frames, may_reorder, may_repeat
from streamhouse.engine.inputs import AdaptedInput, EpochInput
from streamhouse.engine.lease import LeaseGuard
from streamhouse.engine.needs import Need
from streamhouse.engine.note import Note
from streamhouse.engine.persisted import PersistedFrames
from streamhouse.engine.points import reach
from streamhouse.engine.rows_source import can_spread_changes, spread_changes
from streamhouse.engine.segment_states import SegmentStates
from streamhouse.engine.spread import can_spread, spread_write
from streamhouse.engine.strategies import StepInputs, StepResult, changed_rows, collected, gives_frame, run_step
from streamhouse.engine.traces import writer_of
from streamhouse.engine.vector import Vector
from streamhouse.model.bad_rows import count_text
from streamhouse.model.plan import FlowPlan, PlannedStep, Segment
from streamhouse.model.table import Table
from streamhouse.model.types import Layer, Position, ReadMode, Strategy, Tier, behind
from streamhouse.model.version import table_name
from streamhouse.model.writer import segment_writer
from streamhouse.stores.arrow import arrow_schema, conform
from streamhouse.stores.base import Changes, NotedStore, Store, WriteContext
from streamhouse.stores.places import Places
from streamhouse.stores.sums import SumBounds

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class SegmentParts:
    """What the epochs of a segment share."""

    plan: FlowPlan
    segment: Segment
    needs: Mapping[str, Need]
    inputs: Mapping[str, EpochInput]
    stores: Mapping[Tier, Store]
    frames: Frames
    states: SegmentStates
    places: Places
    pool: ThreadPoolExecutor
    lease: LeaseGuard
    last_full_ms: dict[str, int] = field(default_factory=dict)  # `full` step → when it last ran
    sums: SumBounds = field(default_factory=SumBounds)

    def store(self, table: Table) -> Store:
        """Where the segment writes a table."""
        return self.stores[table.tiers.target]

    def writer(self, step: PlannedStep) -> str:
        """The name under which a step writes."""
        return writer_of(self.plan.flow, self.segment.name, step)

    @cached_property
    def fingerprint(self) -> str:
        """Of the plan."""
        return self.plan.fingerprint


def note_of(
    parts: SegmentParts,
    epoch: int,
    after: int | None,
    start: Vector,
    end: Vector,
    ends: Mapping[str, Position],
    generation: int,
) -> Note:
    """What an epoch of a segment leaves in its tables before it writes them; see `Note`."""
    return Note(
        epoch,
        after,
        end.at_ms,
        parts.fingerprint,
        {name: dict(at) for name, at in start.positions.items()},
        {name: dict(at) for name, at in end.positions.items()},
        end.tick,
        {name: dict(at) for name, at in ends.items()},
        generation=generation,
        after_ms=start.at_ms,
    )


def leave_note(parts: SegmentParts, note: Note) -> None:
    """Keep a note beside the segment's hot tables; durable on return. In a lake each commit has it."""
    hot = [table.name for table in parts.segment.tables.values() if table.tiers.target is Tier.HOT]
    store = parts.stores[Tier.HOT] if hot else None
    if isinstance(store, NotedStore):
        parts.lease.check()
        store.note(segment_writer(parts.plan.flow, parts.segment.name), note.to_text(), hot)


@dataclass(frozen=True)
class EpochOutcome:
    """What an epoch did.

    Attributes:
        ends: Table written by the segment → its end now, whether or not this epoch wrote it.
        rows: Table → rows written (upserts and deletes).
        visible_ms: Layer → when the last of its tables was written, epoch milliseconds.
        read: Source or foreign table → rows read from it.
        violations: `step.expectation` → rows that violate it.
        bad_rows: A sentence for each dead-letter table that changed.
        losses: What a value does not fit, in words → how many values.
        deltas: Source or table → what changed there.
        ran: Ids of the steps that ran.
    """

    ends: dict[str, Position]
    rows: dict[str, int] = field(default_factory=dict)
    visible_ms: dict[Layer, int] = field(default_factory=dict)
    read: dict[str, int] = field(default_factory=dict)
    violations: dict[str, int] = field(default_factory=dict)
    bad_rows: list[str] = field(default_factory=list)
    losses: dict[str, int] = field(default_factory=dict)
    deltas: dict[str, Delta | None] = field(default_factory=dict)
    ran: set[str] = field(default_factory=set)

    @property
    def read_rows(self) -> int:
        """Rows read, over all inputs."""
        return sum(self.read.values())


class EpochRun:
    """The threads of one epoch. What changes in a table, and its end, are futures that others wait for."""

    def __init__(
        self,
        parts: SegmentParts,
        epoch: int,
        start: Vector,
        end: Vector,
        ends: dict[str, Position],
        *,
        after: int | None = None,
        generation: int = 0,
        outdated: Collection[str] = (),
        replay: bool,
    ) -> None:
        self._parts = parts
        self._outdated = outdated
        self._epoch = epoch
        self._note = note_of(parts, epoch, after, start, end, ends, generation)
        self._noted: Future[None] = Future()  # nothing is written before it
        self._start = start
        self._end = end
        self._ends_before = ends
        self._replay = replay
        self._outcome = EpochOutcome(ends=dict(ends))
        # Of inputs and steps. A table that is read has one step that writes it, which bears its name.
        names = (*parts.inputs, *(step.id for step in parts.segment.steps))
        self._deltas: dict[str, Future[Delta | None]] = {name: Future() for name in names}
        self._states = EpochStates(parts.states, self._deltas)
        self._lock = threading.Lock()
        self._persisted = PersistedFrames()
        # What a dead attempt wrote is told apart in the driver alone, so an epoch is repeated there.
        self._spread = not replay and self._rows() > parts.plan.local_epoch_rows

    def all(self) -> EpochOutcome:
        """Start every read and every step, and wait for all of them.

        Raises:
            Exception: the first error in the order of the steps.
        """
        self._noted = self._parts.pool.submit(leave_note, self._parts, self._note)
        for name, epoch_input in self._parts.inputs.items():
            self._parts.pool.submit(self._read, name, epoch_input)
        steps = [self._parts.pool.submit(self._step, step) for step in self._parts.segment.steps]
        failures = [error for done in (*steps, self._noted) if (error := done.exception())]
        if failures:
            raise next((e for e in failures if not isinstance(e, _UpstreamFailed)), failures[0])
        for name, delta in self._deltas.items():
            self._outcome.deltas[name] = delta.result()
        return self._outcome

    def release(self) -> None:
        """Let Spark forget the rows that it kept for several readers, also those of an attempt that failed."""
        self._persisted.release()

    def _rows(self) -> int:
        """How many rows the epoch's ranges have."""
        start, end = self._start.positions, self._end.positions
        return sum(
            epoch_input.rows_between(start.get(name, {}), end.get(name, {}))
            for name, epoch_input in self._parts.inputs.items()
        )

    def _read(self, name: str, epoch_input: EpochInput) -> None:
        try:
            self._deltas[name].set_result(self._read_range(name, epoch_input))
        except BaseException as error:
            self._deltas[name].set_exception(error)
            raise

    def _read_range(self, name: str, epoch_input: EpochInput) -> Delta | None:
        start, end = self._start.positions.get(name, {}), self._end.positions.get(name, {})
        if skipped_ranges := self._parts.plan.given_up.get(table_name(name)):
            start = {
                part: min(behind(skipped_ranges.get(part, ()), start.get(part, 0)), last) for part, last in end.items()
            }
        need = self._parts.needs[name]
        if start == end or not (need.changes or need.state):
            return None
        delta: Delta | None
        # What is lost is counted where the rows are in hand.
        spreads = self._spread and need.changes and not need.key and not need.adapted
        if spreads and can_spread_changes(need.origin):
            parts = self._parts
            frame = spread_changes(
                parts.frames.spark, need.origin, parts.places, parts.places.root, start, end, need.column_names
            )
            delta = self._spread_delta(name, frame, epoch_input.rows_between(start, end))
        elif isinstance(epoch_input, AdaptedInput):
            changes, lost = epoch_input.changes_and_lost(start, end, need.column_names)
            self._outcome.losses.update(losses(name, lost, need.adapted))
            delta = self._delta(name, changes)
        else:
            delta = self._delta(name, epoch_input.changes(start, end, need.column_names))
        if need.changes and delta is not None:
            self._outcome.read[name] = delta.rows
        return delta

    def _step(self, step: PlannedStep) -> None:
        table = step.writes
        try:
            inputs = self._inputs_of(step)
            if not self._is_due(step, inputs.deltas):
                self._deltas[step.id].set_result(None)
            else:
                self._run(step, inputs)
                self._outcome.ran.add(step.id)
            self._outcome.visible_ms[table.layer] = _now_ms()
        except BaseException as error:
            if not self._deltas[step.id].done():
                self._deltas[step.id].set_exception(_UpstreamFailed(step.id, error))
            raise

    def _run(self, step: PlannedStep, inputs: StepInputs) -> None:
        if self._spreads(step, inputs):
            self._write_spread(step, inputs)
        else:
            self._run_here(step, inputs)

    def _run_here(self, step: PlannedStep, inputs: StepInputs) -> None:
        table = step.writes
        read_back = self._parts.needs[table.name].read_back
        if gives_frame(step, inputs) and self._is_followed(table.name):
            result = self._run_followed(step, inputs)
        else:
            run = run_delta if step.strategy is Strategy.DELTA else run_step
            result = run(step, inputs, self._parts.frames)
        # All of them are asked: nothing is written before the steps that this one follows have succeeded.
        empty = [delta.is_empty() for delta in inputs.deltas.values()]
        idle = bool(empty) and all(empty)
        if not self._deltas[step.id].done() and (idle or not read_back):
            self._deltas[step.id].set_result(None if idle else self._delta(table.name, result.changes))
        if idle:
            return
        position = self._write_result(step, result)
        if read_back:
            self._deltas[step.id].set_result(self._read_back(table, position))

    def _run_followed(self, step: PlannedStep, inputs: StepInputs) -> StepResult:
        """Run a step while the steps that follow run its query too, as the first part of their own."""
        later: Future[Changes] = Future()
        try:
            frame = changed_rows(step, inputs, self._parts.frames)
            form = "standing" if self._parts.frames.stands(frame) else "frame"
            self._deltas[step.id].set_result(self._new_delta(step.writes.name, **{form: frame}, later=later))
            result = collected(step, frame, self._parts.frames)
        except BaseException as error:
            later.set_exception(_UpstreamFailed(step.id, error))
            raise
        later.set_result(result.changes)
        return result

    def _is_followed(self, name: str) -> bool:
        """Whether a step of the segment takes the changes of a table as a DataFrame."""
        return any(
            read.table == name and read.mode is ReadMode.CHANGES and not step.strategy.reads_state
            for step in self._parts.segment.steps
            for read in step.reads
        )

    def _inputs_of(self, step: PlannedStep) -> StepInputs:
        waits = step.strategy.reads_state  # the others ask whether there are rows
        deltas: dict[str, Delta] = {}
        for read in step.reads:
            found = self._deltas[read.table].result() if read.mode is ReadMode.CHANGES else None
            if found is not None and not (waits and found.is_empty()):
                deltas[read.table] = found
        return StepInputs(self._parts.needs, deltas, self._states, self._end.at_ms)

    def _is_due(self, step: PlannedStep, deltas: Mapping[str, Delta]) -> bool:
        if step.strategy is not Strategy.FULL:
            return bool(deltas) or step.id in self._outdated
        last = self._parts.last_full_ms.get(step.id)
        interval_ms = round(step.interval.total_seconds() * 1000) if step.interval else 0
        due = self._end.tick or last is None or self._end.at_ms - last >= interval_ms
        if step.id in self._outdated or (due and (deltas or self._end.tick or interval_ms)):
            self._parts.last_full_ms[step.id] = self._end.at_ms
            return True
        return False

    def _spreads(self, step: PlannedStep, inputs: StepInputs) -> bool:
        """Whether Spark's tasks run and write the step: its rows are only added, and nobody must count them first."""
        return (
            not step.strategy.reads_state
            and all(delta.spread and not inputs.needs[name].key for name, delta in inputs.deltas.items())
            and not step.expect
            and not step.part
            and not step.writes.selects  # rows of one key could be in two tasks
            and not (may_reorder(step) or may_repeat(step))  # put in order and compared in one place
            and can_spread(step.writes)
        )

    def _write_spread(self, step: PlannedStep, inputs: StepInputs) -> None:
        parts, table = self._parts, step.writes
        frame = parts.frames.valid_rows(step, changed_rows(step, inputs, parts.frames))
        if step.strategy is Strategy.MAP and table.primary_key:
            frame = parts.frames.last_of_each_key(frame, table.primary_key)
        read_back = parts.needs[table.name].read_back
        delta = self._spread_delta(table.name, frame, None)
        with ExitStack() as block:
            if read_back:  # the steps that follow get other rows
                block.callback(delta.frame().unpersist)
            else:
                self._deltas[step.id].set_result(delta)
            self._noted.result()
            reach("during_write", table.name)
            parts.lease.check()
            store, context = parts.store(table), self._context(step, table)
            written = spread_write(delta.frame(), table, parts.places, store, context, parts.lease.stands)
            reach("between_writes", table.name)
            self._wrote(table, written.end, written.rows)
        if read_back:
            self._deltas[step.id].set_result(self._read_back(table, written.end))

    def _spread_delta(self, name: str, frame: "DataFrame", rows: int | None) -> Delta:
        readers = sum(read.table == name for step in self._parts.segment.steps for read in step.reads)
        own_write = name not in self._parts.inputs
        if readers + own_write > 1 or self._parts.needs[name].state:
            frame = self._persisted.keep(frame)
        return self._new_delta(name, frame=frame, rows=rows)

    def _write_result(self, step: PlannedStep, result: StepResult) -> Position:
        for rule, rows in result.judged.violations.items():
            self._outcome.violations[f"{step.id}.{rule}"] = rows
        if step.quarantine:
            bad = result.judged.quarantined
            empty = arrow_schema(step.quarantine.columns).empty_table()
            rows_out = empty if bad is None else conform(bad, step.quarantine.columns)
            self._write(step, step.quarantine, Changes(rows_out))
        if is_dead_letters(step):
            self._check_bad_rows(step, result.changes)
        return self._write(step, step.writes, result.changes)

    def _check_bad_rows(self, step: PlannedStep, changes: Changes) -> None:
        parts, table, letters = self._parts, step.writes, step.reads[0].table
        end = self._end.positions.get(letters, {})
        new = changes.upserts.num_rows
        letters_now = letters_after(changes, parts.store(table).read_state(table, None, table.primary_key))
        if new:
            check_limit(parts.plan, step, letters_now, lambda: parts.inputs[letters].rows_between({}, end))
        self._outcome.bad_rows.append(count_text(table_name(table.name), letters_now, new, self._epoch))

    def _write(self, step: PlannedStep, table: Table, changes: Changes) -> Position:
        before = self._ends_before.get(table.name, {})
        if not count(changes) and not self._replay:
            return before
        self._noted.result()
        reach("during_write", table.name)
        self._parts.lease.check()
        position = self._parts.store(table).write(table, changes, self._context(step, table))
        reach("between_writes", table.name)
        self._wrote(table, position, count(changes))
        return position

    def _context(self, step: PlannedStep, table: Table) -> WriteContext:
        return WriteContext(
            self._parts.writer(step),
            self._epoch,
            replay_from=self._ends_before.get(table.name, {}) if self._replay else None,
            properties=self._properties if table.tiers.target is not Tier.HOT else {},
            columns=step.part if step.part and table is step.writes else None,
            sums=self._parts.sums,
        )

    @cached_property
    def _properties(self) -> dict[str, str]:
        """Of the epoch's commits in a lake; the hot tier keeps nothing with its rows."""
        return {"streamhouse.at_ms": str(self._end.at_ms), **self._note.properties()}

    def _wrote(self, table: Table, end: Position, rows: int) -> None:
        with self._lock:
            self._outcome.ends[table.name] = end
            self._outcome.rows[table.name] = self._outcome.rows.get(table.name, 0) + rows

    def _read_back(self, table: Table, end: Position) -> Delta | None:
        """What the store says changed in a table that merges or selects: rows as they are now, not what was written."""
        start = self._ends_before.get(table.name, {})
        if start == end:
            return None
        names = self._parts.needs[table.name].column_names
        return self._delta(table.name, self._parts.store(table).read_changes(table, start, end, names))

    def _delta(self, name: str, changes: Changes) -> Delta | None:
        """None where nothing changed, so that no step is run for it."""
        if not count(changes):
            return None
        return self._new_delta(name, changes=changes)

    def _new_delta(self, name: str, **values: Any) -> Delta:
        frames = self._parts.frames
        return Delta(
            **values,
            make_frame=frames.frame,
            place=partial(frames.place, name),
            collect=frames.rows,
            extend=self._parts.states.extending(name),
        )


class _UpstreamFailed(Exception):  # noqa: N818  never leaves this module
    """A step did not run because one before it failed; the epoch raises that one's error."""

    def __init__(self, step: str, cause: BaseException) -> None:
        super().__init__(f"step {step} failed")
        self.__cause__ = cause


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
