"""Columns that a query calls again by their own names, which Spark's optimiser does not bear over a UNION ALL."""

import pyarrow as pa
import pytest

from streamhouse.query.parse import parse_query
from streamhouse.spark.results import collected_rows
from streamhouse.sql.bind import bind, render
from tests.unit.query.test_written import CALLED_AGAIN, TABLES

pytestmark = pytest.mark.spark


@pytest.fixture(params=["rows", "one without rows"])
def views(request, spark):
    rows = {"va": [(1, 5), (2, 7)], "vb": [(1, 4), (3, None)] if request.param == "rows" else []}
    for name, some in rows.items():
        schema = pa.schema([("id", pa.int64()), ("v", pa.int32())])
        table = pa.Table.from_pylist([{"id": i, "v": v} for i, v in some], schema)
        spark.createDataFrame(table).createOrReplaceTempView(name)
    spark.conf.set("spark.sql.optimizer.excludedRules", "")
    return spark


def without_the_rule(spark, text):
    rule = "org.apache.spark.sql.catalyst.optimizer.RemoveRedundantAliases"
    spark.conf.set("spark.sql.optimizer.excludedRules", rule)
    try:
        return sorted(map(tuple, collected_rows(spark.sql(text))), key=repr)
    finally:
        spark.conf.unset("spark.sql.optimizer.excludedRules")


@pytest.mark.parametrize("typed", CALLED_AGAIN)
def test_a_query_and_an_action_give_what_spark_gives_without_its_rule(views, typed) -> None:
    query = parse_query(typed, TABLES)
    names = {"dwd.a": "va", "dwd.b": "vb"}
    text = query.over(names)
    expected = without_the_rule(views, text)
    assert expected
    assert sorted(map(tuple, collected_rows(views.sql(text))), key=repr) == expected
    action = render(bind(typed.replace("dwd.", ""), {"a": "va", "b": "vb"}, 0))
    assert sorted(map(tuple, collected_rows(views.sql(action))), key=repr) == expected
