"""Why a table, a layer or a flow is late: what was recorded, put side by side."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from statistics import median, quantiles

from streamhouse.errors import UnknownFlowError, UnknownTableError, did_you_mean
from streamhouse.mcp_server.answers import DiagnoseAnswer, FlowDiagnosis, Hop, SegmentFacts
from streamhouse.mcp_server.arguments import DiagnoseArguments
from streamhouse.mcp_server.commands import for_client
from streamhouse.mcp_server.findings import findings
from streamhouse.mcp_server.health import error_text, event_text, freshness, losses, troubles
from streamhouse.mcp_server.shareable import Shared
from streamhouse.mcp_server.tool_context import Serving
from streamhouse.model.plan import FlowPlan, Segment
from streamhouse.model.types import Layer
from streamhouse.state.records import EpochRecord
from streamhouse.state.store import StateStore
from streamhouse.ui import flows
from streamhouse.ui.desk import Desk
from streamhouse.ui.graph import pace

EPOCHS = 100
_EVENTS = 10
_MOST_FLOWS = 50


async def diagnose(serving: Serving, request: DiagnoseArguments) -> DiagnoseAnswer:
    """What is late in some flows, and where the time goes.

    Raises:
        UnknownFlowError: nothing is called so.
        UnknownTableError: no flow writes such a table.
        NotSharedError: the table may not be shown.
    """
    return await serving.work.run(lambda: diagnosis(serving.look(), serving.shared(), request.name))


def diagnosis(look: Desk, shared: Shared, name: str | None) -> DiagnoseAnswer:
    """As `diagnose`, at once.

    Args:
        look: The project.
        shared: What of it may be shown.
        name: Of a flow, a layer or a table; None: all flows.

    Raises:
        UnknownFlowError: nothing is called so.
        UnknownTableError: no flow writes such a table.
        NotSharedError: the table may not be shown.
    """
    plans = {flow: plan for flow, (_, plan) in look.shown().items()}
    wanted = sorted(_about(name, plans, shared, look))
    found = [_flow(look, shared, flow, plans.get(flow)) for flow in wanted[:_MOST_FLOWS]]
    found.sort(key=lambda one: (not one.lost, not one.late, not one.findings, one.flow))
    unseen = {tier.value: shared.cleaned(for_client(why)) for tier, why in look.losses().unseen.items()}
    return DiagnoseAnswer(flows=tuple(found), left_out=max(0, len(wanted) - _MOST_FLOWS), not_looked_at=unseen)


def _about(name: str | None, plans: Mapping[str, FlowPlan], shared: Shared, desk: Desk) -> Collection[str]:
    """The flows that a name is about."""
    state = desk.state
    every = {*plans, *(state.flows() if state is not None else ())}
    if name is None or name in every:
        return every if name is None else {name}
    if name in set(Layer):
        return {flow for flow, plan in plans.items() if any(table.layer == name for table in plan.tables.values())}
    if "." not in name:
        raise UnknownFlowError(name, every)
    shared.require_schema(name)
    writers = {flow for flow, plan in plans.items() if name in plan.tables}
    if not writers:
        raise UnknownTableError(
            f"no flow writes '{name}'", hint=did_you_mean(name, _tables(plans), "look for it with 'search'")
        )
    return writers


def _tables(plans: Mapping[str, FlowPlan]) -> list[str]:
    return sorted(table for plan in plans.values() for table in plan.tables)


def _flow(desk: Desk, shared: Shared, name: str, plan: FlowPlan | None) -> FlowDiagnosis:
    state, summary = desk.state, flows.page(desk, name).summary
    epochs = state.recent_epochs(name, None, EPOCHS) if state is not None else []
    tables = list(plan.tables) if plan is not None else [name]  # of no table: nobody knows whose rows it quotes
    hops = [hop for segment in (plan.segments if plan else ()) for hop in _hops(segment, epochs, shared)]
    last = summary.last_epoch_at
    result = FlowDiagnosis(
        flow=name,
        freshness=freshness(summary),
        late=any(layer.late for layer in summary.freshness),
        lag_ms=round((datetime.now(UTC) - last).total_seconds() * 1000) if last is not None else None,
        error=error_text(summary.error, shared, tables) if summary.error else None,
        slowest=max(hops, key=lambda hop: hop.p50_ms, default=None),
        hops=tuple(hops),
        segments=tuple(_segment(plan, one, epochs, state, shared) for one in (plan.segments if plan else ())),
        rows_per_second={
            table: round(rate, 3) for table, rate in flows.rates_now(desk, name).items() if shared.sees(table)
        },
        stand_still=_waiting(plan, state, shared),
        waits=tuple(error_text(text, shared, tables) for text in summary.waits),
        questions=summary.questions,
        edit=shared.cleaned(summary.edit) if summary.edit else None,
        troubles=troubles(summary, shared),
        lost=losses(summary.lost, shared),
        events=tuple(
            event_text(event, shared, tables)
            for event in reversed(state.events(name, limit=_EVENTS) if state is not None else [])
        ),
        findings=(),
    )
    return result.model_copy(update={"findings": findings(result)})


def _spans(epochs: Iterable[EpochRecord]) -> dict[tuple[str, str], list[int]]:
    """Layer before and layer → how many ms rows took, the last epoch first, as the epochs come."""
    spans: dict[tuple[str, str], list[int]] = defaultdict(list)
    for epoch in epochs:
        before, since = "source", epoch.at_ms
        for layer in (one.value for one in Layer if one.value in epoch.layer_visible_ms):
            visible = epoch.layer_visible_ms[layer]
            spans[before, layer].append(max(0, visible - since))
            before, since = layer, max(since, visible)
    return spans


def _hops(segment: Segment, epochs: Iterable[EpochRecord], shared: Shared) -> list[Hop]:
    """The way of rows through the layers of a segment, upstream first.

    A layer that is readable before the one above it, because no table of it waits for that, takes no time.
    """
    spans = _spans(epoch for epoch in epochs if epoch.segment == segment.name)
    return [
        Hop(
            segment=shared.masked(segment.name),  # it is named for the tables that cut it off
            before=before,
            layer=layer,
            last_ms=found[0],
            p50_ms=round(median(found)),
            p95_ms=_p95(found),
            tables=tuple(t.name for t in segment.tables.values() if t.layer == layer and shared.sees(t.name)),
        )
        for (before, layer), found in spans.items()
    ]


def _segment(
    plan: FlowPlan | None, segment: Segment, epochs: Iterable[EpochRecord], state: StateStore | None, shared: Shared
) -> SegmentFacts:
    assert plan is not None, "it has the segment"
    # A change that takes a plan over is recorded as an epoch that reads nothing: no row waited for it.
    own = [epoch for epoch in epochs if epoch.segment == segment.name and epoch.reads]
    work = [epoch.finished_ms - epoch.started_ms for epoch in own]
    last = own[0] if own else None
    return SegmentFacts(
        segment=shared.masked(segment.name),
        pace=pace(plan, segment),
        tables=tuple(name for name in segment.tables if shared.sees(name)),
        epochs=len(own),
        last_epoch_at=datetime.fromtimestamp(last.finished_ms / 1000, UTC) if last else None,
        last_wait_ms=max(0, last.started_ms - last.at_ms) if last else None,
        last_work_ms=work[0] if work else None,
        p95_work_ms=_p95(work) if work else None,
        last_rows=sum(last.rows.values()) if last else 0,
        unfinished=state.unfinished(plan.flow, segment.name) if state is not None else None,
    )


def _waiting(plan: FlowPlan | None, state: StateStore | None, shared: Shared) -> tuple[str, ...]:
    if plan is None or state is None:
        return ()
    segments = plan.segments_of(state.upstream.waiting(plan.flow))
    return tuple(name for segment in segments for name in segment.tables if shared.sees(name))


def _p95(values: list[int]) -> int:
    return values[0] if len(values) == 1 else round(quantiles(values, n=20, method="inclusive")[-1])
