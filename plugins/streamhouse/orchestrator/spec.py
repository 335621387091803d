"""What Airflow shall run for a flow, as data: made of its plan when flows are compiled, read when DAGs are parsed.

Nothing here changes unless the flow does: no hash, time or absolute path, so that Airflow counts no new version of a
DAG that is the same.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Any

from pydantic import Field

from streamhouse.model.bad_rows import KIND
from streamhouse.model.plan import FlowPlan, PlannedSource
from streamhouse.model.table import Table
from streamhouse.model.types import FOREVER, Frozen, Layer, Tier, format_duration
from streamhouse.orchestrator.doc import flow_text

TABLES = "table"
"""Group of the assets that are tables."""

SOURCES = "source"
"""Group of the assets that rows come from."""

_SCHEMES = {Tier.HOT: "fluss", Tier.WARM: "paimon", Tier.COLD: "iceberg"}
_TIER_OFTEN, _TIER_SELDOM = timedelta(minutes=1), timedelta(minutes=15)
_UPKEEP_EVERY = timedelta(hours=1)
_LOOK_EVERY = timedelta(minutes=15)
_ROUNDS_IN_RETENTION = 40  # the copy of a table is so many times as young as the rows that its hot tier drops


class TaskKind(StrEnum):
    """What a task does; each has an operator in `dags.py`."""

    STREAM = "stream"
    TIER = "tier"
    UPKEEP = "upkeep"
    RUNNER = "runner"
    FRESHNESS = "freshness"
    EXPECTATIONS = "expectations"
    OVERDUE = "overdue"


class AssetSpec(Frozen):
    """A table in one tier, or a source."""

    name: str
    uri: str
    group: str = TABLES


class TaskSpec(Frozen):
    """One task. `layer` is the group it stands in; `options` are arguments of its operator, besides the flow."""

    id: str
    kind: TaskKind
    doc: str = ""
    layer: Layer | None = None
    inlets: tuple[AssetSpec, ...] = ()
    outlets: tuple[AssetSpec, ...] = ()
    options: dict[str, Any] = Field(default_factory=dict)  # JSON


class DagSpec(Frozen):
    """One DAG. `every` is the seconds between two runs; None: it runs without end, the next as soon as one ends."""

    id: str
    title: str
    description: str
    doc: str
    every: int | None
    tags: tuple[str, ...]
    tasks: tuple[TaskSpec, ...]


class FlowSpec(Frozen):
    """The DAGs of one flow."""

    flow: str
    owner: str
    dags: tuple[DagSpec, ...]


def flow_spec(plan: FlowPlan, *, file: str, yaml: str, sql: Mapping[str, str]) -> FlowSpec:
    """The DAGs of a flow.

    Args:
        plan: As compiled.
        file: Where the flow is written, from the project's folder.
        yaml: What stands there.
        sql: `action@version` → its SQL as it is written, of the actions that the flow uses.
    """
    found = [_stream(plan, flow_text(plan, file, yaml, sql)), _tier(plan), _upkeep(plan), _quality(plan)]
    return FlowSpec(flow=plan.flow, owner=plan.owner or "streamhouse", dags=tuple(dag for dag in found if dag))


def table_asset(table: Table, tier: Tier | None = None) -> AssetSpec:
    """A table in the tier that steps write, which has the table's name, or in a further one: `dwd.sales (warm)`."""
    where = tier or table.tiers.target
    name = table.name if where is table.tiers.target else f"{table.name} ({where})"
    return AssetSpec(name=name, uri=f"{_SCHEMES[where]}://{table.name.replace('.', '/')}")


def _source_asset(flow: str, source: PlannedSource) -> AssetSpec:
    return AssetSpec(name=f"{flow}:{source.name}", uri=f"source://{flow}/{source.name}", group=SOURCES)


def _stream(plan: FlowPlan, doc: str) -> DagSpec:
    sources = [one for one in plan.sources if one.kind != KIND]  # dead letters are in the sources they are of
    reads = (*(_source_asset(plan.flow, s) for s in sources), *(table_asset(t) for t in plan.external))
    steps = "\n".join(
        f"| {segment.name} | {', '.join(table for table in segment.tables)} | {_clock(plan, segment.interval)} |"
        for segment in plan.segments
    )
    task = TaskSpec(
        id="stream",
        kind=TaskKind.STREAM,
        doc=f"Keeps every table of the flow up to date.\n\n| segment | tables | an epoch |\n|---|---|---|\n{steps}",
        inlets=reads,
        outlets=tuple(table_asset(table) for table in plan.tables.values()),
    )
    return _dag(plan, "flow", plan.description or plan.flow, doc, None, [task])


def _clock(plan: FlowPlan, interval: timedelta | None) -> str:
    return f"every {format_duration(interval)}" if interval else f"as fast as {format_duration(plan.freshness)} asks"


def _tier(plan: FlowPlan) -> DagSpec | None:
    tables = _tiered(plan)
    if not tables:
        return None
    copies = tuple(table_asset(table, tier) for table in tables for tier in table.tiers.present[1:])
    listing = "\n".join(f"- {t.name}: {' → '.join(tier.value for tier in t.tiers.present)}" for t in tables)
    task = TaskSpec(
        id="tier",
        kind=TaskKind.TIER,
        doc=f"Brings the further tiers to where the flow is:\n\n{listing}",
        inlets=tuple(table_asset(table) for table in tables),
        outlets=copies,
    )
    text = f"Fills the warm and cold tiers of {plan.flow}"
    return _dag(plan, "tier", text, f"{text}.\n\n{listing}", _tier_every(tables), [task])


def _tier_every(tables: Iterable[Table]) -> timedelta:
    retentions = [t.tiers.hot for t in tables if t.tiers.hot is not None and t.tiers.hot != FOREVER]
    shortest = min(retentions, default=FOREVER)
    return max(_TIER_OFTEN, min(_TIER_SELDOM, shortest / _ROUNDS_IN_RETENTION))


def _upkeep(plan: FlowPlan) -> DagSpec | None:
    targets = [(t, tier) for t in plan.tables.values() for tier in t.upkeep_tiers]
    if not targets:
        return None
    text = f"Compacts the warm and cold tables of {plan.flow} and removes old snapshots"
    listing = "\n".join(f"- {table.name}, {tier.value}" for table, tier in targets)
    task = TaskSpec(
        id="upkeep",
        kind=TaskKind.UPKEEP,
        doc=listing,
        inlets=tuple(table_asset(table, tier) for table, tier in targets),
    )
    return _dag(plan, "upkeep", text, f"{text}.\n\n{listing}", _UPKEEP_EVERY, [task])


def _expectations(plan: FlowPlan) -> Iterator[TaskSpec]:
    for layer in plan.layers:
        rules = {
            f"{step.id}: {name}": rule.check
            for step in plan.steps
            if step.writes.layer is layer
            for name, rule in step.expect.items()
        }
        if rules:
            doc = "\n".join(f"- {name}: `{check}`" for name, check in rules.items())
            options = {"steps": sorted({step.id for step in plan.steps if step.writes.layer is layer and step.expect})}
            yield TaskSpec(id="expectations", kind=TaskKind.EXPECTATIONS, doc=doc, layer=layer, options=options)


def _quality(plan: FlowPlan) -> DagSpec:
    tasks = [TaskSpec(id="runner", kind=TaskKind.RUNNER, doc="The flow's runner lives and did not fail.")]
    within = format_duration(plan.freshness)
    doc = f"Rows are readable in every layer within {within}, in half of the last epochs at least."
    target = round(plan.freshness.total_seconds() * 1000)
    tasks.append(TaskSpec(id="freshness", kind=TaskKind.FRESHNESS, doc=doc, options={"target_ms": target}))
    tasks += _expectations(plan)
    if _tiered(plan):
        doc = "No row waits for a further tier longer than half of the time that its hot tier keeps it."
        tasks.append(TaskSpec(id="overdue", kind=TaskKind.OVERDUE, doc=doc))
    text = f"Looks at the health of {plan.flow}: runner, freshness, expectations, tiers"
    return _dag(plan, "quality", text, f"{text}. A task that fails is an alarm.", _LOOK_EVERY, tasks)


def _tiered(plan: FlowPlan) -> list[Table]:
    return [table for table in plan.tables.values() if len(table.tiers.present) > 1]


def _dag(
    plan: FlowPlan, kind: str, description: str, doc: str, every: timedelta | None, tasks: Iterable[TaskSpec]
) -> DagSpec:
    return DagSpec(
        id=f"{kind}__{plan.flow}",
        title=plan.flow if kind == "flow" else f"{plan.flow}: {kind}",
        description=description,
        doc=doc,
        every=round(every.total_seconds()) if every is not None else None,
        tags=tuple(sorted({"streamhouse", kind, plan.flow, *plan.tags})),
        tasks=tuple(tasks),
    )
