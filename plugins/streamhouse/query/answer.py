"""Answer a query from whichever tiers hold its rows."""

import re
from collections.abc import Collection, Mapping
from itertools import count
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from streamhouse.errors import Location, QueryFailedError, QueryRefusedError, StoreError, StreamhouseError
from streamhouse.model.types import Tier
from streamhouse.query.epoch_positions import Epochs
from streamhouse.query.parse import Query, TableUse
from streamhouse.query.reading import ReadableRows, readable
from streamhouse.spark.failures import cause, failed_calls, plain_message, thrown_by_java
from streamhouse.spark.results import collected_arrow
from streamhouse.spark.wall import refuse_all_but
from streamhouse.sql.dialect import place_of
from streamhouse.stores.base import Store

if TYPE_CHECKING:
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame, SparkSession

_numbers = count()


def answer(
    query: Query,
    stores: Mapping[Tier, Store],
    spark: "SparkSession",
    *,
    limit: int | None = None,
    epochs: Epochs | None = None,
) -> pa.Table:
    """Run a query on Spark and bring its result into this process.

    Args:
        query: From `parse_query`.
        stores: Has the tiers that `needed_tiers` names.
        spark: Gets a temporary view for each table while the query runs.
        limit: At most so many rows of the result, the first ones where the query orders it.
        epochs: For queries as of one, and of `$history`; None: none are known.

    Raises:
        QueryRefusedError: Spark finds the query wrong, or it asks for a moment that there was not.
        QueryFailedError: it fails on a row.
        StoreError: a tier cannot be read.
    """
    return answer_by_spark(query, readable(query, stores, epochs or Epochs()), spark, limit=limit)


def answer_by_spark(query: Query, tables: ReadableRows, spark: "SparkSession", *, limit: int | None = None) -> pa.Table:
    """As `answer`, from tables that are found already."""
    run = next(_numbers)
    views = {use.name: f"streamhouse_{run}_{number}" for number, use in enumerate(query.uses)}
    try:
        for use in query.uses:
            _view(use, tables, spark, views[use.name]).createOrReplaceTempView(views[use.name])
        return _collect(query, spark, query.over(views), limit, views.values())
    finally:
        for view in views.values():
            spark.catalog.dropTempView(view)


def _collect(query: Query, spark: "SparkSession", text: str, limit: int | None, views: Collection[str]) -> pa.Table:
    from pyspark.errors import AnalysisException, ParseException, PySparkException

    try:
        refuse_all_but(views, text, spark)
        result = spark.sql(text)
        return collected_arrow(result if limit is None else result.limit(limit))
    except (AnalysisException, ParseException) as error:
        raise _refused(query, error) from error
    except PySparkException as error:
        raise QueryFailedError(f"the query fails: {_message(error)}") from error
    except thrown_by_java() as error:
        raise _failed(str(error)) from error
    except failed_calls() as error:
        raise QueryFailedError("Spark ended while it ran the query", hint="its log says why") from error


_READERS = ("org.apache.iceberg.", "org.apache.parquet.", "java.io.FileNotFoundException", "java.util.zip.")


def _failed(text: str) -> StreamhouseError:
    """What Java says in an exception that PySpark does not know: a lake's, or Spark's own."""
    said = cause(text)
    if any(reader in text for reader in _READERS):
        return StoreError(
            f"a file of the cold tier cannot be read: {said}",
            hint="bring it back from a copy; upkeep may have removed it meanwhile: ask again",
        )
    return QueryFailedError(f"the query fails: {said}")


def _view(use: TableUse, tables: ReadableRows, spark: "SparkSession", name: str) -> "DataFrame":
    if use.columns:
        return tables.frame(use, spark)
    # Of a table that is only counted no row travels to Spark; no other view has a column of this name.
    return spark.range(tables.count(use)).toDF(f"row_of_{name}")


def _refused(query: Query, error: "PySparkException") -> StreamhouseError:
    named = str((error.getMessageParameters() or {}).get("objectName", "")).replace("`", "").lower()
    return QueryRefusedError(f"Spark refuses the query: {_message(error)}", at=_place(query, named))


def _place(query: Query, named: str) -> Location | None:
    for column in query.tree.find_all(exp.Column):
        if named and ".".join(part.name for part in column.parts).lower() == named:
            return place_of(column, query.text, Location("query"))
    return None


_VIEW = re.compile(r"`streamhouse_\d+_\d+`\.", re.ASCII)


def _message(error: "PySparkException") -> str:
    return _VIEW.sub("", plain_message(error))
