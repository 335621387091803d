"""The partitions of an Iceberg table: which there are, which changed, and the commit that drops some.

One of NULL is named by what other stores have in its place, see `streamhouse.stores.null_keys.stand_in`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from streamhouse.model.table import Table
from streamhouse.spark.results import collected_rows
from streamhouse.stores.base import DROPPED, Partition
from streamhouse.stores.iceberg.files import literal
from streamhouse.stores.iceberg.java import IcebergJava
from streamhouse.stores.null_keys import stand_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def stored(spark: "SparkSession", name: str, table: Table) -> set[Partition]:
    """Those that have files in the newest snapshot.

    Args:
        spark: Has the catalog.
        name: `catalog.layer.table`.
        table: Which one.
    """
    found = spark.table(f"{name}.partitions").select(*(f"partition.{column}" for column in table.partition_by))
    return {_named(table, row) for row in collected_rows(found.distinct())}


def changed(spark: "SparkSession", name: str, table: Table, since: int) -> set[Partition]:
    """Those with rows or deletes that were written after the snapshot `since`, or compacted since."""
    from pyspark.sql import functions as f

    entries = spark.table(f"{name}.entries").where(f.col("sequence_number") > since)
    found = entries.select(*(f"data_file.partition.{column}" for column in table.partition_by))
    return {_named(table, row) for row in collected_rows(found.distinct())}


def drop(java: IcebergJava, stored_table: Any, table: Table, to_drop: Sequence[Partition]) -> None:
    """Commit a snapshot without the files of some partitions, none of which is read; the caller holds the lock.

    Args:
        java: Iceberg's classes.
        stored_table: Iceberg's own, in Java.
        table: Which one.
        to_drop: At least one.
    """
    expressions = java.expressions
    by, nothing = table.partition_by, [stand_in(table.column(name).type) for name in table.partition_by]
    if len(by) == 1 and (nothing[0],) not in to_drop:
        these = getattr(expressions, "in")(by[0], [literal(one[0]) for one in to_drop])
    else:
        these = _any(expressions, [_all(expressions, by, one, nothing) for one in to_drop])
    stored_table.newDelete().deleteFromRowFilter(these).set(DROPPED, str(len(to_drop))).commit()


def _named(table: Table, values: Sequence[Any]) -> Partition:
    columns = zip(table.partition_by, values, strict=True)
    return tuple(stand_in(table.column(name).type) if value is None else value for name, value in columns)


def _all(expressions: Any, by: Sequence[str], one: Partition, nothing: Sequence[object]) -> Any:
    whole = expressions.alwaysTrue()
    for name, value, null in zip(by, one, nothing, strict=True):
        same = expressions.equal(name, literal(value))
        if value == null:
            same = getattr(expressions, "or")(same, expressions.isNull(name))
        whole = getattr(expressions, "and")(whole, same)
    return whole


def _any(expressions: Any, these: list[Any]) -> Any:
    """Either of some expressions, as a tree that is not deep: Iceberg walks it by recursion."""
    if len(these) == 1:
        return these[0]
    half = len(these) // 2
    return getattr(expressions, "or")(_any(expressions, these[:half]), _any(expressions, these[half:]))
