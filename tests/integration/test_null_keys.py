"""Keys and partitions that are NULL: after each part of the rows, every tier has what one batch of Spark gives."""

import pytest

from streamhouse.ingest.kinds import open_source
from streamhouse.jobs.run import Meter, carry
from streamhouse.model.types import Strategy
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.query.answer import answer
from streamhouse.query.parse import parse_query
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from streamhouse.spark.shortcuts import Shortcuts, shortcuts_of, use_shortcuts
from streamhouse.tiering.move import tier_all
from streamhouse.tiering.union import union_frame, union_read
from tests.gate.levels import deep, soak
from tests.oracle import assert_same_rows, batch

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep(
        "rows over executors and the public ways; Spark in the driver stays",
        only=(
            "test_every_tier_has_what_the_batch_gives[executors]",
            "test_every_tier_has_what_the_batch_gives[public]",
        ),
    ),
]

HEADER = "/* ---\naction: {name}\nstep: {step}\ninputs: {inputs}\noutput: {{primary_key: [{key}]}}\n--- */\n{sql}\n"
ORDERS, CUSTOMERS = "{order_id: bigint, customer: string, cents: bigint}", "{customer: string, city: string}"
TOTALS = "{customer: string, cents: bigint, n: bigint}"
BOTH = f"{{orders: {ORDERS}, customers: {CUSTOMERS}}}"
ACTIONS = {
    "keep_orders": ("ingest", f"{{orders: {ORDERS}}}", "order_id", "SELECT order_id, customer, cents FROM orders"),
    "dated": (
        "ingest",
        f"{{orders: {ORDERS}}}",
        "day, order_id",
        "SELECT order_id, CASE WHEN cents > 50 THEN DATE'2026-01-01' WHEN cents > 20 THEN DATE'9999-12-31' END AS day,"  # noqa: ISC004  one query in two lines
        " cents FROM orders",
    ),
    "logged": (
        "ingest",
        f"{{orders: {ORDERS}}}",
        "",
        "SELECT order_id, CASE WHEN cents > 50 THEN 1 WHEN cents > 20 THEN 0 END AS part, customer FROM orders",
    ),
    "keep_customers": ("ingest", f"{{rows: {CUSTOMERS}}}", "customer", "SELECT customer, city FROM rows"),
    "seen": (
        "ingest",
        f"{{orders: {ORDERS}}}",
        "customer",
        "SELECT customer, SUM(cents) AS cents, COUNT(*) AS n FROM orders GROUP BY customer",
    ),
    "totals": (
        "aggregate",
        f"{{orders: {ORDERS}}}",
        "customer",
        "SELECT customer, SUM(cents) AS cents, COUNT(*) AS n FROM orders GROUP BY customer",
    ),
    "by_city": (
        "aggregate",
        BOTH,
        "city",
        "SELECT c.city, SUM(o.cents) AS cents, COUNT(*) AS n FROM orders AS o"  # noqa: ISC004  one query in two lines
        " LEFT JOIN customers AS c ON c.customer = o.customer GROUP BY c.city",
    ),
    "rolled": (
        "aggregate",
        f"{{orders: {ORDERS}}}",
        "customer, big, g",
        "SELECT customer, big, GROUPING_ID() AS g, COUNT(*) AS n FROM"  # noqa: ISC004  one query in two lines
        " (SELECT customer, cents > 50 AS big FROM orders) GROUP BY ROLLUP(customer, big)",
    ),
    "pairs": (
        "clean",
        f"{{orders: {ORDERS}}}",
        "customer, cents",
        "SELECT DISTINCT customer, cents FROM orders",
    ),
    "whole": (
        "clean",
        BOTH,
        "order_id, customer",
        "SELECT o.order_id, c.customer, c.city FROM orders AS o FULL JOIN customers AS c ON c.customer = o.customer",
    ),
    "several": ("customize", f"{{totals: {TOTALS}}}", "customer", "SELECT customer, n FROM totals WHERE n > 1"),
    "ranked": (
        "customize",
        f"{{totals: {TOTALS}}}",
        "customer",
        "SELECT customer, n, ROW_NUMBER() OVER (ORDER BY n DESC, customer) AS place FROM totals",
    ),
    "both": (
        "customize",
        f"{{totals: {TOTALS}, seen: {TOTALS}}}",
        "customer",
        "SELECT t.customer, t.n, s.n AS seen FROM totals AS t JOIN seen AS s ON s.customer <=> t.customer",
    ),
}
FLOW = f"""\
flow: nulls
max_rows_per_epoch: 3
local_epoch_rows: LOCAL_ROWS
sources:
  orders: {{files: {{path: data/orders/*.csv, columns: {ORDERS}}}}}
  customers: {{files: {{path: data/customers/*.csv, columns: {CUSTOMERS}}}}}
tables:
  ods.nk_dated: {{partition_by: [day], tiers: {{hot: forever, warm: 30d, cold: forever}}}}
  ods.nk_log: {{partition_by: [part], tiers: {{hot: 7d, warm: 30d, cold: forever}}}}
  ods.nk_seen: {{tiers: {{hot: 7d, warm: 30d, cold: forever}}}}
  dws.nk_totals: {{tiers: {{hot: 7d, warm: 30d, cold: forever}}}}
  dws.nk_cities: {{tiers: {{cold: forever}}}}
  dws.nk_rolled: {{tiers: {{warm: 30d, cold: forever}}}}
  dwd.nk_pairs: {{tiers: {{warm: forever}}}}
steps:
  - {{use: keep_orders, reads: {{orders: orders}}, writes: ods.nk_orders}}
  - {{use: dated, reads: {{orders: orders}}, writes: ods.nk_dated}}
  - {{use: logged, reads: {{orders: orders}}, writes: ods.nk_log}}
  - {{use: keep_customers, reads: {{rows: customers}}, writes: ods.nk_customers}}
  - {{use: seen, reads: {{orders: orders}}, writes: ods.nk_seen}}
  - {{use: totals, reads: {{orders: ods.nk_orders}}, writes: dws.nk_totals}}
  - {{use: by_city, reads: {{orders: ods.nk_orders, customers: ods.nk_customers}}, writes: dws.nk_cities}}
  - {{use: rolled, reads: {{orders: ods.nk_orders}}, writes: dws.nk_rolled}}
  - {{use: pairs, reads: {{orders: ods.nk_orders}}, writes: dwd.nk_pairs}}
  - {{use: whole, reads: {{orders: ods.nk_orders, customers: ods.nk_customers}}, writes: dwd.nk_whole}}
  - {{use: several, reads: {{totals: dws.nk_totals}}, writes: ads.nk_several}}
  - {{use: ranked, reads: {{totals: dws.nk_totals}}, writes: ads.nk_ranked}}
  - {{use: both, reads: {{totals: dws.nk_totals, seen: ods.nk_seen}}, writes: ads.nk_both}}
"""
PARTS = [
    (["1,ann,60", "2,,60", "3,bob,10", "4,,5", ",zed,8", "0,zed,40"], ["ann,oslo", "bob,rome", "eve,"]),
    (["2,ann,60", "3,,200"], ["bob,oslo"]),  # one order leaves the group of NULL, and one comes
    (["3,bob,1", "4,ann,30", ",zed,9"], []),  # nothing is left of it; the last row without a key is another
    (["5,new,70", "1,,99", ",,"], ["new,"]),  # it comes back
    ([], ["eve,bern", "new,oslo"]),
]


@pytest.fixture(params=["local", pytest.param("executors", marks=soak), "public"])
def project(tmp_path, fluss, request, spark):
    before = shortcuts_of(spark)
    if request.param == "public":  # through Spark's public ways alone
        use_shortcuts(spark, Shortcuts(frozenset()))
    for folder in ("actions", "flows", "data/orders", "data/customers"):
        (tmp_path / folder).mkdir(parents=True)
    for name, (step, inputs, key, sql) in ACTIONS.items():
        text = HEADER.format(name=name, step=step, inputs=inputs, key=key, sql=sql)
        (tmp_path / "actions" / f"{name}.sql").write_text(text)
    rows = "0" if request.param == "executors" else "50000"
    (tmp_path / "flows" / "nulls.yaml").write_text(FLOW.replace("LOCAL_ROWS", rows))
    yield Project(tmp_path, Settings(fluss=fluss))
    use_shortcuts(spark, before)


def test_every_tier_has_what_the_batch_gives(project, spark, fluss):
    stores, plan = open_stores(project, spark, fluss), None
    try:
        for number, parts in enumerate(PARTS):
            for name, header, rows in zip(
                ("orders", "customers"), ("order_id,customer,cents", "customer,city"), parts, strict=True
            ):
                (project.root / "data" / name / f"{number}.csv").write_text("\n".join([header, *rows]) + "\n")
            plan = plan_of(project, "nulls")
            with project.state() as state:
                open_ = Open(project, spark, fluss, stores, state)
                carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True)
            if number % 2:
                tier_all(plan, stores)
            check(spark, project, plan, stores, f"after part {number}")
        assert {step.strategy for step in plan.steps} == set(Strategy)
        nulls = {name: table.null_keys for name, table in plan.tables.items() if table.null_keys}
        assert nulls == {
            "ods.nk_orders": ("order_id",),
            "ods.nk_customers": ("customer",),
            "ods.nk_dated": ("day", "order_id"),
            "ods.nk_log": ("part",),
            "ods.nk_seen": ("customer",),
            "dws.nk_totals": ("customer",),
            "dws.nk_cities": ("city",),
            "dws.nk_rolled": ("customer", "big"),
            "dwd.nk_pairs": ("customer", "cents"),
            "dwd.nk_whole": ("order_id", "customer"),
            "ads.nk_several": ("customer",),
            "ads.nk_ranked": ("customer",),
            "ads.nk_both": ("customer",),
        }
    finally:
        for table in plan.tables.values() if plan else ():
            for tier in table.tiers.present:
                stores[tier].drop(table.name)
        for store in stores.values():
            store.close()


def duckdb_rows(rows, condition):
    import duckdb

    return duckdb.sql(f"SELECT * FROM rows WHERE {condition}").to_arrow_table().cast(rows.schema)


def check(spark, project, plan, stores, when):
    sources = {source.name: open_source(source, project.root) for source in plan.sources}
    rows = {name: source.read({}, source.available()) for name, source in sources.items()}
    for name, expected in batch(spark, plan, rows).items():
        table = plan.tables[name]
        key = table.primary_key
        assert_same_rows(stores[table.tiers.target].read_state(table), expected, key=key, name=f"{name} {when}")
        lake = len(table.tiers.present) > 1
        assert_same_rows(union_read(table, stores, through_lake=lake), expected, key=key, name=f"{name} {when}, union")
        for name_of_key in table.null_keys[:1]:
            for condition in (f"{name_of_key} IS NULL", f"{name_of_key} = {name_of_key}", "TRUE"):
                query = parse_query(f"SELECT * FROM {name} WHERE {condition}", plan.tables)
                found = duckdb_rows(expected, condition)
                assert_same_rows(answer(query, stores, spark), found, key=key, name=f"{name} {when}, {condition}")
        if table.null_keys and lake:
            through_spark = union_frame(spark, table, stores, through_lake=True).toArrow()
            assert_same_rows(through_spark, expected, key=key, name=f"{name} {when}, by Spark")
