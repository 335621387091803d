"""The progress of a flow, from what its runner recorded."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from statistics import quantiles
from typing import Any

from sqlalchemy import Connection, Row, Select, func, select, union

from streamhouse.model.types import Layer
from streamhouse.model.version import table_name
from streamhouse.state import epochs, leases
from streamhouse.state.instants import from_ms
from streamhouse.state.records import EpochRecord, FlowProgress, LayerDelays, Owner, RunnerState, is_candidate
from streamhouse.state.schema import lease, plan, segment_total, table_total

RECENT_EPOCHS = 100


def of_flow(connection: Connection, flow: str, now: datetime, alive: Callable[[Owner], bool] | None) -> FlowProgress:
    """Everything `status` shows of one flow; a flow that never ran is `stopped` with no epochs."""
    lease_row = connection.execute(select(lease).where(lease.c.flow == flow)).one_or_none()
    totals = select(table_total).where(table_total.c.flow == flow)
    finished = select(func.sum(segment_total.c.epochs)).where(segment_total.c.flow == flow)
    return _progress(
        flow,
        lease_row,
        connection.execute(select(func.max(plan.c.revision)).where(plan.c.flow == flow)).scalar_one(),
        connection.execute(finished).scalar_one(),
        connection.execute(totals),
        epochs.recent(connection, flow, None, RECENT_EPOCHS),
        now,
        alive,
    )


def of_every_flow(
    connection: Connection, now: datetime, alive: Callable[[Owner], bool] | None, limit: int
) -> dict[str, tuple[FlowProgress, list[EpochRecord]]]:
    """Flow → its progress, and its finished epochs from which that follows: the last `limit`, the last one first."""
    lease_rows = {row.flow: row for row in connection.execute(select(lease))}
    revisions = dict(_pairs(connection, select(plan.c.flow, func.max(plan.c.revision)).group_by(plan.c.flow)))
    total = select(segment_total.c.flow, func.sum(segment_total.c.epochs)).group_by(segment_total.c.flow)
    finished = dict(_pairs(connection, total))
    totals: dict[str, list[Row[tuple[object, ...]]]] = {}
    for row in connection.execute(select(table_total)):
        totals.setdefault(row.flow, []).append(row)
    found = {}
    for flow in known_flows(connection):
        recent = epochs.recent(connection, flow, None, limit)
        written = totals.get(flow, ())
        found[flow] = (
            _progress(flow, lease_rows.get(flow), revisions.get(flow), finished.get(flow), written, recent, now, alive),
            recent,
        )
    return found


def _pairs(connection: Connection, query: Select[Any]) -> Iterator[tuple[str, int]]:
    return ((row[0], row[1]) for row in connection.execute(query))


def _progress(
    flow: str,
    lease_row: Row[tuple[object, ...]] | None,
    revision: int | None,
    finished: int | None,
    totals: Iterable[Row[tuple[object, ...]]],
    recent: list[EpochRecord],
    now: datetime,
    alive: Callable[[Owner], bool] | None,
) -> FlowProgress:
    return FlowProgress(
        flow=flow,
        state=leases.observed_state(lease_row, now, alive) if lease_row is not None else RunnerState.STOPPED,
        since=from_ms(lease_row.state_ms) if lease_row is not None else None,
        error=lease_row.error if lease_row is not None else None,
        owner=leases.owner_of(lease_row) if lease_row is not None else None,
        revision=revision,
        epochs=int(finished or 0),
        last_epoch_at=from_ms(recent[0].finished_ms) if recent else None,
        rows=_rows(totals),
        freshness=freshness(recent),
    )


def known_flows(connection: Connection) -> list[str]:
    """Every flow that was applied or run, by name."""
    names = connection.execute(union(select(plan.c.flow), select(lease.c.flow))).scalars()
    return sorted(name for name in names if not is_candidate(name))


def _rows(totals: Iterable[Row[tuple[object, ...]]]) -> dict[str, int]:
    """Table → rows written, over all its versions."""
    found: Counter[str] = Counter()
    for total in totals:
        found[table_name(total.table_name)] += total.rows
    return dict(sorted(found.items(), key=_upstream_first))


def rows_written(connection: Connection) -> dict[str, int]:
    """Table → rows written to it, over all its versions and writers."""
    return _rows(connection.execute(select(table_total)))


def freshness(recent: list[EpochRecord]) -> dict[str, LayerDelays]:
    """Layer → its lag behind the source, upstream layers first.

    Args:
        recent: Finished epochs, the last one first.
    """
    lags: dict[str, list[int]] = {}
    for record in recent:
        for layer, visible_ms in record.layer_visible_ms.items():
            lags.setdefault(layer, []).append(visible_ms - record.at_ms)
    return {
        layer: LayerDelays(found[0], _percentile(found, 50), _percentile(found, 95), len(found))
        for layer, found in sorted(lags.items(), key=_upstream_first)
    }


def _upstream_first(item: tuple[str, object]) -> tuple[int, str]:
    name = item[0]
    layers = [layer.value for layer in Layer]
    layer = name.partition(".")[0]
    return (layers.index(layer) if layer in layers else len(layers)), name


def _percentile(values: list[int], percent: int) -> int:
    if len(values) == 1:
        return values[0]
    return round(quantiles(values, n=100, method="inclusive")[percent - 1])
