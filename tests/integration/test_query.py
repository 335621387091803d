"""Queries over real tiers: the same answer wherever the rows lie, and nothing started for a wrong one."""

import pyarrow as pa
import pytest

from streamhouse.errors import QueryFailedError, QueryRefusedError, StoreUnavailableError
from streamhouse.jobs.query import Engine, QueryService, catalog_of, run_query
from streamhouse.model.plan import FlowPlan, PlannedStep, Segment
from streamhouse.model.table import Column, Table
from streamhouse.model.types import StepKind, Strategy, Tier
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.query.answer import answer
from streamhouse.query.parse import parse_query
from streamhouse.runtime.stores import open_stores
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.tiering.move import tier

pytestmark = [pytest.mark.services, pytest.mark.spark]

SALES = Table(
    name="dwd.query_sales",
    columns=(
        Column(name="id", type="bigint"),
        Column(name="Cents", type="int"),
        Column(name="price", type="decimal(12,2)"),
        Column(name="tags", type="array<string>"),
        Column(name="at", type="timestamp"),
        Column(name="s", type="struct<a:int,b:string>"),
    ),
    tiers={"hot": "1h", "cold": "forever"},
)
PRODUCTS = Table(
    name="ods.query_products",
    columns=(Column(name="id", type="bigint"), Column(name="name", type="string")),
    primary_key=("id",),
    tiers={"hot": "1h", "warm": "forever"},
)
LATER = Table(name="dws.query_later", columns=(Column(name="id", type="bigint"),), tiers={"warm": "1d", "cold": "1d"})
CATALOG = {table.name: table for table in (SALES, PRODUCTS, LATER)}


def sale(number):
    return {
        "id": number,
        "Cents": number * 100,
        "price": None,
        "tags": ["odd"] if number % 2 else [],
        "at": number * 3_600_000_000,
        "s": {"a": number, "b": "x"},
    }


def write(store, table, rows, epoch, deletes=None):
    schema = arrow_schema(table.columns)
    keys = pa.schema([schema.field(name) for name in table.primary_key])
    changes = Changes(
        pa.Table.from_pylist(rows, schema=schema), pa.Table.from_pylist(deletes, schema=keys) if deletes else None
    )
    store.write(table, changes, WriteContext(writer="test/query", epoch=epoch))


@pytest.fixture(scope="module")
def stores(fluss, spark, tmp_path_factory):
    """Ten sales, six of them in the lake, too; three products, one renamed and one gone since the lake saw them."""
    project = Project(tmp_path_factory.mktemp("project"), Settings())
    opened = open_stores(project, spark, fluss)
    for table in CATALOG.values():
        opened[table.tiers.target].create(table)
    hot = opened[Tier.HOT]
    write(hot, SALES, [sale(number) for number in range(6)], 0)
    write(hot, PRODUCTS, [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"id": 3, "name": "c"}], 0)
    tier(SALES, hot, opened[Tier.COLD])
    tier(PRODUCTS, hot, opened[Tier.WARM])
    write(hot, SALES, [sale(number) for number in range(6, 10)], 1)
    write(hot, PRODUCTS, [{"id": 2, "name": "B"}], 1, deletes=[{"id": 3}])
    yield opened
    for store in opened.values():
        store.close()


@pytest.fixture
def ask(stores, spark):
    def run(sql, **options):
        return answer(parse_query(sql, CATALOG), stores, spark, **options).to_pylist()

    return run


def test_a_name_reads_all_tiers_and_a_part_reads_one(ask):
    counts = "select count(*) as n from dwd.query_sales"
    assert ask(counts) == [{"n": 10}]
    assert ask(f"{counts}$hot") == [{"n": 10}]
    assert ask(f"{counts}$cold") == [{"n": 6}]
    assert ask(f"{counts}$lake") == [{"n": 6}]
    assert ask("select id, name from ods.query_products order by id") == [
        {"id": 1, "name": "a"},
        {"id": 2, "name": "B"},
    ]
    assert ask("select `query_products$warm`.name from ods.query_products$warm order by id") == [
        {"name": "a"},
        {"name": "b"},
        {"name": "c"},
    ]


def test_what_was_never_tiered_is_empty_in_the_lake(ask):
    assert ask("select count(*) as n from dws.query_later$cold") == [{"n": 0}]
    assert ask("select * from dws.query_later") == []


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("select sum(cents) / 100 as n from dwd.query_sales", [{"n": 45.0}]),
        ("select query_sales.s.a from dwd.query_sales where dwd.query_sales.id = 7", [{"a": 7}]),
        ("select * except (at, s, price) from dwd.query_sales where id = 1",
         [{"id": 1, "Cents": 100, "tags": ["odd"]}]),
        ("with c as (select * from dwd.query_sales) select max(id) as m from c where cents < 500", [{"m": 4}]),
        ("select count(*) as n from (select * from dwd.query_sales) a, (select * from ods.query_products) b",
         [{"n": 20}]),
        ("select id from dwd.query_sales$cold except select id from dwd.query_sales where id > 1 order by id",
         [{"id": 0}, {"id": 1}]),
        ("select p.name, count(*) as n from dwd.query_sales join ods.query_products p using (id) group by 1 order by 1",
         [{"name": "B", "n": 1}, {"name": "a", "n": 1}]),
        ("select tag, count(*) as n from dwd.query_sales lateral view explode(tags) t as tag group by tag",
         [{"tag": "odd", "n": 5}]),
        ("select date_format(at, 'HH:mm') as t from dwd.query_sales where at = timestamp '1970-01-01 03:00:00'",
         [{"t": "03:00"}]),
        ("select count(*) as n from (select * from dwd.query_sales order by 2 desc limit 3) where cents >= 700",
         [{"n": 3}]),
        ("select id from dwd.query_sales union all select id from ods.query_products order by id limit 3",
         [{"id": 0}, {"id": 1}, {"id": 1}]),
        ("select id from range(2) order by id", [{"id": 0}, {"id": 1}]),
    ],
)  # fmt: skip
def test_answers(ask, sql, rows):
    assert ask(sql) == rows


@pytest.mark.parametrize("last", ["QUALIFY {0} = 1", ") q WHERE q.n = 1"])
def test_the_newest_of_two_tables(ask, last):
    """Both have rows: Spark's optimiser fails at columns that are called again by their own names."""
    row = "ROW_NUMBER() OVER (PARTITION BY u.id ORDER BY u.name)"
    union = (
        "(SELECT p.id AS id, p.name AS name FROM ods.query_products p "
        "UNION ALL SELECT s.id AS id, s.s.b AS name FROM dwd.query_sales s) u"
    )
    select = f"SELECT u.id AS id, u.name AS name FROM {union} {last}"
    if not last.startswith("QUALIFY"):
        select = f"SELECT q.id, q.name FROM (SELECT u.id AS id, u.name AS name, {row} AS n FROM {union}{last}"
    found = {one["id"]: one["name"] for one in ask(select.format(row))}
    assert found == {1: "a", 2: "B"} | dict.fromkeys([0, *range(3, 10)], "x")


def test_a_limit_keeps_the_order(ask):
    assert ask("select id from dwd.query_sales order by id desc", limit=2) == [{"id": 9}, {"id": 8}]
    assert ask("select id from dwd.query_sales", limit=0) == []


def test_no_view_is_left_behind(ask, spark):
    def views():
        return {view.name for view in spark.catalog.listTables() if view.isTemporary}

    before = views()  # other tests share the session
    ask("select count(*) from dwd.query_sales")
    with pytest.raises(QueryFailedError):
        ask("select 1 / (id - 1) from dwd.query_sales")
    assert views() == before


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("select id, cents from dwd.query_sales group by id", "SH601 Spark refuses the query: "),
        ("select tag\nfrom dwd.query_sales lateral view explode(tags) t as tag\nwhere tga = 1", "query:3:7: SH601 "),
        ("select no_such_function(id) from dwd.query_sales", "query:1:8: SH601 unknown function "),
        ("select id + tags from dwd.query_sales", "SH601 Spark refuses the query: "),
    ],
)
def test_what_spark_refuses(ask, sql, error):
    with pytest.raises(QueryRefusedError) as refused:
        ask(sql)
    text = str(refused.value)
    assert text.startswith(error)
    assert not any(noise in text for noise in ("SQLSTATE", "streamhouse_", "pos ", "'Project", "JVM"))


@pytest.mark.parametrize("sql", ["select 1 / (id - 1) from dwd.query_sales", "select cast('x' as int)"])
def test_what_fails_on_a_row(ask, sql):
    with pytest.raises(QueryFailedError, match="SH602 the query fails: ") as failed:
        ask(sql)
    assert "SQLSTATE" not in str(failed.value)


# --- in a project -----------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path):
    """A project in which a flow ran once."""
    made = Project(tmp_path, Settings.model_validate({"spark": {"master": "local[2]"}}))
    steps = tuple(
        PlannedStep(
            action="a",
            version="1.0.0",
            kind=StepKind.CLEAN,
            reads=(),
            writes=table,
            sql="SELECT 1",
            strategy=Strategy.MAP,
            reason="test",
        )
        for table in CATALOG.values()
    )
    with made.state() as state:
        state.save_plan(FlowPlan(flow="f", sources=(), segments=(Segment(name="main", steps=steps),)))
    return made


def test_a_project_knows_the_tables_of_flows_that_ran(project, tmp_path_factory):
    assert catalog_of(project) == CATALOG
    fresh = Project(tmp_path_factory.mktemp("fresh"), Settings())
    assert catalog_of(fresh) == {}
    assert not fresh.state_dir.exists()


def test_a_wrong_query_starts_nothing(project, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", "/nonexistent")
    told = []
    with pytest.raises(QueryRefusedError, match="did you mean 'cents'"):
        run_query(project, "select cent from dwd.query_sales", say=told.append)
    assert told == []


def test_a_query_of_the_lake_needs_no_fluss(project, spark):
    stores = open_stores(project, spark, None, [Tier.WARM])
    stores[Tier.WARM].create(LATER)
    write(stores[Tier.WARM], LATER, [{"id": 1}, {"id": 2}], 0)
    told = []
    result = run_query(project, "select sum(id) as n from dws.query_later$warm", say=told.append)
    assert result.to_pylist() == [{"n": 3}]
    assert told == []  # nor Spark
    with QueryService(project, say=told.append) as asking:
        answer = asking.ask("select upper(cast(sum(id) as string)) as n from dws.query_later$warm", measure=True)
    assert (answer.rows.to_pylist(), answer.engine, answer.reason) == ([{"n": "3"}], "Spark", "UPPER")
    assert told == ["starting Spark", "running the query"]
    (read,) = answer.reads
    assert (read.columns, read.rows, read.files, read.of_files) == (("id",), 2, 1, 1)
    assert not (project.state_dir / "fluss").exists()
    assert spark.sql("select 1").count() == 1  # a session that was there before stays


def test_a_query_of_hot_and_cold_needs_no_spark(project, stores, fluss, spark):
    cold = {"warehouse": spark.conf.get("spark.sql.catalog.cold.warehouse")}
    settings = Settings.model_validate({"fluss": fluss, "cold": cold})
    told = []
    with QueryService(Project(project.root, settings), say=told.append) as asking:
        for sql, rows in (
            ("select count(*) as n, sum(cents) as cents from dwd.query_sales", [{"n": 10, "cents": 4500}]),
            ("select id, at from dwd.query_sales where id in (5, 6) order by id", None),
            ("select max(id) as id from dwd.query_sales$cold", [{"id": 5}]),
            ("select kind, sum(added_rows) as n from dwd.query_sales$lake$snapshots group by kind order by kind", None),
            ("select sum(rows) as n from dwd.query_sales$files", [{"n": 6}]),
            ("select count(*) as n from dws.query_later$cold", [{"n": 0}]),
        ):
            answer = asking.ask(sql, measure=True)
            assert (answer.engine, told) == ("this process", [])
            assert rows is None or answer.rows.to_pylist() == rows
            there = asking.ask(sql, engine=Engine.SPARK, measure=True)
            assert there.rows.to_pylist() == answer.rows.to_pylist()
            assert [read.files for read in there.reads] == [read.files for read in answer.reads]
            told.clear()
        nested = asking.ask("select id from dwd.query_sales where tags is null")
        assert (nested.engine, nested.reason) == ("Spark", "column tags of the cold tier is array<string>")


def test_a_store_that_is_away_is_told(project, spark):
    away = project.settings.model_copy(update={"fluss": "localhost:1"})
    with pytest.raises(StoreUnavailableError):
        run_query(Project(project.root, away), "select count(*) from dwd.query_sales$hot")
