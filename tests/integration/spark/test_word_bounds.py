"""Texts of which `validate` says that Fluss names partitions by them: Spark makes no others of odd rows."""

from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import cycle

import pyarrow as pa
import pytest

from streamhouse.spark.results import collected_rows
from tests.unit.compiler.test_partition_names import NAMES

pytestmark = pytest.mark.spark

TEXTS = [
    "",
    " ",
    ".",
    "..",
    "a",
    "A",
    "__x",
    "_",
    "São Paulo",
    "a/b",
    "x\ny",
    "\x00",
    "😀",
    "-",
    "é" * 90,
    "z" * 300,
    None,
]
NUMBERS = [-(2**31), 2**31 - 1, 0, -1, 7, None]
DAYS = [date(1, 1, 1), date(9999, 12, 31), date(1969, 12, 31), None]
TIMES = [datetime(1, 1, 3, tzinfo=UTC), datetime(9999, 12, 29, 23, 59, 59, 999999, tzinfo=UTC), None]


@pytest.fixture
def odd(spark):
    columns = {
        "id": ([-(2**63), 2**63 - 1, 0, None], pa.int64()),
        "n": (NUMBERS, pa.int32()),
        "day": (DAYS, pa.date32()),
        "at": (TIMES, pa.timestamp("us", "UTC")),
        "city": (TEXTS, pa.string()),
        "other": (TEXTS[::-1], pa.string()),
        "flag": ([True, False, None], pa.bool_()),
        "big": ([Decimal("-1.50"), Decimal(0), None], pa.decimal128(9, 2)),
    }
    most = 60  # each value of a column meets many of the others
    rows = {name: [next(one) for _ in range(most)] for name, (values, _) in columns.items() for one in [cycle(values)]}
    schema = pa.schema([(name, kind) for name, (_, kind) in columns.items()])
    spark.createDataFrame(pa.table(rows, schema)).createOrReplaceTempView("rows")
    return spark


def test_what_is_known_to_fit_fits(odd) -> None:
    named = ", ".join(f"{sql} AS c{number}" for number, sql in enumerate(NAMES))
    rows = collected_rows(odd.sql(f"SELECT {named} FROM rows"))
    for number, sql in enumerate(NAMES):
        texts = {row[number] for row in rows} - {None}
        assert texts, sql
        wrong = [text for text in texts if not _fits(text)]
        assert wrong == [], sql


def _fits(text: str) -> bool:
    return (
        text.isascii() and text.replace("-", "").replace("_", "a").isalnum() and len(text) <= 200 and text[:2] != "__"
    )
