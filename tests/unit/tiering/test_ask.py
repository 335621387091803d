"""Reading a query: what it needs, and what is refused before anything starts."""

import pytest

from streamhouse.errors import QueryRefusedError
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Tier
from streamhouse.sql.dialect import render
from streamhouse.tiering.ask import needed_tiers, parse_query
from streamhouse.tiering.query import smallest_column


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
CATALOG = {one.name: one for one in (SALES, PRODUCTS, OLD)}
PARTS = "ods.products$hot, ods.products$warm, ods.products$lake"
ALL = SALES.column_names


@pytest.mark.parametrize(
    ("sql", "needed"),
    [
        ("select count(*) from dwd.sales", {"dwd.sales": ()}),
        ("select count(1) from dwd.sales", {"dwd.sales": ()}),
        ("select count(*) from (select * from dwd.sales) t", {"dwd.sales": ()}),
        ("select AMOUNT from DWD.Sales", {"dwd.sales": ("Amount",)}),
        ("select dwd.sales.amount from dwd.sales where sales.id > 1", {"dwd.sales": ("id", "Amount")}),
        ("select s.a from dwd.sales", {"dwd.sales": ("s",)}),
        ("select s.a from dwd.sales s", {"dwd.sales": ("s",)}),
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
         "query:1:15: SH601 unknown table 'parquet./etc'\n  hint: tables: dwd.sales, dws.old, ods.products"),
        ("select id from ods.products$cold",
         f"query:1:20: SH601 'ods.products' has no part '$cold'\n  hint: it has {PARTS}"),
        ("select id from dwd.sales version as of 3",
         "query:1:16: SH601 a query reads tables as they are now\n  hint: drop VERSION or TIMESTAMP AS OF"),
        ("delete from dwd.sales",
         "query:1:1: SH601 DELETE is no query\n  hint: write one SELECT statement; data is changed by flows only"),
        ("  show tables",
         "query:1:3: SH601 SHOW is no query\n  hint: write one SELECT statement; data is changed by flows only"),
        ("select 1; drop table dwd.sales",
         "query:1:9: SH601 more than one statement\n  hint: write one SELECT statement; data is changed by flows only"),
        (" ", "SH601 the query is empty\n  hint: write one SELECT statement; data is changed by flows only"),
        ("select reflect('java.lang.System', 'exit', 0)",
         "query:1:8: SH601 reflect runs code, which a query may not"),
        ("select java_method('java.lang.System', 'exit', 0)",
         "query:1:8: SH601 java_method runs code, which a query may not"),
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
    with pytest.raises(QueryRefusedError, match="streamhouse run FLOW"):
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
