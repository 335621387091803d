"""Rows made up for a trial: the same each time, with partners, NULLs, and values around the constants of a query."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from streamhouse.jobs.made_rows import ROWS, generate_rows
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.planner.catalog import Catalog, CatalogColumn, CatalogTable, ForeignKey

AT = datetime(2017, 12, 1, tzinfo=UTC)


def table(name, key, **columns):
    given = tuple(Column(name=column, type=kind) for column, kind in columns.items())
    return Table(name=name, columns=given, primary_key=key, tiers=Tiers(hot="1h"))


SALES = table(
    "dwd.sales", ("sale_id",), sale_id="bigint", store_id="int", cents="decimal(12,2)", at="timestamp", paid="boolean",
    day="date", kind="string", share="double", tags="array<string>",
)  # fmt: skip
STORES = table("ods.stores", ("store_id",), store_id="int", city="string")
CATALOG = Catalog(
    {
        "dwd.sales": CatalogTable(
            "dwd.sales", "f", "a", (CatalogColumn("kind", "string", values={"C": ("card",), "B": ("cash",)}),)
        )
    },
    (ForeignKey("dwd.sales", ("store_id",), "ods.stores", ("store_id",)),),
)


@pytest.fixture(scope="module")
def made():
    return generate_rows([SALES, STORES], CATALOG, [Decimal("777.50"), "Nowhere", AT])


def test_rows_are_the_same_each_time(made):
    again = generate_rows([STORES, SALES], CATALOG, [Decimal("777.50"), "Nowhere", AT])
    assert all(made[name].equals(again[name]) for name in made)


def test_each_key_is_there_once(made):
    assert len(set(made["dwd.sales"]["sale_id"].to_pylist())) == ROWS
    assert len(set(made["ods.stores"]["store_id"].to_pylist())) == ROWS


def test_most_rows_have_a_partner_and_some_have_none(made):
    stores = set(made["ods.stores"]["store_id"].to_pylist())
    found = [store in stores for store in made["dwd.sales"]["store_id"].to_pylist()]
    assert 0.7 * ROWS < sum(found) < ROWS


def test_values_lie_on_both_sides_of_a_constant_and_on_it(made):
    cents = {value for value in made["dwd.sales"]["cents"].to_pylist() if value is not None}
    assert {Decimal("776.50"), Decimal("777.50"), Decimal("778.50")} <= cents
    times = {value for value in made["dwd.sales"]["at"].to_pylist() if value is not None}
    assert {AT - timedelta(hours=1), AT, AT + timedelta(hours=1)} <= times


def test_texts_are_those_that_are_known_and_those_of_the_query(made):
    assert set(made["dwd.sales"]["kind"].to_pylist()) == {"C", "B", "Nowhere", None}


def test_a_type_that_nobody_makes_up_is_null(made):
    assert set(made["dwd.sales"]["tags"].to_pylist()) == {None}
