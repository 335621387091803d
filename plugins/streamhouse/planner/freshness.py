"""Whether a flow can be as fresh as a wish asks, by what its epochs took so far and how often they begin. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import quantiles

from streamhouse.model.plan import FlowPlan, PlannedStep, Segment
from streamhouse.model.types import format_duration

ENOUGH_EPOCHS = 10
"""Fewer epochs of a segment say nothing."""

_PERCENT = 95


@dataclass(frozen=True)
class FreshnessEstimate:
    """Whether a promise can hold.

    Attributes:
        holds: None: nobody knows.
        text: Why, with the numbers.
        least: What can be promised, as far as it is known; None: it is not.
    """

    holds: bool | None
    text: str
    least: timedelta | None = None


def freshness_estimate(
    promised: timedelta, step: PlannedStep, plan: FlowPlan, work_ms: Mapping[str, Sequence[int]]
) -> FreshnessEstimate:
    """Compare a promise with the slowest segment that rows pass on their way to a step.

    A row waits up to the interval of a segment, and then takes the work of an epoch. The new step adds work, so this is
    the least that a row takes, not the most.

    Args:
        promised: How far the table may lag behind the source.
        step: Of the plan.
        plan: With the step.
        work_ms: Segment → how long its finished epochs worked, in milliseconds.
    """
    found = [_of_segment(segment, work_ms.get(segment.name, ())) for segment in _on_the_way(step, plan)]
    lags = [(lag, text) for lag, text in found if lag is not None]
    slowest = max(lags, default=None)
    if slowest is not None and slowest[0] > promised:
        return FreshnessEstimate(False, slowest[1], slowest[0])
    if slowest is None or len(lags) < len(found):
        missing = "; ".join(text for lag, text in found if lag is None)
        return FreshnessEstimate(None, f"whether {format_duration(promised)} holds is unknown: {missing}")
    return FreshnessEstimate(True, slowest[1], slowest[0])


def _of_segment(segment: Segment, work_ms: Sequence[int]) -> tuple[timedelta | None, str]:
    """How long a row takes through a segment at least, and why; None: nobody knows."""
    begins = f", and one begins every {format_duration(segment.interval)}" if segment.interval is not None else ""
    if len(work_ms) >= ENOUGH_EPOCHS:
        p95_ms = round(quantiles(work_ms, n=100, method="inclusive")[_PERCENT - 1])
        text = f"{_PERCENT}% of {len(work_ms):,} epochs of segment {segment.name} worked up to {p95_ms:,} ms{begins}"
        return timedelta(milliseconds=p95_ms) + (segment.interval or timedelta(0)), text
    few = f"{len(work_ms)} epochs of segment {segment.name} have finished, and {ENOUGH_EPOCHS} show what one takes"
    return segment.interval, few + begins


def _on_the_way(step: PlannedStep, plan: FlowPlan) -> Iterator[Segment]:
    """The segments whose steps write a table, or something that it is made of."""
    writers = {one.writes.name: one for one in plan.steps}
    pending, needed = [step.writes.name], set[str]()
    while pending:
        name = pending.pop()
        if name in writers and name not in needed:
            needed.add(name)
            pending += [read.table for read in writers[name].reads]
    yield from (segment for segment in plan.segments if any(one.writes.name in needed for one in segment.steps))
