"""Positions when the plan of a flow becomes another one."""

from datetime import timedelta

from streamhouse.engine.moved import furthest, moved, positions
from streamhouse.model.plan import FlowPlan, PlannedRead, PlannedSource, PlannedStep, Segment
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import ReadMode, StepKind, Strategy
from streamhouse.state.records import EpochRecord

COLUMNS = (Column(name="id", type="bigint"),)


def step(reads, writes):
    return PlannedStep(
        action="a",
        version="1.0.0",
        kind=StepKind.CLEAN,
        reads=(PlannedRead(port="rows", table=reads, mode=ReadMode.CHANGES, columns=("id",)),),
        writes=Table(name=writes, columns=COLUMNS, tiers=Tiers(hot=timedelta(hours=1))),
        sql="SELECT id FROM rows",
        strategy=Strategy.MAP,
        reason="",
    )


def plan(**segments):
    return FlowPlan(
        flow="f",
        sources=(PlannedSource(name="src", kind="files", columns=COLUMNS),),
        segments=tuple(
            Segment(name=name, steps=tuple(step(*pair) for pair in pairs)) for name, pairs in segments.items()
        ),
    )


def record(segment, epoch, end, ends):
    return EpochRecord("f", segment, epoch, 7, 1, 2, end=end, ends=ends)


TWO = plan(main=[("src", "ods.a")], slow=[("ods.a", "dwd.b"), ("src", "dwd.c")])
LAST = {
    "main": record("main", 4, {"src": {"0": 10}}, {"ods.a": {"0": 10}}),
    "slow": record("slow", 2, {"src": {"0": 6, "1": 1}, "ods.a": {"0": 8}}, {"dwd.b": {"0": 8}, "dwd.c": {}}),
}


def test_a_flow_is_where_its_slowest_reader_is_and_its_tables_end():
    assert positions(TWO, LAST) == {"src": {"0": 6}, "ods.a": {"0": 10}, "dwd.b": {"0": 8}, "dwd.c": {}}
    assert furthest(TWO, LAST) == {"src": {"0": 10, "1": 1}}


def test_steps_that_move_to_another_segment_go_on_where_the_flow_is():
    one = plan(main=[("src", "ods.a"), ("ods.a", "dwd.b"), ("src", "dwd.c")])
    at = {"src": {"0": 10}, "ods.a": {"0": 10}, "dwd.b": {"0": 10}, "dwd.c": {"0": 3}}
    [found] = moved(one, at, LAST, 99)
    assert (found.segment, found.epoch, found.at_ms) == ("main", 6, 7)  # beyond what Spark may have logged
    assert found.end == {"src": {"0": 10}}
    assert found.ends == {"ods.a": {"0": 10}, "dwd.b": {"0": 10}, "dwd.c": {"0": 3}}


def test_a_segment_that_waited_goes_on_where_it_stood():
    at = positions(TWO, LAST)
    held = {one.segment: one.end for one in moved(TWO, at, LAST, 99, held={"slow"})}
    assert held["slow"] == LAST["slow"].end
    free = {one.segment: one.end for one in moved(TWO, at, LAST, 99)}
    assert free["slow"]["ods.a"] == {"0": 10}


def test_a_new_segment_begins_with_epoch_0():
    more = plan(main=[("src", "ods.a")], other=[("src", "dwd.d")])
    found = {one.segment: one for one in moved(more, {"src": {"0": 10}, "ods.a": {"0": 10}}, LAST, 99)}
    assert (found["other"].epoch, found["other"].end, found["other"].ends) == (0, {"src": {"0": 10}}, {})
