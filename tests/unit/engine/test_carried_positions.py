"""Positions when the plan of a flow becomes another one."""

from datetime import timedelta

from streamhouse.engine.carried_positions import furthest, meeting, moved, parted, passed_by, positions
from streamhouse.ingest.tables.places import ALL_PARTS
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


def test_segments_that_began_a_table_of_others_at_different_snapshots_meet_where_all_parts_are_read():
    began = {
        "main": record("main", 4, {"src": {"snapshot": 5, "part": 2}}, {"ods.a": {"0": 10}}),
        "slow": record("slow", 2, {"src": {"snapshot": 7, "part": 1}, "ods.a": {"0": 8}}, {"dwd.b": {}, "dwd.c": {}}),
    }
    assert furthest(TWO, began) == {"src": {"snapshot": 7, "part": ALL_PARTS}}


LEVEL = {
    "main": record("main", 4, {"src": {"0": 10}}, {"ods.a": {"0": 10}}),
    "slow": record("slow", 2, {"src": {"0": 10}, "ods.a": {"0": 10}}, {"dwd.b": {"0": 10}, "dwd.c": {"0": 3}}),
}
ONE = plan(main=[("src", "ods.a"), ("ods.a", "dwd.b"), ("src", "dwd.c")])


def ends(records):
    return {one.segment: one.end for one in records}


def test_steps_that_move_to_another_segment_go_on_where_the_flow_is():
    [found] = moved(TWO, ONE, positions(TWO, LEVEL), LEVEL, 99)
    assert (found.segment, found.epoch, found.at_ms) == ("main", 6, 7)  # beyond what Spark may have logged
    assert found.end == {"src": {"0": 10}}
    assert found.ends == {"ods.a": {"0": 10}, "dwd.b": {"0": 10}, "dwd.c": {"0": 3}}


def test_every_step_goes_on_where_it_stood_also_one_that_waited_while_others_read_on():
    found = ends(moved(TWO, TWO, positions(TWO, LAST), LAST, 99))
    assert found == {name: one.end for name, one in LAST.items()}, "the slow one reads no row twice, nor is one lost"


def test_steps_that_are_set_aside_begin_where_their_segment_stands():
    at, last = {"src": {"0": 9}}, {"main": record("main", 3, {"src": {"0": 9}}, {"ods.a": {"0": 7}, "dwd.b": {"0": 5}})}
    cut = plan(main=[("src", "ods.a")], aside=[("ods.a", "dwd.b"), ("src", "dwd.c")])
    found = {one.segment: one for one in moved(ONE, cut, at, last, 99)}
    assert found["main"].end == {"src": {"0": 9}}
    assert found["aside"].end == {"src": {"0": 9}, "ods.a": {"0": 7}}, "what it reads from a store now, from its end"
    assert (found["main"].ends, found["aside"].ends) == ({"ods.a": {"0": 7}}, {"dwd.b": {"0": 5}})
    assert [table.name for table in parted(ONE, cut)] == ["ods.a"]
    assert parted(cut, ONE) == []


def test_numbers_of_epochs_only_rise_where_a_segment_comes_back():
    last = {**LEVEL, "main": LEVEL["main"], "aside": record("aside", 8, {"src": {"0": 1}}, {})}
    cut = plan(main=[("src", "ods.a")], slow=[("ods.a", "dwd.b")], aside=[("src", "dwd.c")])
    found = {one.segment: one for one in moved(TWO, cut, positions(TWO, LEVEL), last, 99)}
    assert (found["aside"].epoch, found["aside"].end) == (10, {"src": {"0": 10}}), "its old position is worth nothing"


def test_what_was_built_anew_and_what_is_another_source_is_read_from_where_that_begins():
    old = plan(main=[("src", "ods.a")], slow=[("ods.a", "dwd.b")])
    new = plan(main=[("src", "ods.a__v2")], slow=[("ods.a__v2", "dwd.b")])
    last = {name: LEVEL[name] for name in LEVEL}
    at = positions(old, last) | {"ods.a__v2": {"0": 44}}
    found = ends(moved(old, new, at, last, 99))
    assert found == {"main": {"src": {"0": 10}}, "slow": {"ods.a__v2": {"0": 44}}}
    again = ends(moved(old, new, {"ods.a__v2": {"0": 44}}, last, 99, fresh=["src"]))
    assert again["main"] == {}


def test_positions_of_one_segment_alone():
    assert positions(TWO, LAST, of=["slow"]) == {
        "src": {"0": 6, "1": 1},
        "ods.a": {"0": 8},
        "dwd.b": {"0": 8},
        "dwd.c": {},
    }
    assert positions(TWO, LAST, of=["main"])["src"] == {"0": 10}
    assert positions(TWO, LAST, of=["main"])["ods.a"] == {"0": 10}


def test_what_waits_is_not_joined_with_what_read_on():
    assert meeting(TWO, ONE, {"slow"}) == ["dwd.b", "dwd.c"]
    assert meeting(TWO, ONE, set()) == []
    assert meeting(TWO, TWO, {"slow"}) == []
    assert meeting(TWO, ONE, {"slow"}, to_rebuild=["dwd.b", "dwd.c"]) == [], (
        "where they were is nothing to what is built anew"
    )
    assert meeting(ONE, TWO, {"main"}) == [], "what stands together may part"


def test_tables_are_built_anew_beside_what_waits_where_nothing_passes_it_by():
    cut = plan(main=[("src", "ods.a"), ("own", "ods.b")], aside=[("src", "dwd.c"), ("ods.b", "dwd.d")],
               slow=[("dwd.c", "ads.e")], far=[("dwd.c", "ads.f"), ("src", "ads.g")])  # fmt: skip
    everything = ["dwd.c", "dwd.d"]
    assert passed_by(cut, {"aside"}, {"main"}, ["ods.a"]) == [], "it does not read that"
    assert passed_by(cut, {"aside"}, {"main"}, ["ods.b"]) == everything, "it would go on at the end of the new version"
    assert passed_by(cut, {"aside"}, {"aside"}, ["dwd.c"]) == [], "as of where it stands"
    assert passed_by(cut, {"aside"}, {"aside", "slow"}, ["dwd.c", "ads.e"]) == [], "which what follows it has reached"
    assert passed_by(cut, {"aside"}, {"aside", "far"}, ["dwd.c", "ads.f"]) == everything, "they share a source"
    assert passed_by(cut, {"aside"}, {"aside", "main"}, ["dwd.c", "ods.a"]) == everything
    assert passed_by(cut, {"aside", "slow"}, {"aside"}, ["dwd.c"]) == ["ads.e"]
    assert passed_by(cut, set(), {"aside", "main"}, ["dwd.c", "ods.a"]) == []


def test_a_new_segment_begins_with_epoch_0():
    more = plan(main=[("src", "ods.a")], other=[("src", "dwd.d")])
    found = {one.segment: one for one in moved(TWO, more, {"src": {"0": 10}, "ods.a": {"0": 10}}, LAST, 99)}
    assert (found["other"].epoch, found["other"].end, found["other"].ends) == (0, {"src": {"0": 10}}, {})


def test_a_segment_of_which_more_is_known_than_its_last_epoch_goes_on_behind_that():
    more = plan(main=[("src", "ods.a")], other=[("src", "dwd.d")])
    newest = {"other": 7, "main": 3}
    found = moved(TWO, more, {"src": {"0": 10}, "ods.a": {"0": 10}}, LAST, 99, newest=newest)
    assert {one.segment: one.epoch for one in found} == {"main": LAST["main"].epoch + 2, "other": 9}
