"""A segment in one process: what its epochs share, and its life before and between them."""

import json
import time
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from streamhouse.engine.epoch import EpochOutcome, EpochRun, SegmentParts, leave_note, note_of
from streamhouse.engine.frames import Frames
from streamhouse.engine.inputs import EpochInput, TableInput
from streamhouse.engine.lease import LeaseGuard
from streamhouse.engine.needs import needs_of
from streamhouse.engine.segment_states import SegmentStates
from streamhouse.engine.traces import removed, restore_hint, unknown_rows_text
from streamhouse.engine.vector import Vector, covers, without_dropped
from streamhouse.errors import StateConflictError
from streamhouse.model.plan import FlowPlan, PlannedStep, Segment
from streamhouse.model.types import Position, Tier
from streamhouse.state.records import EpochRecord
from streamhouse.stores.base import Store
from streamhouse.stores.ledger import verify
from streamhouse.stores.places import Places

_VERIFY_S = 30.0  # between two looks at tables of others; while a flow is followed, the Flow Trigger looks as well


class SegmentExecution:
    """Runs the epochs of one segment in one process. Keeps caches, but nothing it could not lose."""

    def __init__(
        self,
        plan: FlowPlan,
        segment: Segment,
        inputs: Mapping[str, EpochInput],
        stores: Mapping[Tier, Store],
        frames: Frames,
        places: Places,
        cache: Path,
        lease: LeaseGuard,
    ) -> None:
        """Connect a segment.

        Args:
            plan: The flow.
            segment: Which part of it.
            inputs: All it reads and does not write.
            stores: Every tier its tables are in.
            frames: Runs its SQL.
            places: For the processes that read and write on the executor route.
            cache: Folder for the states it holds.
            lease: Of the flow; once it ran out, nothing is written.
        """
        needs = needs_of(plan, segment)
        own = {t.name: TableInput(t, stores[t.tiers.target]) for t in segment.tables.values()}
        states = SegmentStates(cache / f"{segment.name}.duckdb", needs, {**inputs, **own}, frames, segment.steps)
        # One thread for each step: a step waits in its thread for the steps it reads from. And one for the note.
        threads = len(segment.steps) + len(inputs) + 1
        pool = ThreadPoolExecutor(threads, thread_name_prefix=f"{plan.flow}/{segment.name}")
        self._checked = cache / f"{segment.name}.checked"
        self._verify_at = 0.0  # not before this, on the monotonic clock
        self._parts = SegmentParts(plan, segment, needs, inputs, stores, frames, states, places, pool, lease)
        self._attempt: EpochRun | None = None  # the last one, until Spark has forgotten its rows

    def prepare(self, ends: Mapping[str, Position]) -> None:
        """Create the tables that are missing, and hold the plan's types against Spark's.

        Args:
            ends: Table → its end after the last finished epoch; empty before the first.

        Raises:
            StateConflictError: a table that had rows is gone.
            SchemaConflictError: a table stands with another schema.
            TypeMismatchError: Spark gives a step's result another type than the plan.
        """
        parts = self._parts
        columns = {name: need.origin.columns for name, need in parts.needs.items()}
        checked = [parts.pool.submit(parts.frames.check, step, columns) for step in self._unchecked()]
        for table in parts.segment.tables.values():
            if parts.store(table).columns(table.name) is not None:
                parts.store(table).add_columns(table)  # a change of the plan, or another writer, brings columns
            elif any(ends.get(table.name, {}).values()):
                raise removed(parts.plan.flow, table.name, "is gone")
            else:
                parts.store(table).create(table)
        for done in checked:
            done.result()
        self._note_checked()

    def _unchecked(self) -> tuple[PlannedStep, ...]:
        """The steps to hold against Spark: none, when these very ones were before, by this Spark."""
        noted = self._checked.read_text() if self._checked.is_file() else ""
        return () if noted == self._signature() else self._parts.segment.steps

    def _note_checked(self) -> None:
        self._checked.parent.mkdir(parents=True, exist_ok=True)
        self._checked.write_text(self._signature())

    def _signature(self) -> str:
        parts = self._parts
        columns = [(name, [(c.name, c.type) for c in need.origin.columns]) for name, need in parts.needs.items()]
        plan = parts.segment.model_dump_json() + json.dumps(columns)
        return f"{parts.frames.spark.version} {sha256(plan.encode()).hexdigest()}"

    def check_empty(self) -> None:
        """Refuse to begin a flow over tables that hold rows: it would write them again.

        Raises:
            StateConflictError: a table is not empty.
        """
        parts = self._parts
        for table in parts.segment.tables.values():
            if table.name not in self._shared and any(parts.store(table).end(table).values()):
                raise StateConflictError(
                    unknown_rows_text(table.name),
                    hint=restore_hint(parts.plan.flow),
                )

    def ends(self, recorded: Mapping[str, Position]) -> dict[str, Position]:
        """Table written by the segment → its end as the store has it.

        Args:
            recorded: Its end behind the last finished epoch; absent: not known, as a backfill was at work.

        Raises:
            StateConflictError: a table ends before where the last finished epoch left it, or a hot one behind it.
        """
        parts = self._parts
        futures = {
            name: parts.pool.submit(parts.store(table).end, table) for name, table in parts.segment.tables.items()
        }
        found = {name: end.result() for name, end in futures.items()}
        for name, end in found.items():
            table = parts.segment.tables[name]
            left = without_dropped(table, recorded.get(name, {}), end)
            if not covers({name: end}, {name: left}):
                raise removed(parts.plan.flow, name, f"ends at {end}, before {recorded[name]}, where the flow left it")
            # Upkeep adds snapshots to a lake, which tells its writers apart. To a log nothing but a writer adds.
            alone = table.tiers.target is Tier.HOT and name in recorded and name not in self._shared
            if alone and not covers({name: left}, {name: end}):
                raise StateConflictError(
                    f"{name} ends at {end}, behind {recorded[name]}, where the state store knows that the flow left it",
                    hint=restore_hint(parts.plan.flow),
                )
        return found

    def note_done(self, last: EpochRecord, generation: int) -> None:
        """Leave a note beside hot tables that all of an epoch is there; no other one runs. See `Note.generation`."""
        end = Vector(last.at_ms, last.end)
        note = note_of(self._parts, last.epoch, None, Vector(0, last.start), end, last.ends, generation)
        leave_note(self._parts, replace(note, done=True))

    @property
    def _shared(self) -> set[str]:
        """Tables that other segments or flows write too."""
        return {step.writes.name for step in self._parts.segment.steps if step.part}

    def run(
        self,
        epoch: int,
        start: Vector,
        end: Vector,
        ends: dict[str, Position],
        *,
        after: int | None = None,
        generation: int = 0,
        outdated: Collection[str] = (),
        replay: bool,
    ) -> EpochOutcome:
        """Run one epoch.

        Args:
            epoch: Its number.
            start: Where the epoch before it ended.
            end: Where this one ends.
            ends: Table → its end after the epoch before it.
            after: Number of that one; None: there was none.
            generation: See `Note`.
            outdated: Ids of the steps that compute their whole table, though nothing may have changed.
            replay: Whether an earlier attempt may have written something.

        Raises:
            TableLostError: a table that others write is gone, is another one, or is older than what was recorded.
            StreamhouseError: the epoch failed; what it wrote is completed, not repeated, by a replay.
        """
        self._verify_read()
        self._release()
        self._parts.states.stand_at({**start.positions, **ends})
        self._attempt = EpochRun(
            self._parts,
            epoch,
            start,
            end,
            ends,
            after=after,
            generation=generation,
            outdated=outdated,
            replay=replay,
        )
        return self._attempt.all()

    def _verify_read(self) -> None:
        """Refuse tables of others that differ from their record: a table created again has no rows to read on."""
        if time.monotonic() < self._verify_at:
            return
        parts = self._parts
        for table in parts.plan.readable:
            if table.name in parts.segment.reads and table.name not in parts.segment.tables:
                verify(parts.store(table), table)
        self._verify_at = time.monotonic() + _VERIFY_S

    def settle(self, outcome: EpochOutcome, end: Vector) -> None:
        """Apply the changes of a recorded epoch to the cached states."""
        self._parts.states.take_over(outcome.deltas, {**end.positions, **outcome.ends})
        self._release()
        self._parts.frames.end_epoch()

    def close(self) -> None:
        """Stop the threads, close the cache, and `abandon` what is left of the last epoch."""
        self._parts.pool.shutdown(wait=True, cancel_futures=True)
        self._parts.states.close()
        self.abandon()

    def abandon(self) -> None:
        """Let Spark forget the rows of an epoch that failed or was not recorded; do nothing where there is none."""
        with suppress(Exception):  # Spark has ended, and its rows with it
            self._release()

    def _release(self) -> None:
        attempt, self._attempt = self._attempt, None
        if attempt is not None:
            attempt.release()
