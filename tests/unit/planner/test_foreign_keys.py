"""Keys between tables: what names, types and lineage tell, and what they leave open."""

import pytest

from streamhouse.planner.catalog import CatalogColumn, CatalogTable
from streamhouse.planner.foreign_keys import foreign_keys, singular


def table(name, columns, key=(), upstream=()):
    """`columns`: name → type, or (type, origin)."""
    made = []
    for column, kind in columns.items():
        kind, origin = kind if isinstance(kind, tuple) else (kind, None)
        made.append(CatalogColumn(column, kind, origin=tuple(origin.rsplit(".", 1)) if origin else None))
    return CatalogTable(name, "f", "a", tuple(made), key, upstream=upstream)


def keys(*tables):
    found = foreign_keys({one.name: one for one in tables})
    return {(key.table, key.columns, key.to, key.to_columns) for key in found}


STATIONS = table("ods.stations", {"station_id": "bigint", "city": "string"}, ("station_id",))
DOCTORS = table("ods.doctors", {"id": "int", "name": "string"}, ("id",))


@pytest.mark.parametrize("column", ["station_id", "start_station_id", "first_end_station_id"])
def test_a_role_before_the_name_of_a_key(column):
    trips = table("ods.trips", {column: "bigint"})
    assert keys(STATIONS, trips) == {("ods.trips", (column,), "ods.stations", ("station_id",))}


def test_a_general_key_is_found_by_the_name_of_its_table():
    visits = table("ods.visits", {"id": "int", "referring_doctor_id": "bigint", "name": "string"}, ("id",))
    assert keys(DOCTORS, visits) == {("ods.visits", ("referring_doctor_id",), "ods.doctors", ("id",))}


def test_other_types_and_names_that_end_alike_point_nowhere():
    assert keys(STATIONS, table("ods.trips", {"station_id": "string", "substation_id": "bigint"})) == set()


def test_two_tables_that_fit_leave_it_open():
    prices = table("ods.prices", {"product_id": "bigint"}, ("product_id",))
    stock = table("ods.stock", {"product_id": "bigint"}, ("product_id",))
    products = table("ods.products", {"product_id": "bigint"}, ("product_id",))
    sales = table("dwd.sales", {"product_id": "bigint"})
    assert not {key for key in keys(prices, stock, sales) if key[0] == "dwd.sales"}
    assert {key[2] for key in keys(prices, stock, products, sales) if key[0] == "dwd.sales"} == {"ods.products"}


def test_of_a_raw_table_and_its_cleaned_copy_the_cleaned_one_is_meant():
    clean = table("dwd.stations", {"station_id": ("bigint", "ods.stations.station_id")}, ("station_id",))
    trips = table("ods.trips", {"station_id": "bigint"})
    assert keys(STATIONS, clean, trips) == {("ods.trips", ("station_id",), "dwd.stations", ("station_id",))}


def test_a_result_is_pointed_to_by_what_is_made_of_it_only():
    totals = table("dws.by_station", {"station": "bigint", "trips": "bigint"}, ("station",))
    top = table("ads.top", {"place": "int", "st": ("bigint", "dws.by_station.station")}, ("place",))
    other = table("dwd.trips", {"station": "bigint"})
    assert keys(totals, top, other) == {("ads.top", ("st",), "dws.by_station", ("station",))}


def test_keys_of_several_columns():
    rates = table("ods.rates", {"currency": "string", "day": "date", "rate": "double"}, ("currency", "day"))
    bills = table("ods.bills", {"bill": "bigint", "currency": "string", "day": "date"}, ("bill",))
    assert keys(rates, bills) == {("ods.bills", ("currency", "day"), "ods.rates", ("currency", "day"))}
    assert keys(rates, table("ods.x", {"currency": "string"})) == set()


def test_a_table_may_point_to_itself():
    people = table("ods.people", {"person_id": "bigint", "parent_person_id": "bigint"}, ("person_id",))
    assert keys(people) == {("ods.people", ("parent_person_id",), "ods.people", ("person_id",))}


def test_singulars():
    words = ("stations", "categories", "branches", "bus", "class", "analysis")
    assert [singular(word) for word in words] == ["station", "category", "branch", "bus", "class", "analysis"]
