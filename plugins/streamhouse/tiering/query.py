"""Answer a query from whichever tiers hold its rows."""

import re
from collections.abc import Callable, Mapping
from itertools import count
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from streamhouse.errors import Location, QueryFailedError, QueryRefusedError, StreamhouseError
from streamhouse.model.table import Table
from streamhouse.model.types import Tier
from streamhouse.sql.dialect import place_of, render
from streamhouse.stores.arrow import arrow_schema, arrow_type
from streamhouse.stores.base import Store
from streamhouse.tiering.ask import Query, Use
from streamhouse.tiering.union import state_frame, union_frame

if TYPE_CHECKING:
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame, SparkSession

_numbers = count()
_WIDE = 1_000  # bits; what has no fixed width counts as this


def answer(query: Query, stores: Mapping[Tier, Store], spark: "SparkSession", *, limit: int | None = None) -> pa.Table:
    """Run a query on Spark and bring its result into this process.

    Args:
        query: From `parse_query`.
        stores: Has the tiers that `needed_tiers` names.
        spark: Gets a temporary view for each table while the query runs.
        limit: At most so many rows of the result, the first ones where the query orders it.

    Raises:
        QueryRefusedError: Spark finds the query wrong.
        QueryFailedError: it fails on a row.
        StoreError: a tier cannot be read.
    """
    run = next(_numbers)
    views = {use.name: f"streamhouse_{run}_{number}" for number, use in enumerate(query.uses)}
    try:
        for use in query.uses:
            _frame(use, stores, spark).createOrReplaceTempView(views[use.name])
        return _collect(query, spark, render(query.bound(views)), limit)
    finally:
        for view in views.values():
            spark.catalog.dropTempView(view)


def _collect(query: Query, spark: "SparkSession", text: str, limit: int | None) -> pa.Table:
    from py4j.protocol import Py4JError
    from pyspark.errors import AnalysisException, ParseException, PySparkException

    try:
        result = spark.sql(text)
        return (result if limit is None else result.limit(limit)).toArrow()
    except (AnalysisException, ParseException) as error:
        raise _refused(query, error) from error
    except PySparkException as error:
        raise QueryFailedError(f"the query fails: {_message(error)}") from error
    except Py4JError as error:
        raise QueryFailedError("Spark ended while it ran the query", hint="its log says why") from error


def _frame(use: Use, stores: Mapping[Tier, Store], spark: "SparkSession") -> "DataFrame":
    columns = use.columns or (smallest_column(use.table),)
    if use.part is None:
        return union_frame(spark, use.table, stores, columns)
    (tier,) = use.tiers
    store = stores[tier]
    if tier is use.table.tiers.target:
        return state_frame(spark, store, use.table, None, columns)
    if store.columns(use.table.name) is None:  # nothing was tiered yet
        return spark.createDataFrame(arrow_schema(map(use.table.column, columns)).empty_table())
    return state_frame(spark, store, use.table.replica, None, columns)


def smallest_column(table: Table) -> str:
    """The column that is cheapest to read, for queries that only count rows."""

    def width(name: str) -> int:
        data_type = arrow_type(table.column(name).type)
        return data_type.bit_width if pa.types.is_primitive(data_type) else _WIDE

    return min(table.column_names, key=width)


def _refused(query: Query, error: "PySparkException") -> StreamhouseError:
    named = str((error.getMessageParameters() or {}).get("objectName", "")).replace("`", "").lower()
    return QueryRefusedError(f"Spark refuses the query: {_message(error)}", at=_place(query, named))


def _place(query: Query, named: str) -> Location | None:
    for column in query.tree.find_all(exp.Column):
        if named and ".".join(part.name for part in column.parts).lower() == named:
            return place_of(column, query.text, Location("query"))
    return None


_NOISE: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r"^\[(\w+)(\.\w+)*\]\s*", ""),  # Spark's name of the error
    (r"\s*SQLSTATE: \w+.*$", ""),  # and of its class, and the position in the SQL that we wrote
    (r"`streamhouse_\d+_\d+`\.", ""),
]


def _message(error: "PySparkException") -> str:
    lines = str(error).strip().splitlines()
    text = lines[0] if lines else type(error).__name__
    for pattern, replacement in _NOISE:
        text = re.sub(pattern, replacement, text)
    return text
