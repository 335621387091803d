"""Fills the further tiers of flows' tables: once, or again and again (design D9)."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Event, Thread
from typing import cast

from streamhouse.change.building import standing
from streamhouse.errors import StreamhouseError, TableMissingError, UnknownFlowError
from streamhouse.jobs.asked_rounds import Round, ask_runners, dumped
from streamhouse.jobs.rounds import rounds
from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Table
from streamhouse.model.types import Tier
from streamhouse.model.version import table_name
from streamhouse.project.project import Project
from streamhouse.runtime.open import Open, opened
from streamhouse.state.tier_asks import TierAsk
from streamhouse.stores.base import LakeStore
from streamhouse.tiering.move import Moved, tier
from streamhouse.tiering.overdue import Overdue, overdue

_ASKED_S = 1.0  # so often a runner looks what is asked of it
_log = logging.getLogger(__name__)

OnMoved = Callable[[str, Moved], None]


@dataclass(frozen=True)
class Tiered:
    """What one round did.

    Attributes:
        moved: Flow → one entry for each table and further tier, upstream first.
        overdue: What a lake still lacks, and its log may drop.
        failed: `table to tier` → why it could not be filled; the others were.
    """

    moved: dict[str, list[Moved]] = field(default_factory=dict)
    overdue: tuple[Overdue, ...] = ()
    failed: dict[str, StreamhouseError] = field(default_factory=dict)


def tier_flows(
    project: Project,
    flows: Sequence[str] = (),
    *,
    every: timedelta | None = None,
    check: bool = False,
    stop: Event | None = None,
    say: Callable[[str], None] = lambda _: None,
    on_moved: OnMoved = lambda _, __: None,
) -> Tiered:
    """Bring each lake's copy of the tables of flows to where their flow is now.

    One round is done by the runner of a flow where one lives, which has Spark and stores at hand; the others are
    done here. Flows may run meanwhile; may be killed at any point and called again; two at once move each row once.

    Args:
        project: Holds the flows.
        flows: Their names; empty: every flow that ever ran.
        every: Begin a round so long after the one before began, until `stop`; None: one round.
        check: Move nothing; only look what is overdue.
        stop: Ends it after the part of a table in hand.
        say: Told what is being done.
        on_moved: Called with the flow after each part of a table that was moved.

    Returns:
        The last round.

    Raises:
        UnknownFlowError: a flow never ran.
        StreamhouseError: of the one round, the first table that could not be filled, after all others were.
            Rounds that come `every` so often record it as an event of the flow instead, and go on.
    """
    chosen = chosen_flows(project, flows, lambda table: len(table.tiers.present) > 1)
    done = Tiered()
    if every is None:
        asked = ask_runners(project, chosen, check=check, stop=stop or Event(), say=say)
        done = Tiered(
            {flow: list(one.moved) for flow, one in asked.items()},
            tuple(late for one in asked.values() for late in one.overdue),
        )
        chosen = [flow for flow in chosen if flow not in asked]
    if not chosen:
        return done
    with opened(project, say=say) as open_:
        tiering = _Tiering(open_, on_moved, say, stop or Event())
        for began in rounds(every, tiering.stop):
            own = tiering.round(chosen, began, check=check)
            kept = done if every is None else Tiered()
            done = Tiered(kept.moved | own.moved, kept.overdue + own.overdue, own.failed)
    if every is None:
        for error in done.failed.values():
            raise error
    return done


@contextmanager
def tiering_beside(open_: Open, flows: Sequence[str], every: timedelta) -> Iterator[None]:
    """Fill the further tiers of flows every so often, in a thread, while the block runs them.

    What goes wrong is recorded as an event of the flow. At the end of the block the table in hand is left as far as it
    is, which the next round goes on from.
    """

    def fill(tiering: _Tiering) -> None:
        tiering.round(flows, datetime.now(UTC), check=False)

    with _beside(open_, every.total_seconds(), fill):
        yield


@contextmanager
def tiering_when_asked(open_: Open, runner: str) -> Iterator[None]:
    """Do the rounds that others ask of a runner, in a thread, while the block runs. One in hand at its end is left."""

    def serve(tiering: _Tiering) -> None:
        for ask in open_.state.tier_asks.due(runner):
            done = _asked_round(tiering, ask)
            if tiering.stop.is_set():
                return
            open_.state.tier_asks.answer(ask, dumped(done))

    with _beside(open_, _ASKED_S, serve):
        yield


@contextmanager
def _beside(open_: Open, every_s: float, do: Callable[["_Tiering"], None]) -> Iterator[None]:
    tiering = _Tiering(open_, lambda _, __: None, lambda _: None, Event())

    def repeat() -> None:
        while not tiering.stop.wait(every_s):
            with suppress(StreamhouseError):  # the state store is away: the flows say so themselves
                do(tiering)

    thread = Thread(target=repeat, name="tiering", daemon=True)
    thread.start()
    try:
        yield
    finally:
        tiering.stop.set()
        thread.join()


def _asked_round(tiering: "_Tiering", ask: TierAsk) -> Round:
    try:
        done = tiering.round([ask.flow], datetime.now(UTC), check=ask.is_check)
    except StreamhouseError:
        raise
    except Exception:  # noqa: BLE001  whatever it is, who asked waits for an answer
        _log.exception("tiering of %s", ask.flow)
        return Round((), (), is_whole=False)
    return Round(tuple(done.moved.get(ask.flow, ())), done.overdue, is_whole=not done.failed)


def chosen_flows(project: Project, flows: Sequence[str], concerns: Callable[[Table], bool]) -> list[str]:
    """The flows named, or all that ever ran, as far as one of their tables is concerned.

    Raises:
        UnknownFlowError: one of those named never ran.
    """
    state = project.existing_state()
    applied: dict[str, FlowPlan] = {}
    if state is not None:
        with state:
            applied = {flow: plan for flow, (_, plan) in state.plans().items()}
    for flow in flows:
        if flow not in applied:
            raise UnknownFlowError(flow, applied)
    named = list(dict.fromkeys(flows)) or list(applied)
    return [flow for flow in named if any(concerns(table) for table in applied[flow].tables.values())]


class _StopAskedError(Exception):
    """Leaves a table between two parts of what is to be moved."""


@dataclass
class _Tiering:
    open: Open
    on_moved: OnMoved
    say: Callable[[str], None]
    stop: Event
    _told: dict[tuple[str, str], str] = field(default_factory=dict)  # (flow, what) → what is wrong and was told

    def round(self, flows: Sequence[str], now: datetime, *, check: bool) -> Tiered:
        moved: dict[str, list[Moved]] = {}
        late: list[Overdue] = []
        failed: dict[str, StreamhouseError] = {}
        for flow in flows:
            moved[flow] = []
            for table in standing(self.open.state, flow).tables.values():
                for target in table.tiers.present[1:]:
                    if self.stop.is_set():
                        return Tiered(moved, tuple(late), failed)
                    what = f"{table_name(table.name)} to {target}"
                    try:
                        if not check:
                            moved[flow].append(self._move(flow, table, target))
                        found = self._overdue(table, target, now)
                    except (TableMissingError, _StopAskedError):
                        continue  # the flow has not made it yet; or the rest is for the next round
                    except StreamhouseError as error:
                        failed[what] = error
                        self._tell(flow, what, "tiering", f"{what}: {error.message}")
                        continue
                    if found is not None:
                        late.append(found)
                    self._tell(flow, what, "retention", str(found) if found is not None else None)
        return Tiered(moved, tuple(late), failed)

    def _move(self, flow: str, table: Table, target: Tier) -> Moved:
        self.say(f"{table_name(table.name)} to {target}")
        lake = cast("LakeStore", self.open.stores[target])  # only the hot tier is none, and it is always the first

        def told(moved: Moved) -> None:
            self.on_moved(flow, moved)
            if self.stop.is_set():
                raise _StopAskedError

        return tier(table, self.open.stores[table.tiers.target], lake, on_progress=told)

    def _overdue(self, table: Table, target: Tier, now: datetime) -> Overdue | None:
        return overdue(table, self.open.stores[table.tiers.target], cast("LakeStore", self.open.stores[target]), now)

    def _tell(self, flow: str, what: str, kind: str, text: str | None) -> None:
        """Record what is wrong once, however many rounds find it so."""
        before = self._told.pop((flow, what), None)
        if text is not None:
            self._told[flow, what] = kind
            if before != kind:
                self.open.state.append_event(flow, kind, text)
                self.say(text)
