"""Each part of a Request as a chip, and the Requests that its edits lead to."""

from datetime import UTC, datetime, timedelta

import pytest

from streamhouse.jobs.ask import edited
from streamhouse.model.meaning import MeasureMeaning
from streamhouse.model.types import Layer
from streamhouse.planner.catalog import Catalog, CatalogColumn, CatalogTable
from streamhouse.planner.check_request import check_request
from streamhouse.planner.request import Block, Derived, During, Pick, Ranking
from streamhouse.planner.sentence import sentence
from streamhouse.ui.chips import chips
from tests.composed_cases import asked, col, cut, dim, measure, where

CATALOG = Catalog(
    {
        "dwd.sales": CatalogTable(
            name="dwd.sales",
            flow="shop",
            action="clean",
            columns=(
                CatalogColumn("cents", "bigint"),
                CatalogColumn("note", "string", values={"x": ("x",), "y": ("y",)}),
                CatalogColumn("sold_at", "timestamp"),
            ),
            measures={"revenue": MeasureMeaning(sql="SUM(cents)", unit="USD"), "units": MeasureMeaning(sql="COUNT(*)")},
        )
    }
)
REQUEST = asked(
    dimensions=(dim("note"), cut("day", "day")),
    measures=(measure("average_cents", "avg", col("cents")), measure("revenue", named="revenue", unit="USD")),
    filters=(where(col("cents"), ">", 500), where(col("note"), "in", "x", "y")),
    ranking=Ranking(by="average_cents", count=5, per=("day",)),
)


def chip(request, start):
    (found,) = [one for one in chips(request, CATALOG) if one.text.startswith(start)]
    return found


def choice(found, text):
    return next(one for menu in found.menus for one in menu.choices if one.text == text)


def after(request, edits):
    return sentence(edited(request, edits))


def test_every_part_has_a_chip():
    assert [(one.group, one.text) for one in chips(REQUEST, CATALOG)] == [
        ("figure", "average of cents (average_cents)"),
        ("figure", "revenue"),
        ("figure", "add a figure"),
        ("group", "per note"),
        ("group", "per day (day of sold_at)"),
        ("source", "of dwd.sales"),
        ("filter", "cents is above 500"),
        ("filter", "note is one of 'x' and 'y'"),
        ("order", "5 with the highest average_cents of each day"),
        ("result", "fresh as its flow"),
        ("result", "layer ads"),
        ("result", "named by what it is"),
    ]


def test_every_removal_leaves_a_request():
    for one in chips(REQUEST, CATALOG):
        if one.removal is not None:
            assert edited(REQUEST, one.removal) != REQUEST, one.text
    left = after(REQUEST, chip(REQUEST, "cents is above").removal)
    assert "500" not in left
    assert "one of 'x' and 'y'" in left
    assert "highest" not in after(REQUEST, chip(REQUEST, "average of cents").removal)


def test_another_grain_renames_the_group_where_it_is_named():
    week = edited(REQUEST, choice(chip(REQUEST, "per day"), "week").edits)
    assert [one.name for one in week.block.dimensions] == ["note", "week"]
    assert week.ranking.per == ("week",)
    assert choice(chip(REQUEST, "per day"), "day").chosen


def test_another_figure_takes_its_own_name():
    total = edited(REQUEST, choice(chip(REQUEST, "average of cents"), "total").edits)
    assert (total.block.measures[0].name, total.block.measures[0].function) == ("total_cents", "sum")
    assert total.ranking.by == "total_cents"
    units = edited(REQUEST, choice(chip(REQUEST, "revenue"), "units").edits)
    assert (units.block.measures[1].named, units.block.measures[1].unit) == ("units", None)


def test_texts_have_no_average():
    words = [c.text for c in chip(asked(measures=(measure("n", "max", col("note")),)), "highest note").menus[0].choices]
    assert words == ["lowest", "highest", "different"]


def test_values_can_be_typed():
    above = chip(REQUEST, "cents is above")
    (entry,) = above.entries
    assert (entry.kind, entry.value) == ("number", "500")
    assert "above 12.5" in after(REQUEST, {entry.path: 12.5})
    assert "cents is below 500" in after(REQUEST, choice(above, "is below").edits)
    note = chip(REQUEST, "note is one of").entries
    assert [(one.value, one.known) for one in note] == [("x", ("x", "y")), ("y", ("x", "y"))]
    assert "highest 3" not in after(REQUEST, {chip(REQUEST, "5 with").entries[0].path: 3})
    assert "only the 3 with the highest" in after(REQUEST, {chip(REQUEST, "5 with").entries[0].path: 3})
    fresh = chip(REQUEST, "fresh").entries[0]
    assert after(REQUEST, {fresh.path: "5s"}).endswith("fresh within 5s.")


def test_what_was_said_of_the_result_can_be_unsaid():
    said = REQUEST.model_copy(
        update={"freshness": timedelta(seconds=5), "name": "best", "layer": Layer.DWS, "alert": True}
    )
    for text in ("fresh within 5s", "named best", "layer dws", "as an alert"):
        found = chip(said, text)
        assert found.set
        assert found.removal
    assert edited(said, chip(said, "fresh").removal).freshness is None


@pytest.mark.parametrize(
    ("given", "entries"),
    [
        (During(of=col("sold_at"), within=7), [("last days", "number", "7")]),
        (
            During(of=col("sold_at"), since=datetime(2026, 1, 1, tzinfo=UTC)),
            [("from", "time", "2026-01-01T00:00:00+00:00")],
        ),
    ],
)
def test_times_can_be_typed(given, entries):
    request = asked(measures=(measure("n"),), filters=(given,))
    found = chip(request, "sold_at is")
    assert [(one.label, one.kind, one.value) for one in found.entries] == entries
    value = {"number": 8, "time": "2026-02-01T00:00:00Z"}[found.entries[0].kind]
    assert edited(request, {found.entries[0].path: value}) != request


def test_an_inner_block_gives_its_conditions():
    inner = Block(
        base="dwd.sales", dimensions=(dim("note"),), measures=(measure("n"),), having=(where("n", ">", 2),),
        filters=(where(col("cents"), ">", 500),),
    )  # fmt: skip
    request = asked(base=None, inner=inner, measures=(measure("mean", "avg", col("n")),))
    assert "500" not in after(request, chip(request, "cents is above").removal)
    assert "above 2" not in after(request, chip(request, "n is above").removal)
    assert "above 9" in after(request, {chip(request, "n is above").entries[0].path: 9})


def test_rows_and_shares():
    rows = asked(pick=Pick(per=(col("note"),), by=col("sold_at")), columns=(dim("cents"),))
    assert "first row" in after(rows, choice(chip(rows, "the last of each note"), "first").edits)
    assert chip(rows, "cents").removal is None, "none would mean all columns"
    share = asked(
        dimensions=(dim("note"),),
        measures=(measure("n"),),
        derived=(Derived(name="share", kind="share", of="n"),),
        hidden=("n",),
    )
    found = chip(share, "share of")
    assert "in percent" in after(share, choice(found, "in percent").edits)
    assert edited(share, found.removal).block.measures == ()


def test_a_figure_can_be_added_and_removed_again():
    add = chip(REQUEST, "add a figure")
    assert {menu.label: [one.text for one in menu.choices] for menu in add.menus} == {
        "measure": ["units"],
        "count": ["rows"],
        "total": ["cents"],
        "lowest": ["cents", "sold_at"],
        "highest": ["cents", "sold_at"],
        "median": ["cents"],
        "different": ["cents", "note", "sold_at"],
    }
    more = edited(REQUEST, choice(add, "units").edits)
    assert more.block.measures[-1].named == "units"
    check_request(more, CATALOG)
    again = edited(more, next(one for one in chips(more, CATALOG) if one.text == "units").removal)
    assert again == REQUEST


@pytest.mark.parametrize("label", ["count", "total", "lowest", "highest", "median", "different"])
def test_every_figure_that_is_offered_is_sound(label):
    (menu,) = [menu for menu in chip(REQUEST, "add a figure").menus if menu.label == label]
    for one in menu.choices:
        check_request(edited(REQUEST, one.edits), CATALOG)


def test_rows_have_no_figures_to_add_to():
    assert not [one for one in chips(asked(columns=(dim("note"),)), CATALOG) if one.text == "add a figure"]


def test_numbers_that_tell_rows_apart_have_no_total():
    columns = (CatalogColumn("id", "bigint"), CatalogColumn("store_id", "bigint", references=("dwd.s", "id")))
    table = CatalogTable("dwd.sales", "shop", "clean", columns, primary_key=("id",))
    [add] = [one for one in chips(REQUEST, Catalog({"dwd.sales": table})) if one.text == "add a figure"]
    assert [menu.label for menu in add.menus] == ["count", "different"]
