"""Where Spark says that a value may be NULL, we say so too: over columns that have no NULL, and over others."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from streamhouse.errors import StreamhouseError
from streamhouse.model.table import Column
from streamhouse.sql.dialect import parse_query
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.schema import analyse
from tests.sql_corpus import AT, LINES, expressions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

# Spark does not look at the unit, with which no time is NULL.
_UNIT_IS_KNOWN = {"date_trunc('HOUR', ts)", "date_trunc('DAY', dt)", "date_trunc('DAY', ntz)", "trunc(dt, 'MM')"}
_AT_LEAST = 300


@pytest.fixture(params=[False, True], ids=["not null", "nullable"])
def nullable(spark: "SparkSession", request: pytest.FixtureRequest) -> Iterator[bool]:
    from pyspark.sql.types import _parse_datatype_string

    schema = ", ".join(f"{name} {kind}{'' if request.param else ' NOT NULL'}" for name, kind in LINES.items())
    spark.createDataFrame([], _parse_datatype_string(schema)).createOrReplaceTempView("lines")
    yield request.param
    spark.catalog.dropTempView("lines")


def test_expressions(spark: "SparkSession", nullable: bool) -> None:
    columns = tuple(Column(name=name, type=kind, nullable=nullable) for name, kind in LINES.items())
    ports = {"lines": ActionPort(columns, {})}
    wrong, compared = [], 0
    for expression in expressions():
        sql = f"SELECT {expression} AS v FROM lines"
        try:
            ours = analyse(parse_query(sql, AT), ports, sql, AT).columns[0].nullable
        except StreamhouseError:
            continue
        compared += 1
        if spark.sql(sql).schema.fields[0].nullable and not ours and expression not in _UNIT_IS_KNOWN:
            wrong.append(expression)
    assert wrong == []
    assert compared > _AT_LEAST


def test_a_time_cut_by_a_known_unit_is_never_null(spark: "SparkSession", nullable: bool) -> None:
    cuts = ", ".join(sorted(_UNIT_IS_KNOWN))
    row = "SELECT current_timestamp() AS ts, current_date() AS dt, localtimestamp() AS ntz"
    (found,) = spark.sql(f"SELECT {cuts} FROM ({row})").collect()
    assert None not in found
