"""What flows lost, in the words of `streamhouse status`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from streamhouse.errors import StreamhouseError
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.ui.answers import LossAnswer

if TYPE_CHECKING:
    from streamhouse.runtime.lost_tables import LostTables, SeenLosses
    from streamhouse.state.store import StateStore

_NO_PACKAGE = "the Python package '{0}' is not installed where the page runs"


def look_for_losses(project: Project, state: "Callable[[], StateStore | None]") -> "SeenLosses":
    """What `streamhouse status` sees of all flows. Where it would end with an error, each tier has the reason.

    Args:
        project: Whose.
        state: Gives its state store; None: there is none.
    """
    from streamhouse.runtime.lost_tables import SeenLosses, lost_tables

    try:
        return lost_tables(project, state())
    except StreamhouseError as error:
        why = f"{error.code} {error.message}"
    except ModuleNotFoundError as error:  # the page may run where no engine is
        why = _NO_PACKAGE.format((error.name or str(error)).partition(".")[0])
    return SeenLosses(unseen=dict.fromkeys(Tier, why))


def losses_by_flow(seen: "SeenLosses") -> dict[str, tuple[LossAnswer, ...]]:
    """Flow → what it lost."""
    found: dict[str, tuple[LossAnswer, ...]] = {}
    for one in seen.lost:
        found[one.flow] = (*found.get(one.flow, ()), _answer(one))
    return found


def _answer(one: "LostTables") -> LossAnswer:
    return LossAnswer(
        kind=one.kind.value,
        tier=one.tier.value if one.tier is not None else None,
        tables=one.tables,
        code=one.code,
        text=one.text,
        hint=one.hint or None,
    )
