"""How far tiering came, as text in a snapshot."""

import pytest

from streamhouse.errors import StateConflictError
from streamhouse.model.types import Tier
from streamhouse.stores.mark import EPOCHS, OFFSETS, ROUND, SOURCE, Mark


@pytest.mark.parametrize("offsets", [{}, {"0": 7, "11": 0}, {"snapshot": 12}])
def test_a_mark_reads_back(offsets) -> None:
    mark = Mark(3, Tier.HOT, offsets)
    assert Mark.from_properties({"other": "x", **mark.properties()}) == mark


def test_a_mark_says_of_which_epochs_its_rows_are() -> None:
    mark = Mark(3, Tier.HOT, {"0": 7}, {"f/main": 9, "f/slow": 2})
    assert Mark.from_properties(mark.properties()) == mark
    before = {name: text for name, text in mark.properties().items() if name != EPOCHS}
    assert Mark.from_properties(before).epochs == {}, "a mark of an older version"


def test_equal_marks_give_equal_text() -> None:
    assert Mark(0, Tier.HOT, {"1": 2, "0": 1}).properties() == Mark(0, Tier.HOT, {"0": 1, "1": 2}).properties()


def test_no_mark() -> None:
    assert Mark.from_properties({}) is None
    assert Mark.from_properties({"streamhouse.writer": "retail/main"}) is None


@pytest.mark.parametrize(
    "broken",
    [{OFFSETS: "{"}, {OFFSETS: "[1]"}, {OFFSETS: '{"0": null}'}, {ROUND: "x"}, {SOURCE: "lukewarm"}, {EPOCHS: "["}],
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
