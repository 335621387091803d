"""A project as the planner looks at it: once, so that all it says is about the same files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from streamhouse.errors import DefinitionErrors
from streamhouse.model.plan import FlowPlan
from streamhouse.planner.catalog import Catalog
from streamhouse.planner.catalog_cache import registry_and_catalog
from streamhouse.project.applied import AppliedState, applied_state
from streamhouse.project.cache.known_values import known_values
from streamhouse.project.check import check_project
from streamhouse.project.project import Project
from streamhouse.registry import Registry
from streamhouse.registry.files import DefinitionFiles, read_files

if TYPE_CHECKING:
    from streamhouse.state.plans import Unreadable


@dataclass(frozen=True)
class Workspace:
    """A project as it is.

    Attributes:
        plans: Flow → its plan, as its files say.
        applied: What runs, and how many rows were written.
        unread: What the catalog lacks, because a source could not be read; in words.
        unreadable: Flow → why its applied plan cannot be read; `applied` lacks it.
    """

    project: Project
    files: DefinitionFiles
    registry: Registry
    plans: Mapping[str, FlowPlan]
    applied: AppliedState
    catalog: Catalog
    unread: tuple[str, ...] = ()
    unreadable: "Unreadable" = field(default_factory=dict)

    @classmethod
    def of(cls, project: Project) -> Self:
        """Read and compile a project; what has not changed comes from its cache, or from the last call.

        Raises:
            DefinitionErrors: its files are wrong: see `streamhouse validate`.
        """
        files = read_files(project.root)
        checked = check_project(project, files=files)
        if checked.errors:
            raise DefinitionErrors(checked.errors)
        unread: list[str] = []
        values = known_values(project, checked.plans, unread.append)
        registry, catalog = registry_and_catalog(project, files, checked.plans, values)
        unreadable: Unreadable = {}
        applied = applied_state(project, checked.plans, unreadable)
        return cls(project, files, registry, checked.plans, applied, catalog, tuple(unread), unreadable)

    def refuse_unreadable(self, flow: str) -> None:
        """Refuse to propose an edit of a flow whose applied plan cannot be read: what it would do is not known.

        Raises:
            StateConflictError: so it is.
        """
        if flow in self.unreadable:
            raise self.unreadable[flow]

    def epoch_work_ms(self, flow: str) -> dict[str, list[int]]:
        """Segment → how long its newest epochs worked that wrote rows, in milliseconds; empty: the flow never ran.

        Raises:
            StoreUnavailableError: the state store does not answer.
        """
        state = self.project.existing_state()
        found: dict[str, list[int]] = {}
        if state is not None:
            with state:
                for one in state.recent_epochs(flow):
                    if one.reads and any(one.rows.values()):
                        found.setdefault(one.segment, []).append(one.finished_ms - one.started_ms)
        return found
