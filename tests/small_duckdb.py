"""A DuckDB for queries over a few rows, where planning a query costs more than answering it."""

from collections.abc import Iterator
from datetime import date, datetime
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa
import sqlglot

from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_schema

# Types whose values are written into a query, with DuckDB's name and the only class of such a value. To read them takes
# less time than to make an Arrow table and scan it.
_WRITTEN: dict[str, tuple[str, type]] = {
    "boolean": ("BOOLEAN", bool),
    "int": ("INTEGER", int),
    "bigint": ("BIGINT", int),
    "double": ("DOUBLE", float),
    "string": ("VARCHAR", str),
    "date": ("DATE", date),
    "timestamp": ("TIMESTAMPTZ", datetime),
    "array<int>": ("INTEGER[]", list),
}
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
            if (written := _written(rows, types)) is None:
                self.put_arrow(name, pa.Table.from_pylist(rows, arrow_schema(types)))
            else:
                self._database.execute(f'CREATE OR REPLACE TEMP VIEW "{name}" AS {written}')
            self._held[name] = (rows, types)

    def put_arrow(self, name: str, rows: pa.Table) -> None:
        """Make Arrow rows the table of a name."""
        self._held.pop(name, None)
        self._database.execute(f'DROP VIEW IF EXISTS "{name}"')  # `register` replaces no view of a query
        self._database.register(name, rows)

    def answer(self, sql: str) -> pa.Table:
        """The rows of a query in Spark's SQL."""
        return self._database.execute(_in_duckdb(sql)).to_arrow_table()


def _written(rows: list[dict[str, Any]], types: tuple[Column, ...]) -> str | None:
    """A query that gives the rows by literals; None: a type, or a value that is not of its type, is for Arrow."""
    if not all(one.type in _WRITTEN for one in types):
        return None
    kinds = {one.name: _WRITTEN[one.type] for one in types}
    try:
        values = [f"({', '.join(_literals(row, kinds))})" for row in rows]
    except TypeError:
        return None
    cast = ", ".join(f'CAST("{name}" AS {kind}) AS "{name}"' for name, (kind, _) in kinds.items())
    names = ", ".join(f'"{name}"' for name in kinds)
    none = f"({', '.join('NULL' for _ in kinds)})"
    return f"SELECT {cast} FROM (VALUES {', '.join(values) or none}) AS given({names}){'' if rows else ' WHERE FALSE'}"


def _literals(row: dict[str, Any], kinds: dict[str, tuple[str, type]]) -> Iterator[str]:
    for name, (_, of) in kinds.items():
        value = row.get(name)
        yield (
            f"[{', '.join(_literal(one, int) for one in value)}]" if type(value) is list is of else _literal(value, of)
        )


def _literal(value: Any, of: type) -> str:
    """A value as text, which the type of its column reads as it was.

    Raises:
        TypeError: it is of another class, or such a text is not read as it was.
    """
    if value is None:
        return "NULL"
    is_odd = (isinstance(value, str) and "\0" in value) or (isinstance(value, datetime) and value.tzinfo is None)
    if type(value) is not of or is_odd:
        raise TypeError(f"{value!r} is not written as a literal")
    return "'" + str(value).replace("'", "''") + "'"


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
