"""What epochs took and wrote, by minute and by hour: metrics that outlive the records of the epochs."""

from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from threading import Lock

from sqlalchemy import Connection, delete, insert, select, update

from streamhouse.errors import StreamhouseError
from streamhouse.state.connect import Database
from streamhouse.state.damage import parsing
from streamhouse.state.records import EpochRecord
from streamhouse.state.schema import metric as metrics

MINUTE_S, HOUR_S = 60, 3_600
RETENTION_S: Mapping[int, int] = {MINUTE_S: 25 * HOUR_S, HOUR_S: 31 * 24 * HOUR_S}
"""Length of a point → how long it is kept, in seconds: at most 1,500 points of a minute and 744 of an hour per flow."""
_MOST_WAITING = 120


@dataclass(frozen=True)
class Lag:
    """How long rows took from their source until they were readable in one layer; times in milliseconds."""

    epochs: int
    sum_ms: int
    most_ms: int

    def __add__(self, other: "Lag") -> "Lag":
        return Lag(self.epochs + other.epochs, self.sum_ms + other.sum_ms, max(self.most_ms, other.most_ms))


@dataclass(frozen=True)
class MetricPoint:
    """The epochs of a flow that finished within one span of time.

    Attributes:
        start_ms: When the span begins; a multiple of its length.
        epochs: How many finished in it, of all segments.
        busy_ms: What they took together.
        longest_ms: What the longest took.
        rows: Table → rows written.
        lags: Layer → how late its rows were.
    """

    start_ms: int
    epochs: int = 0
    busy_ms: int = 0
    longest_ms: int = 0
    rows: dict[str, int] = field(default_factory=dict)
    lags: dict[str, Lag] = field(default_factory=dict)

    def __add__(self, other: "MetricPoint") -> "MetricPoint":
        """Both spans as one, which begins when this one does."""
        return MetricPoint(
            self.start_ms,
            self.epochs + other.epochs,
            self.busy_ms + other.busy_ms,
            max(self.longest_ms, other.longest_ms),
            {table: self.rows.get(table, 0) + other.rows.get(table, 0) for table in {**self.rows, **other.rows}},
            {layer: _both(self.lags.get(layer), other.lags.get(layer)) for layer in {**self.lags, **other.lags}},
        )


def point_of(record: EpochRecord, length_s: int = MINUTE_S) -> MetricPoint:
    """One epoch as a point."""
    took = record.finished_ms - record.started_ms
    lags = {layer: at - record.at_ms for layer, at in record.layer_visible_ms.items()}
    return MetricPoint(
        _start(record.finished_ms, length_s),
        1,
        took,
        took,
        dict(record.rows),
        {layer: Lag(1, lag, lag) for layer, lag in lags.items()},
    )


def resampled(points: Iterable[MetricPoint], length_s: int) -> list[MetricPoint]:
    """The same epochs in points of another, greater length, in order of time."""
    moved = (replace(one, start_ms=_start(one.start_ms, length_s)) for one in points)
    by_start = groupby(sorted(moved, key=lambda one: one.start_ms), key=lambda one: one.start_ms)
    return [_total(start, of) for start, of in by_start]


class Metrics:
    """The metrics of a project's flows.

    An epoch is added in memory, so it costs microseconds; the points of a minute are written when the minute is over.
    A process that is killed loses the points of its last minute. Nothing but charts is computed from metrics, so a
    state store that does not answer stops no epoch here: points wait for the next minute, at most `_MOST_WAITING`.
    """

    def __init__(self, database: Database) -> None:
        """Touches nothing yet."""
        self._database = database
        self._lock = Lock()
        self._open: dict[str, MetricPoint] = {}  # flow → the minute that goes on
        self._over: deque[tuple[str, MetricPoint]] = deque(maxlen=_MOST_WAITING)  # not written yet

    def add(self, record: EpochRecord) -> None:
        """Count an epoch that finished, and write the minutes that are over."""
        new = point_of(record)
        with self._lock:
            before = self._open.get(record.flow)
            if before is not None and before.start_ms < new.start_ms:
                self._over.append((record.flow, before))
                before = None
            self._open[record.flow] = before + new if before is not None else new
            if self._over:
                self._write()

    def flush(self) -> None:
        """Write the minutes that go on, too."""
        with self._lock:
            self._over.extend(self._open.items())
            self._open = {}
            if self._over:
                self._write()

    def read(self, flow: str, since_ms: int, length_s: int) -> list[MetricPoint]:
        """The points of one length that begin at `since_ms` or later, in order of time; spans without an epoch lack."""
        query = select(metrics).where(metrics.c.flow == flow, metrics.c.length_s == length_s)
        with self._database.read() as connection:
            rows = connection.execute(query.where(metrics.c.start_ms >= since_ms).order_by(metrics.c.start_ms))
            return [_point(row.start_ms, row.body) for row in rows]

    def _write(self) -> None:
        points = list(self._over)

        def work(connection: Connection) -> None:
            for flow, point in points:
                for length_s in RETENTION_S:
                    _add(connection, flow, length_s, replace(point, start_ms=_start(point.start_ms, length_s)))
                    _forget(connection, flow, length_s, point.start_ms)

        with suppress(StreamhouseError):
            self._database.write(work)
            self._over.clear()


def _forget(connection: Connection, flow: str, length_s: int, now_ms: int) -> None:
    this = (metrics.c.flow == flow) & (metrics.c.length_s == length_s)
    connection.execute(delete(metrics).where(this, metrics.c.start_ms < now_ms - RETENTION_S[length_s] * 1000))


def _add(connection: Connection, flow: str, length_s: int, point: MetricPoint) -> None:
    key = {"flow": flow, "length_s": length_s, "start_ms": point.start_ms}
    this = [metrics.c[name] == value for name, value in key.items()]
    stored_body = connection.execute(select(metrics.c.body).where(*this)).scalar_one_or_none()
    if stored_body is None:
        connection.execute(insert(metrics).values(**key, body=_body(point)))
    else:
        both = _point(point.start_ms, stored_body) + point
        connection.execute(update(metrics).where(*this).values(body=_body(both)))


def _body(point: MetricPoint) -> dict[str, object]:
    lags = {layer: [lag.epochs, lag.sum_ms, lag.most_ms] for layer, lag in point.lags.items()}
    return {
        "epochs": point.epochs,
        "busy_ms": point.busy_ms,
        "longest_ms": point.longest_ms,
        "rows": point.rows,
        "lags": lags,
    }


def _point(start_ms: int, body: Mapping[str, object]) -> MetricPoint:
    with parsing("how fast a flow was"):
        lags = body["lags"]
        read = {layer: Lag(*values) for layer, values in lags.items()} if isinstance(lags, dict) else {}
        return MetricPoint(start_ms, **{**body, "lags": read})  # type: ignore[arg-type]


def _both(one: Lag | None, other: Lag | None) -> Lag:
    none = Lag(0, 0, 0)
    return (one or none) + (other or none)


def _total(start_ms: int, points: Iterable[MetricPoint]) -> MetricPoint:
    return sum(points, MetricPoint(start_ms))


def _start(at_ms: int, length_s: int) -> int:
    return at_ms - at_ms % (length_s * 1000)
