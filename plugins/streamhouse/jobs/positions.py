"""How far a flow is, by all of its records together (docs/restore.md)."""

import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import rmtree

from streamhouse.change.building import last_epochs
from streamhouse.engine.checkpoint import Checkpoint, committed
from streamhouse.engine.epoch_numbers import epochs_of_copies
from streamhouse.engine.loss import CopyReach, LaterEpoch, LossRule, LossVerdict, SegmentRows, StateRecord, hint, judged
from streamhouse.engine.note import Note, Trace, newest
from streamhouse.engine.observed import SeenTables, endless, other_epoch, seen, short_of
from streamhouse.engine.remedy import Remedy, fits, newest_plan, remedy, versions_in
from streamhouse.engine.traces import TracesOnce, lake_tables_without, newest_of
from streamhouse.engine.vector import Vector, covers
from streamhouse.errors import StateConflictError
from streamhouse.jobs.copy_marks import CopyMarks, reaches_beyond
from streamhouse.model.plan import FlowPlan, Segment
from streamhouse.model.table import Table
from streamhouse.model.types import Position
from streamhouse.model.version import at_versions, stored_name, table_name
from streamhouse.model.writer import segment_writer
from streamhouse.runtime.open import Open
from streamhouse.state.records import EpochRecord, Lease

_MOST_VERSIONS = 1_000
_ROOM = 2  # Spark may have planned the next epoch: its log must not be taken for that of this one


@dataclass
class FlowPositions:
    """Where the segments of a flow go on.

    Attributes:
        plan: By which the tables were written, over the names that people know.
        stored: The same over the names that stores hold.
        at: Table → its version.
        seen: Segment → what its tables have.
        rules: Segment → what decides about it.
        remedies: Segment → where it goes on, of those whose positions other records than the state store have.
        last: Segment → its last finished epoch, as it is to be; none of those whose position is unknown.
        newest: Segment → the highest number of an epoch that any record knows.
        notes: Segment → what other records than the state store say, and whether there is a note of any epoch.
        is_other_plan: Whether another plan is applied, or none.
        generation: The highest one of the flow that its tables tell of; see `Note`.
    """

    plan: FlowPlan
    stored: FlowPlan
    at: dict[str, int]
    seen: dict[str, SeenTables] = field(default_factory=dict)
    rules: dict[str, LossRule] = field(default_factory=dict)
    remedies: dict[str, Remedy] = field(default_factory=dict)
    last: dict[str, EpochRecord] = field(default_factory=dict)
    newest: dict[str, int] = field(default_factory=dict)
    notes: dict[str, tuple[Note | None, LaterEpoch, bool]] = field(default_factory=dict)
    is_other_plan: bool = False
    generation: int = 0

    @property
    def unknown(self) -> dict[str, LossRule]:
        """Segment → why it is unknown how far it is, or what its tables lack."""
        return {name: rule for name, rule in self.rules.items() if rule.verdict is LossVerdict.COMPUTE}

    def segment_of(self, table: str) -> Segment:
        """The segment that writes a table."""
        return next(one for one in self.stored.segments if table in one.tables)

    def refusal(self) -> StateConflictError:
        """Why the flow cannot go on from its records alone."""
        name, rule = next(iter(self.unknown.items()))
        lost = {**self.seen[name].lost, **self.seen[name].ahead, **self.seen[name].lost_inputs}
        about = "".join(f"; {table_name(table)} {what}" for table, what in lost.items())
        return StateConflictError(
            f"it cannot be known how far {self.plan.flow} is: {name}: {rule.why}{about}",
            hint=hint(self.plan.flow, LossVerdict.COMPUTE),
        )


class PositionSearch:
    """What the state store, the tables and the checkpoints say of a flow that does not run.

    Attributes:
        traces: Of its tables, each of which is read once.
        copies: How far the copies of its lost tables reach.
    """

    def __init__(self, open_: Open, plan: FlowPlan, trust: Collection[str]) -> None:
        self._trust = trust
        self._open, self._state, self.files, self._flow = open_, open_.state, plan, plan.flow
        applied = self._state.plan(plan.flow)
        self.applied = applied[1] if applied is not None else None
        self.traces, self.copies = TracesOnce(open_.stores), CopyMarks(open_)
        self._checkpoints: Path = open_.project.state_dir / "checkpoints"

    def look(self) -> FlowPositions:
        """Compare the records, and change nothing.

        Raises:
            StateConflictError: another plan than that of the files wrote the tables.
        """
        traces = {segment: trace for segment, trace in self._newest_traces().items() if trace is not None}
        newer = {name: trace for name, trace in traces.items() if self._is_newer(name, trace.epoch)}
        known = [note for note in (self._note(name, trace) for name, trace in newer.items()) if note is not None]
        plan, at = self._plan_of(known or [t.note for t in traces.values() if t.note is not None])
        other = self.applied is None or self.applied.fingerprint != plan.fingerprint
        found = FlowPositions(plan, at_versions(plan, at), at, is_other_plan=other, generation=_generation(traces))
        for segment in found.stored.segments:
            name = segment.name
            found.seen[name] = seen(found.stored, segment, self._open.stores, self._state)
            note, others = self._later(segment, newer.get(name))
            if note is not None and note.plan and note.plan != found.stored.fingerprint and not fits(note, segment):
                others = LaterEpoch.UNKNOWN
            every = self.traces.every(found.stored, segment)
            is_replaced = other_epoch(found.stored, segment, every, self._state) is not None
            cut_off = endless(found.stored, segment, self._open.stores, self._state, self._checkpoints)
            if is_replaced or (note is None and cut_off is not None):
                others = LaterEpoch.UNKNOWN
            is_believed = others is not LaterEpoch.LOGGED or found.seen[name].recorded is StateRecord.NOTHING
            if note is not None and (is_believed or found.seen[name].lost):
                self._add_short(found.seen[name], note)
                note, others = self._weighed(found.stored, found.seen[name], note, others)
            found.notes[name] = (note, others, name in traces)
            epochs = [trace.epoch for trace in (traces.get(name),) if trace is not None]
            epochs += [number] if (number := self._state.newest_known(self._flow, name)) is not None else []
            epochs += [note.epoch] if note is not None else []
            epochs += epochs_of_copies(self._flow, segment, self._open.stores)
            found.newest[name] = max(epochs, default=0)
            self.judge_again(found, name)
        return found

    def _later(self, segment: Segment, trace: Trace | None) -> tuple[Note | None, LaterEpoch]:
        """What other records say of a later epoch than the state store.

        Args:
            segment: Whose.
            trace: The newest in its tables, if that is of a later epoch.
        """
        if trace is not None:
            note = self._note(segment.name, trace)
            others = LaterEpoch.UNKNOWN if note is None else LaterEpoch.DONE if note.done else LaterEpoch.HALF
        else:
            logged = committed(self._checkpoints / self._flow / segment.name)
            if logged is None or not self._is_newer(segment.name, logged[0]):
                return None, LaterEpoch.NOT_LATER
            note, others = _of_log(*logged), LaterEpoch.LOGGED
        return note, others

    def _add_short(self, tables: SeenTables, note: Note) -> None:
        """What is lost by a note that is newer than the state store, which cannot know it."""
        stores, segment = self._open.stores, tables.segment
        when = f"where epoch {note.epoch} {'left it' if note.done else 'began'}"
        for name, table in segment.tables.items():
            if name in tables.lost:
                continue
            if stores[table.tiers.target].identity(name) is None:  # before its first epoch a segment makes its tables
                tables.lost[name] = "is gone"
            elif (short := short_of(stores, table, note.ends.get(name, {}), when)) is not None:
                tables.lost[name] = short

    def _weighed(self, plan: FlowPlan, tables: SeenTables, note: Note, others: LaterEpoch) -> tuple[Note, LaterEpoch]:
        """Whether Spark's log counts for an epoch, where hot tables are lost, and with them what they tell of it.

        It says that an epoch was done, and not that an older lake still has its rows.
        """
        if tables.rows is not SegmentRows.LOST_HOT or others not in (LaterEpoch.LOGGED, LaterEpoch.HALF):
            return note, others
        logged = committed(self._checkpoints / self._flow / tables.segment.name)
        lacking = lake_tables_without(plan, tables.segment, self._open.stores, note.epoch)
        if others is LaterEpoch.LOGGED:
            text = f"has no rows of epoch {note.epoch}, which Spark's log knows as done"
            tables.lost.update(dict.fromkeys(lacking, text))
        elif logged is not None and logged[0] == note.epoch and logged[2].positions == note.end and not lacking:
            return replace(note, done=True, ends={}), LaterEpoch.DONE
        return note, others

    def judge_again(self, found: FlowPositions, name: str) -> None:
        """Decide about a segment by all that is seen of it."""
        note, others, has_trace = found.notes[name]
        tables, recorded = found.seen[name], last_epochs(self._state, found.stored)
        left = note.ends if note is not None else recorded[name].ends if name in recorded else {}
        marks = self.copies.of_segment(tables.segment, tables.lost)
        writer = segment_writer(self._flow, name)
        by_epoch = note.epoch if note is not None and not note.ends else None
        beyond = any(reaches_beyond(table, mark, left, writer, by_epoch) for table, mark in marks)
        case = tables.case(others, CopyReach.BEYOND if beyond else CopyReach.WITHIN)
        found.rules[name] = self._judged(case.rows, judged(case), has_trace)
        found.remedies.pop(name, None)
        found.last.pop(name, None)
        if found.rules[name].verdict in (LossVerdict.TAKE_OVER, LossVerdict.TAKE_OVER_AND_FILL):
            assert note is not None, "it has the positions"
            found.remedies[name] = self._remedy(tables.segment, note)
            done = found.remedies[name].done
        elif found.rules[name].verdict is LossVerdict.COMPUTE:
            done = None
        else:
            done = recorded.get(name)
        if done is not None:
            found.last[name] = done

    def _judged(self, rows: SegmentRows, rule: LossRule, has_trace: bool) -> LossRule:
        """The rule; without a note it is unknown whether the flow wrote the rows that a log has more."""
        if (
            rule.verdict is LossVerdict.LEAVE
            and rows is SegmentRows.MORE
            and not has_trace
            and "state" not in self._trust
        ):
            return replace(rule, verdict=LossVerdict.COMPUTE, why=f"{rule.why}, and there is no note")
        return rule

    def read_beyond(self, found: FlowPositions, every: Iterable[FlowPositions]) -> dict[str, str]:
        """Tables of flows that end before where this one has read them, or goes on → where each ends, in words.

        Args:
            found: Of this flow.
            every: Of all flows that are restored with it.
        """
        writers = {name: one for one in every for name in one.stored.tables}
        beyond, stores = {}, self._open.stores
        for segment in found.stored.segments:
            note, others, _ = found.notes[segment.name]
            ends = [found.last[segment.name].end] if segment.name in found.last else []
            if note is not None and others is not LaterEpoch.LOGGED:  # also where it is half done, its rows were read
                ends.append(note.end)
            inputs = segment.reads & writers.keys() - segment.tables.keys()
            reads = (
                (one, end.get(one.name, {})) for one in found.stored.readable if one.name in inputs for end in ends
            )
            for table, at in reads:
                writer = writers[table.name]
                if table.name in writer.seen[writer.segment_of(table.name).name].lost:
                    if (unsure := self._beyond_writer(writer, table, at, segment)) is not None:
                        beyond[table.name] = unsure
                elif any(at.values()) and stores[table.tiers.target].identity(table.name) is None:
                    beyond[table.name] = f"is gone, and was read up to {at}"
                elif (short := short_of(stores, table, at, "up to which it was read")) is not None:
                    beyond[table.name] = short
        return beyond

    def _beyond_writer(self, writer: FlowPositions, table: Table, at: Position, reader: Segment) -> str | None:
        """Why a lost table may have been read beyond the position where its own flow goes on; None: it was not.

        That flow makes what is behind its position again, and the reader would read it again.

        Args:
            writer: Of the flow that writes the table.
            table: That is lost.
            at: Up to which it was read.
            reader: Segment of this flow that read it.
        """
        segment = writer.segment_of(table.name)
        if not any(at.values()) or segment.name in writer.unknown:
            return None  # what it lacks is computed
        note = writer.notes[segment.name][0] if segment.name in writer.remedies else None
        record = writer.last.get(segment.name)
        ends = note.ends if note is not None else record.ends if record is not None else {}
        if (end := ends.get(table.name)) is not None:
            known, where = [end], f"{writer.plan.flow} goes on behind {end}"
        else:
            known = self._known_ends(table, segment, reader)
            where = f"no record says whether {writer.plan.flow} goes on behind that"
        if any(covers({table.name: one}, {table.name: at}) for one in known):
            return None
        return f"was read up to {at}, and {where}"

    def _known_ends(self, table: Table, segment: Segment, reader: Segment) -> list[Position]:
        """Positions of a lost table which its flow has passed for sure.

        The copies reach no further than the flow does. Spark's logs of both flows are of one moment.
        """
        marks = [mark.offsets for _, mark in self.copies.of_segment(segment, [table.name])]
        logged = committed(self._checkpoints / self._flow / reader.name)
        return [*marks, *([logged[2].positions.get(table.name, {})] if logged is not None else [])]

    def take_over(self, found: FlowPositions, lease: Lease) -> None:
        """Record the positions that other records have."""
        if found.remedies:
            segments = {name: (one.done, one.begun) for name, one in found.remedies.items()}
            self._state.restore(lease, found.plan, found.at, segments, found.generation)
            for name, one in found.remedies.items():
                self._begin_checkpoint(name, one)
        elif self.applied is None and found.unknown:
            self._state.restore(lease, found.plan, found.at, {}, found.generation)
        for name, tables in found.seen.items():
            if found.rules[name].verdict is LossVerdict.LEAVE:
                self._state.note_ends(lease, name, tables.more)

    def begin_behind(self, found: FlowPositions, segment: Segment, end: Mapping[str, Position], lease: Lease) -> None:
        """Let a segment go on at the ends of what it reads, of which its tables have all."""
        now_ms = time.time_ns() // 1_000_000
        ends = {name: dict(at) for name, at in self._ends(segment).items()}
        there = {name: dict(at) for name, at in end.items()}
        number = found.newest[segment.name] + _ROOM
        record = EpochRecord(self._flow, segment.name, number, now_ms, now_ms, now_ms, there, there, ends)
        self._state.restore(lease, None, {}, {segment.name: (record, None)}, found.generation)
        rmtree(self._checkpoints / self._flow / segment.name, ignore_errors=True)

    def versions(self, plan: FlowPlan, known: int) -> Iterator[int]:
        """Versions of tables that there may be: a lake may have such as an older state store does not know."""
        for version in range(1, _MOST_VERSIONS):
            names = [(t.tiers.target, stored_name(t.name, version)) for t in plan.tables.values()]
            if version > known and all(self._open.stores[tier].columns(name) is None for tier, name in names):
                return
            yield version

    def _newest_traces(self) -> dict[str, Trace | None]:
        """Segment, of any plan that may be meant → the newest epoch of which tables tell, of whatever version."""
        known = max(self._state.versions().values(), default=1)
        found: dict[str, list[Trace]] = {}
        for plan in self._plans():
            for version in self.versions(plan, known):
                stored = at_versions(plan, {table.name: version for table in plan.readable})
                for segment in stored.segments:
                    trace = newest_of(stored, segment, self.traces.every(stored, segment))
                    found.setdefault(segment.name, []).extend([trace] if trace is not None else [])
        return {name: newest(traces) for name, traces in found.items()}

    def _plans(self) -> list[FlowPlan]:
        same = self.applied is None or self.applied.fingerprint == self.files.fingerprint
        return [self.files] if same or self.applied is None else [self.applied, self.files]

    def _is_newer(self, segment: str, epoch: int) -> bool:
        known = self._state.newest_known(self._flow, segment)
        return known is None or epoch > known

    def _note(self, segment: str, trace: Trace) -> Note | None:
        """What is known of an epoch that a table has a trace of."""
        if trace.note is not None:
            return trace.note
        # An older version wrote it, or it is too long for a commit.
        logged = committed(self._checkpoints / self._flow / segment)
        if logged is None or logged[0] != trace.epoch:
            return None
        return replace(_of_log(*logged), generation=trace.generation)

    def _plan_of(self, notes: list[Note]) -> tuple[FlowPlan, dict[str, int]]:
        """The plan that wrote what some notes tell of, over the names that people know, and its versions."""
        every = self._plans()
        names = {table.name for plan in every for table in plan.readable}
        at = self._state.versions(self._flow) | versions_in(notes, names)
        written_by = newest_plan(notes)
        if written_by is None:
            return every[0], at
        for plan in every:
            if at_versions(plan, at).fingerprint == written_by:
                return plan, at
        if "files" in self._trust:
            return self.files, at
        raise StateConflictError(
            f"the tables of {self._flow} were last written by another plan than that of its files",
            hint="put the files back as they were when the flow ran last, restore, then edit them again; or let older "
            f"rows keep what they have: streamhouse restore {self._flow} --trust files",
        )

    def _remedy(self, segment: Segment, note: Note) -> Remedy:
        found = remedy(self._flow, segment.name, note, time.time_ns() // 1_000_000)
        if found.done is not None and not found.done.ends:
            found.done.ends.update(self._ends(segment))
        return found

    def _ends(self, segment: Segment) -> dict[str, Position]:
        tables = segment.tables.items()
        stores = self._open.stores
        there = {n: t for n, t in tables if stores[t.tiers.target].columns(n) is not None}
        return {name: stores[table.tiers.target].end(table) for name, table in there.items()}

    def _begin_checkpoint(self, segment: str, found: Remedy) -> None:
        folder = self._checkpoints / self._flow / segment
        rmtree(folder, ignore_errors=True)
        if found.begun is not None and found.end is not None:
            Checkpoint.write(folder / str(found.begun[0]), found.end)


def _generation(traces: Mapping[str, Trace]) -> int:
    """The highest generation of which some traces tell."""
    return max((t.note.generation if t.note is not None else t.generation for t in traces.values()), default=0)


def _of_log(epoch: int, start: Vector, end: Vector) -> Note:
    """What a checkpoint knows of an epoch that is done."""
    return Note(epoch, None, end.at_ms, "", dict(start.positions), dict(end.positions), end.tick, done=True)
