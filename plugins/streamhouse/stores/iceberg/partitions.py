"""The partitions of an Iceberg table: which there are, which changed, and the commit that drops some."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from streamhouse.spark.results import collected_rows
from streamhouse.stores.base import DROPPED, Partition
from streamhouse.stores.iceberg.files import literal
from streamhouse.stores.iceberg.java import IcebergJava

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def stored(spark: "SparkSession", name: str, by: Sequence[str]) -> set[Partition]:
    """Those that have files in the newest snapshot.

    Args:
        spark: Has the catalog.
        name: `catalog.layer.table`.
        by: Partition columns.
    """
    found = spark.table(f"{name}.partitions").select(*(f"partition.{column}" for column in by))
    return {tuple(row) for row in collected_rows(found.distinct())}


def changed(spark: "SparkSession", name: str, by: Sequence[str], since: int) -> set[Partition]:
    """Those with rows or deletes that were written after the snapshot `since`, or compacted since."""
    from pyspark.sql import functions as f

    entries = spark.table(f"{name}.entries").where(f.col("sequence_number") > since)
    found = entries.select(*(f"data_file.partition.{column}" for column in by))
    return {tuple(row) for row in collected_rows(found.distinct())}


def drop(java: IcebergJava, table: Any, by: Sequence[str], to_drop: Sequence[Partition]) -> None:
    """Commit a snapshot without the files of some partitions, none of which is read; the caller holds the lock.

    Args:
        java: Iceberg's classes.
        table: Iceberg's own, in Java.
        by: Partition columns.
        to_drop: At least one.
    """
    expressions = java.expressions
    if len(by) == 1:
        these = getattr(expressions, "in")(by[0], [literal(one[0]) for one in to_drop])
    else:
        these = _any(expressions, [_all(expressions, by, one) for one in to_drop])
    table.newDelete().deleteFromRowFilter(these).set(DROPPED, str(len(to_drop))).commit()


def _all(expressions: Any, by: Sequence[str], one: Partition) -> Any:
    whole = expressions.alwaysTrue()
    for name, value in zip(by, one, strict=True):
        whole = getattr(expressions, "and")(whole, expressions.equal(name, literal(value)))
    return whole


def _any(expressions: Any, these: list[Any]) -> Any:
    """Either of some expressions, as a tree that is not deep: Iceberg walks it by recursion."""
    if len(these) == 1:
        return these[0]
    half = len(these) // 2
    return getattr(expressions, "or")(_any(expressions, these[:half]), _any(expressions, these[half:]))
