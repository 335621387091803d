"""The DuckDB of the proofs: what is written into a query is what Arrow gives it."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa

from streamhouse.stores.arrow import arrow_schema
from tests.small_duckdb import SmallDuckDB
from tests.sql_corpus import columns
from tests.tables import each

VALUES: dict[str, list[Any]] = {
    "boolean": [True, False],
    "int": [0, -1, 2**31 - 1, -(2**31)],
    "bigint": [2**63 - 1, -(2**63)],
    "double": [0.1, -0.0, 1e308, 5e-324, float("inf"), float("-inf")],
    "string": ["", "it's", "NULL", "\\n", "é", " a\n", '"', "a\0b"],
    "date": [date(1, 1, 1), date(9999, 12, 31)],
    "timestamp": [datetime(2024, 1, 1, 23, 59, 59, 999999, tzinfo=UTC), datetime(1969, 12, 31, tzinfo=UTC)],
    "array<int>": [[], [1, None, -3]],
    "decimal(12,2)": [Decimal("1.50")],
}


@each("kind", VALUES)
def test_values_come_back(kind: str) -> None:
    types = columns({"n": "int", "v": kind})
    rows = [{"n": number, "v": value} for number, value in enumerate([*VALUES[kind], None])]
    database = SmallDuckDB()
    for given in (rows, [], [{"n": 0}]):
        database.put("t", given, types)
        found = database.answer("SELECT * FROM t ORDER BY n").to_pylist()
        assert repr(found) == repr(pa.Table.from_pylist(given, arrow_schema(types)).to_pylist())


def test_a_table_of_arrow_takes_the_place_of_one_that_was_written_and_back() -> None:
    database, types = SmallDuckDB(), columns({"n": "int"})
    for number in range(3):
        database.put("t", [{"n": number}], types)
        assert database.answer("SELECT n FROM t").to_pylist() == [{"n": number}]
        database.put_arrow("t", pa.Table.from_pylist([{"n": -number}], arrow_schema(types)))
        assert database.answer("SELECT n FROM t").to_pylist() == [{"n": -number}]


OTHERS = [("int", "1"), ("int", 2**31), ("bigint", Decimal("1.5")), ("array<int>", ["1"]), ("array<int>", 1)]


@each(("kind", "value"), OTHERS)
def test_a_value_that_is_not_of_its_type_is_what_arrow_makes_of_it(kind: str, value: object) -> None:
    assert _answered(kind, value) == _in_arrow(kind, value)


def _answered(kind: str, value: object) -> object:
    database = SmallDuckDB()
    try:
        database.put("t", [{"v": value}], columns({"v": kind}))
        return database.answer("SELECT v FROM t").to_pylist()
    except (pa.ArrowException, TypeError, OverflowError, duckdb.Error):
        return "refused"


def _in_arrow(kind: str, value: object) -> object:
    try:
        return pa.Table.from_pylist([{"v": value}], arrow_schema(columns({"v": kind}))).to_pylist()
    except (pa.ArrowException, TypeError, OverflowError):
        return "refused"
