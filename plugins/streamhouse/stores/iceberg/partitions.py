"""The partitions of an Iceberg table: which there are, which changed, and the commit that drops some."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from streamhouse.stores.base import DROPPED, Partition
from streamhouse.stores.iceberg.files import literal

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
    return {tuple(row) for row in found.distinct().collect()}


def changed(spark: "SparkSession", name: str, by: Sequence[str], since: int) -> set[Partition]:
    """Those with rows or deletes that were written after the snapshot `since`, or compacted since."""
    from pyspark.sql import functions as f

    entries = spark.table(f"{name}.entries").where(f.col("sequence_number") > since)
    found = entries.select(*(f"data_file.partition.{column}" for column in by))
    return {tuple(row) for row in found.distinct().collect()}


def drop(jvm: Any, table: Any, by: Sequence[str], gone: Sequence[Partition]) -> None:
    """Commit a snapshot without the files of some partitions, none of which is read; the caller holds the lock.

    Args:
        jvm: Spark's.
        table: Iceberg's own, in Java.
        by: Partition columns.
        gone: At least one.
    """
    made = jvm.org.apache.iceberg.expressions.Expressions
    if len(by) == 1:
        these = getattr(made, "in")(by[0], [literal(one[0]) for one in gone])
    else:
        these = _any(made, [_all(made, by, one) for one in gone])
    table.newDelete().deleteFromRowFilter(these).set(DROPPED, str(len(gone))).commit()


def _all(made: Any, by: Sequence[str], one: Partition) -> Any:
    whole = made.alwaysTrue()
    for name, value in zip(by, one, strict=True):
        whole = getattr(made, "and")(whole, made.equal(name, literal(value)))
    return whole


def _any(made: Any, these: list[Any]) -> Any:
    """Either of some expressions, as a tree that is not deep: Iceberg walks it by recursion."""
    if len(these) == 1:
        return these[0]
    half = len(these) // 2
    return getattr(made, "or")(_any(made, these[:half]), _any(made, these[half:]))
