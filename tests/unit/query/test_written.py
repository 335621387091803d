"""A query reaches Spark as it was typed, but for the names of tables."""

import pytest

from streamhouse.model.table import Column, Table, Tiers
from streamhouse.query.parse import parse_query
from tests.unit.query.test_parse import CATALOG

VIEWS = {
    "dwd.sales": "v1", "dwd.sales$hot": "v2", "ods.products": "v3", "dwd.sales@epoch_7": "v4",
    "dwd.sales@version_3": "v5",
}  # fmt: skip


@pytest.mark.parametrize(
    ("typed", "run"),
    [
        ("select  ID from dwd.sales ;", "select  ID from v1 AS `sales` "),
        ("select dwd.sales.id, -- a; note\n 'it''s' from dwd.sales",
         "select sales.id, -- a; note\n 'it''s' from v1 AS `sales`"),
        ("select x.s.a from dwd.sales x", "select x.s.a from v1 x"),
        ("select id from dwd.sales$hot", "select id from v2 AS `sales$hot`"),
        ("with products as (select 1 as id) select p.name from products, ods.products p",
         "with products as (select 1 as id) select p.name from products, v3 p"),
        ("select /*+ BROADCAST(p) */ log10(p.id) + 1L from `ods`.`products` p",
         "select /*+ BROADCAST(p) */ log10(p.id) + 1L from v3 p"),
        ("select * from DWD.Sales as of epoch 7", "select * from v4 AS `Sales`               "),
    ],
)  # fmt: skip
def test_as_typed(typed: str, run: str) -> None:
    assert parse_query(typed, CATALOG).over(VIEWS).rstrip() == run.rstrip()


@pytest.mark.parametrize(
    "typed",
    [
        "select sales$hot.id from dwd.sales$hot",  # no name for Spark
        "select id from dwd.sales.hot",
        "select * from dwd.sales version as of 3",
        "select id from dwd.sales qualify row_number() over (order by id) = 1",
        "select id from dwd.sales tablesample (5 rows)",  # the name comes behind the sample
    ],
)
def test_what_needs_more_than_other_names_is_written_anew(typed: str) -> None:
    query = parse_query(typed, CATALOG)
    assert query.written is None
    assert "SELECT" in query.over(VIEWS)


_COLUMNS = (Column(name="id", type="bigint"), Column(name="v", type="int"))
TABLES = {name: Table(name=name, columns=_COLUMNS, tiers=Tiers(warm="1d")) for name in ("dwd.a", "dwd.b")}
_UNION = "SELECT x.id AS id, x.v AS v FROM dwd.a x UNION ALL SELECT y.id AS id, y.v AS v FROM dwd.b y"
_SHOWN = f"SELECT u.id AS id, u.v AS v, {{}} AS n FROM ({_UNION}) u"
_ROW = "row_number() OVER (PARTITION BY u.id ORDER BY u.v DESC)"
CALLED_AGAIN = [
    f"SELECT q.id, q.v FROM ({_SHOWN.format(_ROW)}) q WHERE q.n = 1",
    f"SELECT q.id AS id, q.v AS v FROM ({_SHOWN.format('sum(u.v) OVER (PARTITION BY u.id)')}) q",
    f"SELECT q.id, q.v FROM ({_SHOWN.format('max(u.v) OVER (PARTITION BY u.id)')}) q WHERE q.n > 4",
    f"SELECT u.id AS id, u.v AS v FROM ({_UNION}) u QUALIFY {_ROW} = 1",
    f"WITH u AS ({_UNION}) SELECT u.id AS id, u.v AS v FROM u QUALIFY {_ROW} = 1",
]
"""Columns that are called again by their own names in the arms of a UNION ALL and around it, and read by a window."""


@pytest.mark.parametrize("typed", CALLED_AGAIN)
def test_what_spark_fails_at_is_written_without_names_that_say_nothing_new(typed: str) -> None:
    query = parse_query(typed, TABLES)
    assert query.written is None
    text = query.over({"dwd.a": "v1", "dwd.b": "v2"})
    assert "AS id" not in text
    assert "AS v" not in text


def test_without_a_window_columns_may_be_called_again() -> None:
    typed = "select x.id as id from dwd.a x"
    assert parse_query(typed, TABLES).over({"dwd.a": "v1"}).rstrip() == "select x.id as id from v1 x"
