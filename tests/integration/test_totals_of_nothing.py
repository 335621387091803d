"""Totals of all rows, where there is none yet, some, none any more: in each tier and after each part as the batch."""

import json

import pyarrow as pa
import pytest

from streamhouse.jobs.run import Meter, carry
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from streamhouse.runtime.stores import open_stores
from streamhouse.spark.shortcuts import Shortcuts, shortcuts_of, use_shortcuts
from streamhouse.stores.arrow import arrow_schema, conform
from tests.gate.levels import deep, soak
from tests.oracle import assert_same_rows, batch

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep("every tier, a log too, and the public ways", stays=("test_a_total_is_that_of_the_batch[few]",)),
]

HEADER = (
    "/* ---\naction: {name}\nstep: {step}\ninputs: {{rows: {columns}}}\noutput: {{primary_key: [{key}]}}\n--- */\n"
    "{sql}\n"
)
COLUMNS = "{id: bigint, cents: bigint, day: date}"
TOTAL = "SELECT 'all' AS k, COUNT(*) AS n, SUM(cents) AS cents, MAX(day) AS day FROM rows"
SHOWN = "{k: string, n: bigint, cents: bigint, day: date}"
ACTIONS = {
    "keep": ("ingest", COLUMNS, "id", "SELECT id, cents, day FROM rows"),
    "first_total": ("ingest", COLUMNS, "k", TOTAL),
    "total": ("aggregate", COLUMNS, "k", TOTAL),
    "distinct": ("aggregate", COLUMNS, "k", "SELECT 1 AS k, COUNT(DISTINCT cents) AS n, AVG(cents) AS mean FROM rows"),
    "few": ("aggregate", COLUMNS, "k", f"{TOTAL} HAVING COUNT(*) < 2"),
    "many": ("aggregate", COLUMNS, "k", f"{TOTAL} WHERE cents > 100"),
    "nothing": ("customize", SHOWN, "k", "SELECT k, n FROM rows WHERE cents IS NULL"),
    "by_day": ("aggregate", COLUMNS, "day", "SELECT day, COUNT(*) AS n FROM rows GROUP BY day"),
}
TIERS = {"hot": "{hot: 7d}", "warm": "{warm: forever}", "cold": "{cold: forever}"}
SOURCES = {"lines": "files: {path: data/lines/*.csv", "orders": "cdc: {primary_key: [id], path: data/orders/*.jsonl"}
PARTS = [
    ([], []),
    ([], []),  # nothing new either
    (["1,50,2026-01-31", "2,,2026-02-01"], [("c", 1, 50), ("c", 2, None), ("c", 3, 500)]),
    (["3,500,"], [("u", 1, 70), ("d", 2, None)]),
    ([], [("d", 1, None), ("d", 3, None)]),  # the last are deleted
    (["4,-5,2026-01-30"], [("c", 9, 9)]),
]


def flow(*, few: bool) -> str:
    """All of it, or without logs and the cold tier."""
    steps, tables = [], []

    def step(action: str, reads: str, writes: str, tier: str) -> None:
        steps.append(f"  - {{use: {action}, reads: {{rows: {reads}}}, writes: {writes}}}")
        tables.append(f"  {writes}: {{tiers: {TIERS[tier]}}}")

    for source in ("orders",) if few else SOURCES:
        for tier in ("hot", "warm") if few else TIERS:
            name = f"nt_{source}_{tier}"
            step("keep", source, f"ods.{name}", tier)
            if tier == "warm":
                step("first_total", source, f"ods.{name}_first", tier)
            step("total", f"ods.{name}", f"dws.{name}", tier)
    step("distinct", "ods.nt_orders_hot", "dws.nt_distinct", "hot")
    step("few", "ods.nt_orders_warm", "dws.nt_few", "warm")
    step("many", "ods.nt_orders_hot", "dws.nt_many", "hot" if few else "cold")
    step("by_day", "ods.nt_orders_warm", "dws.nt_by_day", "warm")
    step("nothing", "dws.nt_orders_warm", "ads.nt_nothing", "warm")
    sources = "".join(f"  {name}: {{{options}, columns: {COLUMNS}}}}}\n" for name, options in SOURCES.items())
    listed = ["steps:", *steps, "tables:", *tables]
    return f"flow: totals\nmax_rows_per_epoch: 2\nsources:\n{sources}" + "\n".join(listed) + "\n"


@pytest.fixture(params=["few", "shortcuts", pytest.param("public", marks=soak)])
def project(tmp_path, fluss, request, spark):
    before = shortcuts_of(spark)
    if request.param == "public":  # through Spark's public ways alone
        use_shortcuts(spark, Shortcuts(frozenset()))
    (tmp_path / "actions").mkdir()
    for name, (step, columns, key, sql) in ACTIONS.items():
        text = HEADER.format(name=name, step=step, columns=columns, key=key, sql=sql)
        (tmp_path / "actions" / f"{name}.sql").write_text(text)
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "totals.yaml").write_text(flow(few=request.param == "few"))
    for folder in SOURCES:
        (tmp_path / "data" / folder).mkdir(parents=True)
    yield Project(tmp_path, Settings(fluss=fluss))
    use_shortcuts(spark, before)


def event(op, id_, cents):
    row = {"id": id_, "cents": cents, "day": 20_000 + id_}
    after = None if op == "d" else row
    return {
        "before": {"id": id_} if op != "c" else None,
        "after": after,
        "op": op,
        "source": {"table": "t"},
        "ts_ms": 1,
    }


def test_a_total_is_that_of_the_batch(project, spark, fluss):
    stores = open_stores(project, spark, fluss)
    plan = plan_of(project, "totals")
    lines, orders = [], {}
    try:
        for number, (more, events) in enumerate(PARTS):
            if more or not number:
                text = "\n".join(["id,cents,day", *more]) + "\n"  # the first has nothing but its first line
                (project.root / "data" / "lines" / f"{number}.csv").write_text(text)
            if events:
                text = "".join(f"{json.dumps(event(*one))}\n" for one in events)
                (project.root / "data" / "orders" / f"{number}.jsonl").write_text(text)
            lines += [
                dict(zip(("id", "cents", "day"), (x or None for x in one.split(",")), strict=True)) for one in more
            ]
            for op, id_, cents in events:
                orders.pop(id_, None)
                if op != "d":
                    orders[id_] = {"id": id_, "cents": cents, "day": 20_000 + id_}
            with project.state() as state:
                open_ = Open(project, spark, fluss, stores, state)
                carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True)
            typed = pa.Table.from_pylist(lines, pa.schema([(n, pa.string()) for n in ("id", "cents", "day")]))
            columns = {source.name: source.columns for source in plan.sources}
            every = {
                "lines": typed.cast(arrow_schema(columns["orders"])),
                "orders": conform(
                    pa.Table.from_pylist(list(orders.values()), arrow_schema(columns["orders"])), columns["orders"]
                ),
            }
            sources = {name: every[name] for name in columns}
            for name, expected in batch(spark, plan, sources).items():
                table = plan.tables[name]
                actual = stores[table.tiers.target].read_state(table)
                assert_same_rows(actual, expected, key=table.primary_key, name=f"{name} after part {number}")
                if number < 2 and tuple(table.column_names) == ("k", "n", "cents", "day") and "_many" not in name:
                    assert actual.to_pylist() == [{"k": "all", "n": 0, "cents": None, "day": None}]
        assert {table.tiers.target for table in plan.tables.values()} >= {Tier.HOT, Tier.WARM}
    finally:
        for table in plan.tables.values():
            stores[table.tiers.target].drop(table.name)
        for store in stores.values():
            store.close()
