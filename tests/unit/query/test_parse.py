"""Reading a query: what it needs, and what is refused before anything starts."""

from datetime import UTC, datetime

import pytest
from sqlglot.optimizer.qualify import qualify

from streamhouse.errors import QueryRefusedError
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Tier
from streamhouse.query.parse import needed_tiers, parse_query
from streamhouse.query.reading import smallest_column
from streamhouse.sql.dialect import render
from tests.tables import each


def table(name, columns, key=(), **tiers):
    return Table(
        name=name,
        columns=tuple(Column(name=column, type=kind) for column, kind in columns.items()),
        primary_key=key,
        tiers=tiers,
    )


SALES = table(
    "dwd.sales",
    {"id": "bigint", "Amount": "decimal(12,2)", "tags": "array<string>", "s": "struct<a:int,b:string>", "at": "date"},
    hot="1h",
    cold="forever",
)
PRODUCTS = table("ods.products", {"id": "bigint", "name": "string"}, key=("id",), hot="1h", warm="30d")
OLD = table("dws.old", {"id": "bigint", "n": "int"}, cold="forever")
FRESH = table("ods.fresh", {"id": "bigint"}, hot="1h")
PARTS = ", ".join(
    f"ods.products.{part}"
    for part in (
        *("hot", "warm", "lake", "changes", "history", "stored", "files"),
        *("lake.files", "lake.snapshots", "warm.files", "warm.snapshots"),
    )
)
CATALOG = {one.name: one for one in (SALES, PRODUCTS, OLD, FRESH)}
ALL = SALES.column_names


@each(
    ("sql", "needed"),
    [
        ("select count(*) from dwd.sales", {"dwd.sales": ()}),
        ("select count(1) from dwd.sales", {"dwd.sales": ()}),
        ("select count(*) from (select * from dwd.sales) t", {"dwd.sales": ()}),
        ("select AMOUNT from DWD.Sales", {"dwd.sales": ("Amount",)}),
        ("select dwd.sales.amount from dwd.sales where sales.id > 1", {"dwd.sales": ("id", "Amount")}),
        ("select s.a from dwd.sales", {"dwd.sales": ("s",)}),
        ("select s.a from dwd.sales s", {"dwd.sales": ("s",)}),
        (
            "select s.id, q.id as other from ods.products s, lateral (select id from dwd.sales z where id = s.id) q",
            {"dwd.sales": ("id", "s"), "ods.products": ("id",)},
        ),
        ("select * from dwd.sales", {"dwd.sales": ALL}),
        ("select * except (tags, s) from dwd.sales", {"dwd.sales": ALL}),  # Spark wants to know what it leaves out
        ("with c as (select * from dwd.sales) select id from c", {"dwd.sales": ("id",)}),
        ("with c as (select id, at from dwd.sales) select id from c", {"dwd.sales": ("id", "at")}),
        ("with sales as (select 1 as id) select id from sales", {}),
        ("select id from dwd.sales order by amount", {"dwd.sales": ("id", "Amount")}),
        ("select id, tag from dwd.sales lateral view explode(tags) t as tag", {"dwd.sales": ("id", "tags")}),
        ("select filter(tags, (x, i) -> i > id) from dwd.sales", {"dwd.sales": ("id", "tags")}),
        ("select timestampdiff(month, at, at) from dwd.sales", {"dwd.sales": ("at",)}),
        ("select id + 1 as j, j * 2 from dwd.sales", {"dwd.sales": ("id",)}),
        ("select sum(amount) as n from dwd.sales having n > 1 order by n", {"dwd.sales": ("Amount",)}),
        ("select id from dwd.sales union select id from ods.products order by id",
         {"dwd.sales": ("id",), "ods.products": ("id",)}),
        ("select name from ods.products p where exists (select 1 from dwd.sales s where s.id = p.id and s.amount > 1)",
         {"dwd.sales": ("id", "Amount"), "ods.products": ("id", "name")}),
        ("select count(*) from dwd.sales join ods.products using (id)",
         {"dwd.sales": ("id",), "ods.products": ("id",)}),
        ("select count(*) from dwd.sales natural join ods.products",
         {"dwd.sales": ("id",), "ods.products": ("id",)}),
        # Whatever depends on the number or place of the columns gets all of them.
        ("select count(*) from (select * from dwd.sales order by 2 limit 3)", {"dwd.sales": ALL}),
        ("select count(*) from (select distinct * from dwd.sales)", {"dwd.sales": ALL}),
        ("select count(distinct *) from dwd.sales", {"dwd.sales": ALL}),
        ("select struct(*) from dwd.sales", {"dwd.sales": ALL}),
        ("select * from dwd.sales pivot (sum(amount) for id in (1, 2))", {"dwd.sales": ALL}),
        ("select a from (select * from dwd.sales) t(a, b, c, d, e)", {"dwd.sales": ALL}),
        ("select q.amount from dwd.sales q(amount, id, a, b, c)", {"dwd.sales": ALL}),
        ("select q.x from ods.products p join dws.old q(x, y) on p.id = q.x",
         {"ods.products": ("id", "name"), "dws.old": ("id", "n")}),
        ("select count(*) from (select * from dwd.sales union all select * from dwd.sales)", {"dwd.sales": ALL}),
        # One tier of a table is a table of its own.
        ("select id from dwd.sales$cold", {"dwd.sales$cold": ("id",)}),
        ("select id from dwd.`sales$cold` where id > 1", {"dwd.sales$cold": ("id",)}),
        ("select h.id from dwd.sales$hot h join dwd.sales l on h.id = l.id and l.amount > 1",
         {"dwd.sales$hot": ("id",), "dwd.sales": ("id", "Amount")}),
        ("select 1", {}),
        ("select id from range(5)", {}),
        ("with recursive r(n) as (select 1 union all select n + 1 from r where n < 5) select n from r", {}),
        ("select id from dwd.sales;", {"dwd.sales": ("id",)}),
    ],
)  # fmt: skip
def test_only_the_columns_used_are_read(sql, needed) -> None:
    assert {use.name: use.columns for use in parse_query(sql, CATALOG).uses} == needed


@pytest.mark.parametrize(
    ("sql", "tiers"),
    [
        ("select * from dws.old", {Tier.COLD}),
        ("select * from dwd.sales", {Tier.HOT, Tier.COLD}),
        ("select * from dwd.sales$lake", {Tier.COLD}),
        ("select * from dwd.sales$hot", {Tier.HOT}),
        ("select * from ods.products", {Tier.HOT}),
        ("select * from ods.products$lake", {Tier.WARM}),
        ("select * from ods.products$warm, dws.old", {Tier.WARM, Tier.COLD}),
        ("select 1", set()),
    ],
)
def test_only_the_tiers_needed_are_opened(sql, tiers) -> None:
    assert needed_tiers(parse_query(sql, CATALOG)) == tiers


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("select amunt from dwd.sales", "query:1:8: SH601 unknown column 'amunt'\n  hint: did you mean 'amount'?"),
        ("select\n  id,\n  sales.amnt\nfrom dwd.sales",
         "query:3:3: SH601 unknown column 'sales.amnt'\n  hint: did you mean 'amount'?"),
        ("select id from dwd.sales where x.id = 1",
         "query:1:32: SH601 unknown column 'x.id'\n  hint: did you mean 'id'?"),
        ("with c as (select id from dwd.sales) select zz from c",
         "query:1:45: SH601 unknown column 'zz'\n  hint: columns: id"),
        ("select (select max(p.foo) from ods.products p where p.id = sales.id) from dwd.sales",
         "query:1:20: SH601 unknown column 'p.foo'\n  hint: columns: id, name"),
        ("select id from dwd.sale", "query:1:16: SH601 unknown table 'dwd.sale'\n  hint: did you mean 'dwd.sales'?"),
        ("select id from sales", "query:1:16: SH601 unknown table 'sales'\n  hint: did you mean 'dwd.sales'?"),
        ("select id from cold.dwd.sales",
         "query:1:16: SH601 unknown table 'cold.dwd.sales'\n  hint: did you mean 'dwd.sales'?"),
        ("select * from parquet.`/etc`",
         "query:1:15: SH601 unknown table 'parquet./etc'\n  hint: tables: dwd.sales, dws.old, ods.fresh, ods.products"),
        ("select id from ods.products$cold",
         f"query:1:20: SH601 'ods.products' has no cold tier; its tiers: hot, warm\n  hint: it has {PARTS}"),
        ("select id from dwd.sales$chages",
         "query:1:20: SH601 'dwd.sales' has no part '$chages'\n  hint: did you mean 'dwd.sales.changes'?"),
        ("select id from dwd.sales$lake$snapshot",
         ("query:1:20: SH601 'dwd.sales' has no part '$lake$snapshot'\n"
          "  hint: did you mean 'dwd.sales.lake.snapshots'?")),
        ("select * from dwd.sales$snapshots",
         ("query:1:19: SH601 'dwd.sales' has several tiers, and only lakes have snapshots\n"
         "  hint: ask dwd.sales.lake.snapshots")),
        ("select * from ods.fresh$files",
         ("query:1:19: SH601 only lakes have files, and 'ods.fresh' has none; its tiers: hot\n"
         "  hint: it has ods.fresh.hot, ods.fresh.changes, ods.fresh.history, ods.fresh.stored")),
        ("select * from ods.fresh$lake",
         ("query:1:19: SH601 'ods.fresh' has no lake; its tiers: hot\n"
         "  hint: it has ods.fresh.hot, ods.fresh.changes, ods.fresh.history, ods.fresh.stored")),
        ("select * from dwd.sales__v2",
         "query:1:15: SH601 unknown table 'dwd.sales__v2'\n  hint: did you mean 'dwd.sales'?"),
        # moments
        ("select id from ods.fresh version as of 3",
         ("query:1:16: SH601 'ods.fresh' has no versions: they are snapshots of a lake, and its tier is hot\n"
         "  hint: ask for TIMESTAMP AS OF or AS OF EPOCH")),
        ("select id from dwd.sales version as of 'x'",
         ("query:1:16: SH601 'x' is no version\n"
         "  hint: a version is the number of a snapshot, or 'v2.3' for snapshot 3 of version 2: "
         "see table.lake.snapshots")),
        ("select id from dwd.sales timestamp as of 'yesterday'",
         ("query:1:16: SH601 'yesterday' is no time\n"
         "  hint: write it as '2026-01-31 12:00:00', in UTC unless it ends with an offset such as +02:00")),
        ("select id from dwd.sales$lake as of epoch 3",
         ("query:1:31: SH601 epochs are of the hot tier, which the flow writes, and not of 'dwd.sales$lake'\n"
         "  hint: ask for VERSION AS OF or TIMESTAMP AS OF, or for the table without $")),
        ("select 1 from dwd.sales as of epoch 3 join dws.old as of epoch 4",
         ("query:1:52: SH601 two different AS OF EPOCH: epoch 3 and epoch 4\n"
         "  hint: it counts for all tables of the query")),
        ("select * from dwd.sales$files version as of 3",
         ("query:1:15: SH601 'dwd.sales$files' is a list as of now\n"
         "  hint: filter it: WHERE snapshot <= 3, WHERE epoch <= 12")),
        ("select id from dwd.sales since epoch 3",
         ("query:1:26: SH601 SINCE is for the changes of a table\n"
         "  hint: ask layer.table.changes SINCE …; a shell takes $changes in double quotes for a variable of its own")),
        ("select id from dwd.sales as of epoch x",
         ("query:1:26: SH601 'x' is no epoch\n"
         "  hint: write VERSION AS OF 3, TIMESTAMP AS OF '2026-01-31 12:00:00', or AS OF EPOCH 12 for all tables")),
        ("select id from dwd.sales version as of 'v1.\u0663'",
         ("query:1:16: SH601 'v1.\u0663' is no version\n  hint: a version is the number of a snapshot, "
          "or 'v2.3' for snapshot 3 of version 2: see table.lake.snapshots")),
        ("delete from dwd.sales",
         "query:1:1: SH601 DELETE is no query\n  hint: write one SELECT statement; data is changed by flows only"),
        ("  show tables",
         "query:1:3: SH601 SHOW is no query\n  hint: write one SELECT statement; data is changed by flows only"),
        ("select 1; drop table dwd.sales",
         "query:1:9: SH601 more than one statement\n  hint: write one SELECT statement; data is changed by flows only"),
        (" ", "SH601 the query is empty\n  hint: write one SELECT statement; data is changed by flows only"),
        ("select reflect('java.lang.System', 'exit', 0)",
         ("query:1:8: SH601 reflect() does more than compute with values: it runs code that is no SQL\n"
         "  hint: only functions built into Spark can be used that compute with values")),
        ("select java_method('java.lang.System', 'exit', 0)",
         ("query:1:8: SH601 java_method() does more than compute with values: it runs code that is no SQL\n"
         "  hint: only functions built into Spark can be used that compute with values")),
    ],
)  # fmt: skip
def test_refused(sql, error) -> None:
    with pytest.raises(QueryRefusedError) as refused:
        parse_query(sql, CATALOG)
    assert str(refused.value) == error


@pytest.mark.parametrize(
    "sql",
    [
        "select from where",
        "select (1",
        "select 'abc",
        "with x as (select 1) insert into dwd.sales select * from x",
        "select transform(id) using 'cat' from dwd.sales",
        "from dwd.sales insert into ods.products select *",
    ],
)
def test_what_does_not_parse_is_refused(sql) -> None:
    with pytest.raises(QueryRefusedError, match=r"does not parse|no query|may not"):
        parse_query(sql, CATALOG)


def test_without_tables_the_hint_says_how_to_get_some() -> None:
    with pytest.raises(QueryRefusedError, match="streamhouse run FLOW; or the state store is gone: streamhouse status"):
        parse_query("select * from dwd.sales", {})


@pytest.mark.parametrize(
    ("sql", "bound"),
    [
        ("select id from dwd.sales", "SELECT id FROM v1 AS sales"),
        ("select dwd.sales.id, sales.s.a from dwd.sales", "SELECT sales.id, sales.s.a FROM v1 AS sales"),
        ("select x.s.a from dwd.sales x", "SELECT x.s.a FROM v1 AS x"),
        ("select sales$hot.id from dwd.sales$hot", "SELECT `sales$hot`.id FROM v2 AS `sales$hot`"),
        ("with products as (select 1 as id) select p.name from products, ods.products p",
         "WITH products AS (SELECT 1 AS id) SELECT p.name FROM products CROSS JOIN v3 AS p"),
        ("select /*+ BROADCAST(p) */ log10(p.id) from ods.products p",
         "SELECT /*+ BROADCAST(p) */ LOG10(p.id) FROM v3 AS p"),
    ],
)  # fmt: skip
def test_tables_become_views_and_nothing_else_changes(sql, bound) -> None:
    query = parse_query(sql, CATALOG)
    assert render(query.bound({"dwd.sales": "v1", "dwd.sales$hot": "v2", "ods.products": "v3"})) == bound


def test_counting_reads_the_cheapest_column() -> None:
    assert smallest_column(SALES) == "at"
    assert smallest_column(OLD) == "n"
    assert smallest_column(table("ods.words", {"w": "string"}, hot="1h")) == "w"


def test_a_refusal_of_the_parser_says_what_to_write() -> None:
    with pytest.raises(QueryRefusedError, match="has no = ANY") as refused:
        parse_query("select id from ods.products where id = any (select id from dws.old)", CATALOG)
    assert refused.value.hint == "write IN (SELECT …)"


@pytest.mark.parametrize("columns", ["id", "*", "count(*)"])
def test_a_query_with_many_conditions_is_resolved_once(monkeypatch, columns):
    calls = []

    def counted(*arguments, **options):
        calls.append(options)
        return qualify(*arguments, **options)

    monkeypatch.setattr("streamhouse.query.columns.qualify", counted)
    conditions = " OR ".join(f"id = {number}" for number in range(50))
    parse_query(f"SELECT {columns} FROM ods.products WHERE {conditions}", CATALOG)
    assert len(calls) == 1


def test_a_star_ordered_by_number_needs_everything():
    query = parse_query("SELECT * FROM ods.products ORDER BY 1 LIMIT 2", CATALOG)
    assert [use.columns for use in query.uses] == [CATALOG["ods.products"].column_names]


def test_a_table_at_a_later_version_is_read_by_its_name():
    stored = {name: table.model_copy(update={"name": f"{name}__v2"}) for name, table in CATALOG.items()}
    query = parse_query("SELECT o.* FROM ods.products AS o JOIN ods.products$hot USING (id)", stored)
    assert [(use.name, use.table.name) for use in query.uses] == [
        ("ods.products", "ods.products__v2"),
        ("ods.products$hot", "ods.products__v2"),
    ]
    assert "view_0" in str(query.bound({use.name: f"view_{n}" for n, use in enumerate(query.uses)}))


NOW = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("sql", "uses"),
    [
        ("select * from dwd.sales for version as of 3 where id = 1", {"dwd.sales@version_3": "version 3"}),
        ("select * from dwd.sales version as of 3 s join dwd.sales n using (id)",
         {"dwd.sales": "None", "dwd.sales@version_3": "version 3"}),
        ("select * from dwd.sales$lake timestamp as of '2026-01-31 11:00:00+01:00'",
         {"dwd.sales$lake@timestamp_1769853600000": "2026-01-31 10:00:00.000 UTC"}),
        ("select * from dwd.sales timestamp as of current_timestamp() - interval 90 minutes",
         {"dwd.sales@timestamp_1769855400000": "2026-01-31 10:30:00.000 UTC"}),
        ("select * from dwd.sales join ods.products using (id) as of epoch 7",
         {"dwd.sales@epoch_7": "epoch 7", "ods.products@epoch_7": "epoch 7"}),
        ("select * from dwd.sales for as of epoch 7 join dws.old version as of 2 using (id)",
         {"dwd.sales@epoch_7": "epoch 7", "dws.old@version_2": "version 2"}),
        ("select * from dwd.sales$history as of epoch 7", {"dwd.sales$history": "None"}),
    ],
)  # fmt: skip
def test_moments(sql, uses) -> None:
    query = parse_query(sql, CATALOG, NOW)
    assert {use.name: str(use.moment) for use in query.uses} == uses
    render(query.bound({name: f"v{n}" for n, name in enumerate(uses)}))


def test_changes_begin_somewhere() -> None:
    (use,) = parse_query("select _kind, id from dwd.sales$changes since epoch 3 as of epoch 5", CATALOG).uses
    assert (str(use.since), str(use.moment), use.columns) == ("epoch 3", "epoch 5", ("_kind", "id"))
    assert use.tiers == (Tier.HOT,)
    (use,) = parse_query("select * from ods.products$changes since timestamp '2026-01-31'", CATALOG).uses
    assert str(use.since) == "2026-01-31 00:00:00.000 UTC"


def test_a_moment_keeps_the_name_of_its_table() -> None:
    query = parse_query("select dwd.sales.id, sales.at from dwd.sales version as of 3", CATALOG)
    assert render(query.bound({"dwd.sales@version_3": "v1"})) == "SELECT sales.id, sales.at FROM v1 AS sales"


def test_a_version_and_the_lake_never_touch_fluss() -> None:
    for sql in ("dwd.sales version as of 3", "dwd.sales$lake", "dwd.sales$files", "dwd.sales$lake$snapshots"):
        assert needed_tiers(parse_query(f"select * from {sql}", CATALOG)) == {Tier.COLD}
    assert needed_tiers(parse_query("select * from dwd.sales$history", CATALOG)) == set()


@pytest.mark.parametrize(
    ("sql", "where"),
    [
        ("select id from dwd.sales where id = 3 and at >= '2026-01-01'", ["id = 3", "at >= '2026-01-01'"]),
        ("select id from dwd.sales s where 3 < s.id and (s.amount <= 1.5)", ["id > 3", "Amount <= 1.50"]),
        ("select id from dwd.sales where id between -1 and 5", ["id >= -1", "id <= 5"]),
        ("select id from dwd.sales where id in (1, 2) and at is not null", ["id in (1, 2)", "at is not null"]),
        ("select id from dwd.sales where at is null", ["at is null"]),
        ("select id from ods.products where name = 'x' and id > 1", ["name = 'x'", "id > 1"]),
        ("select p.id from dwd.sales s left join ods.products p using (id) where s.id = 1 and p.name = 'x'",
         ["id = 1"]),
        ("select p.id from dwd.sales s join ods.products p using (id) where s.id = 1 and p.name = 'x'",
         ["id = 1", "name = 'x'"]),
        ("with c as (select * from dwd.sales where id = 1) select * from c where id = 2", ["id = 1"]),
        # Nothing that Spark might mean otherwise, or that is not asked of every row.
        ("select id from dwd.sales where id = 3 or at is null", []),
        ("select id from dwd.sales where not id = 3", []),
        ("select id from dwd.sales where id = '3'", []),
        ("select id from dwd.sales where id = 3.5 and amount = 1.234", []),
        ("select id from dwd.sales where id + 1 = 3 and s.a = 1", []),
        ("select id from dwd.sales where at = '2026-1-1'", []),
        ("select id from dwd.sales where id in (1, null)", []),
        ("select a.id from dwd.sales a join dwd.sales b using (id) where a.id = 3", []),
        ("select id from dwd.sales full join ods.products using (id) where sales.id = 3", []),
        ("select count(*) from dwd.sales having count(*) = 3", []),
        ("select id from ods.products where name = 5", []),
        ("select id from dws.old q(n, id) where id = 5", []),  # of the column n
        ("select q.n from dws.old q(n, id) where q.n > 5", []),
    ],
)  # fmt: skip
def test_conditions_that_reach_a_store(sql, where) -> None:
    uses = parse_query(sql, CATALOG).uses
    assert [str(one) for use in uses for one in use.where] == where


@pytest.mark.parametrize(
    ("dotted", "plain"),
    [
        ("SELECT * FROM dwd.sales.changes", "SELECT * FROM dwd.sales$changes"),
        ("SELECT * FROM DWD.Sales.Lake.Snapshots", "SELECT * FROM dwd.sales$lake$snapshots"),
        ("SELECT * FROM dwd.sales.cold VERSION AS OF 3", "SELECT * FROM dwd.sales$cold VERSION AS OF 3"),
        ("SELECT * FROM dwd.sales.changes SINCE EPOCH 3", "SELECT * FROM dwd.sales$changes SINCE EPOCH 3"),
        ("SELECT x._kind FROM dwd.sales.changes x", "SELECT x._kind FROM dwd.sales$changes x"),
        ("SELECT changes._kind FROM dwd.sales.changes", "SELECT dwd.sales$changes._kind FROM dwd.sales$changes"),
        ("SELECT sales.changes._kind FROM dwd.sales.changes", "SELECT sales$changes._kind FROM dwd.sales$changes"),
    ],
)
def test_a_dot_may_stand_for_the_sign_that_shells_take(dotted, plain):
    asked, meant = parse_query(dotted, CATALOG), parse_query(plain, CATALOG)
    assert asked.uses == meant.uses
    views = {use.name: "v" for use in asked.uses}
    texts = [one.bound(views).sql("spark").lower().replace("`", "") for one in (asked, meant)]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("name", ["dwd.sales$", "dwd.sales$lake$", "dwd.sales$lak", "dwd.sales.lak", "dwd.sales.a.b.c"])
def test_a_part_that_is_none_is_never_the_whole_table(name):
    with pytest.raises(QueryRefusedError, match=r"names no part|has no part"):
        parse_query(f"SELECT * FROM {name}", CATALOG)
