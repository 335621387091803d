"""The history of a flow for charts: how late, how fast and how busy it was over an hour, a day or a month."""

from collections.abc import Iterable
from datetime import UTC, datetime

from streamhouse.model.version import table_name
from streamhouse.state.leases import TAKEOVER
from streamhouse.state.metrics import HOUR_S, MINUTE_S, MetricPoint, point_of, resampled
from streamhouse.state.records import EpochRecord, FlowEvent
from streamhouse.state.store import StateStore
from streamhouse.ui.answers import FlowMetrics, LagAnswer, Marker, MetricAnswer, Span
from streamhouse.ui.desk import Desk

_MARKED = frozenset(
    {
        "backfill",
        "change",
        "forget",
        "loss",
        "plan",
        "restore",
        "retry",
        "runner",
        "segments",
        TAKEOVER,
        "tiering",
        "upkeep",
    }
)
_EPOCHS, _EVENTS, _MARKERS = 1_000, 1_000, 100
_LEAST_S = 1.0  # a rate over less says nothing
_SPANS: dict[Span, tuple[int, int, int]] = {  # seconds back, length of a stored point, length of a point shown
    "1h": (HOUR_S, MINUTE_S, MINUTE_S),
    "24h": (24 * HOUR_S, MINUTE_S, 10 * MINUTE_S),
    "30d": (30 * 24 * HOUR_S, HOUR_S, 3 * HOUR_S),
}


def metrics(desk: Desk, name: str, span: Span, now: datetime | None = None) -> FlowMetrics:
    """The metrics of a flow up to now; a span of time in which no epoch finished has no point."""
    now_ms = int((now or datetime.now(UTC)).timestamp() * 1000)
    back_s, stored_s, shown_s = _SPANS[span]
    since_ms = now_ms - back_s * 1000
    since_ms -= since_ms % (shown_s * 1000)
    state = desk.state
    points = resampled(_points(state, name, since_ms, stored_s), shown_s) if state is not None else []
    events = state.events(name, limit=_EVENTS) if state is not None else []
    return FlowMetrics(
        span=span,
        since=_at(since_ms),
        until=_at(now_ms),
        step_s=shown_s,
        points=tuple(_answer(one, min(shown_s, (now_ms - one.start_ms) / 1000)) for one in points),
        markers=_markers(events, since_ms),
    )


def _points(state: StateStore, flow: str, since_ms: int, length_s: int) -> list[MetricPoint]:
    """What is stored, and the epochs of the minute that goes on: its process writes it when it is over."""
    stored = state.metrics.read(flow, since_ms, length_s)
    known_ms = max((one.start_ms for one in state.metrics.read(flow, since_ms, MINUTE_S)), default=-1)
    recent = state.recent_epochs(flow, None, _EPOCHS)
    return stored + _unwritten(recent, max(known_ms + MINUTE_S * 1000, since_ms), length_s)


def _unwritten(epochs: Iterable[EpochRecord], since_ms: int, length_s: int) -> list[MetricPoint]:
    return resampled((point_of(one) for one in epochs if one.finished_ms >= since_ms), length_s)


def _answer(point: MetricPoint, seconds: float) -> MetricAnswer:
    seconds = max(seconds, _LEAST_S)
    rows: dict[str, int] = {}
    for table, written in point.rows.items():
        rows[table_name(table)] = rows.get(table_name(table), 0) + written
    return MetricAnswer(
        at=_at(point.start_ms),
        seconds=seconds,
        epochs=point.epochs,
        rows_per_second=sum(rows.values()) / seconds,
        epoch_ms=point.busy_ms / point.epochs,
        longest_ms=point.longest_ms,
        rows=rows,
        lags={
            layer: LagAnswer(mean_ms=lag.sum_ms / lag.epochs, most_ms=lag.most_ms) for layer, lag in point.lags.items()
        },
    )


def _markers(events: Iterable[FlowEvent], since_ms: int) -> tuple[Marker, ...]:
    since = _at(since_ms)
    marked = [one for one in events if one.kind in _MARKED and one.at >= since]
    return tuple(Marker(at=one.at, kind=one.kind, text=one.text) for one in marked[-_MARKERS:])


def _at(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)
