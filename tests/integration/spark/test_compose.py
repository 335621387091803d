"""What a Request becomes, against SQL written by hand, on Spark: rows, names and types of columns."""

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from sqlglot import exp

from streamhouse.errors import Location
from streamhouse.planner.compose import composed
from streamhouse.sql.dialect import render
from streamhouse.sql.parameters import fill_parameters, typed_literal
from tests.composed_cases import CASES, CATALOG, SALES, STORES, VISITS, Case, rows_of
from tests.gate.levels import deep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
SPELLED_OTHERWISE = (
    "filtered aggregates and named measures with filters",
    "text and number filters leave out NULL",
    "condition on a computed column, several joins",
)
"""Cases with a constant that is an array or a double, which tests/unit/planner/test_compose.py passes over."""
DEEP = deep(
    "tests/unit/planner/test_compose.py says of these that they mean the same; rows are compared where it cannot"
)


@pytest.fixture(scope="module")
def tables(spark: "SparkSession") -> "SparkSession":
    own = spark.newSession()
    own.conf.set("spark.sql.shuffle.partitions", "1")
    for name, types in (("sales", SALES), ("stores", STORES), ("visits", VISITS)):
        schema = ", ".join(f"{column} {kind}" for column, kind in types.items())
        own.createDataFrame(rows_of(name), schema).coalesce(1).createOrReplaceTempView(name)
    return own


def _rows(rows: list[Any]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(float(f"{v:.10g}") if isinstance(v, float) else v for v in row) for row in rows)


def _over_views(query: exp.Query) -> str:
    tree = query.copy()
    for table in tree.find_all(exp.Table):
        table.set("db", None)
    return render(tree)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_gives_the_rows_of_sql_by_hand(case: Case, tables: "SparkSession") -> None:
    found = composed(case.request, CATALOG)
    mine, by_hand = tables.sql(_over_views(found.query)), tables.sql(case.sql)
    assert mine.columns == by_hand.columns == list(found.columns)
    told = {name: str(type_) for name, type_ in found.columns.items()}
    assert dict(mine.dtypes) == told
    expected = _rows(by_hand.collect())
    assert expected, "a case without rows proves nothing"
    assert _rows(mine.collect()) == expected


@pytest.mark.parametrize(
    "case", [pytest.param(c, id=c.name, marks=() if c.name in SPELLED_OTHERWISE else DEEP) for c in CASES]
)
def test_gives_the_same_rows_with_parameters(case: Case, tables: "SparkSession") -> None:
    plain, wanted = composed(case.request, CATALOG), composed(case.request, CATALOG, parametrise=True)
    if not wanted.params:
        pytest.skip("it has no constants")
    tree = wanted.query.copy()
    values = {n: typed_literal(n, p.type, p.default, Location("")) for n, p in wanted.params.items()}
    fill_parameters(tree, wanted.params, values, "", Location(""))
    assert _rows(tables.sql(_over_views(tree)).collect()) == _rows(tables.sql(_over_views(plain.query)).collect())
