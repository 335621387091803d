"""Tables rebuilt beside those that serve: filled with their history, then brought to where their flow is.

The steps that fill them are a flow of their own, the candidate, with epochs, lease and checkpoints of its own. It
reads the tables that its flow goes on writing and, up to where its flow has read them, the same sources. Cut
short while it is filled, it is filled again from the start; later, it goes on where it was.
"""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from shutil import rmtree

from streamhouse.compiler.diff import replaced
from streamhouse.compiler.migration import candidate
from streamhouse.engine.carried_positions import furthest, positions
from streamhouse.engine.execution import FlowExecution
from streamhouse.engine.lease import LeaseGuard, leased
from streamhouse.engine.points import reach
from streamhouse.errors import RowsLostError, StateConflictError
from streamhouse.model.plan import QUARANTINE, FlowPlan, PlannedStep
from streamhouse.model.table import Table
from streamhouse.model.types import Position
from streamhouse.model.version import at_versions, stored_name, table_at, table_name
from streamhouse.model.writer import segment_writer
from streamhouse.runtime.left_out import LeftOut
from streamhouse.runtime.open import Open, execution_of
from streamhouse.runtime.owner import is_alive, this_owner
from streamhouse.runtime.restating import Restating
from streamhouse.runtime.serving import hide
from streamhouse.state.epochs import RETAINED_EPOCHS
from streamhouse.state.records import Change, EpochRecord
from streamhouse.state.store import StateStore
from streamhouse.stores.mark import WriterEpochs

_LAST_EPOCHS = 50


@dataclass
class Building:
    """The candidate of a change that rebuilds tables."""

    open: Open
    change: Change
    say: Callable[[str], None] = lambda _: None

    @cached_property
    def plan(self) -> FlowPlan:
        """The candidate, over the names that stores hold."""
        versions = wanted_versions(self.open.state, self.change)
        return candidate(self.change.plan, self.change.versions, versions, self.change.candidate)

    @property
    def last(self) -> dict[str, EpochRecord]:
        """Segment → the candidate's last epoch; empty while it is not filled."""
        return last_epochs(self.open.state, self.plan)

    def fill(self) -> None:
        """Fill the tables with their history up to where the flow is, unless they are filled.

        They are filled again where the flow reads other versions by now than those they were made of: no position says
        what of these they have.

        Raises:
            StateConflictError: the flow has not run yet.
            StoreError: the history cannot be read, or the tables not be written.
            LeaseHeldError: somebody else fills them.
        """
        if self.last and not self._replaced():
            return
        with leased(self.open.state, self.plan.flow, this_owner(), alive=is_alive) as guard:
            if self.last and (replaced_tables := self._replaced()):
                self._forget(replaced_tables)
            if not self.last:  # somebody else may have filled them just now
                self._fill_under(guard)

    def _replaced(self) -> list[str]:
        """Versions that the tables were made of, and of which the flow reads others by now, as stores call them.

        A change of production is asked for again then. One in an environment waits for its person.
        """
        sources = {source.name for source in self.plan.sources}
        read = {table_name(table.name): table.name for table in self.plan.external}
        made_of = {name for record in self.last.values() for name in record.end} - sources - self.plan.tables.keys()
        return sorted(name for name in made_of if read.get(table_name(name), name) != name)

    def _forget(self, replaced_tables: Collection[str]) -> None:
        """Let the tables be filled as if they never were."""
        self.say(f"filling again: {', '.join(replaced_tables)} no longer serves")
        for (
            name,
            version,
        ) in self.change.versions.items():  # also of those that served once: they are dropped and filled
            self.open.state.tables.dropped(name, version)
        self.open.state.forget_candidate(self.change)
        self.forget_files()

    def _fill_under(self, guard: LeaseGuard) -> None:
        plan, state = self.plan, self.open.state
        last = require_history(state, self.change.flow)
        left = self._left()
        at, at_ms = left or reached(state, self.change), max(record.at_ms for record in last.values())
        begun = {
            segment.name: EpochRecord(
                flow=plan.flow,
                segment=segment.name,
                epoch=0,
                at_ms=at_ms,
                started_ms=now_ms(),
                finished_ms=now_ms(),
                end={name: dict(at[name]) for name in segment.reads - set(segment.tables) if name in at},
            )
            for segment in plan.segments
        }
        if not left:
            self._fill(plan, begun, at)
        ends = left or {name: self.open.stores[t.tiers.target].end(t) for name, t in plan.tables.items()}
        for segment in plan.segments:
            record = begun[segment.name]
            record.ends.update({name: dict(ends[name]) for name in segment.tables if name in ends})
            record.end.update({n: dict(ends[n]) for n in segment.reads - set(segment.tables) if n in ends})
        guard.check()
        state.begin_at(list(begun.values()))

    def _fill(self, plan: FlowPlan, begun: Mapping[str, EpochRecord], at: Mapping[str, Position]) -> None:
        for table in plan.tables.values():
            drop_table(self.open, table)  # of an attempt that was cut off
            self.open.stores[table.tiers.target].create(table)
        left_out = LeftOut.of(self.change.forgetting, self.change.flow)
        filling = Restating(self.open, plan, begun, say=self.say, left_out=left_out)
        for segment in plan.segments:
            for step in segment.steps:
                if table_name(step.writes.name) in self.change.copies:
                    done = [filling.copy(segment, step, n, o, at.get(o.name, {})) for n, o in self._copied(step)]
                else:
                    done = [filling.fill(segment, step)]
                for text in filter(None, (one.lost for one in done)):
                    self.open.state.append_event(self.change.flow, "loss", text)
                    self.say(text)
                self._note_end(plan, begun, step)
                reach("apply_filled", step.writes.name)

    def _note_end(self, plan: FlowPlan, begun: Mapping[str, EpochRecord], step: PlannedStep) -> None:
        """Steps of further segments read what was filled to its end."""
        for table in [step.writes, *([step.quarantine] if step.quarantine is not None else [])]:
            for segment in plan.segments:
                if table.name in segment.reads - set(segment.tables):
                    begun[segment.name].end[table.name] = dict(self.open.stores[table.tiers.target].end(table))

    def _copied(self, step: PlannedStep) -> list[tuple[Table, Table]]:
        """The tables that a step writes, each with the version of it that serves."""
        name = table_name(step.writes.name)
        serving = stored_name(name, self.open.state.versions().get(name, 1))
        tables = running_plan(self.open.state, self.change.flow).tables
        pairs = [(step.writes, serving), (step.quarantine, f"{serving}{QUARANTINE}")]
        return [(new, tables[old]) for new, old in pairs if new is not None and old in tables]

    def _left(self) -> dict[str, Position]:
        """Where the tables were left when they served last; empty: they never did.

        They have every row up to there, so a change is undone by reading on.
        """
        served = [r for r in self.open.state.tables.retired() if self.change.versions.get(r.table.name) == r.version]
        return served[0].positions if served else {}

    @property
    def served_before(self) -> bool:
        """Whether the change goes back to versions that served once."""
        served = {(one.table.name, one.version) for one in self.open.state.tables.retired()}
        return set(self.change.versions.items()) <= served

    def catch_up(self) -> dict[str, Position]:
        """Read to where the flow is now, and return that; soon when it is near.

        Raises:
            RowsLostError: a log no longer has the rows since the tables served last; they are filled the next time.
        """
        plan = self.plan
        self.say(f"catching up: {', '.join(self.change.versions)}")
        # What the candidate's own segments write has no bound: each drains what those before it wrote.
        at = reached(self.open.state, self.change)
        own = plan.tables
        bounds = {name: position for name, position in at.items() if name not in own}
        try:
            self.execution().run(once=True, bounds=bounds)
            # One after the other they may have found more and more of what has no bound, as the flow never read it.
            ends = furthest(plan, self.last)
            free = ends.keys() - bounds.keys()
            if any(r.end[name] != ends[name] for r in self.last.values() for name in free & r.end.keys()):
                self.execution().run(once=True, bounds=ends | bounds)
        except RowsLostError:
            for name, version in self.change.versions.items():
                self.open.state.tables.dropped(name, version)
            raise
        return at

    def execution(self) -> FlowExecution:
        """Carries the candidate."""
        return execution_of(self.open, self.plan)

    def discard(self) -> None:
        """Drop what was filled, and forget it; nothing of it serves."""
        serving = self.open.state.versions()
        served = {(retired.table.name, retired.version) for retired in self.open.state.tables.retired()}
        for name, version in self.change.versions.items():
            if serving.get(name, 1) != version and (name, version) not in served:
                drop_version(self.open, self.change.plan.tables[name], version)
        self.open.state.forget_candidate(self.change)
        self.forget_files()

    def forget_files(self) -> None:
        """Remove what the candidate's streams kept on this machine."""
        folder = self.open.project.state_dir
        for place in (folder / "checkpoints", folder / "cache" / "states"):
            rmtree(place / self.change.candidate, ignore_errors=True)


def require_history(state: StateStore, flow: str) -> dict[str, EpochRecord]:
    """Segment → the last epoch of what runs.

    Raises:
        StateConflictError: the flow has not run yet, so there is no history to fill tables with.
    """
    last = last_epochs(state, running_plan(state, flow))
    if not last:
        raise StateConflictError(f"{flow} has not run yet", hint=f"streamhouse run {flow}")
    return last


def running_plan(state: StateStore, flow: str) -> FlowPlan:
    """What runs: the applied plan, over the names that stores hold.

    Raises:
        StateConflictError: the flow was never applied.
    """
    applied = state.plan(flow)
    if applied is None:
        raise StateConflictError(f"{flow} was never applied", hint=f"streamhouse run {flow}")
    return at_versions(applied[1], state.versions(flow))


def drop_version(open_: Open, table: Table, version: int) -> None:
    """Drop a version of a table, and of its quarantine, in every tier; nothing where there is none."""
    stored = table_at(table, {table.name: version})
    drop_table(open_, stored)
    drop_table(open_, stored.model_copy(update={"name": f"{stored.name}{QUARANTINE}"}))


def drop_table(open_: Open, table: Table) -> None:
    """Drop a table in every tier it may be in; nothing where there is none."""
    hide(open_.project, table)
    for tier in table.tiers.present:
        open_.stores[tier].drop(table.name)


def wanted_plan(state: StateStore, change: Change) -> FlowPlan:
    """The plan that is to run once a change is done, over the names that stores hold."""
    return at_versions(change.plan, wanted_versions(state, change))


def wanted_versions(state: StateStore, change: Change) -> dict[str, int]:
    """Table → its version once a change is done, of those that are not at their first."""
    moved_to = {table: move.version for table, move in change.moves.items()}
    return state.versions(change.flow) | moved_to | change.versions


def reached(state: StateStore, change: Change) -> dict[str, Position]:
    """How far the flow is, by the names that stores hold, also of what it is to read once a change is done.

    A source that is another one then, and a table that was made again, is read from its beginning.
    """
    plan, read = running_plan(state, change.flow), state.versions(change.flow)
    # What was detached may be behind: what it writes is rebuilt as of where it is, and the rest as of elsewhere.
    found = positions(plan, last_epochs(state, plan), of=segments_to_rebuild(plan, change) if plan.aside else ())
    for name in replaced(plan, change.plan).keys() - change.plan.tables.keys():  # of its own the flow holds the end
        found.pop(stored_name(name, read.get(name, 1)), None)
    return found | {stored_name(table, move.version): move.began for table, move in change.moves.items()}


def segments_to_rebuild(plan: FlowPlan, change: Change) -> set[str]:
    """The segments of a plan whose steps, once a change is done, write what it rebuilds."""
    wanted = {s.name for s in change.plan.segments if any(step.writes.name in change.versions for step in s.steps)}
    return wanted & {segment.name for segment in plan.segments}


def last_epochs(state: StateStore, plan: FlowPlan) -> dict[str, EpochRecord]:
    """Segment → its last finished epoch, of those that have one."""
    found = {segment.name: state.last_epoch(plan.flow, segment.name) for segment in plan.segments}
    return {name: record for name, record in found.items() if record is not None}


def epochs_of_writers(state: StateStore, flow: str, table: str) -> WriterEpochs:
    """What is known of the epochs of those segments of a flow that write a table.

    Args:
        state: Knows them.
        flow: That runs.
        table: As stores call it.
    """
    writers = [segment.name for segment in running_plan(state, flow).segments if table in segment.tables]
    found = {segment_writer(flow, name): state.newest_known(flow, name) for name in writers}
    newest = {writer: epoch for writer, epoch in found.items() if epoch is not None}
    # Each round of tiering asks, also where a rebuild wrote the rows and no epoch yet: then no epoch needs to be read.
    wrote = writers if state.tables.has_rows_of(flow, table) else ()
    return WriterEpochs(newest, {segment_writer(flow, name): _times(state, flow, name, table) for name in wrote})


def _times(state: StateStore, flow: str, segment: str, table: str) -> dict[int, int]:
    """Some of the last epochs that wrote rows to a table → their times, epoch milliseconds.

    They are the newest, and the one, the second, the fourth and so on up to the 32nd before it. An epoch that wrote
    rows left a note of itself. So its number has the same time after any restore.
    """

    def wrote_rows(most: int) -> list[EpochRecord]:
        return [one for one in state.recent_epochs(flow, segment, most) if one.rows.get(table)]

    found = wrote_rows(_LAST_EPOCHS) or wrote_rows(RETAINED_EPOCHS)
    return {found[at].epoch: found[at].at_ms for at in (0, *(2**power for power in range(6))) if at < len(found)}


def now_ms() -> int:
    """Epoch milliseconds."""
    return time.time_ns() // 1_000_000
