"""Rows that are carried to Spark and back are the same as by pyspark's own way, whatever their types and number."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from streamhouse.model.table import Column
from streamhouse.spark.carrier import Carrier
from streamhouse.spark.frame import arrow_frame
from streamhouse.stores.arrow import arrow_schema

pytestmark = pytest.mark.spark

_NOW = datetime(2026, 1, 2, 3, 4, 5, 6)
_VALUES = {
    "boolean": True,
    "tinyint": -1,
    "smallint": 2,
    "int": 3,
    "bigint": 2**40,
    "float": 0.5,
    "double": float("inf"),
    "string": "é",
    "binary": b"\x00",
    "date": date(2026, 1, 2),
    "timestamp": _NOW.replace(tzinfo=UTC),
    "timestamp_ntz": _NOW,
    "decimal(12,2)": Decimal("3.50"),
    "array<string>": ["a", None],
    "map<string,bigint>": [("a", 1)],
    "struct<a:bigint,b:timestamp>": {"a": 1, "b": _NOW.replace(tzinfo=UTC)},
}


@pytest.fixture
def carrier(spark):
    return Carrier(spark)


@pytest.mark.parametrize("count", [1, 3, 70_000])
def test_rows_of_every_type_come_back(carrier, spark, count):
    columns = [Column(name=f"c{n}", type=kind) for n, kind in enumerate(_VALUES)]
    first = {f"c{n}": value for n, value in enumerate(_VALUES.values())}
    rows = pa.Table.from_pylist([first, dict.fromkeys(first)], arrow_schema(columns))
    rows = rows.take(pa.array([n % 2 for n in range(count)])) if count > 1 else rows.slice(0, 1)
    frame = carrier.frame(rows)
    assert frame.schema == arrow_frame(spark, rows).schema
    found = carrier.rows(frame)
    assert found.equals(frame.toArrow())
    assert found.to_pylist() == rows.to_pylist()


def test_rows_in_pieces_keep_their_order(carrier):
    parts = [
        pa.table({"n": pa.array(range(start, start + size), pa.int64())})
        for start, size in ((0, 0), (0, 7), (7, 40_000))
    ]
    rows = pa.concat_tables(parts)
    assert carrier.rows(carrier.frame(rows)).column("n").to_pylist() == list(range(40_007))


def test_few_rows_are_grouped_without_a_shuffle(carrier):
    carrier.frame(pa.table({"n": [1, 2, 1]})).createOrReplaceTempView("carried")
    grouped = carrier.query("SELECT n, COUNT(*) AS c FROM carried GROUP BY n")
    assert "Exchange" not in grouped._jdf.queryExecution().executedPlan().toString()
    assert sorted(carrier.rows(grouped).to_pylist(), key=str) == [{"n": 1, "c": 2}, {"n": 2, "c": 1}]


def test_what_spark_gave_is_carried_again(carrier, spark):
    given = carrier.rows(spark.range(3).selectExpr("id", "CAST(id AS STRING) AS s"))
    noted = given.replace_schema_metadata({"who": "somebody"})
    assert carrier.rows(carrier.frame(noted)).equals(given)


def test_no_rows_have_columns(carrier):
    rows = pa.table({"n": pa.array([], pa.int64()), "s": pa.array([], pa.string())})
    assert carrier.rows(carrier.frame(rows)).equals(rows)
    carrier.frame(pa.table({"n": [1]})).createOrReplaceTempView("carried")
    assert carrier.rows(carrier.query("SELECT n, 'x' AS s FROM carried WHERE n > 1")).column_names == ["n", "s"]


def test_rows_that_spark_fails_on_are_told_by_its_own_error(carrier):
    from pyspark.errors import PySparkException

    carrier.frame(pa.table({"s": ["x"]})).createOrReplaceTempView("carried")
    with pytest.raises(PySparkException, match="CAST_INVALID_INPUT"):
        carrier.rows(carrier.query("SELECT CAST(s AS BIGINT) AS n FROM carried"))
