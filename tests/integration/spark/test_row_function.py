"""What a row function gives is what the expression gives, and nothing where that fails."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from streamhouse.sql.dialect import parse_query, render
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.row_function import row_function
from streamhouse.sql.schema import CheckedQuery, analyse
from streamhouse.stores.arrow import arrow_schema
from tests.sql_corpus import AT, columns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TYPES = columns({"a": "int", "b": "bigint", "x": "double", "s": "string", "at": "timestamp", "d": "date"})
EXPRESSIONS = [
    "date_trunc('hour', at)", "date_trunc('WEEK', d)", "date_format(at, 'yyyy-MM-dd HH')", "EXTRACT(YEAR FROM at)",
    "hour(at)", "weekofyear(d)", "to_date(at)", "a + 1", "a - b", "a * 2", "CAST(b / 10 AS INT)", "b % 7", "b DIV 7",
    "CAST(x AS INT)", "floor(x)", "CAST(s AS INT)", "CAST(s AS DATE)", "CAST(s AS BOOLEAN)", "CAST(at AS STRING)",
    "CASE WHEN x > 1.5 THEN 'big' WHEN s IS NULL THEN 'none' ELSE upper(s) END", "COALESCE(s, '?') || '!'",
    "substring(s, 1, 2)", "a IN (1, 2)", "a BETWEEN 0 AND 5", "at >= '1970-01-01'", "b = a",
]  # fmt: skip
WINDOWS = ["1 hour", "1 hour 30 minutes", "interval 7 minutes", "1 day", "1 week"]
BEGIN = datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
TIMES = [BEGIN + timedelta(seconds=step * 100_003) for step in range(-40, 40)]


def analysed(expressions: list[str]) -> CheckedQuery:
    items = ", ".join(f"{text} AS v{number}" for number, text in enumerate(expressions))
    sql = f"SELECT {items} FROM t"
    return analyse(parse_query(sql, AT), {"t": ActionPort(TYPES, {})}, sql, AT)


def row_functions(query: CheckedQuery) -> list[str]:
    found = [row_function(item.unalias(), query.scope, query.inference) for item in query.tree.selects]
    assert None not in found
    return [render(tree) for tree in found if tree is not None]


def frame(spark: "SparkSession", rows: list[tuple[object, ...]]) -> None:
    names = [column.name for column in TYPES]
    table = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], arrow_schema(TYPES))
    spark.createDataFrame(table).createOrReplaceTempView("t")


def test_it_gives_the_same_values(spark: "SparkSession") -> None:
    frame(
        spark,
        [
            (1, 25, 1.7, "12", BEGIN, BEGIN.date()),
            (-3, -25, -0.0, None, TIMES[0], TIMES[-1].date()),
            (None, None, None, None, None, None),
        ],
    )
    fitting = [text for text in EXPRESSIONS if "CAST(s AS" not in text]
    query = analysed(fitting)
    forms = ", ".join(row_functions(query))
    assert spark.sql(f"SELECT {forms} FROM t").collect() == spark.sql(query.sql).collect()


@pytest.mark.parametrize("text", ["CAST(s AS INT)", "CAST(s AS DATE)", "CAST(s AS BOOLEAN)"])
def test_a_cast_of_text_gives_the_same_values(spark: "SparkSession", text: str) -> None:
    fitting = {"INT": "12", "DATE": "2026-02-01", "BOOLEAN": "yes"}[text.rsplit(maxsplit=1)[-1].strip(")")]
    frame(spark, [(1, 1, 1.0, fitting, None, None)])
    query = analysed([text])
    found = spark.sql(f"SELECT {row_functions(query)[0]} AS v0 FROM t").collect()
    assert found == spark.sql(query.sql).collect()
    assert found[0].v0 is not None


def test_it_fails_on_no_row(spark: "SparkSession") -> None:
    far = datetime(9999, 12, 31, tzinfo=UTC)
    frame(
        spark,
        [
            (2**31 - 1, 2**63 - 1, float("nan"), "no number", far, far.date()),
            (-(2**31), -(2**63), float("inf"), "", TIMES[0], BEGIN.date()),
            (0, 0, -1e300, "\u00e9", BEGIN, None),
        ],
    )
    forms = ", ".join(row_functions(analysed([*EXPRESSIONS, "CAST(a / (b - b) AS INT)", "a % a"])))
    assert len(spark.sql(f"SELECT {forms} FROM t").collect()) == 3


@pytest.mark.parametrize("length", WINDOWS)
def test_bounds_of_windows(spark: "SparkSession", length: str) -> None:
    frame(spark, [(None, None, None, None, at, None) for at in TIMES])
    bounds = [f"window(at, '{length}').{name}" for name in ("start", "end")]
    query = analysed(bounds)
    start, end = row_functions(query)
    ours = spark.sql(f"SELECT at, {start} AS v0, {end} AS v1 FROM t").orderBy("at").collect()
    theirs = spark.sql(f"SELECT at, {bounds[0]} AS v0, {bounds[1]} AS v1 FROM t").orderBy("at").collect()
    assert ours == theirs
