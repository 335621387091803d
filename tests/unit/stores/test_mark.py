"""How far tiering came, as text in a snapshot."""

import pytest

from streamhouse.errors import StateConflictError
from streamhouse.model.types import Tier
from streamhouse.stores.ledger import NoLedger
from streamhouse.stores.mark import EPOCHS, OFFSETS, ROUND, SOURCE, TIMES, Mark, other_history


@pytest.mark.parametrize("offsets", [{}, {"0": 7, "11": 0}, {"snapshot": 12}])
def test_a_mark_reads_back(offsets) -> None:
    mark = Mark(3, Tier.HOT, offsets)
    assert Mark.from_properties({"other": "x", **mark.properties()}) == mark


def test_a_mark_says_of_which_epochs_its_rows_are() -> None:
    mark = Mark(3, Tier.HOT, {"0": 7}, {"f/main": 9, "f/slow": 2})
    assert Mark.from_properties(mark.properties()) == mark
    before = {name: text for name, text in mark.properties().items() if name != EPOCHS}
    assert Mark.from_properties(before).epochs == {}, "a mark of an older version"


def test_a_mark_says_when_epochs_of_its_rows_were() -> None:
    mark = Mark(3, Tier.HOT, {"0": 7}, {"f/main": 9}, {"f/main": {8: 1_700, 5: 1_400}, "f/slow": {2: 1_500}})
    assert Mark.from_properties(mark.properties()) == mark
    assert (mark.newest_epoch("f/main"), mark.newest_epoch("f/slow"), mark.newest_epoch("g/main")) == (9, 2, None)
    before = {name: text for name, text in mark.properties().items() if name != TIMES}
    assert Mark.from_properties(before) == Mark(3, Tier.HOT, {"0": 7}, {"f/main": 9}), "a mark of an older version"


class Epochs(NoLedger):
    """Knows when the epochs of `f/main` were."""

    def __init__(self, times) -> None:
        self.times = times

    def recorded_times(self, writer, numbers):
        return {epoch: at for epoch, at in self.times.items() if epoch in numbers} if writer == "f/main" else {}


@pytest.mark.parametrize(
    ("recorded", "other"),
    [
        ({8: 80, 5: 50}, None),
        ({8: 81, 5: 50}, 8),
        ({8: 80, 5: 51}, 5),
        ({5: 51}, 5),
        ({5: 50, 6: 61, 7: 71}, None),
        ({}, None),
        ({9: 90, 10: 100}, None),
    ],
    ids=str,
)
def test_a_copy_is_of_another_history_where_an_epoch_of_one_number_was_at_another_time(recorded, other) -> None:
    mark = Mark(3, Tier.HOT, {"0": 7}, {"f/main": 9}, {"f/main": {8: 80, 5: 50}, "f/slow": {2: 20}})
    text = (
        None
        if other is None
        else f"has rows of another epoch {other} of f/main than the one that the state store knows"
    )
    assert other_history(Epochs(recorded), mark) == text


def test_a_copy_is_of_another_history_where_it_names_an_epoch_that_never_was() -> None:
    mark = Mark(3, Tier.HOT, {"0": 7}, {"f/main": 9}, {"f/main": {8: 80, 5: 50}})
    text = "has rows of epoch 8 of f/main, and the state store knows that there was none"
    assert other_history(Epochs({5: 50, 8: None}), mark) == text


def test_what_says_nothing_of_times_is_of_no_other_history() -> None:
    for mark in (None, Mark(3, Tier.HOT, {"0": 7}, {"f/main": 9})):
        assert other_history(Epochs({9: 90}), mark) is None
    assert other_history(NoLedger(), Mark(3, Tier.HOT, {"0": 7}, {}, {"f/main": {8: 80}})) is None


def test_equal_marks_give_equal_text() -> None:
    assert Mark(0, Tier.HOT, {"1": 2, "0": 1}).properties() == Mark(0, Tier.HOT, {"0": 1, "1": 2}).properties()


def test_no_mark() -> None:
    assert Mark.from_properties({}) is None
    assert Mark.from_properties({"streamhouse.writer": "retail/main"}) is None


@pytest.mark.parametrize(
    "broken",
    [
        {OFFSETS: "{"},
        {OFFSETS: "[1]"},
        {OFFSETS: '{"0": null}'},
        {ROUND: "x"},
        {SOURCE: "lukewarm"},
        {EPOCHS: "["},
        {TIMES: "["},
        {TIMES: '{"f/main": 7}'},
        {TIMES: '{"f/main": [["x", 1]]}'},
        {TIMES: '{"f/main": [[1]]}'},
    ],
    ids=str,
)
def test_a_mark_that_cannot_be_read_is_an_error(broken) -> None:
    with pytest.raises(StateConflictError, match="cannot read how far tiering came"):
        Mark.from_properties(Mark(3, Tier.HOT, {"0": 1}).properties() | broken)


@pytest.mark.parametrize("absent", [OFFSETS, SOURCE])
def test_half_a_mark_is_an_error(absent) -> None:
    properties = Mark(3, Tier.HOT, {"0": 1}).properties()
    del properties[absent]
    with pytest.raises(StateConflictError):
        Mark.from_properties(properties)
