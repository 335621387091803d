"""When a flow goes on beside one whose plan cannot be read."""

from datetime import timedelta

import pytest

from streamhouse.engine.unreadable_flows import refuse_unknown
from streamhouse.errors import StateConflictError
from streamhouse.model.plan import FlowPlan, PlannedStep, Segment
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import StepKind, Strategy
from streamhouse.state.damage import DamagedStateError
from streamhouse.state.records import EpochRecord


def _table(name):
    return Table(name=name, columns=(Column(name="id", type="bigint"),), tiers=Tiers(hot=timedelta(hours=1)))


def small_plan(flow, reads=()):
    """A flow that writes `ods.FLOW`, and reads tables of others."""
    step = PlannedStep(
        action="ingest_as_is",
        version="1.0.0",
        kind=StepKind.INGEST,
        reads=(),
        writes=_table(f"ods.{flow}"),
        sql="SELECT 1 AS id",
        strategy=Strategy.MAP,
        reason="a projection",
    )
    external = tuple(map(_table, reads))
    return FlowPlan(flow=flow, sources=(), external=external, segments=(Segment(name="main", steps=(step,)),))


DAMAGED = {"b": DamagedStateError("the plan of b is damaged", hint="put a copy back")}


def epoch(flow, *reads):
    return EpochRecord(flow, "main", 0, 1, 2, 3, end={name: {"0": 1} for name in reads})


def refusal(plan, others=(), unreadable=DAMAGED, epochs=()):
    try:
        refuse_unknown(plan, others, unreadable, epochs)
    except StateConflictError as error:
        return error
    return None


def test_where_every_plan_can_be_read_nothing_is_refused():
    assert refusal(small_plan("a", reads=["ods.of_c"]), unreadable={}) is None


def test_a_flow_goes_on_beside_one_that_is_known_to_read_others():
    assert refusal(small_plan("a"), epochs=[epoch("b", "orders"), epoch("a", "b_source")]) is None


@pytest.mark.parametrize("name", ["ods.a", "ods.a__v2"])
def test_a_flow_whose_rows_were_read_is_refused(name):
    error = refusal(small_plan("a"), epochs=[epoch("b", "orders"), epoch("b", name)])
    assert error.message == "a may not go on: b reads ods.a; the plan of b is damaged"
    assert error.hint == "put a copy back"


def test_what_never_recorded_an_epoch_may_read_anything():
    error = refusal(small_plan("a"), epochs=[epoch("a", "orders")])
    assert error.message.startswith("a may not go on: it is not known whether b reads its tables")


def test_a_table_that_nobody_writes_may_be_of_the_flow_that_is_not_known():
    error = refusal(small_plan("a", reads=["ods.of_c"]), epochs=[epoch("b", "orders")])
    assert error.message.startswith("a reads ods.of_c, and it is not known which flow writes that")
    assert refusal(small_plan("a", reads=["ods.c"]), [small_plan("c")], epochs=[epoch("b", "orders")]) is None
