"""What the page reads of a project: files, plans and the state store, each looked at when it is asked for."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from streamhouse.model.plan import FlowPlan
from streamhouse.project.project import Project
from streamhouse.project.rested import Rested

if TYPE_CHECKING:
    from streamhouse.compiler.lineage import Lineage
    from streamhouse.planner.catalog import Catalog
    from streamhouse.project.compare import PlanComparison
    from streamhouse.project.edits import Edit
    from streamhouse.registry import Registry
    from streamhouse.runtime.lost_tables import SeenLosses
    from streamhouse.state.flow_state import FlowReport
    from streamhouse.state.plans import Unreadable
    from streamhouse.state.records import EpochRecord
    from streamhouse.state.store import StateStore

_REST = 10  # so many times as long as it took, until edits are looked for again
_REST_OF_LOSSES = 20  # until losses are looked for again, which reads of each lake, and
_LEAST_REST_S = 5.0  # at least so long

Applied = dict[str, tuple[int, FlowPlan]]
"""Flow → the revision and plan applied last."""


@dataclass(frozen=True)
class KnownPlans:
    """What runs, as far as it can be read from the state store.

    Attributes:
        applied: Of each flow whose plan can be read.
        unreadable: Flow → why its plan cannot be read: it is damaged, or of another version of Streamhouse.
    """

    applied: Applied = field(default_factory=dict)
    unreadable: "Unreadable" = field(default_factory=dict)


class Desk:
    """One project behind the page. All methods may be called from several threads.

    Nothing is kept that files or the state store could make untrue: what was compiled is remembered by the
    project's own cache, by what its files say.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self._lock = Lock()  # compiling is work for one core; two at once would take as long and twice the memory
        self._state: StateStore | None = None
        self._state_is: tuple[int, int] | None = None
        self._registry: Registry | None = None
        self._registry_of: str | None = None  # digest of the files that it follows from
        self._catalog: Catalog | None = None
        self._catalog_of: str | None = None  # digest of the files that it follows from
        # The page asks every other second, and flows may be hundreds.
        self._edits: Rested[dict[str, Edit]] = Rested(self._find_edits, _REST)
        self._losses: Rested[SeenLosses] = Rested(self._find_losses, _REST_OF_LOSSES, _LEAST_REST_S)

    def close(self) -> None:
        """Release the connections."""
        with self._lock:
            if self._state is not None:
                self._state.close()
                self._state = None

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """While nobody else compiles."""
        with self._lock:
            yield

    @property
    def registry(self) -> "Registry":
        """Actions and flows as their files are now; what a broken file defines raises when it is asked for."""
        from streamhouse.project.check import load_registry
        from streamhouse.registry.files import read_files

        with self._lock:
            files = read_files(self.project.root)
            if self._registry is None or files.digest != self._registry_of:
                self._registry, self._registry_of = load_registry(self.project, files), files.digest
            return self._registry

    @property
    def state(self) -> "StateStore | None":
        """The state store, which stays open; None: nothing ever ran here."""
        with self._lock:
            found = _identity(self.project)
            if found != self._state_is and self._state is not None:
                self._state.close()  # somebody removed the file, and maybe another one is there
                self._state = None
            if self._state is None:
                self._state, self._state_is = self.project.existing_state(), found
            return self._state

    def desired(self) -> dict[str, FlowPlan]:
        """Flow → its plan, as the files have it.

        Raises:
            DefinitionErrors: a file is wrong.
        """
        from streamhouse.project.desired import desired_plans

        with self._lock:
            return desired_plans(self.project, {})

    def known_plans(self) -> KnownPlans:
        """What runs, and of which flows that cannot be read; empty when nothing ever ran."""
        state = self.state
        unreadable: Unreadable = {}
        return KnownPlans(state.plans(unreadable), unreadable) if state is not None else KnownPlans()

    def applied(self) -> Applied:
        """What runs, of flows whose plans can be read; empty when nothing ever ran."""
        return self.known_plans().applied

    def unreadable(self) -> "Unreadable":
        """Flow → why its applied plan cannot be read."""
        return self.known_plans().unreadable

    def shown(self) -> dict[str, tuple[int | None, FlowPlan]]:
        """Flow → revision and plan, as applied; of flows that were never applied, None and as the files have it.

        Files that are wrong hide nothing that runs. A flow whose applied plan cannot be read is left out: what its
        files say need not be what runs.

        Raises:
            DefinitionErrors: a file is wrong, and nothing was ever applied.
        """
        from streamhouse.errors import StreamhouseError

        known = self.known_plans()
        applied: dict[str, tuple[int | None, FlowPlan]] = dict(known.applied)
        ran = {*applied, *known.unreadable}
        registry = self.registry
        if ran and ran >= {*registry.flows, *registry.broken_flows}:
            return applied  # no flow is known from its file alone: nothing is compiled for a look
        try:
            desired = self.desired()
        except StreamhouseError:
            if not ran:
                raise
            return applied
        return {flow: (None, plan) for flow, plan in desired.items() if flow not in ran} | applied

    def catalog(self) -> "Catalog | None":
        """What the tables mean, as the files say now; None: a file is wrong."""
        from streamhouse.planner.build_catalog import build_catalog
        from streamhouse.project.check import check_project, load_registry
        from streamhouse.registry.files import read_files

        with self._lock:
            files = read_files(self.project.root)
            if files.digest != self._catalog_of:
                checked = check_project(self.project, files=files)
                plans = checked.plans
                self._catalog = build_catalog(load_registry(self.project, files), plans) if not checked.errors else None
                self._catalog_of = files.digest
            return self._catalog

    def compared(self, flow: str | None = None, unreadable: "Unreadable | None" = None) -> "list[PlanComparison]":
        """A flow's files against what is applied; None: every flow's.

        Args:
            flow: Its name.
            unreadable: As for `compare_project`; None: flows whose applied plans cannot be read are left out.

        Raises:
            UnknownFlowError: no file defines the flow.
            DefinitionError, DefinitionErrors: a file is wrong.
        """
        from streamhouse.project.compare import compare_project

        with self._lock:
            return compare_project(self.project, flow, unreadable={} if unreadable is None else unreadable)

    def edits(self) -> "dict[str, Edit]":
        """Flow → how its files differ from what is applied, of flows whose applied plans can be read."""
        return self._edits.now()

    def _find_edits(self) -> "dict[str, Edit]":
        from streamhouse.project.edits import edits

        with self._lock:
            return edits(self.project, {})

    def losses(self) -> "SeenLosses":
        """What flows lost, as `streamhouse status` says it; it may be some seconds old."""
        return self._losses.now()

    def _find_losses(self) -> "SeenLosses":
        from streamhouse.ui.losses import look_for_losses

        return look_for_losses(self.project, lambda: self.state)

    def flow_report(self, flow: str) -> "FlowReport":
        """What a flow is, given what is wanted of it, and how it is doing."""
        from streamhouse.runtime.owner import liveness
        from streamhouse.state.flow_state import judge, see
        from streamhouse.state.records import FlowProgress, RunnerState

        state = self.state
        if state is None:
            return judge(None, FlowProgress(flow, RunnerState.STOPPED), None)
        return see(state, flow, alive=liveness())

    def flow_reports(
        self, epochs: int, *, also: Iterable[str]
    ) -> "dict[str, tuple[FlowReport, tuple[EpochRecord, ...]]]":
        """Flow → how it is doing by its last epochs, and those, the last one first.

        Args:
            epochs: So many of each flow are read.
            also: Flows that are in the answer even if they were never applied.
        """
        from streamhouse.runtime.owner import liveness
        from streamhouse.state.flow_state import judge, see_every
        from streamhouse.state.records import FlowProgress, RunnerState

        state = self.state
        ran = see_every(state, epochs, alive=liveness()) if state is not None else {}
        return {flow: (judge(None, FlowProgress(flow, RunnerState.STOPPED), None), ()) for flow in also} | ran

    def lineage(self) -> "Lineage":
        """Every link of the plans that are shown."""
        plans = {flow: plan for flow, (_, plan) in self.shown().items()}
        with self._lock:
            return _lineage(_Plans(plans))


class _Plans:
    """Plans as a key: equal when all their fingerprints are."""

    def __init__(self, plans: Mapping[str, FlowPlan]) -> None:
        self.plans = plans
        self._key = tuple(sorted((flow, plan.fingerprint) for flow, plan in plans.items()))

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Plans) and self._key == other._key


@lru_cache(maxsize=4)
def _lineage(plans: _Plans) -> "Lineage":
    from streamhouse.compiler.lineage import Lineage

    return Lineage(plans.plans.values())


def _identity(project: Project) -> tuple[int, int] | None:
    """Distinguishes one SQLite file from another of the same name; None: there is none, or it is another database."""
    path = project.state_url.partition(":///")[2]
    if not project.state_url.startswith("sqlite"):
        return (0, 0)
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino)
