"""What runs: the plans applied last, from the state store, or as remembered while its files stay as they are.

To open the store loads SQLAlchemy, a quarter of a second that a look at unchanged plans need not take.
"""

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Frozen
from streamhouse.project.cache.models import packed, unpacked
from streamhouse.project.cache.results import Cache
from streamhouse.project.project import Project
from streamhouse.registry.files import text_hash

if TYPE_CHECKING:
    from streamhouse.state.plans import Unreadable

_SETTLED_NS = 2_000_000_000  # the coarsest clock of a file system; a younger file may change and keep its time


@dataclass(frozen=True)
class AppliedPlan:
    """The plan of a flow that was applied last.

    Attributes:
        since: When the flow was first applied.
        texts: File that the plan follows from → hash of its text; empty: that is not known.
    """

    revision: int
    plan: FlowPlan
    since: datetime
    texts: Mapping[str, str] = field(default_factory=dict)


class CachedPlan(Frozen):
    """An `AppliedPlan`, its plan as JSON."""

    revision: int
    body: str
    since: datetime
    texts: dict[str, str]


class CachedApplied(Frozen):
    """An `AppliedState`, its plans as JSON."""

    flows: dict[str, CachedPlan]
    rows: dict[str, int]
    tables: tuple[str, ...]
    columns: dict[str, dict[str, tuple[str, ...]]]


@dataclass(frozen=True)
class AppliedState:
    """What the state store says of all flows.

    Attributes:
        flows: Flow → the plan applied last, of all that ever were.
        rows: Table → rows written so far.
        tables: Every table that was ever applied.
        columns: Flow → table → every column that a plan of the flow gave it.
    """

    flows: Mapping[str, AppliedPlan] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    tables: tuple[str, ...] = ()
    columns: Mapping[str, Mapping[str, Collection[str]]] = field(default_factory=dict)

    @property
    def plans(self) -> dict[str, FlowPlan]:
        """Flow → the plan applied last."""
        return {flow: one.plan for flow, one in self.flows.items()}


def applied_state(
    project: Project, compiled: Mapping[str, FlowPlan], unreadable: "Unreadable | None" = None
) -> AppliedState:
    """What is applied and written; nothing is created where nothing was.

    Args:
        project: Its state store is read.
        compiled: Plans that are at hand: where one was applied as it is, it is not read again.
        unreadable: Gets flow → error of each plan that cannot be read, which the result lacks; None: the first such
            error is raised.

    Raises:
        StoreUnavailableError, StateConflictError: as `StateStore` does.
    """
    with Cache.at(project.state_dir / "cache" / "plan") as cache:
        traces = _traces(project.state_url)
        key = cache.key("applied", traces.encode()) if traces is not None else None
        cached_bytes = cache.get([key]).get(key) if key is not None else None
        cached_state = unpacked(CachedApplied, cached_bytes) if cached_bytes is not None else None
        if cached_state is not None:
            flows = {flow: _parsed(one, compiled.get(flow)) for flow, one in cached_state.flows.items()}
            return AppliedState(flows, cached_state.rows, cached_state.tables, cached_state.columns)
        found = _read(project, unreadable)
        if not unreadable and key is not None and traces == _traces(project.state_url):  # nobody wrote meanwhile
            plans = {flow: _cached_plan(one) for flow, one in found.flows.items()}
            columns = {flow: {t: tuple(c) for t, c in ever.items()} for flow, ever in found.columns.items()}
            kept = CachedApplied(flows=plans, rows=dict(found.rows), tables=found.tables, columns=columns)
            cache.put(key, packed(kept))
        return found


def _read(project: Project, unreadable: "Unreadable | None") -> AppliedState:
    state = project.existing_state()
    if state is None:
        return AppliedState()
    with state:
        texts = {
            flow: {name: text_hash(text) for name, text in one.files.items()}
            for flow, one in state.definitions.applied(unreadable).items()
        }
        flows = {
            flow: AppliedPlan(revision, plan, state.history(flow)[0].applied_at, texts.get(flow, {}))
            for flow, (revision, plan) in state.plans(unreadable).items()
        }
        columns = {
            flow: {table: tuple(sorted(names)) for table, names in state.tables.columns_ever(flow).items()}
            for flow in flows
        }
        return AppliedState(flows, state.overview.rows_written(), tuple(sorted(state.tables.known())), columns)


def _cached_plan(applied: AppliedPlan) -> CachedPlan:
    texts = dict(applied.texts)
    return CachedPlan(revision=applied.revision, body=applied.plan.model_dump_json(), since=applied.since, texts=texts)


def _parsed(cached_plan: CachedPlan, compiled: FlowPlan | None) -> AppliedPlan:
    same = compiled is not None and compiled.model_dump_json() == cached_plan.body
    plan = compiled if compiled is not None and same else FlowPlan.model_validate_json(cached_plan.body)
    return AppliedPlan(cached_plan.revision, plan, cached_plan.since, cached_plan.texts)


def _traces(url: str) -> str | None:
    """What changes whenever somebody writes to an SQLite store; None: there is no such file, or it is too young."""
    scheme, _, path = url.partition(":///")
    if not scheme.startswith("sqlite") or not path or path.startswith((":memory:", "file:")):
        return None
    found = [path]
    try:
        for file in (Path(path), Path(f"{path}-wal"), Path(f"{path}-journal")):
            if file.exists():
                status = file.stat()
                if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) < _SETTLED_NS:
                    return None
                found.append(f"{file.name} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}")
    except OSError:
        return None
    return "\n".join(found) if len(found) > 1 else None
