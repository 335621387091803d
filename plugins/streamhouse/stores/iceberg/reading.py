"""Iceberg tables as Spark DataFrames, now and at past snapshots, and the difference of two."""

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

import pyarrow as pa

from streamhouse.model.table import Column, Table
from streamhouse.spark.frame import arrow_frame
from streamhouse.spark.results import collected_arrow, collected_rows
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import ROWS_OF_A_FILE, UNPLACED, Changes
from streamhouse.stores.equality import may_hold_floats, met, zeros_apart
from streamhouse.stores.iceberg.statements import as_of, storage_type
from streamhouse.stores.keyed import padded

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession

_PLACES = ("_file", "_pos")  # as Iceberg calls them
_ORDER = "__order"
_SEVERAL = 2
_PLACED = "__placed"
_DELETED_STATUS = 2  # status of an entry whose file is deleted


def frame(spark: "SparkSession", catalog: str, table: Table, snapshot_id: int) -> "DataFrame":
    """Every row at a snapshot, with the columns and types of `table`; 0 is the empty table.

    A column that the table did not have at that snapshot is null.
    """
    if snapshot_id == 0:
        return arrow_frame(spark, arrow_schema(table.columns).empty_table())
    return _shown(spark.sql(as_of(catalog, table, snapshot_id)), table)


def ordered(spark: "SparkSession", catalog: str, table: Table, snapshot_id: int, column: str) -> "DataFrame":
    """`frame`, with columns that give the order of rows; see `OrderedStore.ordered`.

    Commits have rising sequence numbers, the files of one commit have names in the order they were written, and a row
    has its place in a file. A compaction puts rows of many commits together, and has the number of the last one.
    """
    from pyspark.sql import functions as f

    if snapshot_id == 0:
        return frame(spark, catalog, table, snapshot_id).withColumn(column, f.lit(0).cast("bigint"))
    entries = spark.sql(as_of(catalog, table, snapshot_id, part="entries"))
    file_rows = entries.where((f.col("status") < _DELETED_STATUS) & (f.col("data_file.content") == 0)).select(
        f.col("data_file.file_path").alias("path"),
        f.col("sequence_number").alias("number"),
        f.col("file_sequence_number").alias("own"),
    )
    files = sorted(collected_rows(file_rows), key=lambda file: (file.number, file.path))
    mixed = max((file.number for file in files if file.own > file.number), default=-1)

    def first(index: int, number: int, own: int) -> int:
        unplaced = UNPLACED.start if own > number else UNPLACED.stop if number > mixed >= 0 else 0
        return unplaced + (index << ROWS_OF_A_FILE)

    places = {file.path: first(n, file.number, file.own) for n, file in enumerate(files)}
    stored = _shown(spark.sql(as_of(catalog, table, snapshot_id, more=_PLACES)), table, _PLACES)
    return _placed(stored, places, column).select(*table.column_names, column)


def in_order(spark: "SparkSession", catalog: str, table: Table, snapshot_id: int) -> "DataFrame":
    """`frame` of a log, sorted by the order of its rows as far as it is known."""
    return ordered(spark, catalog, table, snapshot_id, _ORDER).orderBy(_ORDER).drop(_ORDER)


def appended(
    spark: "SparkSession", catalog: str, table: Table, start: int, end: int, files: Sequence[str]
) -> "DataFrame":
    """Rows appended after snapshot `start` up to and with `end`, whose `files` these are, in their order.

    Compactions give none.
    """
    reader = spark.read.option("start-snapshot-id", start).option("end-snapshot-id", end)
    rows = reader.table(f"{catalog}.{table.name}")
    if len(files) < _SEVERAL:  # Spark gives the rows of one file in their order
        return _shown(rows, table)
    places = {file: n << ROWS_OF_A_FILE for n, file in enumerate(files)}
    stored = _shown(rows.select("*", *_PLACES), table, _PLACES)
    return _placed(stored, places, _ORDER).orderBy(_ORDER).select(*table.column_names)


def _placed(rows: "DataFrame", places: Mapping[str, int], column: str) -> "DataFrame":
    """The rows, which have `_PLACES`, with the place of each among those of all files: file → where its rows begin."""
    from pyspark.sql import functions as f

    begins = pa.table({_PLACED: pa.array(places, pa.string()), column: pa.array(places.values(), pa.int64())})
    found = rows.join(f.broadcast(arrow_frame(rows.sparkSession, begins)), f.col(_PLACES[0]) == f.col(_PLACED))
    return found.withColumn(column, f.col(column) + f.col(_PLACES[1]))


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
    old_keys, new_keys = old.select(*key), new.select(*key)
    deletes = collected(old_keys.join(new_keys, met(old_keys, new_keys, table), "left_anti"), table)
    touched = pa.concat_tables([upserts.select(key), deletes])
    touched_keys = arrow_frame(old.sparkSession, touched)
    before = old.join(touched_keys, met(old, touched_keys, table), "left_semi")
    return Changes(
        upserts=upserts.select(list(columns)),
        deletes=deletes if deletes.num_rows else None,
        before=collected(before.select(*columns), table),
    )


def collected(rows: "DataFrame", table: Table) -> pa.Table:
    """The rows in this process, with the Arrow types of `table`."""
    return padded(collected_arrow(rows), [table.column(name) for name in rows.columns])


def _shown(stored: "DataFrame", table: Table, more: Sequence[str] = ()) -> "DataFrame":
    from pyspark.sql import functions as f

    have = set(stored.columns)

    def column(wanted: Column) -> "SparkColumn":
        if wanted.name not in have:
            return f.lit(None).cast(wanted.type).alias(wanted.name)
        found = stored[wanted.name]
        return found if storage_type(wanted.type) == wanted.type else found.cast(wanted.type).alias(wanted.name)

    return stored.select(*(column(c) for c in table.columns), *more)


def _comparable(rows: "DataFrame", column: Column) -> "SparkColumn":
    from pyspark.sql import functions as f

    # Spark compares no maps, so what holds one is compared as text.
    return f.to_json(rows[column.name]) if "map<" in column.type else rows[column.name]
