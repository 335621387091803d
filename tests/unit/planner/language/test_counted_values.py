# ruff: noqa: E501 - one wish, or one table, a line
"""Values that are counted side by side, and columns behind "with" that a row may lack or that are to be shown."""

import pytest

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

STABLE = catalog(
    table("ods.horses", ["horse_no"], "came_on",
          ["horse_no:i", "kind:s|breed", "came_on:d|arrived", "horse_name:s|name;what the horse is called", "chip:s;number of the chip, empty if it has none", "is_old:b|old"],
          values={"kind": {"P": ["pony", "ponies"], "C": ["cob", "cobs"], "S": ["shire", "shires"]}}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("wish", "wanted"),
    [
        ("count ponies or cobs", "ods.horses; where kind in P, C; get count(*)"),
        ("number of ponies or cobs per month", "ods.horses; where kind in P, C; by month(came_on); get count(*)"),
        ("count ponies and cobs per breed", "ods.horses; where kind in P, C; by kind; get count(*)"),
        ("how many ponies", "ods.horses; where kind = P; get count(*)"),
        ("ponies with a chip", "ods.horses; where kind = P and chip is not null"),
        ("ponies without a chip", "ods.horses; where kind = P and chip is null"),
        ("old ponies with chip", "ods.horses; where chip is not null and kind = P and is_old = True"),
        ("list old ponies with name and chip", "ods.horses; where kind = P and is_old = True; show horse_no, horse_name, chip"),
    ],
)  # fmt: skip
def test_read_as(wish, wanted):
    assert compact(understand(wish, STABLE)) == wanted


@pytest.mark.parametrize(
    ("wish", "phrase", "choices"),
    [
        ("Count ponies and cobs", "ponies and cobs", ("ponies or cobs", "ponies or cobs per kind")),
        ("number of ponies, cobs and shires", "ponies, cobs and shires", ("ponies or cobs or shires", "ponies or cobs or shires per kind")),
        ("old ponies with name", "with name", ("with any name", ", show name")),
    ],
)  # fmt: skip
def test_what_is_open_is_asked_and_each_choice_can_be_read(wish, phrase, choices):
    found = understand(wish, STABLE)
    assert [(one.phrase, one.choices) for one in found.questions] == [(phrase, choices)]
    for choice in choices:
        assert understand(wish.replace(phrase, choice), STABLE).request is not None, choice
