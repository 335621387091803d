"""A project as it is at one moment: what several parts of an answer need is looked up once."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from streamhouse.model.plan import FlowPlan
from streamhouse.ui.desk import Desk, KnownPlans

if TYPE_CHECKING:
    from streamhouse.project.edits import Edit
    from streamhouse.registry import Registry
    from streamhouse.runtime.lost_tables import SeenLosses
    from streamhouse.state.store import StateStore

Found = TypeVar("Found")


class Look(Desk):
    """For one call and one thread; the desk that it looks from stays open."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.project)
        self._desk = desk
        self._found: dict[str, Any] = {}

    @property
    def registry(self) -> "Registry":
        """As of the desk."""
        return self._once("registry", lambda: self._desk.registry)

    @property
    def state(self) -> "StateStore | None":
        """As of the desk."""
        return self._desk.state

    def desired(self) -> dict[str, FlowPlan]:
        """As of the desk."""
        return self._once("desired", self._desk.desired)

    def known_plans(self) -> KnownPlans:
        """As of the desk."""
        return self._once("known_plans", self._desk.known_plans)

    def shown(self) -> dict[str, tuple[int | None, FlowPlan]]:
        """As of the desk."""
        return self._once("shown", super().shown)

    def edits(self) -> "dict[str, Edit]":
        """As of the desk."""
        return self._desk.edits()

    def losses(self) -> "SeenLosses":
        """As of the desk."""
        return self._desk.losses()

    def _once(self, name: str, work: Callable[[], Found]) -> Found:
        if name not in self._found:
            self._found[name] = work()
        return cast("Found", self._found[name])
