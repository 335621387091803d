"""What a person does to one entry of the journal of `apply`."""

from collections.abc import Callable
from typing import TypeVar

from streamhouse.errors import UnknownChangeError
from streamhouse.project.project import Project
from streamhouse.state.records import Change, UnreadableChange
from streamhouse.state.store import StateStore

T = TypeVar("T")


def known(project: Project, change_id: int) -> Change:
    """A change.

    Raises:
        UnknownChangeError: there is none of that number.
    """
    return _done(project, change_id, StateStore.change)


def withdraw(project: Project, change_id: int) -> Change | UnreadableChange:
    """Give a change up that is not done; its flow drops what it built when it starts next.

    The tables of a change that cannot be read stay: it is not known what it built.

    Raises:
        UnknownChangeError: there is none of that number.
        StateConflictError: it is done or given up.
    """
    return _done(project, change_id, StateStore.give_up)


def let_serve(project: Project, change_id: int) -> Change:
    """Let what a change built serve, whatever its audit found; who carries the flow does the rest.

    Raises:
        UnknownChangeError: there is none of that number.
        StateConflictError: it is done or given up, or built in an environment.
    """
    return _done(project, change_id, StateStore.let_serve)


def _done(project: Project, change_id: int, call: Callable[[StateStore, int], T]) -> T:
    state = project.existing_state()
    try:
        if state is None:
            raise KeyError(change_id)
        with state:
            return call(state, change_id)
    except KeyError:
        raise UnknownChangeError(f"there is no change {change_id}", hint="see: streamhouse changes") from None
