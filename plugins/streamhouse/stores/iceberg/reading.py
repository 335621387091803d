"""Iceberg tables as Spark DataFrames, now and at past snapshots, and the difference of two."""

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

import pyarrow as pa

from streamhouse.model.table import Column, Table
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes
from streamhouse.stores.frame import arrow_frame
from streamhouse.stores.iceberg.statements import as_of, storage_type
from streamhouse.stores.keyed import padded
from streamhouse.stores.same import may_hold_floats, zeros_apart

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession


def frame(spark: "SparkSession", catalog: str, table: Table, snapshot_id: int) -> "DataFrame":
    """Every row at a snapshot, with the columns and types of `table`; 0 is the empty table.

    A column that the table did not have at that snapshot is null.
    """
    if snapshot_id == 0:
        return arrow_frame(spark, arrow_schema(table.columns).empty_table())
    return _shown(spark.sql(as_of(catalog, table, snapshot_id)), table)


def appended(spark: "SparkSession", catalog: str, table: Table, start: int, end: int) -> "DataFrame":
    """Rows appended after snapshot `start` up to and with `end`; compactions give none."""
    reader = spark.read.option("start-snapshot-id", start).option("end-snapshot-id", end)
    return _shown(reader.table(f"{catalog}.{table.name}"), table)


def difference(old: "DataFrame", new: "DataFrame", table: Table, columns: Sequence[str]) -> Changes:
    """The changes that lead from state `old` of a keyed table to `new`, with the rows before them."""
    names, key = list(table.column_names), list(table.primary_key)
    compared = [(_comparable(old, table.column(n)), _comparable(new, table.column(n))) for n in names]
    floats = [
        (o, n)
        for name, (o, n) in zip(names, compared, strict=True)
        if name not in key and may_hold_floats(table.column(name).type)
    ]
    compared += [(zeros_apart(o), zeros_apart(n)) for o, n in floats]
    same = reduce(and_, (o.eqNullSafe(n) for o, n in compared))
    changed = new.join(old, same, "left_anti")
    upserts = collected(changed.select(*dict.fromkeys([*columns, *key])), table)
    deletes = collected(old.select(*key).join(new.select(*key), key, "left_anti"), table)
    touched = pa.concat_tables([upserts.select(key), deletes])
    before = old.join(arrow_frame(old.sparkSession, touched), key, "left_semi")
    return Changes(
        upserts=upserts.select(list(columns)),
        deletes=deletes if deletes.num_rows else None,
        before=collected(before.select(*columns), table),
    )


def collected(rows: "DataFrame", table: Table) -> pa.Table:
    """The rows in this process, with the Arrow types of `table`."""
    return padded(rows.toArrow(), [table.column(name) for name in rows.columns])


def _shown(stored: "DataFrame", table: Table) -> "DataFrame":
    from pyspark.sql import functions as f

    have = set(stored.columns)

    def column(wanted: Column) -> "SparkColumn":
        if wanted.name not in have:
            return f.lit(None).cast(wanted.type).alias(wanted.name)
        found = stored[wanted.name]
        return found if storage_type(wanted.type) == wanted.type else found.cast(wanted.type).alias(wanted.name)

    return stored.select(*(column(c) for c in table.columns))


def _comparable(rows: "DataFrame", column: Column) -> "SparkColumn":
    from pyspark.sql import functions as f

    # Spark compares no maps, so what holds one is compared as text.
    return f.to_json(rows[column.name]) if "map<" in column.type else rows[column.name]
