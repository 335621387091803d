"""Rounds of tiering that the runner which lives does for others: they need no Spark of their own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Event

from pydantic import TypeAdapter

from streamhouse.project.project import Project
from streamhouse.runtime.owner import is_alive
from streamhouse.state.runners import Life, WantedState
from streamhouse.state.store import StateStore
from streamhouse.tiering.move import MoveProgress
from streamhouse.tiering.overdue import Overdue
from streamhouse.tiering.waiting import Waiting

_LOOK_S = 0.5


@dataclass(frozen=True)
class FlowRound:
    """What a round of one flow did.

    Attributes:
        is_whole: Every table was filled; else who asked tries for themselves, and meets the error.
    """

    moved: tuple[MoveProgress, ...]
    waiting: tuple[Waiting, ...]
    overdue: tuple[Overdue, ...]
    is_whole: bool


_JSON = TypeAdapter(FlowRound)


def dumped(done: FlowRound) -> str:
    """As the state store keeps it."""
    return _JSON.dump_json(done).decode()


def ask_runners(
    project: Project, flows: Sequence[str], *, check: bool, stop: Event, say: Callable[[str], None]
) -> dict[str, FlowRound]:
    """Have rounds done by the runners that carry the flows, and wait for them.

    Returns:
        Flow → what its round did. Flows without a runner that lives to the end of it, or whose round failed, are
        absent.
    """
    found: dict[str, FlowRound] = {}
    with project.state() as state:
        requests = {
            flow: state.tier_asks.ask(flow, is_check=check) for flow in flows if _runner(state, flow) is not None
        }
        for flow, ask in requests.items():
            while (answer := state.tier_asks.answered(ask)) is None:
                runner = _runner(state, flow)
                if runner is None or stop.wait(_LOOK_S):
                    break
                say(f"{flow}: runner {runner} does it")
            if answer is not None and (done := _JSON.validate_json(answer)).is_whole:
                found[flow] = done
    return found


def _runner(state: StateStore, flow: str) -> str | None:
    """The runner that lives and carries what is asked of it; None: there is none."""
    wanted = state.runners.wanted(flow)
    if wanted is None or wanted.wanted is not WantedState.RUNNING:
        return None
    runner = state.runners.runner(wanted.runner, alive=is_alive)
    return wanted.runner if runner is not None and runner.life is Life.RUNNING else None
