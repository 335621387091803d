"""The demo's actions and flows, run once as one batch over all real rows."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from streamhouse.compiler import compile_project
from streamhouse.ingest.kinds import open_source
from streamhouse.jobs.examples import run_examples
from streamhouse.planner.ready_actions import READY
from streamhouse.registry import Registry
from tests.gate.levels import deep
from tests.oracle import assert_same_rows, batch
from tests.ready import ready_action

pytestmark = [deep("a batch of a year; test_demo.py has a part of it through every tier"), pytest.mark.spark]

ROOT = Path(__file__).parents[2]
REGISTRY = Registry.load(ROOT)
LINES = 1_469_307
ROWS = {
    "ods.transactions": LINES,
    "ods.products": 92_331,
    "dwd.sales": LINES,
    "dws.revenue_by_store_hour": 126_011,
    "dws.revenue_by_household": 2_469,
    "dws.basket_totals": 155_848,
    "dws.revenue_by_department": 31,
    "ads.top_departments": 10,
    "ads.discount_alerts": 87,
    "ods.campaigns": 6_589,
    "ods.campaign_descriptions": 27,
    "dwd.first_touches": 1_559,
    "dws.revenue_by_first_campaign": 25,
    "ads.campaign_ranking": 25,
}


@pytest.fixture(scope="module")
def sources():
    """Source → all its rows, as the package ships them."""
    opened = {n: open_source(s, ROOT) for flow in REGISTRY.flows.values() for n, s in flow.sources.items()}
    return {name: source.read({}, source.available()) for name, source in opened.items()}


@pytest.fixture(scope="module")
def tables(spark, sources):
    """Table → all its rows, of both flows."""
    REGISTRY.check()
    columns = {
        flow.flow: {name: open_source(source, ROOT).columns() for name, source in flow.sources.items()}
        for flow in REGISTRY.flows.values()
    }
    plans = compile_project(list(REGISTRY.flows.values()), REGISTRY, columns)
    retail = batch(spark, plans["retail"], _of(plans["retail"], sources))
    external = {table.name: retail[table.name] for table in plans["attribution"].external}
    return retail | batch(spark, plans["attribution"], _of(plans["attribution"], sources), external)


def _of(plan, rows):
    return {source.name: rows[source.name] for source in plan.sources}


def total(rows, column):
    return pc.sum(rows[column]).as_py()


def cents(column):
    """Independent of Spark: numpy rounds half to even, but no amount here has half a cent."""
    return pa.array(np.rint(column.to_numpy() * 100).astype("int64"))


def grouped(rows, key, **aggregates):
    """The same group by, done by Arrow: `name=(column, function)`."""
    asked = [
        ((), "count_all") if function == "count" else (column, function) for column, function in aggregates.values()
    ]
    found = rows.group_by(list(key)).aggregate(asked)
    made = ["count_all" if function == "count" else f"{column}_{function}" for column, function in aggregates.values()]
    return pa.table({**{k: found[k] for k in key}, **dict(zip(aggregates, (found[m] for m in made), strict=True))})


@pytest.mark.parametrize("name", sorted(REGISTRY.actions))
def test_examples(spark, name):
    results = run_examples(spark, REGISTRY.actions[name])
    assert results, "every action has an example"
    assert [r for r in results if not r.passed] == []


def test_every_table_has_its_rows(tables):
    assert {name: rows.num_rows for name, rows in tables.items()} == ROWS


def test_ingest_takes_rows_as_they_are(tables, sources):
    for name, source in (("ods.transactions", "transactions"), ("ods.products", "products")):
        assert_same_rows(tables[name].slice(0, 50_000), sources[source].slice(0, 50_000), name=name)
        assert tables[name].num_rows == sources[source].num_rows


def test_cents_are_the_amounts_to_the_cent(tables, sources):
    given, sales = sources["transactions"], tables["dwd.sales"]
    for amount, as_cents in (
        ("sales_value", "sales_cents"),
        ("retail_disc", "retail_discount_cents"),
        ("coupon_disc", "coupon_discount_cents"),
        ("coupon_match_disc", "coupon_match_cents"),
    ):
        rounded = cents(given[amount])
        assert pc.max(pc.abs(pc.subtract(pc.divide(pc.cast(rounded, "double"), 100.0), given[amount]))).as_py() < 1e-9
        assert pc.sum(rounded).as_py() == total(sales, as_cents)
    assert total(sales, "sales_cents") == 459_603_958
    assert total(sales, "discount_cents") == 82_255_319
    assert total(sales, "shelf_cents") == total(sales, "sales_cents") + total(sales, "retail_discount_cents") + total(
        sales, "coupon_match_cents"
    )


@pytest.mark.parametrize(
    "rolled_up",
    [
        "dws.revenue_by_store_hour",
        "dws.revenue_by_household",
        "dws.basket_totals",
        "dws.revenue_by_department",
    ],
)
def test_a_roll_up_loses_no_cent_and_no_line(tables, rolled_up):
    sales, rows = tables["dwd.sales"], tables[rolled_up]
    assert total(rows, "revenue_cents") == total(sales, "sales_cents")
    assert total(rows, "discount_cents") == total(sales, "discount_cents")
    assert total(rows, "lines") == LINES


def test_households_as_arrow_groups_them(tables):
    expected = grouped(
        tables["dwd.sales"],
        ["household_id"],
        revenue_cents=("sales_cents", "sum"),
        discount_cents=("discount_cents", "sum"),
        lines=("", "count"),
        first_sold_at=("sold_at", "min"),
        last_sold_at=("sold_at", "max"),
    )
    assert_same_rows(tables["dws.revenue_by_household"], expected, key=["household_id"])


def test_store_hours_as_arrow_groups_them(tables):
    sales = tables["dwd.sales"]
    hours = sales.append_column("sold_hour", pc.floor_temporal(sales["sold_at"], unit="hour"))
    expected = grouped(
        hours,
        ["store_id", "sold_hour"],
        revenue_cents=("sales_cents", "sum"),
        discount_cents=("discount_cents", "sum"),
        units=("quantity", "sum"),
        lines=("", "count"),
    )
    assert_same_rows(tables["dws.revenue_by_store_hour"], expected, key=["store_id", "sold_hour"])


def test_a_basket_has_one_household_store_and_time(tables):
    keys = ["basket_id", "household_id", "store_id", "sold_at"]
    found = tables["dwd.sales"].group_by(keys).aggregate([])
    assert_same_rows(tables["dws.basket_totals"].select(keys), found, key=["basket_id"])


def test_alerts_are_the_baskets_that_meet_the_rule(tables):
    baskets = tables["dws.basket_totals"]
    unusual = pc.greater_equal(pc.multiply(baskets["discount_cents"], 10), pc.multiply(baskets["shelf_cents"], 6))
    expected = baskets.filter(pc.and_(unusual, pc.greater_equal(baskets["shelf_cents"], 2000)))
    alerts = tables["ads.discount_alerts"]
    assert_same_rows(alerts.drop(["discount_share"]), expected, key=["basket_id"])
    assert pc.min(alerts["discount_share"]).as_py() >= 0.6


def test_top_departments_are_ranked(tables):
    rows = tables["ads.top_departments"].sort_by("place").to_pylist()
    assert [row["place"] for row in rows] == list(range(1, 11))
    assert [row["revenue_cents"] for row in rows] == sorted((row["revenue_cents"] for row in rows), reverse=True)
    assert rows[0]["department"] == "GROCERY"
    assert rows[0]["revenue_share"] == round(rows[0]["revenue_cents"] / total(tables["dwd.sales"], "sales_cents"), 4)


def test_each_household_counts_for_its_earliest_campaign(tables):
    start = {row["campaign_id"]: row["start_date"] for row in tables["ods.campaign_descriptions"].to_pylist()}
    earliest: dict[int, tuple] = {}
    for row in tables["ods.campaigns"].to_pylist():
        touch = (start[row["campaign_id"]], row["campaign_id"])
        earliest[row["household_id"]] = min(touch, earliest.get(row["household_id"], touch))
    found = {r["household_id"]: (r["touched_at"], r["campaign_id"]) for r in tables["dwd.first_touches"].to_pylist()}
    assert found == earliest


def test_attributed_revenue_is_what_touched_households_bought_since(tables):
    touch = {r["household_id"]: (r["touched_at"], r["campaign_id"]) for r in tables["dwd.first_touches"].to_pylist()}
    expected: dict[int, int] = {}
    sales = tables["dwd.sales"].select(["household_id", "sold_at", "sales_cents"])
    per_moment = sales.group_by(["household_id", "sold_at"]).aggregate([("sales_cents", "sum")])
    for row in per_moment.to_pylist():
        touched_at, campaign = touch.get(row["household_id"], (None, None))
        if touched_at is not None and row["sold_at"] >= touched_at:
            expected[campaign] = expected.get(campaign, 0) + row["sales_cents_sum"]
    attributed = tables["dws.revenue_by_first_campaign"]
    assert dict(zip(*(attributed[c].to_pylist() for c in ("campaign_id", "revenue_cents")), strict=True)) == expected
    assert sum(expected.values()) == 284_994_119


def test_campaign_ranking_holds_every_campaign_that_was_first_somewhere(tables):
    ranking = tables["ads.campaign_ranking"]
    assert total(ranking, "households") == tables["dwd.first_touches"].num_rows
    assert total(ranking, "revenue_cents") == total(tables["dws.revenue_by_first_campaign"], "revenue_cents")
    rows = ranking.sort_by("place").to_pylist()
    assert [row["place"] for row in rows] == list(range(1, len(rows) + 1))
    assert [row["revenue_cents"] for row in rows] == sorted((row["revenue_cents"] for row in rows), reverse=True)


@pytest.mark.parametrize("name", READY)
def test_the_examples_of_ready_actions(spark, name):
    results = run_examples(spark, ready_action(name))
    assert results
    assert [result for result in results if not result.passed] == []
