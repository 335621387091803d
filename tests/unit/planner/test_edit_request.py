"""Parts of a Request removed and renamed, with all that hangs on them."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from streamhouse.planner.edit_request import renamed, without
from streamhouse.planner.request import Derived, Join, Ranking, Request
from tests.composed_cases import asked, col, cut, dim, measure, where

SHARE = Derived(name="share", kind="share", of="total", per=("city",))
RANK = Derived(name="rank", kind="rank", of="share")
RICH = asked(
    dimensions=(dim("city", col("city", "store")), cut("day", "day")),
    measures=(measure("total", "sum", col("cents")), measure("n")),
    derived=(SHARE, RANK, Derived(name="each", kind="ratio", of="total", to="n")),
    having=(where("n", ">", 1), where("share", ">", 0)),
    filters=(where(col("city", "store"), "=", "Oslo"), where(col("cents"), ">", 5)),
    joins=(Join(table="ods.stores", role="store", on={"store_id": "store_id"}),),
    hidden=("n",),
    ranking=Ranking(by="rank", count=3, per=("day",)),
)  # fmt: skip


def named(parts):
    return [one.name for one in parts]


def test_what_is_made_of_a_measure_goes_with_it():
    left = without(RICH, "measures", 0)
    assert named(left.block.measures) == ["n"]
    assert left.block.derived == ()
    assert left.block.having == (where("n", ">", 1),)
    assert left.ranking is None


def test_a_hidden_measure_goes_with_the_last_number_made_of_it():
    plain = RICH.model_copy(update={"block": RICH.block.model_copy(update={"having": ()})})
    left = without(plain, "derived", 2)
    assert named(left.block.measures) == ["total"]
    assert left.block.hidden == ()
    assert left.ranking == RICH.ranking


def test_a_dimension_leaves_the_places_that_name_it():
    left = without(RICH, "dimensions", 1)
    assert left.ranking.per == ()
    assert without(RICH, "dimensions", 0).block.derived[0].per == ()


def test_a_join_stays_while_something_uses_it():
    once = without(RICH, "filters", 0)
    assert once.block.joins == RICH.block.joins
    assert without(once, "dimensions", 0).block.joins == ()
    idle = asked(dimensions=(dim("note"),), filters=(where(col("cents"), ">", 5),), joins=RICH.block.joins)
    assert without(idle, "filters", 0).block.joins == RICH.block.joins, "nothing that was removed used it"


def test_a_join_that_leads_to_an_idle_one_goes_too():
    joins = (*RICH.block.joins, Join(table="ods.cities", role="town", left="store", on={"city": "city"}))
    request = asked(dimensions=(dim("note"), dim("mayor", col("mayor", "town"))), joins=joins)
    assert without(request, "dimensions", 1).block.joins == ()
    assert len(without(request, "dimensions", 0).block.joins) == 2


def test_a_new_name_is_taken_everywhere():
    found = renamed(RICH, "total", "revenue")
    assert named(found.block.measures) == ["revenue", "n"]
    assert [one.of for one in found.block.derived] == ["revenue", "share", "revenue"]
    by = renamed(renamed(RICH, "rank", "place"), "day", "week")
    assert (by.ranking.by, by.ranking.per, named(by.block.dimensions)) == ("place", ("week",), ["city", "week"])
    assert renamed(RICH, "share", "part").block.having[1].left == "part"
    assert renamed(RICH, "n", "lines").block.hidden == ("lines",)


def test_a_name_that_is_taken_changes_nothing():
    assert renamed(RICH, "total", "n") == RICH


def test_columns_of_tables_keep_their_names():
    request = asked(dimensions=(dim("cents"),), measures=(measure("n", "sum", col("cents")),))
    found = renamed(request, "cents", "money")
    assert (found.block.dimensions[0].name, found.block.dimensions[0].of) == ("money", col("cents"))
    assert found.block.measures == request.block.measures


@pytest.mark.parametrize(
    "value",
    [
        "007",
        "12.50",
        "2026-01-02",
        "true",
        Decimal("12.50"),
        datetime(2026, 1, 1, tzinfo=UTC),
        date(2026, 1, 2),
        5,
        True,
    ],
)
def test_a_constant_comes_back_from_json_as_what_it_was(value):
    request = asked(filters=(where(col("note"), "=", value),))
    for read in (
        Request.model_validate_json(request.model_dump_json()),
        Request.model_validate(request.model_dump(mode="json")),
    ):
        (found,) = read.block.filters[0].values
        assert (type(found), found) == (type(value), value)
        assert str(found) == str(value) or isinstance(value, datetime)
