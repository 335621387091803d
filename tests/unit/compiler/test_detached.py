"""Which steps stand still with those that a person is asked about."""

from datetime import timedelta

import pytest

from streamhouse.compiler.detached import detach_steps, is_detached
from streamhouse.compiler.migration import same_streams
from streamhouse.model.plan import FlowPlan, PlannedRead, PlannedSource, PlannedStep, Segment
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import ReadMode, StepKind, Strategy

COLUMNS = (Column(name="id", type="bigint"),)
WEEK = timedelta(days=7)


def step(writes, *reads, tiers=None, key=(), part=()):
    return PlannedStep(
        action="a",
        version="1.0.0",
        kind=StepKind.CLEAN,
        reads=tuple(PlannedRead(port=t, table=t, mode=ReadMode.CHANGES, columns=("id",)) for t in reads),
        writes=Table(name=writes, columns=COLUMNS, primary_key=key, tiers=tiers or Tiers(hot=WEEK)),
        sql="SELECT id FROM rows",
        strategy=Strategy.MAP,
        reason="",
        part=part,
    )


def plan(**segments):
    return FlowPlan(
        flow="f",
        sources=tuple(PlannedSource(name=name, kind="files", columns=COLUMNS) for name in ("src", "other")),
        segments=tuple(Segment(name=name, steps=tuple(steps)) for name, steps in segments.items()),
    )


def shown(found):
    return {segment.name: [step.id for step in segment.steps] for segment in found.segments}


BRANCHES = [
    step("ods.a", "src"),
    step("ods.b", "src"),
    step("dwd.a", "ods.a"),
    step("dwd.b", "ods.b"),
    step("dws.both", "dwd.a", "dwd.b"),
]


def test_a_branch_and_what_follows_it_stands_while_the_other_goes_on():
    found = detach_steps(plan(main=BRANCHES), [["ods.a"]])
    assert shown(found) == {"main": ["ods.b", "dwd.b"], "main-aside.ods.a": ["ods.a", "dwd.a", "dws.both"]}
    assert found.aside == (("ods.a",),)
    assert [is_detached(segment.name) for segment in found.segments] == [False, True]


def test_where_everything_follows_the_segment_stays_whole():
    whole = plan(main=BRANCHES)
    assert detach_steps(whole, [["ods.a", "ods.b"]]) is whole
    assert detach_steps(whole, [["dwd.gone"]]) is whole
    assert detach_steps(whole, []) is whole


def test_what_goes_on_comes_before_what_reads_from_it():
    found = detach_steps(plan(main=BRANCHES, slow=[step("ads.c", "dws.both")]), [["dwd.b"]])
    assert shown(found) == {
        "main": ["ods.a", "ods.b", "dwd.a"],
        "main-aside.dwd.b": ["dwd.b", "dws.both"],
        "slow": ["ads.c"],
    }


def test_each_segment_that_is_concerned_is_cut_in_two():
    slow = [step("ads.c", "dws.both"), step("ads.d", "dws.both")]
    found = detach_steps(plan(main=BRANCHES, slow=slow), [["ods.a", "ads.d"]])
    assert shown(found)["slow-aside.ads.d"] == ["ads.d"]
    assert shown(found)["main-aside.ods.a"] == ["ods.a", "dwd.a", "dws.both"]
    assert found.aside == (("ads.d", "ods.a"),)


def test_a_second_question_cuts_what_went_on():
    first = detach_steps(plan(main=BRANCHES), [["ods.a"]])
    second = detach_steps(first, [["ods.a", "dwd.b"]])
    assert shown(second) == {
        "main": ["ods.b"],
        "main-aside.dwd.b": ["dwd.b"],
        "main-aside.ods.a": ["ods.a", "dwd.a", "dws.both"],
    }
    assert detach_steps(second, [["ods.a", "dwd.b"]]) is second, "asked again, nothing changes"
    assert detach_steps(plan(main=BRANCHES), second.aside) == second, "a flow that is compiled again goes on with it"


def test_a_branch_that_went_on_apart_is_cut_for_itself():
    first = detach_steps(plan(main=BRANCHES), [["ods.a"]])
    found = detach_steps(first, [["dwd.a"]])
    assert shown(found)["main-aside.ods.a"] == ["ods.a"]
    assert shown(found)["main-aside.ods.a-aside.dwd.a"] == ["dwd.a", "dws.both"]


@pytest.mark.parametrize(
    ("tiers", "stands"),
    [
        (Tiers(hot=WEEK), ["dwd.b", "dws.both"]),
        (Tiers(warm=timedelta(days=1)), ["dwd.b", "dws.both"]),
        (Tiers(hot=timedelta(days=1)), ["ods.a", "dwd.b", "dws.both"]),
        (Tiers(cold=WEEK), ["ods.a", "dwd.b", "dws.both"]),
    ],
)
def test_who_writes_what_could_not_be_read_later_stands_as_well(tiers, stands):
    steps = [step("ods.a", "src", tiers=tiers), step("dwd.b", "other"), step("dws.both", "ods.a", "dwd.b")]
    found = detach_steps(plan(main=[*steps, step("ods.c", "src")]), [["dwd.b"]])
    assert shown(found)["main-aside.dwd.b"] == stands


def test_a_log_whose_order_only_its_writer_knows_is_not_read_from_its_store():
    log = step("ods.a", "src")
    log = log.model_copy(update={"writes": log.writes.model_copy(update={"buckets": 4})})
    steps = [log, step("dwd.b", "ods.a", key=("id",)), step("dwd.c", "ods.a", key=("id",)), step("ods.d", "src")]
    found = detach_steps(plan(main=steps), [["dwd.b"]])
    assert shown(found) == {"main": ["ods.d"], "main-aside.dwd.b": ["ods.a", "dwd.b", "dwd.c"]}


def test_one_of_several_writers_of_a_table_stands_alone():
    parts = [step("dws.w", "src", part=("x",)), step("dws.w", "other", part=("y",)).model_copy(update={"action": "b"})]
    found = detach_steps(plan(main=parts), [["dws.w:b"]])
    assert shown(found) == {"main": ["dws.w:a"], "main-aside.dws.w.b": ["dws.w:b"]}


def test_plans_that_nothing_is_set_aside_in_keep_their_fingerprints():
    assert "aside" not in plan(main=BRANCHES).model_dump_json()


def test_streams_go_on_with_what_was_set_aside_but_not_over_a_cut():
    whole = plan(main=BRANCHES)
    cut = detach_steps(whole, [["ods.a"]])
    assert same_streams(cut, cut)
    assert not same_streams(whole, cut)
    other = [segment.steps for segment in cut.segments]
    stepped = tuple(
        segment.model_copy(update={"steps": steps})
        for segment, steps in zip(cut.segments, (other[0][:1], (*other[1], other[0][1])), strict=True)
    )
    assert not same_streams(cut, cut.model_copy(update={"segments": stepped})), "a step stood elsewhere"
