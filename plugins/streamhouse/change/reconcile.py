"""Carries out the changes that were asked of a flow, while its runner goes on (design D7, D8).

The journal in the state store says what is wanted; what is applied changes in one transaction. Before it the old
plan and the old tables serve, after it the new ones, whenever this process is killed:

1. The columns and tables that the plan brings are made, in every tier, those downstream first. Doing it again does
   nothing, and the old plan does not mind them.
2. Tables that are built anew are filled beside those that serve: from their history as of some epoch, then by a
   stream of their own (the candidate), which ends where the flow is. Begun again, it goes on where it was.
3. What was built is audited and compared with what serves (`change/gate.py`). Where that fails, or a person wants to
   see it first, the change waits and the flow goes on as it was; now and then what was built catches up meanwhile.
4. Between two epochs the plan, the versions of its tables and the positions are recorded together.

A change that needs no new table and no other streams reaches the running query between two of its epochs. Else
the streams end after the epoch in hand, and others go on from the same positions.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from threading import Condition

from streamhouse.change.building import (
    Building,
    drop_version,
    last_epochs,
    now_ms,
    reached,
    segments_anew,
    standing,
    wanted_plan,
)
from streamhouse.change.follow import Follower
from streamhouse.change.gate import Gatekeeper
from streamhouse.change.half_done import HalfDone
from streamhouse.compiler.change import same_streams, without_lost
from streamhouse.compiler.diff import read_again, replaced
from streamhouse.engine.moved import furthest, meeting, moved, parted, passed_by
from streamhouse.engine.points import reach
from streamhouse.engine.runner import Runner
from streamhouse.engine.vector import cap, covers
from streamhouse.errors import (
    ChangeFailedError,
    EpochFailedError,
    LeaseLostError,
    StateConflictError,
    StreamhouseError,
    WriteRefusedError,
)
from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Position
from streamhouse.model.version import stored_name, table_name
from streamhouse.runtime.open import Open
from streamhouse.runtime.serving import show_written
from streamhouse.state.records import Change, EpochRecord, Phase

_LOOK_S = 0.5  # between two looks whether something is asked
_IDLE_LOOK_S = 2.0  # the same, when no epoch ended for a while: hundreds of flows may idle in one process
_IDLE_AFTER_S = 10.0
_CAUGHT_UP_S = 2.0  # a round of the candidate that is shorter leaves so little that the flow may wait for the next
_KEEP_UP_S = 30.0  # between two rounds of a candidate that waits for a person, at least
_KEEP_UP_SHARE = 10  # such a round rests this many times as long as it took: it must not slow down what serves


@dataclass
class Reconciler:
    """The steward of one flow's runner; see `engine.runner.Steward`."""

    open: Open
    flow: str
    say: Callable[[str], None] = lambda _: None
    follower: Follower | None = None  # None: what changes upstream is not looked at
    _looked: bool = False
    _asked: int = 0  # looks that streams asked for; only rises
    _answered: int = 0  # how many of them have been taken
    _building: bool = False  # tables are filled beside those that serve, which may take hours
    _told: Condition = field(default_factory=Condition)  # guards these three
    _keep_up_at: float = 0.0  # not before this, on the monotonic clock
    _left_behind: set[int] = field(default_factory=set)  # changes that wait and could not catch up
    _gate: Gatekeeper = field(init=False)

    def __post_init__(self) -> None:
        self._gate = Gatekeeper(self.open, self.say)

    def between(self, runner: Runner) -> None:
        """Carry out what is asked, while no stream runs.

        Raises:
            StreamhouseError: it cannot be; the change has failed, and what was applied stays. Where a store is away, it
                has not: the next run goes on with it.
        """
        show_written(self.open.project, runner.plan.tables.values())  # a kill may have come before it did
        self._drop_retired(runner)
        self._drop_left_behind()
        change = self.open.state.open_change(self.flow)
        if not self._looked and (runner.plan.aside or (change is not None and change.plan.aside)):
            runner.waiting = self.open.state.upstream.standing(self.flow)  # what stood is behind the rest of the flow
        if change is not None and not change.waits:
            self._at_rest(runner, change)
        if self.follower is not None and not self._looked:  # what changed while nothing ran
            self._looked = True
            self.follower.look(runner, lambda asked: self._at_rest(runner, asked), at_rest=True)

    def _at_rest(self, runner: Runner, change: Change) -> None:
        try:
            if not change.versions and not self._gate.lets(runner, change):
                return
            wanted = wanted_plan(self.open.state, change)
            half = HalfDone.of(self.open, runner.plan)
            if half and self._mends(runner, change, wanted, half):
                return
            settled = self._settle(runner, change, wanted, half)
            self._expand(wanted)
            built = self._built(runner, change)
            if self._gate.lets(runner, change, reached(self.open.state, change) if built else None):
                (self._switch if settled else self._switch_under)(runner, change, wanted, built)
        except StreamhouseError as error:
            self._fail(runner, change, error)
            raise

    def beside(self, runner: Runner) -> None:
        """Carry out what is asked while the streams run; a change that cannot be is recorded as failed."""
        while not runner.rest(_LOOK_S if time.monotonic() - runner.beat_at < _IDLE_AFTER_S else _IDLE_LOOK_S):
            asked = self._asked
            with suppress(StreamhouseError):  # the state store is away, or the lease lost: the runner ends by itself
                change = self.open.state.open_change(self.flow)
                if change is not None and not change.waits:
                    self._running(runner, change)
                elif change is not None and change.versions:
                    self._keep_up(change)
                if self.follower is not None and (asked > self._answered or self.follower.due(runner)):
                    self.follower.look(runner, lambda asked: self._running(runner, asked, hold=True))
            with self._told:
                self._answered = asked
                self._told.notify_all()

    def before_epoch(self, runner: Runner, segment: str) -> None:
        """Where something upstream looks other than at the last look, let the flow follow it before its rows are read.

        An epoch does not wait for tables that are built anew: it reads on with the plan there is.
        """
        [reads] = (one.reads for one in runner.plan.segments if one.name == segment)
        if self.follower is not None and self.follower.differs(reads):
            self._look_at_once(runner, waits=lambda: not self._building)

    def rows_lost(self, runner: Runner, segment: str) -> None:  # noqa: ARG002  a look is at the whole flow
        """See whether a person is to be asked about rows that are gone; until then the segment stands still."""
        if self.follower is not None:
            self._look_at_once(runner, waits=lambda: True)

    def _look_at_once(self, runner: Runner, waits: Callable[[], bool]) -> None:
        with self._told:
            self._asked = mine = self._asked + 1
            runner.wake()
            while self._answered < mine and waits() and not runner.is_ending:
                self._told.wait(_LOOK_S / 5)

    def _running(self, runner: Runner, change: Change, *, hold: bool = False) -> None:
        """Carry a change out; with `hold` no epoch reads on with the old plan while the new one is made ready."""
        try:
            if runner.is_stuck:
                self._refuse_half_done(runner.segments_of(self._waiting(runner, change)))
            self._refuse_behind(runner, change)
            if change.versions:
                with suppress(StateConflictError):  # tiering has gone beyond where the flow was: with the flow at rest
                    if not self._built_beside(runner, change):
                        return
            elif not self._gate.lets(runner, change):
                return
            wanted = wanted_plan(self.open.state, change)
            self._expand(wanted)
            swaps = not change.versions and same_streams(runner.plan, wanted)
            if not swaps or not self._swap(runner, change, wanted, hold=hold):
                self._turn(runner, change)
        except StreamhouseError as error:
            self._fail(runner, change, error)

    def _keep_up(self, change: Change) -> None:
        """Let what waits for a person read on, so that its rows are not gone from the logs when the word comes.

        One that cannot goes on waiting as it is, and says so once: a person may still look at it, or mend it.
        """
        if change.id in self._left_behind or time.monotonic() < self._keep_up_at:
            return
        building, at = Building(self.open, change), reached(self.open.state, change)
        last = building.last
        read = furthest(building.plan, last)
        if not last or covers(read, {name: at[name] for name in read if name in at}):
            self._keep_up_at = time.monotonic() + _KEEP_UP_S
            return
        began = time.monotonic()
        self._building = True
        try:
            building.catch_up()
        except StreamhouseError as error:
            if not error.retryable:
                self._left_behind.add(change.id)
                text = f"change {change.id} waits and does not catch up meanwhile: {error}"
                self.open.state.append_event(self.flow, "change", text)
        finally:
            self._building = False
        now = time.monotonic()
        self._keep_up_at = now + max(_KEEP_UP_S, _KEEP_UP_SHARE * (now - began))

    # --- a change that reaches the running query --------------------------------------------------

    def _swap(self, runner: Runner, change: Change, wanted: FlowPlan, *, hold: bool) -> bool:
        """False: only with the streams at rest, for an epoch that began cannot end with the plan it has."""
        with ExitStack() as stack:
            still = stack.enter_context(ExitStack())
            if hold:
                still.enter_context(self._standing(runner))
            take = stack.enter_context(runner.prepared(wanted))
            reach("apply_prepared")
            while not runner.wait(0):
                with runner.between_epochs() as whole:
                    if whole:
                        if self.open.state.complete_change(runner.lease, change):
                            reach("apply_completed")
                            take()
                            self._tell(change, "between two epochs, no stream was stopped")
                        return True
                if runner.is_stuck:
                    return False
                still.close()  # an epoch that failed runs again with the plan it had, and must be let
                runner.wait(_LOOK_S)
        return True

    @contextmanager
    def _standing(self, runner: Runner) -> Iterator[None]:
        waiting, runner.waiting = runner.waiting, frozenset(table_name(step.id) for step in runner.plan.steps)
        try:
            yield
        finally:
            runner.waiting = waiting

    def _turn(self, runner: Runner, change: Change) -> None:
        """Let the streams end, and wait until `between` has done the change, or found that a person must."""
        runner.turn()
        while not runner.wait(_LOOK_S / 5):
            now = self.open.state.change(change.id)
            if now.waits or not now.is_open:
                return

    # --- a change with the streams at rest --------------------------------------------------------

    def _mends(self, runner: Runner, change: Change, wanted: FlowPlan, half: HalfDone) -> bool:
        """Whether half done epochs can end with the new plan, and then do: one that fails on a row is mended so."""
        if not half.may_end_with(change, wanted):
            return False
        self._expand(wanted)
        if self.open.state.complete_change(runner.lease, change):
            runner.plan = wanted
            self._tell(change, "the epoch that was not done ends with it")
        return True

    def _settle(self, runner: Runner, change: Change, wanted: FlowPlan, half: HalfDone) -> bool:
        """Bring the flow to where all its segments have read the same: half done epochs end with the plan they had.

        Returns:
            False: one of them cannot, and is to end with the new plan, over tables built as of where it began.
        """
        runner.waiting = self._waiting(runner, change)
        self._refuse_behind(runner, change)
        if half:
            self._refuse_half_done(runner.held)
        last = last_epochs(self.open.state, runner.plan)
        if last and (half or change.moves or change.versions or len(runner.plan.segments) > 1):
            self.say("finishing the epochs in hand")
            # A version of another flow's table that serves no more is read to its end.
            read = self.open.state.versions(self.flow)
            ends = {stored_name(table, read.get(table, 1)): move.ended for table, move in change.moves.items()}
            read_to = furthest(runner.plan, last)
            stands = self._lost(change, last)
            before = runner.plan
            runner.plan = without_lost(before, change.plan, {table_name(name): at for name, at in stands.items()})
            try:
                runner.drain(read_to | ends | self._ahead(change, read_to) | stands)
            except (EpochFailedError, WriteRefusedError) as error:
                runner.plan = before
                if half and HalfDone.of(self.open, before).may_end_anew(change, wanted):
                    return False
                raise ChangeFailedError(
                    f"{self.flow}: an epoch began with the applied plan and cannot end with it: {error.message}",
                    hint="first apply an edit that mends this and that the plan tells as swap or forward",
                ) from error
            finally:
                runner.plan = before
            self._refuse_half_done(runner.held)
        return True

    def _waiting(self, runner: Runner, change: Change) -> frozenset[str]:
        """Steps that wait while a change is carried out: none for rows that are gone, if it goes on without them."""
        goes_on = read_again(runner.plan, change.plan) or runner.plan.given_up != change.plan.given_up
        return runner.waiting & self.follower.waiting() if goes_on and self.follower is not None else runner.waiting

    def _refuse_half_done(self, held: Collection[str]) -> None:
        """An epoch of a segment that waits for a person ends with the plan it began with, or as the answer says."""
        for segment in sorted(held):
            if self.open.state.unfinished(self.flow, segment) is not None:
                raise ChangeFailedError(
                    f"{segment} of {self.flow} waits for a person's word in the middle of an epoch",
                    hint=f"decide first: streamhouse approvals {self.flow}",
                )

    def _lost(self, change: Change, last: Mapping[str, EpochRecord]) -> dict[str, Position]:
        """Tables that are read from their beginning, as stores call them → up to where a drain may read: no further."""
        state = self.open.state
        plan, read = standing(state, self.flow), state.versions(self.flow)
        found: dict[str, Position] = {}
        for name in read_again(plan, change.plan):
            stored = stored_name(name, read.get(name, 1))
            for record in last.values():
                if stored in record.end:
                    found[stored] = cap(record.end[stored], found.get(stored, record.end[stored]))
        return found

    def _refuse_behind(self, runner: Runner, change: Change) -> None:
        """Refuse what would let steps that wait go on from where others are, or leave their rows out.

        Raises:
            ChangeFailedError: a person must decide first.
        """
        old, held = runner.plan, runner.segments_of(self._waiting(runner, change))
        behind = meeting(old, wanted_plan(self.open.state, change), held, change.versions)
        if held and len(old.segments) > 1 and (change.versions or change.moves):
            apart = bool(old.aside) and not change.moves
            behind += passed_by(old, held, segments_anew(old, change), change.versions) if apart else sorted(held)
        if behind:
            told = ", ".join(dict.fromkeys(behind))
            raise ChangeFailedError(
                f"{told} of {self.flow} waits for a person's word, and is behind the others",
                hint=f"decide first: streamhouse approvals {self.flow}",
            )

    def _ahead(self, change: Change, own: Mapping[str, Position]) -> dict[str, Position]:
        """How far a candidate that ran by itself, in an environment, has read: the flow is to read no less."""
        if not change.versions:
            return {}
        building, at = Building(self.open, change), reached(self.open.state, change)
        return {
            name: {key: max(value, own[name].get(key, 0)) for key, value in position.items()}
            for name, position in furthest(building.plan, building.last).items()
            if name in own and name in at  # a position in a source that becomes another one is none in this one
        }

    def _switch(self, runner: Runner, change: Change, wanted: FlowPlan, built: dict[str, EpochRecord]) -> None:
        """Record the change, and let the runner go on with it."""
        state = self.open.state
        last = last_epochs(state, runner.plan)
        at = reached(state, change)
        for record in built.values():
            at |= record.ends
        at |= self._first_read(change, wanted, at, built)
        last |= last_epochs(state, wanted)
        fresh = [stored_name(name, state.versions(self.flow).get(name, 1)) for name in replaced(runner.plan, wanted)]
        records = (
            moved(runner.plan, wanted, at, self._grown(runner, wanted, last), now_ms(), fresh=fresh) if last else []
        )
        reach("apply_prepared")
        if state.complete_change(runner.lease, change, records, at):
            reach("apply_completed")
            runner.plan = wanted
            show_written(self.open.project, wanted.tables.values())
            Building(self.open, change).forget_files()
            self._tell(change, f"{len(change.versions)} tables were built anew" if change.versions else "at rest")

    def _switch_under(self, runner: Runner, change: Change, wanted: FlowPlan, built: Mapping[str, EpochRecord]) -> None:
        """`_switch` under an epoch that is half done and ends with the new plan: every position stays as it is."""
        state, half = self.open.state, HalfDone.of(self.open, runner.plan)
        found = {name: end for record in built.values() for name, end in record.ends.items()}
        gone = half.replaced(change)
        ends: dict[str, dict[str, Position | None]] = {}
        for before, after in zip(runner.plan.segments, wanted.segments, strict=True):
            ends[after.name] = dict.fromkeys(gone & before.tables.keys())
            ends[after.name] |= {name: found[name] for name in after.tables if name in found}
        reach("apply_prepared")
        at = reached(state, change) | found
        if state.complete_change(runner.lease, change, at=at, ends=ends, ahead=bool(half.wrote(gone))):
            reach("apply_completed")
            runner.plan = wanted
            Building(self.open, change).forget_files()
            self._tell(
                change, f"{len(change.versions)} tables were built anew; the epoch that was not done ends with it"
            )

    def _grown(self, runner: Runner, wanted: FlowPlan, last: Mapping[str, EpochRecord]) -> dict[str, EpochRecord]:
        """The last epochs, with the ends of tables that another segment is to read as a backfill may have left them."""
        ends = {t.name: self.open.stores[t.tiers.target].end(t) for t in parted(runner.plan, wanted)}
        return {
            name: replace(record, ends=record.ends | {t: end for t, end in ends.items() if t in record.ends})
            for name, record in last.items()
        }

    def _first_read(
        self, change: Change, wanted: FlowPlan, at: Mapping[str, Position], built: Mapping[str, EpochRecord]
    ) -> dict[str, Position]:
        """What the flow reads from its beginning, and how far what was built has read it: the flow goes on there."""
        anew = {stored_name(table, version) for table, version in change.versions.items()}
        found: dict[str, Position] = {}
        for record in built.values():
            for name in record.end.keys() - at.keys() - wanted.tables.keys():
                others = [
                    s for s in wanted.steps if s.writes.name not in anew and any(r.table == name for r in s.reads)
                ]
                if others or found.setdefault(name, record.end[name]) != record.end[name]:
                    raise ChangeFailedError(
                        f"{self.flow} reads {name} for the first time, and not all its readers have read as much of it",
                        hint="apply it again; or first let the steps read it that are built anew, then the others",
                    )
        return found

    def _built(self, runner: Runner, change: Change) -> dict[str, EpochRecord]:
        """The candidate, caught up with the flow, which stands still: segment → its last epoch."""
        if not change.versions or not last_epochs(self.open.state, runner.plan):
            return {}
        building = Building(self.open, change, self.say)
        building.fill()
        building.catch_up()
        return building.last

    def _built_beside(self, runner: Runner, change: Change) -> bool:
        """Fill the candidate while the flow runs, until little is left to do; whether to go on to the swap then."""
        state = self.open.state
        if not last_epochs(state, runner.plan):
            return True
        building = Building(self.open, change, self.say)
        state.move_change(runner.lease, change, Phase.BUILDING)
        self._building = True
        try:
            building.fill()
            while not runner.wait(0) and state.change(change.id).is_open:
                began = time.monotonic()
                at = building.catch_up()
                if time.monotonic() - began < max(_CAUGHT_UP_S, runner.plan.freshness.total_seconds()):
                    # Segments that read each other's tables, and another flow's new version, say the same only at rest.
                    moving = len(runner.plan.segments) > 1 or change.moves
                    return bool(moving) or self._gate.lets(runner, change, at)
        finally:
            self._building = False
        return False

    # --- both -------------------------------------------------------------------------------------

    def _expand(self, wanted: FlowPlan) -> None:
        """Make the columns that the plan brings, in every tier, those downstream first."""
        for table in reversed(wanted.tables.values()):
            for tier in reversed(table.tiers.present):
                copy = table if tier is table.tiers.target else table.replica
                if self.open.stores[tier].columns(table.name) is not None:
                    self.open.stores[tier].add_columns(copy)
                    reach("apply_expanded", table.name)

    def _tell(self, change: Change, how: str) -> None:
        self.say("running")
        self.open.state.append_event(self.flow, "change", f"change {change.id} ({change.outcome}) applied: {how}")
        for table, columns in change.marks.items():
            text = f"from now on only, {table} has its new meaning in: {', '.join(columns)}"
            self.open.state.append_event(self.flow, "meaning", text)

    def _fail(self, runner: Runner, change: Change, error: StreamhouseError) -> None:
        if isinstance(error, LeaseLostError):
            raise error
        if error.retryable:  # a store that is away: the change stays asked, and goes on where it was
            return
        if self.open.state.move_change(runner.lease, change, Phase.FAILED, str(error)):
            self.open.state.append_event(
                self.flow, "change", f"change {change.id} failed, nothing was applied: {error}"
            )
            Building(self.open, change).discard()
            self.open.state.cleared(change)

    def _drop_left_behind(self) -> None:
        """Drop what changes built that were given up."""
        for change in self.open.state.left_behind(self.flow):
            Building(self.open, change).discard()
            self.open.state.cleared(change)

    def _drop_retired(self, runner: Runner) -> None:
        """Drop versions of this flow's tables that nobody needs any more."""
        oldest = datetime.now(UTC) - self.open.project.settings.keep_old_versions
        own = {table_name(name) for name in runner.plan.tables}
        for one in self.open.state.retired_versions():
            name, behind = one.table.name, self.open.state.readers(one.table.name).values()
            if name in own and one.at < oldest and not any(version <= one.version for version in behind):
                drop_version(self.open, one.table, one.version)
                self.open.state.version_dropped(name, one.version)
                self.open.state.append_event(self.flow, "change", f"version {one.version} of {name} was dropped")
