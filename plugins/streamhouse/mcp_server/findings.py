"""What is out of order with a flow, in words; pure."""

from collections.abc import Iterator

from streamhouse.mcp_server.answers import FlowDiagnosis, SegmentFacts
from streamhouse.mcp_server.commands import for_client
from streamhouse.mcp_server.health import loss_line

_IDLE_TIMES = 10  # so many times its target without an epoch are worth a word
_SHARE = 0.5


def findings(flow: FlowDiagnosis) -> tuple[str, ...]:
    """The weightiest first; empty: nothing is out of order."""
    return tuple(map(for_client, _found(flow)))


def _found(flow: FlowDiagnosis) -> Iterator[str]:
    yield from map(loss_line, flow.lost)
    state = flow.freshness.state
    if state in {"failed", "lost"}:
        yield f"the flow is {state}: no rows are read until it is started again (streamhouse run {flow.flow})"
    elif state == "stopped":
        yield f"the flow does not run: its tables stay as they are (streamhouse run {flow.flow})"
    if flow.stand_still:
        yield f"{', '.join(flow.stand_still)} are paused: streamhouse status {flow.flow}"
    yield from flow.waits
    yield from _of_freshness(flow)
    for trouble in flow.troubles:
        yield f"{trouble.job} of {trouble.table} to {trouble.tier} fails ({trouble.code}), {trouble.times} times so far"
    if flow.edit:
        yield "an edit of its files waits: streamhouse plan"


def _of_freshness(flow: FlowDiagnosis) -> Iterator[str]:
    state, target = flow.freshness.state, flow.freshness.target_ms
    for layer in flow.freshness.layers:
        if layer.late:
            yield f"{layer.layer} was {layer.last_ms} ms behind the source in the last epoch; the target is {target} ms"
    if flow.late and flow.slowest is not None:
        yield f"most of the time goes from {flow.slowest.before} to {flow.slowest.layer}: {_typical(flow)}"
    for segment in flow.segments:
        yield from _of_segment(segment, target, runs=state == "running")
    if state == "running" and flow.lag_ms is not None and flow.lag_ms > _IDLE_TIMES * target:
        yield f"no epoch has ended for {flow.lag_ms} ms: the source is idle, or the epoch in hand is slow"


def _typical(flow: FlowDiagnosis) -> str:
    assert flow.slowest is not None, "asked before"
    return f"{flow.slowest.p50_ms} ms in the median, {flow.slowest.p95_ms} ms at the 95th percentile"


def _of_segment(segment: SegmentFacts, target: int, *, runs: bool) -> Iterator[str]:
    wait, work = segment.last_wait_ms or 0, segment.last_work_ms or 0
    if wait > target * _SHARE and wait > work:
        yield f"rows waited {wait} ms until an epoch of segment {segment.segment} began ({segment.pace})"
    if segment.unfinished is not None and not runs:
        yield f"epoch {segment.unfinished} of segment {segment.segment} was begun and has not ended"
