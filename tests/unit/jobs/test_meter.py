import gc
from datetime import timedelta

from streamhouse.engine.surroundings import Beat
from streamhouse.jobs.run import Meter
from streamhouse.model.plan import FlowPlan, PlannedStep, Segment
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import Layer, StepKind, Strategy
from streamhouse.state.records import EpochRecord

TABLE = Table(name="ods.orders", columns=(Column(name="id", type="bigint"),), tiers=Tiers(hot=timedelta(hours=1)))
STEP = PlannedStep(
    action="ingest_as_is",
    version="1.0.0",
    kind=StepKind.INGEST,
    reads=(),
    writes=TABLE,
    sql="SELECT 1 AS id",
    strategy=Strategy.MAP,
    reason="a projection",
)
PLAN = FlowPlan(flow="orders", sources=(), segments=(Segment(name="main", steps=(STEP,)),))


def _beat(epoch):
    at = 1_000 * epoch
    record = EpochRecord(
        flow="orders",
        segment="main",
        epoch=epoch,
        at_ms=at,
        started_ms=at,
        finished_ms=at + 500,
        rows={"ods.orders": 2},
        layer_visible_ms={"ods": at + 100 + epoch % 3},
    )
    return Beat(record, read_rows=2 * epoch + 2, waiting_rows=0)


def test_a_run_is_summed_up():
    meter = Meter(PLAN, lambda _: None, once=False)
    for epoch in range(10):
        meter.beat(_beat(epoch))
    done = meter.summary()
    assert (done.epochs, done.rows, done.seconds) == (10, {"ods.orders": 20}, 9.5)
    assert done.freshness_ms == {Layer.ODS: 101}


def test_a_run_without_epochs():
    done = Meter(PLAN, lambda _: None, once=True).summary()
    assert (done.epochs, done.rows, done.seconds, done.freshness_ms) == (0, {"ods.orders": 0}, 0.0, {})


def test_finished_epochs_are_not_held():
    meter = Meter(PLAN, lambda _: None, once=False)
    for epoch in range(5_000):
        meter.beat(_beat(epoch))
    assert meter.summary().epochs == 5_000
    assert sum(isinstance(one, Beat) for one in gc.get_objects()) <= 2
