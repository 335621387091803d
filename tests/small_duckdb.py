"""A DuckDB for queries over a few rows, where planning a query costs more than answering it."""

from functools import cache
from typing import Any

import duckdb
import pyarrow as pa
import sqlglot

from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_schema

_OPERATORS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "mod": "%"}


class SmallDuckDB:
    """Answers Spark's SQL over tables of a few rows, in UTC. What is made in one is not there in another."""

    def __init__(self) -> None:
        self._database = _shared().cursor()
        self._database.execute("SET TimeZone = 'UTC'")
        self._held: dict[str, tuple[Any, object]] = {}

    def put(self, name: str, rows: list[dict[str, Any]], types: tuple[Column, ...]) -> None:
        """Make rows the table of a name. The list that the table was made of is not read again: do not change it."""
        held = self._held.get(name)
        if held is None or held[0] is not rows or held[1] != types:
            self.put_arrow(name, pa.Table.from_pylist(rows, arrow_schema(types)))
            self._held[name] = (rows, types)

    def put_arrow(self, name: str, rows: pa.Table) -> None:
        """Make Arrow rows the table of a name."""
        self._held.pop(name, None)
        self._database.register(name, rows)

    def answer(self, sql: str) -> pa.Table:
        """The rows of a query in Spark's SQL."""
        return self._database.execute(_in_duckdb(sql)).to_arrow_table()


@cache
def _shared() -> duckdb.DuckDBPyConnection:
    database = duckdb.connect(config={"threads": 1})  # two of them take twice the processor time for the same answer
    for name, operator in _OPERATORS.items():
        for prefix in ("try", "safe"):  # sqlglot writes some of them in the one way, some in the other
            database.execute(f"CREATE MACRO {prefix}_{name}(a, b) AS a {operator} b")
    return database


@cache
def _in_duckdb(sql: str) -> str:
    return sqlglot.transpile(sql, read="spark", write="duckdb")[0]
