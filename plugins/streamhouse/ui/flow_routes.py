"""Routes of flows, of their tables, and of the actions they are made of. Who may look may call them all."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query

from streamhouse.errors import StreamhouseError
from streamhouse.ui import actions, flows, graph, metrics, revisions, tables
from streamhouse.ui.answers import (
    ActionPage,
    ActionSummary,
    FlowMetrics,
    FlowPage,
    FlowSummary,
    Graph,
    LineagePage,
    QuarantineAnswer,
    RevisionPage,
    SearchResult,
    Span,
    TablePage,
    TableSummary,
)
from streamhouse.ui.dependencies import At

router = APIRouter()


@router.get("/api/flows")
def every_flow(at: At) -> list[FlowSummary]:
    """Each flow in short."""
    return flows.summaries(at)


@router.get("/api/flows/{name}")
def one_flow(name: str, at: At) -> FlowPage:
    """One flow."""
    return flows.page(at, name)


@router.get("/api/flows/{name}/graph")
def flow_graph(name: str, at: At) -> Graph:
    """One flow to be drawn."""
    revision, plan = flows.known(at, name)
    state = at.state
    rows = state.overview.rows_written() if state is not None else {}
    try:
        outcomes = next((graph.outcomes_of(one) for one in at.compared(name)), {})
    except StreamhouseError:
        outcomes = {}  # files that are wrong change nothing yet; the page shows them elsewhere
    standing = state.upstream.waiting(name) if state is not None else frozenset()
    return graph.graph(plan, revision, rows, flows.rates_now(at, name), outcomes, standing, flows.troubles_of(at, name))


@router.get("/api/flows/{name}/revisions/{number}")
def flow_revision(name: str, number: int, at: At) -> RevisionPage:
    """An applied plan of a flow, and what it changed.

    Raises:
        HTTPException: it has no such revision.
    """
    found = revisions.revision(at, name, number)
    if found is None:
        raise HTTPException(404, f"flow '{name}' has no revision {number}")
    return found


@router.get("/api/flows/{name}/metrics")
def flow_metrics(name: str, at: At, span: Span = "1h") -> FlowMetrics:
    """The history of one flow, for charts."""
    flows.known(at, name)
    return metrics.metrics(at, name, span)


@router.get("/api/tables")
def every_table(at: At) -> list[TableSummary]:
    """Each table in short."""
    return tables.summaries(at)


@router.get("/api/tables/{name}")
def table(name: str, at: At, flow: str | None = None) -> TablePage:
    """One table, or a source of a flow."""
    return tables.page(at, name, flow)


@router.get("/api/lineage/{name}")
def lineage(name: str, at: At) -> LineagePage:
    """Where a table or a column comes from and goes."""
    return tables.lineage(at, name)


@router.get("/api/quarantine")
def quarantine(at: At) -> list[QuarantineAnswer]:
    """Tables of rows that met no expectation."""
    return tables.quarantines(at)


@router.get("/api/actions")
def every_action(at: At, q: str = "") -> list[ActionSummary]:
    """Each action in short, of those that words find."""
    return actions.summaries(at, q)


@router.get("/api/actions/{name}")
def action(name: str, at: At) -> ActionPage:
    """One action."""
    return actions.page(at, name)


@router.get("/api/search")
def search(at: At, q: str = "", limit: Annotated[int, Query(ge=1, le=100)] = 12) -> list[SearchResult]:
    """What has a name that words find."""
    return actions.find(at, q, limit)
