"""Carries out the changes that were asked of a flow, while its runner goes on (design D7, D8).

The journal in the state store says what is wanted; what is applied changes in one transaction. Before it the old
plan and the old tables serve, after it the new ones, whenever this process is killed:

1. The columns and tables that the plan brings are made, in every tier, those downstream first. Doing it again does
   nothing, and the old plan does not mind them.
2. Tables that are built anew are filled beside those that serve: from their history as of some epoch, then by a
   stream of their own (the candidate), which ends where the flow is. Begun again, it goes on where it was.
3. Between two epochs the plan, the versions of its tables and the positions are recorded together.

A change that needs no new table and no other streams reaches the running query between two of its epochs. Else
the streams end after the epoch in hand, and others go on from the same positions.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from shutil import rmtree

from streamhouse.compiler.change import candidate, same_streams
from streamhouse.compiler.diff import replaced
from streamhouse.engine.moved import furthest, moved, positions
from streamhouse.engine.points import reach
from streamhouse.engine.runner import Runner
from streamhouse.errors import LeaseLostError, StreamhouseError
from streamhouse.model.plan import QUARANTINE, FlowPlan, PlannedStep
from streamhouse.model.table import Table
from streamhouse.model.types import Position
from streamhouse.model.version import at_versions, stored_name, table_at, table_name
from streamhouse.runtime.backfill import Restating
from streamhouse.runtime.open import Open, runner_of
from streamhouse.state.records import Change, EpochRecord, Phase

_LOOK_S = 0.5  # between two looks whether something is asked
_CAUGHT_UP_S = 2.0  # a round of the candidate that is shorter leaves so little that the flow may wait for the next


@dataclass
class Reconciler:
    """The steward of one flow's runner; see `engine.runner.Steward`."""

    open: Open
    flow: str
    say: Callable[[str], None] = lambda _: None

    def between(self, runner: Runner) -> None:
        """Carry out what is asked, while no stream runs.

        Raises:
            StreamhouseError: it cannot be; the change has failed, and what was applied stays.
        """
        self._drop_retired(runner)
        change = self.open.state.open_change(self.flow)
        if change is None:
            return
        try:
            self._settle(runner, change)
            self._expand(change)
            self._switch(runner, change, self._built(runner, change))
        except StreamhouseError as error:
            self._fail(runner, change, error)
            raise

    def beside(self, runner: Runner) -> None:
        """Carry out what is asked while the streams run; a change that cannot be is recorded as failed."""
        while not runner.wait(_LOOK_S):
            with suppress(LeaseLostError):  # the runner ends by itself then
                self._look(runner)

    def _look(self, runner: Runner) -> None:
        try:
            change = self.open.state.open_change(self.flow)
        except StreamhouseError:
            return  # the state store is away; an epoch's own record fails if it stays away
        if change is None:
            return
        try:
            if change.versions:
                self._build_beside(runner, change)
            self._expand(change)
            wanted = at_versions(change.plan, self._versions(change))
            if change.versions or not same_streams(runner.plan, wanted):
                self._turn(runner, change)
            else:
                self._swap(runner, change, wanted)
        except StreamhouseError as error:
            self._fail(runner, change, error)

    # --- a change that reaches the running query --------------------------------------------------

    def _swap(self, runner: Runner, change: Change, wanted: FlowPlan) -> None:
        with runner.prepared(wanted) as take:
            reach("apply_prepared")
            while not runner.wait(0):
                with runner.between_epochs() as whole:
                    if whole:
                        if self.open.state.complete_change(runner.lease, change):
                            reach("apply_completed")
                            take()
                            self._tell(change, "between two epochs, no stream was stopped")
                        return
                runner.wait(_LOOK_S)  # an epoch that failed runs again with the plan it had

    def _turn(self, runner: Runner, change: Change) -> None:
        """Let the streams end, and wait until `between` has done the change."""
        runner.turn()
        while not runner.wait(_LOOK_S / 5) and self.open.state.change(change.id).is_open:
            pass

    # --- a change with the streams at rest --------------------------------------------------------

    def _settle(self, runner: Runner, change: Change) -> None:
        """Bring the flow to where all its segments have read the same: half done epochs end with the plan they had."""
        last = self._last(runner.plan)
        half = any(self.open.state.unfinished(self.flow, s.name) is not None for s in runner.plan.segments)
        if last and (half or change.moves or len(runner.plan.segments) > 1):
            self.say("finishing the epochs in hand")
            # A version of another flow's table that serves no more is read to its end.
            read = self.open.state.versions(self.flow)
            ends = {stored_name(table, read.get(table, 1)): move.ended for table, move in change.moves.items()}
            runner.drain(runner.plan, furthest(runner.plan, last) | ends)

    def _switch(self, runner: Runner, change: Change, built: dict[str, EpochRecord]) -> None:
        """Record the change, and let the runner go on with it."""
        wanted, last = at_versions(change.plan, self._versions(change)), self._last(runner.plan)
        at = self._positions(runner, change)
        for record in built.values():
            at |= record.ends
            at |= {name: record.end[name] for name in replaced(runner.plan, change.plan) if name in record.end}
        last |= self._last(wanted)
        records = moved(wanted, at, last, _now_ms()) if last else []
        reach("apply_prepared")
        if self.open.state.complete_change(runner.lease, change, records, self._ends(change, at)):
            reach("apply_completed")
            runner.plan = wanted
            self._forget_files(change)
            self._tell(change, f"{len(change.versions)} tables were built anew" if change.versions else "at rest")

    def _built(self, runner: Runner, change: Change) -> dict[str, EpochRecord]:
        """The candidate, caught up with the flow, which stands still: segment → its last epoch."""
        if not change.versions or not self._last(runner.plan):
            return {}
        self._fill(runner, change)
        built = self._catch_up(runner, change)
        reach("apply_caught_up")
        return built

    # --- new versions of tables -------------------------------------------------------------------

    def _build_beside(self, runner: Runner, change: Change) -> None:
        """Fill the candidate while the flow runs, until little is left to do."""
        if not self._last(runner.plan):
            return
        self.open.state.move_change(runner.lease, change, Phase.BUILDING)
        self._fill(runner, change)
        while not runner.wait(0) and self.open.state.change(change.id).is_open:
            began = time.monotonic()
            self._catch_up(runner, change)
            if time.monotonic() - began < max(_CAUGHT_UP_S, runner.plan.freshness.total_seconds()):
                return

    def _fill(self, runner: Runner, change: Change) -> None:
        """Fill the candidate's tables with their history up to where the flow is, unless they are filled."""
        plan = self._candidate(change)
        if self._last(plan):
            return
        last = self._last(runner.plan)
        at, at_ms = self._positions(runner, change), max(record.at_ms for record in last.values())
        started = {
            segment.name: EpochRecord(
                flow=plan.flow,
                segment=segment.name,
                epoch=0,
                at_ms=at_ms,
                started_ms=_now_ms(),
                finished_ms=_now_ms(),
                end={name: dict(at[name]) for name in segment.reads - set(segment.tables) if name in at},
            )
            for segment in plan.segments
        }
        for table in plan.tables.values():
            for tier in table.tiers.present:
                self.open.stores[tier].drop(table.name)  # of an attempt that was cut off
            self.open.stores[table.tiers.target].create(table)
        filling = Restating(self.open, plan, started, say=self.say)
        for segment in plan.segments:
            for step in segment.steps:
                name = table_name(step.writes.name)
                if name in change.copies:
                    for table, old in self._copied(runner, step):
                        filling.copy(segment, step, table, old, at.get(old.name, {}))
                else:
                    filling.fill(segment, step)
                reach("apply_filled", step.writes.name)
        ends = {name: self.open.stores[table.tiers.target].end(table) for name, table in plan.tables.items()}
        for segment in plan.segments:
            record = started[segment.name]
            record.ends.update({name: dict(ends[name]) for name in segment.tables})
            record.end.update({n: dict(ends[n]) for n in segment.reads - set(segment.tables) if n in ends})
        self.open.state.begin_at(list(started.values()))

    def _copied(self, runner: Runner, step: PlannedStep) -> list[tuple[Table, Table]]:
        """The tables that a step writes, each with the version of it that serves."""
        name = table_name(step.writes.name)
        serving = stored_name(name, self.open.state.versions().get(name, 1))
        pairs = [(step.writes, serving), (step.quarantine, f"{serving}{QUARANTINE}")]
        return [(new, runner.plan.tables[old]) for new, old in pairs if new is not None and old in runner.plan.tables]

    def _catch_up(self, runner: Runner, change: Change) -> dict[str, EpochRecord]:
        """Let the candidate read to where the flow is now."""
        plan = self._candidate(change)
        self.say(f"catching up: {', '.join(change.versions)}")
        # What the candidate's own segments write has no bound: each drains what those before it wrote.
        bounds = self._positions(runner, change)
        catching = runner_of(self.open, plan)
        catching.run(once=True, bounds={name: position for name, position in bounds.items() if name not in plan.tables})
        return self._last(plan)

    def _candidate(self, change: Change) -> FlowPlan:
        return candidate(change.plan, change.versions, self._versions(change), change.candidate)

    # --- both -------------------------------------------------------------------------------------

    def _expand(self, change: Change) -> None:
        """Make the columns that the plan brings, in every tier, those downstream first."""
        wanted = at_versions(change.plan, self._versions(change))
        for table in reversed(wanted.tables.values()):
            for tier in reversed(table.tiers.present):
                copy = table if tier is table.tiers.target else table.replica
                if self.open.stores[tier].columns(table.name) is not None:
                    self.open.stores[tier].add_columns(copy)
                    reach("apply_expanded", table.name)

    def _positions(self, runner: Runner, change: Change) -> dict[str, Position]:
        """How far the flow is, by the names that stores hold, also of what it is to read from now on.

        A source that is another one from now on is read from its beginning.
        """
        found = positions(runner.plan, self._last(runner.plan))
        for source in replaced(runner.plan, change.plan):
            found.pop(source, None)
        return found | {stored_name(table, move.version): move.began for table, move in change.moves.items()}

    def _ends(self, change: Change, at: Mapping[str, Position]) -> dict[str, tuple[Position, Position]]:
        """Table that was built anew → where its old version ends, and where its new one stands."""
        serving = self.open.state.versions()
        return {
            name: (at[old], at[new])
            for name, version in change.versions.items()
            if (old := stored_name(name, serving.get(name, 1))) in at and (new := stored_name(name, version)) in at
        }

    def _versions(self, change: Change) -> dict[str, int]:
        moved_to = {table: move.version for table, move in change.moves.items()}
        return self.open.state.versions(self.flow) | moved_to | change.versions

    def _forget_files(self, change: Change) -> None:
        """Remove what the candidate's streams kept on this machine."""
        for folder in (self.open.project.state_dir / "checkpoints", self.open.project.state_dir / "cache" / "states"):
            rmtree(folder / change.candidate, ignore_errors=True)

    def _last(self, plan: FlowPlan) -> dict[str, EpochRecord]:
        found = {s.name: self.open.state.last_epoch(plan.flow, s.name) for s in plan.segments}
        return {name: record for name, record in found.items() if record is not None}

    def _tell(self, change: Change, how: str) -> None:
        self.say("running")
        self.open.state.append_event(self.flow, "change", f"change {change.id} ({change.outcome}) applied: {how}")
        for table, columns in change.marks.items():
            text = f"from now on only, {table} has its new meaning in: {', '.join(columns)}"
            self.open.state.append_event(self.flow, "meaning", text)

    def _fail(self, runner: Runner, change: Change, error: StreamhouseError) -> None:
        if isinstance(error, LeaseLostError):
            raise error
        if self.open.state.move_change(runner.lease, change, Phase.FAILED, str(error)):
            self.open.state.append_event(
                self.flow, "change", f"change {change.id} failed, nothing was applied: {error}"
            )
            self._discard(change)

    def _drop_retired(self, runner: Runner) -> None:
        """Drop versions of this flow's tables that nobody needs any more."""
        oldest = datetime.now(UTC) - self.open.project.settings.keep_old_versions
        own = {table_name(name) for name in runner.plan.tables}
        for one in self.open.state.retired_versions():
            name, behind = one.table.name, self.open.state.readers(one.table.name).values()
            if name in own and one.at < oldest and not any(version <= one.version for version in behind):
                for tier in one.table.tiers.present:
                    self.open.stores[tier].drop(stored_name(name, one.version))
                    self.open.stores[tier].drop(f"{stored_name(name, one.version)}{QUARANTINE}")
                self.open.state.version_dropped(name, one.version)
                self.open.state.append_event(self.flow, "change", f"version {one.version} of {name} was dropped")

    def _discard(self, change: Change) -> None:
        """Drop what was filled for a change that is not to be."""
        serving = self.open.state.versions()
        for name in change.versions:
            if name in change.plan.tables and serving.get(name, 1) != change.versions[name]:
                table = table_at(change.plan.tables[name], change.versions)
                for tier in table.tiers.present:
                    self.open.stores[tier].drop(table.name)
                    self.open.stores[tier].drop(f"{table.name}{QUARANTINE}")
        self.open.state.forget_candidate(change)
        self._forget_files(change)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
