"""How a flow is doing, told from what its runner recorded."""

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from statistics import quantiles

from sqlalchemy import Connection, Row, func, select

from streamhouse.model.types import Layer
from streamhouse.model.version import table_name
from streamhouse.state import epochs, leases
from streamhouse.state.instants import from_ms
from streamhouse.state.records import EpochRecord, FlowProgress, Freshness, Owner, RunnerState
from streamhouse.state.schema import lease, plan, segment_total, table_total

RECENT_EPOCHS = 100


def of_flow(connection: Connection, flow: str, now: datetime, alive: Callable[[Owner], bool] | None) -> FlowProgress:
    """Everything `status` shows of one flow; a flow that never ran is `stopped` with no epochs."""
    held = connection.execute(select(lease).where(lease.c.flow == flow)).one_or_none()
    recent = epochs.recent(connection, flow, None, RECENT_EPOCHS)
    totals = select(table_total).where(table_total.c.flow == flow)
    finished = select(func.sum(segment_total.c.epochs)).where(segment_total.c.flow == flow)
    return FlowProgress(
        flow=flow,
        state=leases.observed_state(held, now, alive) if held is not None else RunnerState.STOPPED,
        since=from_ms(held.state_ms) if held is not None else None,
        error=held.error if held is not None else None,
        owner=leases.owner_of(held) if held is not None else None,
        revision=connection.execute(select(func.max(plan.c.revision)).where(plan.c.flow == flow)).scalar_one(),
        epochs=int(connection.execute(finished).scalar_one() or 0),
        last_epoch_at=from_ms(recent[0].finished_ms) if recent else None,
        rows=_rows(connection.execute(totals)),
        freshness=freshness(recent),
    )


def _rows(totals: Iterable[Row[tuple[object, ...]]]) -> dict[str, int]:
    """Table → rows written, over all its versions."""
    found: Counter[str] = Counter()
    for total in totals:
        found[table_name(total.table_name)] += total.rows
    return dict(sorted(found.items(), key=_upstream_first))


def rows_written(connection: Connection) -> dict[str, int]:
    """Table → rows written to it, over all its versions and writers."""
    return _rows(connection.execute(select(table_total)))


def freshness(recent: list[EpochRecord]) -> dict[str, Freshness]:
    """Layer → its lag behind the source, upstream layers first.

    Args:
        recent: Finished epochs, the last one first.
    """
    lags: dict[str, list[int]] = {}
    for record in recent:
        for layer, visible_ms in record.layer_visible_ms.items():
            lags.setdefault(layer, []).append(visible_ms - record.at_ms)
    return {
        layer: Freshness(found[0], _percentile(found, 50), _percentile(found, 95), len(found))
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
