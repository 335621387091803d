"""A query reaches Spark as it was typed, but for the names of tables."""

import pytest

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
