"""A plan as nodes and edges; pure."""

from collections.abc import Collection, Iterator, Mapping

from streamhouse.model.outcome import Outcome, worst
from streamhouse.model.plan import FlowPlan, PlannedSource, PlannedStep, Segment
from streamhouse.model.table import Table, Tiers
from streamhouse.model.types import format_duration
from streamhouse.project.compare import PlanComparison
from streamhouse.ui.answers import Graph, GraphEdge, GraphNode, GraphSegment, NodeStep, TierRetention, TierTrouble


def graph(
    plan: FlowPlan,
    revision: int | None,
    rows: Mapping[str, int],
    rates: Mapping[str, float],
    outcomes: Mapping[str, Outcome],
    standing: Collection[str] = (),
    troubles: Collection[TierTrouble] = (),
) -> Graph:
    """A flow to be drawn; nodes upstream first.

    Args:
        plan: To draw.
        revision: Of it, as applied; None: it never was.
        rows: Table → rows written so far.
        rates: Table → rows written per second.
        outcomes: Table → what a waiting change does to it.
        standing: Steps that must not read on until a person decides.
        troubles: What goes wrong with the tiers of its tables.
    """
    sources = map(_source, plan.sources)
    external = [_table(table, "external", rows, rates) for table in plan.external]
    stands = {name for segment in plan.segments_of(standing) for name in segment.tables}
    own = [
        _table(
            table, "quarantine" if _is_quarantine(plan, name) else "table", rows, rates, _steps(plan, name), outcomes
        ).model_copy(update={"stands": name in stands, "troubles": tuple(one for one in troubles if one.table == name)})
        for name, table in plan.tables.items()
    ]
    return Graph(
        flow=plan.flow,
        shows="files" if revision is None else "applied",
        revision=revision,
        nodes=(*sources, *external, *own),
        edges=tuple(_edges(plan)),
        segments=tuple(GraphSegment(name=s.name, pace=pace(plan, s), tables=tuple(s.tables)) for s in plan.segments),
    )


def pace(plan: FlowPlan, segment: Segment) -> str:
    """How often a segment's clock ticks, in words."""
    if segment.interval is not None:
        return f"every {format_duration(segment.interval)}"
    return f"as fast as {format_duration(plan.freshness)} asks"


def tiers_of(tiers: Tiers) -> tuple[TierRetention, ...]:
    """The tiers a table has, hottest first."""
    return tuple(TierRetention(tier=t.value, kept=format_duration(getattr(tiers, t.value))) for t in tiers.present)


def outcomes_of(compared: PlanComparison) -> dict[str, Outcome]:
    """Table → what the waiting change does to it; of tables that a change touches."""
    found: dict[str, Outcome] = {}
    if compared.applied is None:
        return found
    for step in compared.found.steps:
        if step.outcome is not Outcome.NO_OP:
            found[step.table] = worst(step.outcome, found.get(step.table, Outcome.NO_OP))
    return found


def _source(source: PlannedSource) -> GraphNode:
    return GraphNode(
        id=source.name,
        kind="source",
        name=source.name,
        layer="source",
        detail=source.kind,
        columns=len(source.columns),
    )


def _table(
    table: Table,
    kind: str,
    rows: Mapping[str, int],
    rates: Mapping[str, float],
    steps: tuple[NodeStep, ...] = (),
    outcomes: Mapping[str, Outcome] | None = None,
) -> GraphNode:
    return GraphNode.model_validate(
        {
            "id": table.name,
            "kind": kind,
            "name": table.name.partition(".")[2],
            "layer": table.layer.value,
            "tiers": tiers_of(table.tiers),
            "steps": steps,
            "columns": len(table.columns),
            "rows": rows.get(table.name, 0),
            "rows_per_second": rates.get(table.name, 0.0),
            "outcome": (outcomes or {}).get(table.name),
        }
    )


def _is_quarantine(plan: FlowPlan, name: str) -> bool:
    return all(step.writes.name != name for step in plan.steps)


def _steps(plan: FlowPlan, table: str) -> tuple[NodeStep, ...]:
    return tuple(
        NodeStep(
            step=step.id,
            action=step.action,
            version=step.version,
            strategy=step.strategy.value,
            segment=segment.name,
            part=step.part,
        )
        for segment in plan.segments
        for step in segment.steps
        if step.writes.name == table
    )


def _edges(plan: FlowPlan) -> Iterator[GraphEdge]:
    edge_keys: set[tuple[str, str, str]] = set()
    for step in plan.steps:
        for read in step.reads:
            key = (read.table, step.writes.name, read.mode.value)
            if key not in edge_keys:
                edge_keys.add(key)
                yield GraphEdge(source=key[0], target=key[1], mode=key[2], columns=read.columns)
        yield from _quarantine_edge(step, edge_keys)


def _quarantine_edge(step: PlannedStep, edge_keys: set[tuple[str, str, str]]) -> Iterator[GraphEdge]:
    if step.quarantine is not None:
        key = (step.writes.name, step.quarantine.name, "quarantine")
        if key not in edge_keys:
            edge_keys.add(key)
            yield GraphEdge(source=key[0], target=key[1], mode=key[2])
