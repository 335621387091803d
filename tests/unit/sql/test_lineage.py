"""Where output columns come from."""

import pytest

from streamhouse.sql.lineage import lineage
from tests.sql_corpus import orders


@pytest.mark.parametrize(
    ("sql", "origins"),
    [
        ("SELECT id, amt * 2 AS a, 1 AS one FROM o", {"id": {"o.id"}, "a": {"o.amt"}, "one": set()}),
        ("SELECT id FROM o WHERE amt > 1", {"id": {"o.id"}}),
        (
            (
                "WITH t AS (SELECT cust, sum(amt) AS s FROM o GROUP BY cust) "
                "SELECT t.cust, t.s / c.region AS r FROM t JOIN c ON t.cust = c.cust"
            ),
            {"cust": {"o.cust"}, "r": {"o.amt", "c.region"}},
        ),
        ("SELECT id AS x FROM o UNION ALL SELECT cust FROM k", {"x": {"o.id", "k.cust"}}),
        ("SELECT id, e + 1 AS e FROM o LATERAL VIEW explode(arr) t AS e", {"id": {"o.id"}, "e": {"o.arr"}}),
        ("SELECT (SELECT max(region) FROM c WHERE c.cust = o.cust) AS r FROM o", {"r": {"c.region"}}),
        ("SELECT rank() OVER (PARTITION BY cust ORDER BY amt) AS r FROM o", {"r": {"o.cust", "o.amt"}}),
    ],
)
def test_origins(sql: str, origins: dict[str, set[str]]) -> None:
    found = lineage(orders(sql))
    assert {name: {f"{port}.{column}" for port, column in traced} for name, traced in found.items()} == origins


def test_many_columns_through_many_scopes_are_one_walk() -> None:
    levels = ", ".join(
        f"t{i} AS (SELECT {', '.join(f'c{j} + c{(j + 1) % 20} AS c{j}' for j in range(20))} FROM t{i - 1})"
        for i in range(1, 13)
    )
    first = f"t0 AS (SELECT {', '.join(f'id + {j} AS c{j}' for j in range(20))} FROM o)"
    query = orders(f"WITH {first}, {levels} SELECT * FROM t12")  # 2**12 paths a column, were each walked
    assert set(lineage(query).values()) == {frozenset({("o", "id")})}
