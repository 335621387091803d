import base64
import json
import zlib
from dataclasses import asdict, replace

import pytest

from streamhouse.engine.note import GENERATION, PROPERTY, Note, Trace, newest, trace_of_commit, trace_of_text
from streamhouse.engine.remedy import newest_plan, remedy, versions_in
from streamhouse.engine.vector import Vector
from streamhouse.stores.base import EPOCH

NOTE = Note(
    epoch=7,
    after=5,
    after_ms=900,
    at_ms=1_000,
    plan="abc",
    start={"orders": {"a.csv": 3}},
    end={"orders": {"a.csv": 3, "b.csv": 4}},
    ends={"ods.orders__v2": {"0": 3}},
)


def test_a_note_comes_back_as_it_was():
    assert Note.from_text(NOTE.to_text()) == NOTE
    assert NOTE.properties() == {PROPERTY: NOTE.to_text()}
    assert NOTE.vector == Vector(1_000, NOTE.end)


@pytest.mark.parametrize("text", ["", "no note", "bm8=", replace(NOTE, done=True).to_text()[:-9]])
def test_a_text_of_something_else_is_no_note(text):
    assert Note.from_text(text) is None


def test_a_vector_of_very_many_files_is_left_out_of_commits():
    many = {f"{number * 7_919:x}-{number**3:x}.csv": number for number in range(5_000)}
    long = replace(NOTE, end={"orders": many}, generation=4)
    assert long.properties() == {GENERATION: "4"}
    assert trace_of_commit("t", {EPOCH: "7", **long.properties()}) == Trace(7, "t", generation=4)
    assert trace_of_commit("t", {EPOCH: "7", GENERATION: "x"}) == Trace(7, "t")


def test_a_commit_without_a_note_tells_its_epoch_alone():
    assert trace_of_commit("t", {EPOCH: "3"}) == Trace(3, "t")
    assert trace_of_commit("t", {EPOCH: "7", PROPERTY: NOTE.to_text()}) == Trace(7, "t", NOTE)
    assert trace_of_commit("t", {"other": "3"}) is None
    assert trace_of_text("hot", "unreadable") is None


def test_of_equal_epochs_the_note_that_tells_more_counts():
    done = Trace(7, "hot", replace(NOTE, done=True))
    assert newest([Trace(7, "cold"), done, Trace(7, "warm", NOTE), Trace(6, "x", NOTE)]) == done
    assert newest([]) is None


def test_an_epoch_that_may_be_half_done_runs_again_over_its_rows():
    found = remedy("f", "main", NOTE, 9)
    assert found.begun == (7, 1_000)
    assert found.end == NOTE.vector
    assert found.done is not None
    assert (found.done.epoch, found.done.end, found.done.ends) == (5, NOTE.start, NOTE.ends)
    assert found.done.at_ms == 900, "epochs of equal numbers are compared by their times"


def test_behind_an_epoch_that_is_done_the_segment_goes_on():
    found = remedy("f", "main", replace(NOTE, done=True), 9)
    assert (found.begun, found.end) == (None, None)
    assert found.done is not None
    assert (found.done.epoch, found.done.end) == (7, NOTE.end)


def test_nothing_is_done_before_the_first_epoch():
    assert remedy("f", "main", replace(NOTE, after=None), 9).done is None


def test_versions_are_those_of_the_newest_note():
    older = replace(NOTE, at_ms=1, ends={"ods.orders": {}, "dwd.other__v3__quarantine": {}})
    assert versions_in([NOTE, older], {"ods.orders", "dwd.other"}) == {"ods.orders": 2, "dwd.other": 3}


def test_of_two_notes_the_generation_says_which_is_newer_and_not_the_clock():
    """The clock went back between the two."""
    after = replace(NOTE, generation=2, plan="new")
    before = replace(NOTE, at_ms=9_000, generation=1, plan="old", ends={"ods.orders": {}})
    for notes in ([before, after], [after, before]):
        assert versions_in(notes, {"ods.orders"}) == {"ods.orders": 2}
        assert newest_plan(notes) == "new"


def test_of_one_generation_and_of_notes_without_one_the_clock_says_it():
    late = replace(NOTE, at_ms=9_000, plan="new", ends={"ods.orders__v3": {}})
    assert versions_in([late, NOTE], {"ods.orders"}) == {"ods.orders": 3}
    assert newest_plan([late, NOTE]) == "new"
    assert newest_plan([replace(late, plan=""), NOTE]) == NOTE.plan
    assert newest_plan([replace(NOTE, plan="")]) is None


def test_a_note_of_an_earlier_version_has_no_generation_and_is_the_older_one():
    said = {name: value for name, value in asdict(NOTE).items() if name not in {"generation", "after_ms"}}
    earlier = Note.from_text(base64.b64encode(zlib.compress(json.dumps(said).encode())).decode())
    assert earlier == replace(NOTE, after_ms=0)
    assert newest_plan([replace(earlier, at_ms=9_000), replace(NOTE, generation=1, plan="new")]) == "new"
