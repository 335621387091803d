"""Restores what was lost of a flow: its records, from what its tables tell (docs/restore.md)."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import rmtree
from typing import cast

from streamhouse.change.building import drop_version, last_epochs
from streamhouse.engine.checkpoint import Checkpoint, committed
from streamhouse.engine.lease import leased
from streamhouse.engine.note import Note, Trace, newest
from streamhouse.engine.remedy import Remedy, fits, remedy, versions_in
from streamhouse.engine.traces import newest_trace
from streamhouse.engine.vector import Vector, covers
from streamhouse.errors import StateConflictError
from streamhouse.jobs.refill import Refill
from streamhouse.model.plan import FlowPlan, Segment
from streamhouse.model.types import Position, Tier
from streamhouse.model.version import at_versions, stored_name, table_name
from streamhouse.project.desired import desired
from streamhouse.project.project import Project
from streamhouse.runtime.open import Open, opened, plan_of, readers_last
from streamhouse.runtime.owner import is_alive, this_owner
from streamhouse.state.records import EpochRecord, Lease
from streamhouse.stores.base import LakeStore
from streamhouse.tiering.mark import read_mark

_MOST_VERSIONS = 1_000


@dataclass(frozen=True)
class Restored:
    """What was found of a flow, and done.

    Attributes:
        flow: Its name.
        did: What was put right, a sentence for each thing.
        lost: What does not come back, in the same form.
    """

    flow: str
    did: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def restore_flows(
    project: Project,
    flows: Collection[str] = (),
    *,
    rebuild: bool = False,
    from_sources: bool = False,
    trust: Collection[str] = (),
    dry_run: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> list[Restored]:
    """Bring the records of flows, which must not run, to what their tables tell, and hot tables back from the lakes.

    Args:
        project: Holds the flows.
        flows: Their names; empty: all.
        rebuild: Drop what the flows wrote, and have them read their sources from the beginning.
        from_sources: Compute what the lakes lack from what the flows read; right where all of that is still there.
        trust: `state`: it is right though hot tables that have no note end elsewhere. `files`: the flow goes on by
            their plan though another one wrote the tables, whose older rows keep what they have.
        dry_run: Look, and change nothing.
        say: Is called with what is being done.

    Returns:
        What was found and done, each flow after those whose tables it reads.

    Raises:
        LeaseHeldError: a flow runs.
        StateConflictError: it is unknown how far a flow is; nothing of it was changed.
    """
    with opened(project, say=say) as open_:
        plans = {name: plan_of(project, name) for name in flows or desired(project).plans}
        return [
            restore_flow(open_, plans[name], rebuild=rebuild, from_sources=from_sources, trust=trust, dry_run=dry_run)
            for name in readers_last(plans)
        ]


def restore_flow(
    open_: Open,
    plan: FlowPlan,
    *,
    rebuild: bool = False,
    from_sources: bool = False,
    trust: Collection[str] = (),
    dry_run: bool = False,
) -> Restored:
    """The same of one flow, over what is open."""
    with leased(open_.state, plan.flow, this_owner(), alive=is_alive) as guard:
        found = _Records(open_, plan, trust)
        if rebuild:
            return found.begin_again(guard.lease, dry_run=dry_run)
        return found.mend(guard.lease, from_sources=from_sources, dry_run=dry_run)


class _Records:
    """What the state store, the tables and the checkpoints say of a flow."""

    def __init__(self, open_: Open, plan: FlowPlan, trust: Collection[str]) -> None:
        self._trust = trust
        self._open, self._state, self._files, self._flow = open_, open_.state, plan, plan.flow
        applied = self._state.plan(plan.flow)
        self._applied = applied[1] if applied is not None else None
        self._checkpoints: Path = open_.project.state_dir / "checkpoints"

    def mend(self, lease: Lease, *, from_sources: bool, dry_run: bool) -> Restored:
        """Take over what the tables tell, where it is newer than what the state store says; fill what is gone."""
        done = Restored(self._flow)
        traces = {segment: trace for segment, trace in self._traces().items() if trace is not None}
        newer = {name: trace for name, trace in traces.items() if self._is_newer(name, trace)}
        notes = {name: self._note(name, trace) for name, trace in newer.items()}
        plan, at = self._plan_of([*notes.values()] or [t.note for t in traces.values() if t.note is not None])
        stored = at_versions(plan, at)
        remedies: dict[str, Remedy] = {}
        notes |= {
            s.name: note for s in stored.segments if s.name not in traces and (note := self._logged(s)) is not None
        }
        for segment in stored.segments:
            if segment.name in notes:
                remedies[segment.name] = self._remedy(stored, segment, notes[segment.name])
                done.did.append(f"{segment.name}: {remedies[segment.name].words}")
            else:
                self._keep(segment, traces.get(segment.name), lease, done, dry_run=dry_run)
        refill = Refill(self._open, stored, self._last(stored, remedies))
        refill.refuse_unsafe()
        did, lost = refill.describe()
        done.did.extend(did)
        done.lost.extend(lost)
        if remedies:
            done.lost.append("what else the state store knew since then: changes, approvals, events, counts of rows")
            other = self._applied is None or self._applied.fingerprint != plan.fingerprint
            if other:
                done.did.append("the plan of its files is the one that wrote the tables, and taken for the applied one")
            if other or any(self._state.newest_known(self._flow, name) is None for name in remedies):
                done.lost.append("earlier plans, and since when a column has its meaning")
        if remedies and not dry_run:
            segments = {name: (one.done, one.begun) for name, one in remedies.items()}
            self._state.restore(lease, plan, at, segments)
            for name, one in remedies.items():
                self._begin_checkpoint(name, one)
        if not dry_run:
            done.did.extend(refill.run(lease, from_sources=from_sources))
            for text in done.did:
                self._state.append_event(self._flow, "restore", text)
            for text in done.lost:
                self._state.append_event(self._flow, "loss", text)
        return done

    def begin_again(self, lease: Lease, *, dry_run: bool) -> Restored:
        """Drop every version of every table of the flow, and forget how far it was."""
        done = Restored(self._flow, ["its tables are dropped, and its sources are read from their beginning"])
        done.lost.append("rows that its sources do not have any more")
        for name, (_, other) in self._state.plans().items():
            if shared := sorted(self._files.tables.keys() & other.tables.keys()) if name != self._flow else []:
                raise StateConflictError(
                    f"{name} writes {shared[0]} too, whose rows would be dropped with those of {self._flow}",
                    hint="bring the newest state store or checkpoints back",
                )
            if read := sorted(self._files.tables.keys() & {table.name for table in other.external}):
                done.lost.append(f"what {name} made of {', '.join(read)} is not made again: rebuild it as well")
        if dry_run:
            return done
        known = self._state.versions()
        for table in self._files.tables.values():
            for version in self._versions(self._files, known.get(table.name, 1)):
                drop_version(self._open, table, version)
        segments = {s.name for plan in (self._files, self._applied) if plan is not None for s in plan.segments}
        self._state.restore(lease, self._files, known, dict.fromkeys(segments, (None, None)))
        rmtree(self._checkpoints / self._flow, ignore_errors=True)
        self._state.append_event(self._flow, "restore", done.did[0])
        return done

    def _traces(self) -> dict[str, Trace | None]:
        """Segment, of any plan that may be meant → the newest epoch of which tables tell, of whatever version."""
        known = max(self._state.versions().values(), default=1)
        found: dict[str, list[Trace]] = {}
        for plan in self._plans():
            for version in self._versions(plan, known):
                stored = at_versions(plan, {table.name: version for table in plan.readable})
                for segment in stored.segments:
                    trace = newest_trace(stored, segment, self._open.stores)
                    found.setdefault(segment.name, []).extend([trace] if trace is not None else [])
        return {name: newest(traces) for name, traces in found.items()}

    def _plans(self) -> list[FlowPlan]:
        same = self._applied is None or self._applied.fingerprint == self._files.fingerprint
        return [self._files] if same or self._applied is None else [self._applied, self._files]

    def _versions(self, plan: FlowPlan, known: int) -> Iterator[int]:
        """Versions of tables that there may be: a lake may have such as an older state store does not know."""
        for version in range(1, _MOST_VERSIONS):
            names = [(t.tiers.target, stored_name(t.name, version)) for t in plan.tables.values()]
            if version > known and all(self._open.stores[tier].columns(name) is None for tier, name in names):
                return
            yield version

    def _is_newer(self, segment: str, trace: Trace) -> bool:
        known = self._state.newest_known(self._flow, segment)
        return known is None or trace.epoch > known

    def _note(self, segment: str, trace: Trace) -> Note:
        """What is known of an epoch that a table has a trace of; the checkpoint may know more of it."""
        logged = committed(self._checkpoints / self._flow / segment)
        note = trace.note
        if note is None:  # an older version wrote it
            if logged is None or logged[0] < trace.epoch:
                raise self._unknown(
                    f"{trace.where} has rows of epoch {trace.epoch} of {segment}, and does not say which"
                )
            return _of_log(*logged)
        same = logged is not None and logged[0] == note.epoch and logged[2].positions == note.end
        return replace(note, done=True, ends={}) if same and not note.done else note

    def _plan_of(self, notes: list[Note]) -> tuple[FlowPlan, dict[str, int]]:
        """The plan that wrote what some notes tell of, over the names that people know, and its versions."""
        every = self._plans()
        names = {table.name for plan in every for table in plan.readable}
        at = self._state.versions(self._flow) | versions_in(notes, names)
        plan_notes = sorted((note for note in notes if note.plan), key=lambda note: -note.at_ms)
        if not plan_notes:
            return every[0], at
        for plan in every:
            if at_versions(plan, at).fingerprint == plan_notes[0].plan:
                return plan, at
        if "files" in self._trust:
            return self._files, at
        raise StateConflictError(
            f"the tables of {self._flow} were last written by another plan than that of its files",
            hint="put the files back as they were when the flow ran last, restore, then edit them again; or let older "
            f"rows keep what they have: streamhouse restore {self._flow} --trust files",
        )

    def _logged(self, segment: Segment) -> Note | None:
        """What Spark's log knows of a segment of which only copies in lakes are left; None: nothing, or more is."""
        rows = any(any(end.values()) for end in self._ends(segment).values())
        if rows or self._state.newest_known(self._flow, segment.name) is not None:
            return None
        tables = [t for t in segment.tables.values() if t.tiers.target is Tier.HOT]
        stores = self._open.stores
        copied = (
            read_mark(cast("LakeStore", stores[tier]), table.replica, Tier.HOT) is not None
            for table in tables
            for tier in table.tiers.present[1:]
        )
        last_commit = committed(self._checkpoints / self._flow / segment.name) if any(copied) else None
        return None if last_commit is None else _of_log(*last_commit)

    def _last(self, plan: FlowPlan, remedies: Mapping[str, Remedy]) -> dict[str, EpochRecord]:
        """Segment → its last finished epoch, as it is to be."""
        found = last_epochs(self._state, plan)
        for name, one in remedies.items():
            found.pop(name, None)
            if one.done is not None:
                found[name] = one.done
        return found

    def _remedy(self, plan: FlowPlan, segment: Segment, note: Note) -> Remedy:
        if note.plan and note.plan != plan.fingerprint and not fits(note, segment):
            raise self._unknown(f"{segment.name} was changed since it wrote its last epoch")
        found = remedy(self._flow, segment.name, note, time.time_ns() // 1_000_000)
        if found.done is not None and not found.done.ends:
            found.done.ends.update(self._ends(segment))
        return found

    def _keep(self, segment: Segment, trace: Trace | None, lease: Lease, done: Restored, *, dry_run: bool) -> None:
        """What the state store says of a segment stands, unless its tables say that something is missing there."""
        last, unfinished = (
            self._state.last_epoch(self._flow, segment.name),
            self._state.unfinished(self._flow, segment.name),
        )
        if unfinished is not None:
            return
        ends = self._ends(segment)
        recorded = last.ends if last is not None else {}
        hot = [name for name, table in segment.tables.items() if table.tiers.target is Tier.HOT and name in recorded]
        more = {name: ends[name] for name in hot if name in ends and not covers(recorded, {name: ends[name]})}
        if last is None and any(any(end.values()) for end in ends.values()):
            raise self._unknown(f"tables of {segment.name} hold rows, and do not say which")
        if not more:
            return
        if trace is None and "state" not in self._trust:
            raise self._unknown(f"{', '.join(sorted(more))} holds more rows than the state store knows of, and no note")
        for name, end in more.items():
            rows = sum(end.values()) - sum(recorded[name].values())
            done.did.append(f"{table_name(name)}: {rows:,} rows that something else wrote since the last epoch stay")
        if not dry_run:
            self._state.note_ends(lease, segment.name, more)

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

    def _unknown(self, what: str) -> StateConflictError:
        return StateConflictError(
            f"it cannot be known how far {self._flow} is: {what}",
            hint="bring the newest state store or checkpoints back; or build the flow's tables again from its sources: "
            f"streamhouse restore {self._flow} --rebuild",
        )


def _of_log(epoch: int, start: Vector, end: Vector) -> Note:
    """What a checkpoint knows of an epoch that is done."""
    return Note(epoch, None, end.at_ms, "", dict(start.positions), dict(end.positions), end.tick, done=True)
