"""Steps that stand while the others of their flow go on, and how far they are behind these.

When they are cut off, when all may be one segment again, and when rows that they have yet to read may be lost.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from streamhouse.change.building import last_epochs
from streamhouse.change.change_request import ask
from streamhouse.compiler.detached import detach_steps, is_detached
from streamhouse.engine.carried_positions import furthest
from streamhouse.engine.execution import FlowExecution
from streamhouse.engine.inputs import EpochInput, open_inputs
from streamhouse.errors import LeaseLostError, StateConflictError, StreamhouseError
from streamhouse.model.plan import FlowPlan, Segment
from streamhouse.model.types import format_duration
from streamhouse.model.version import table_name
from streamhouse.project.compare import Applied, compare
from streamhouse.runtime.open import Open
from streamhouse.state.records import Change, Phase
from streamhouse.stores.base import LogStore

_JOIN_S = 15.0  # between two looks whether all may be joined
_ALARM_S = 600.0  # between two looks at what logs drop
_PATIENCE = 0.5
"""How much of the time that a log keeps a row may pass until who waits for a person must have read it."""


CarryOut = Callable[[Change], None]
"""Carries out a change that was asked for, or records why it failed."""


@dataclass
class Detacher:
    """Between the steps of one flow that stand and the others: made when some must stand, and mended later.

    Attributes:
        open: Everything connected.
        flow: Its name.
        together: Its plan with nothing detached; None while what it follows from says something else than what runs.
    """

    open: Open
    flow: str
    together: Callable[[str], FlowPlan | None]
    _distance: "Distance" = field(init=False)
    _join_at: float = 0.0  # not before this, on the monotonic clock
    _alarm_at: float = 0.0  # the same, for the next look at what logs drop
    _reported_tables: set[str] = field(default_factory=set)  # tables whose rows may be lost
    _failed_fingerprint: str = ""  # fingerprint of a plan of other segments that could not be carried out

    def __post_init__(self) -> None:
        self._distance = Distance(self.open)

    def part_or_join(self, execution: FlowExecution, carry_out: CarryOut) -> None:
        """Cut the steps that stand off from those that may go on; join both again when nothing stands any more.

        Where it cannot be now, as an epoch is half done or another change is asked for, whole segments stand.
        """
        state = self.open.state
        applied = state.plan(self.flow)
        if applied is None or not (execution.waiting or applied[1].aside):
            return
        text = "nothing of it is paused any more: all its steps go on together"
        wanted: FlowPlan | None = None
        if execution.waiting:
            wanted = detach_steps(applied[1], [execution.waiting])
            steps = ", ".join(sorted(execution.waiting))
            text = f"{steps} and what follows are paused (streamhouse status); the other steps go on"
        elif time.monotonic() >= self._join_at:
            self._join_at = time.monotonic() + _JOIN_S
            wanted = self.together(self.flow) if self._distance.is_small(execution.plan) else None
        if wanted is None or wanted.fingerprint in (applied[1].fingerprint, self._failed_fingerprint):
            return
        if self._is_changing(execution):
            return
        definition = state.definitions.applied({}).get(self.flow)
        try:
            compared = compare(wanted, Applied.of(state), {})
        except StateConflictError:  # the plan of another flow cannot be read, as `status` says: whole segments stand
            return
        change = ask(state, compared, "trigger", definition=definition)
        try:
            carry_out(change)
        except StreamhouseError as error:  # the flow goes on with the segments it has
            if error.retryable or isinstance(error, LeaseLostError):
                raise
        phase = state.change(change.id).phase
        if phase is Phase.APPLIED:
            state.append_event(self.flow, "segments", text)
        elif phase is Phase.FAILED:
            self._failed_fingerprint = wanted.fingerprint

    def _is_changing(self, execution: FlowExecution) -> bool:
        """Whether an epoch is half done, which needs the plan there is, or another change is asked for."""
        state = self.open.state
        with execution.between_epochs():  # else one that merely runs would count
            half = any(state.unfinished(self.flow, segment.name) is not None for segment in execution.plan.segments)
        return half or state.open_change(self.flow) is not None

    def tell_endangered(self, execution: FlowExecution) -> None:
        """Note, once for each table, that rows may be lost which steps that stand have yet to read."""
        paused, now = execution.paused, time.monotonic()
        if not paused:
            self._reported_tables.clear()
        if not paused or now < self._alarm_at:
            return
        self._alarm_at = now + _ALARM_S
        with suppress(StreamhouseError):  # the next time
            for table, text in endangered(self.open, execution.plan, paused, datetime.now(UTC)):
                if table not in self._reported_tables:
                    self.open.state.append_event(self.flow, "retention", text)
                    self._reported_tables.add(table)


@dataclass
class Distance:
    """Between what was detached in a flow and the rest of it. Keeps what it opened."""

    open: Open
    _plan: FlowPlan | None = None
    _inputs: dict[str, dict[str, EpochInput]] = field(default_factory=dict)  # segment → what it reads

    def is_small(self, plan: FlowPlan) -> bool:
        """Whether one epoch of each segment that was detached would bring it to where the others are.

        Args:
            plan: As the flow runs, over the names that stores hold.
        """
        try:
            return all(self._rows(plan, name) <= plan.max_rows_per_epoch for name in self._opened(plan))
        except StreamhouseError:
            return False  # the reader reports what cannot be read

    def _opened(self, plan: FlowPlan) -> dict[str, dict[str, EpochInput]]:
        if plan != self._plan:
            root, stores = self.open.project.root, self.open.stores
            detached_segments = [segment for segment in plan.segments if is_detached(segment.name)]
            self._inputs = {segment.name: open_inputs(plan, segment, root, stores) for segment in detached_segments}
            self._plan = plan
        return self._inputs

    def _rows(self, plan: FlowPlan, segment: str) -> int:
        """About how many rows of what a segment reads the others have read, or written, and it has not."""
        last = last_epochs(self.open.state, plan)
        goals = furthest(plan, last) | {
            n: end for s in plan.segments if s.name in last for n, end in last[s.name].ends.items()
        }
        read = last[segment].end if segment in last else {}
        inputs = self._inputs[segment].items()
        return sum(
            epoch_input.rows_between(read.get(name, {}), goals[name]) for name, epoch_input in inputs if name in goals
        )


def endangered(open_: Open, plan: FlowPlan, paused: Iterable[str], now: datetime) -> Iterator[tuple[str, str]]:
    """Rows that segments which stand have yet to read, and that their log drops: table, and a sentence for people.

    Args:
        open_: Everything connected.
        plan: As the flow runs, over the names that stores hold.
        paused: The paused segments.
        now: The time; half of what a log keeps may lie between it and the oldest row that is not read.

    Raises:
        StoreError: a store does not answer.
    """
    last, tables = last_epochs(open_.state, plan), {table.name: table for table in plan.readable}
    for segment in plan.segments:
        for name in sorted(segment.reads & tables.keys() - segment.tables.keys()):
            store = open_.stores[tables[name].tiers.target]
            if segment.name not in paused or segment.name not in last or not isinstance(store, LogStore):
                continue
            retention, read = store.retention(tables[name]), last[segment.name].end.get(name, {})
            due = store.position_before(tables[name], now - retention * _PATIENCE)
            rows = sum(max(0, offset - read.get(bucket, 0)) for bucket, offset in due.items())
            if rows:
                yield table_name(name), _danger(table_name(name), rows, segment, retention)


def _danger(table: str, rows: int, segment: Segment, retention: timedelta) -> str:
    old, steps = format_duration(retention * _PATIENCE), ", ".join(table_name(step.id) for step in segment.steps)
    who = f"{steps}, which is paused, has not read"
    return f"{table}: {who} {rows:,} rows older than {old}, and the log drops rows after {format_duration(retention)}"
