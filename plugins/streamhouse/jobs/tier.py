"""Fills the further tiers of flows' tables: once, or again and again (design D9)."""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Event, Thread

from streamhouse.errors import StateConflictError, StreamhouseError, UnknownFlowError
from streamhouse.jobs.asked_rounds import FlowRound, ask_runners, dumped
from streamhouse.jobs.rounds import rounds
from streamhouse.jobs.tier_round import TIERING, OnMoved, Tiered, TierRoundKind, TierRounds
from streamhouse.model.plan import FlowPlan
from streamhouse.project.project import Project
from streamhouse.runtime.lost_tables import LostTables, lost_tables
from streamhouse.runtime.open import Open, opened
from streamhouse.state.plans import Unreadable, refuse_unreadable
from streamhouse.state.tier_asks import TierAsk
from streamhouse.state.troubles import TableTrouble

_REQUEST_POLL_S = 1.0  # so often a runner looks what is asked of it
_log = logging.getLogger(__name__)


def tier_flows(
    project: Project,
    flows: Sequence[str] = (),
    *,
    every: timedelta | None = None,
    check: bool = False,
    refill: bool = False,
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
        check: Move nothing; only look what waits, and what is overdue.
        refill: Create copies again that are gone, are other tables or are older than what was recorded, from what the
            first tier holds. Rows that only the copy had stay lost.
        stop: Ends it after the part of a table in hand.
        say: Is called with what is being done.
        on_moved: Called with the flow after each part of a table that was moved.

    Returns:
        The last round.

    Raises:
        UnknownFlowError: a flow never ran.
        StreamhouseError: of the one round, the first table that could not be filled, after all others were.
            Rounds that come `every` so often record it as an event of the flow instead, and go on.
    """
    chosen = chosen_flows(project, flows, _has_colder_tiers)
    done = _done(project, chosen, every, TierRoundKind(check, refill), stop or Event(), say, on_moved)
    for error in done.failed.values() if every is None else ():
        raise error
    return replace(done, troubles=_troubles(project, chosen))


def _done(
    project: Project,
    chosen: list[str],
    every: timedelta | None,
    kind: TierRoundKind,
    stop: Event,
    say: Callable[[str], None],
    on_moved: OnMoved,
) -> Tiered:
    done = Tiered()
    if every is None and not kind.refill:
        runner_rounds = ask_runners(project, chosen, check=kind.check, stop=stop, say=say)
        done = _of_runners(runner_rounds)
        chosen = [flow for flow in chosen if flow not in runner_rounds]
    if not chosen:
        return done
    with opened(project, say=say) as open_:
        tiering = TierRounds(open_, on_moved, say, stop)
        for began in rounds(every, tiering.stop):
            own = tiering.round(chosen, began, kind)
            previous = done if every is None else Tiered()
            done = Tiered(
                previous.moved | own.moved, previous.waiting + own.waiting, previous.overdue + own.overdue, own.failed
            )
    return done


def _troubles(project: Project, flows: Sequence[str]) -> tuple[TableTrouble, ...]:
    with project.state() as state:
        return tuple(one for flow in flows for one in state.troubles.current(flow) if one.job == TIERING)


@contextmanager
def tiering_beside(open_: Open, flows: Sequence[str], every: timedelta) -> Iterator[None]:
    """Fill the further tiers of flows every so often, in a thread, while the block runs them.

    What goes wrong is recorded as an event of the flow. At the end of the block the table in hand is left as far as it
    is, which the next round goes on from.
    """

    def fill(tiering: TierRounds) -> None:
        tiering.round(flows, datetime.now(UTC))

    with _beside(open_, every.total_seconds(), fill):
        yield


def tier_here(open_: Open, flows: Sequence[str], say: Callable[[str], None] = lambda _: None) -> None:
    """Fill the further tiers of flows once, over what is already open; what goes wrong is recorded as a trouble."""
    TierRounds(open_, lambda _, __: None, say, Event()).round(flows, datetime.now(UTC))


@contextmanager
def tiering_on_request(open_: Open, runner: str) -> Iterator[None]:
    """Do the rounds that others ask of a runner, in a thread, while the block runs. One in hand at its end is left."""

    def serve(tiering: TierRounds) -> None:
        for ask in open_.state.tier_asks.due(runner):
            done = _serve_request(tiering, ask)
            if tiering.stop.is_set():
                return
            open_.state.tier_asks.answer(ask, dumped(done))

    with _beside(open_, _REQUEST_POLL_S, serve):
        yield


@contextmanager
def _beside(open_: Open, every_s: float, do: Callable[[TierRounds], None]) -> Iterator[None]:
    tiering = TierRounds(open_, lambda _, __: None, lambda _: None, Event())

    def repeat() -> None:
        while not tiering.stop.wait(every_s):
            try:
                do(tiering)
            except StreamhouseError:
                continue  # the state store is away: the flows say so themselves
            except Exception:  # noqa: BLE001  a thread that ended would be missed by nobody
                _log.exception("a round of tiering; the next one tries again")

    thread = Thread(target=repeat, name="tiering", daemon=True)
    thread.start()
    try:
        yield
    finally:
        tiering.stop.set()
        thread.join()


def _serve_request(tiering: TierRounds, ask: TierAsk) -> FlowRound:
    try:
        done = tiering.round([ask.flow], datetime.now(UTC), TierRoundKind(check=ask.is_check))
    except Exception:  # noqa: BLE001  whatever it is, who asked waits for an answer
        _log.exception("tiering of %s", ask.flow)
        return FlowRound((), (), (), is_whole=False)  # who asked tries, and meets the error
    return FlowRound(tuple(done.moved.get(ask.flow, ())), done.waiting, done.overdue, is_whole=not done.failed)


def _has_colder_tiers(plan: FlowPlan) -> bool:
    return any(len(table.tiers.present) > 1 for table in plan.tables.values())


def chosen_flows(project: Project, flows: Sequence[str], concerns: Callable[[FlowPlan], bool]) -> list[str]:
    """The flows named, or all that ever ran, as far as their plans are concerned.

    Raises:
        UnknownFlowError: one of those named never ran.
        StateConflictError: one of them did, and the state store does not know it, or its plan cannot be read.
    """
    state = project.existing_state()
    applied: dict[str, FlowPlan] = {}
    unreadable: Unreadable = {}
    with state or nullcontext():
        if state is not None:
            applied = {flow: plan for flow, (_, plan) in state.plans(unreadable).items()}
        refuse_unreadable(unreadable, flows)
        if not flows or not applied.keys() >= set(flows):
            _refuse_forgotten(lost_tables(project, state).lost, applied, flows)
    for flow in flows:
        if flow not in applied:
            raise UnknownFlowError(flow, applied)
    named = list(dict.fromkeys(flows)) or list(applied)
    return [flow for flow in named if concerns(applied[flow])]


def _refuse_forgotten(lost: Sequence[LostTables], applied: Collection[str], flows: Sequence[str]) -> None:
    """Refuse where a flow never ran for all that the state store knows, and has tables all the same."""
    for one in lost:
        if one.flow not in applied and (not flows or one.flow in flows):
            raise StateConflictError(f"{one.flow}: {one.text}", hint=one.hint)


def _of_runners(runner_rounds: Mapping[str, FlowRound]) -> Tiered:
    return Tiered(
        {flow: list(one.moved) for flow, one in runner_rounds.items()},
        tuple(one for done in runner_rounds.values() for one in done.waiting),
        tuple(late for one in runner_rounds.values() for late in one.overdue),
    )
