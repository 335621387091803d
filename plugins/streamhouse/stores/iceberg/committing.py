"""Rows committed to an Iceberg table by this process: it writes the files, Iceberg commits them.

A row that takes the place of another deletes it by its position in a data file, as Spark's MERGE does.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.model.table import Column, Table
from streamhouse.stores.arrow import arrow_type
from streamhouse.stores.base import NeedsSparkError
from streamhouse.stores.iceberg import data_files, snapshots
from streamhouse.stores.iceberg.file_io import source
from streamhouse.stores.iceberg.files import expression
from streamhouse.stores.iceberg.java import IcebergJava, each
from streamhouse.stores.iceberg.light_failures import left_to_spark
from streamhouse.stores.iceberg.statements import PLAIN_TYPES, storage_type
from streamhouse.stores.keyed import apart, with_keys
from streamhouse.stores.where import RowCondition

_EXACT = tuple(name for name in PLAIN_TYPES if name not in ("float", "double"))  # whose NaN and -0.0 are equal in SQL
_BOUNDED = ("tinyint", "smallint", "int", "bigint", "decimal", "string", "date", "timestamp", "timestamp_ntz")
_MOST_VALUES = 1_000  # of a partition column that are named one by one
_MOST_FILES, _MOST_ROWS = 500, 20_000_000  # looked through for keys; of more, executors may have a part
_VERSION = 2


@dataclass(frozen=True)
class _Task:
    """A data file and its delete files, in Java."""

    file: Any
    deletes: tuple[Any, ...]


def append(java: IcebergJava, stored: Any, table: Table, rows: pa.Table, properties: Mapping[str, str]) -> bool:
    """Commit one snapshot of a log's rows with `properties`; the caller holds the table's lock.

    Args:
        java: Iceberg's classes.
        stored: The table in Iceberg's own Java.
        table: With every column that is stored.
        rows: With these columns.
        properties: Of the snapshot.

    Returns:
        False: it is Spark's; nothing was done.

    Raises:
        DiskFullError: no room is left; nothing was committed, and files may be left that belong to no snapshot.
        StoreError: a file cannot be written; as above.
    """
    parts = data_files.partitions_of(table, rows)
    if parts is None or not _is_plain(stored):
        return False
    try:
        files = data_files.written(java, stored, table, rows, parts)
    except NeedsSparkError:
        return False
    commit = stored.newAppend()
    for file in files:
        commit.appendFile(file)
    _commit(commit, properties)
    return True


def upsert(
    java: IcebergJava, stored: Any, table: Table, rows: pa.Table, kind: str, properties: Mapping[str, str]
) -> bool:
    """Commit one snapshot in which rows took the place of those with their keys; else as `append`.

    Keys are looked for in every data file that may have one, so it takes tables of some million rows.

    Args:
        java: Iceberg's classes.
        stored: The table in Iceberg's own Java.
        table: With a key, and every column that is stored.
        rows: As `rows_to_write` gives them: each key once, with its `kind`.
        kind: Name of a column.
        properties: Of the snapshot.
    """
    upserts, _ = apart(table, rows, kind)
    parts = data_files.partitions_of(table, upserts)
    keys = [table.column(name) for name in table.primary_key]
    if parts is None or not _is_plain(stored) or not all(_base(column) in _EXACT for column in keys):
        return False
    wanted = _stored_as(rows.select(list(table.primary_key)), keys)
    try:
        tasks = _tasks(java, stored, table, wanted)
        with left_to_spark(table.name):
            found = [(task, old, new) for task, old, new in _matches(java, stored, tasks, keys, wanted) if len(new)]
        files = data_files.written(java, stored, table, upserts, parts)
    except NeedsSparkError:
        return False
    if not files and not found:
        snapshots.append_nothing(stored, dict(properties))
        return True
    commit = stored.newRowDelta()
    for file in files:
        commit.addRows(file)
    for task, old, new in found:
        positions = np.union1d(new, np.concatenate([old[path] for path in old])) if old else new
        commit.addDeletes(data_files.deleted(java, stored, table, task.file, positions))
        for delete in task.deletes:
            if str(delete.location()) in old:
                commit.removeDeletes(delete)
    if found:  # a commit without our lock that changes these files makes this one fail
        commit.validateFromSnapshot(stored.currentSnapshot().snapshotId()).validateDeletedFiles()
        commit.validateDataFilesExist([str(task.file.location()) for task, _, _ in found])
        commit.validateNoConflictingDeleteFiles()
    _commit(commit, properties)
    return True


def _is_plain(stored: Any) -> bool:
    """Whether Spark, too, would write Parquet, and delete rows by files of positions."""
    format_ = str(stored.properties().get("write.format.default") or "parquet")
    return format_.lower() == "parquet" and int(stored.operations().current().formatVersion()) == _VERSION


def _commit(commit: Any, properties: Mapping[str, str]) -> None:
    for key, value in properties.items():
        commit.set(key, value)
    commit.commit()


def _tasks(java: IcebergJava, stored: Any, table: Table, wanted: pa.Table) -> "list[_Task]":
    """The data files that may have one of the keys, each with its delete files."""
    scan = stored.newScan().filter(expression(java, _around(table, wanted)))
    planned = scan.planFiles()
    try:
        tasks, rows = [], 0
        for task in each(planned):
            tasks.append(_Task(task.file(), tuple(each(task.deletes()))))
            rows += int(tasks[-1].file.recordCount())
            if len(tasks) > _MOST_FILES or rows > _MOST_ROWS:
                raise NeedsSparkError("many rows")
    finally:
        planned.close()
    for task in tasks:
        for file in (task.file, *task.deletes):
            plain = str(file.format()) == "PARQUET" and "EQUALITY" not in str(file.content())
            if not plain or file.specId() != stored.spec().specId():
                raise NeedsSparkError("files of another kind")
    return tasks


def _around(table: Table, wanted: pa.Table) -> list[RowCondition]:
    found = []
    for name in table.primary_key:
        column = wanted.column(name)
        if column.null_count:
            continue
        values = column.unique() if name in table.partition_by else None
        if values is not None and len(values) <= _MOST_VALUES:
            found.append(RowCondition(name, "in", tuple(values.to_pylist())))
        elif _base(table.column(name)) in _BOUNDED:
            ends = pc.min_max(column).as_py()
            found += [RowCondition(name, ">=", (ends["min"],)), RowCondition(name, "<=", (ends["max"],))]
    return found


def _matches(
    java: IcebergJava, stored: Any, tasks: "Sequence[_Task]", keys: Sequence[Column], wanted: pa.Table
) -> "Iterator[tuple[_Task, dict[str, Any], Any]]":
    """Of each data file: delete files of it alone with their positions, and where the keys are that are not deleted."""
    options = data_files.options_of(stored)
    numbers = [int(stored.schema().findField(column.name).fieldId()) for column in keys]
    util = java.files
    position_files: dict[str, pa.Table] = {}

    def positions(delete: Any, path: str) -> Any:
        name = str(delete.location())
        if name not in position_files:
            position_files[name] = _read(name, options, data_files.POSITIONS)
        rows = position_files[name]
        return rows.column(1).filter(pc.equal(rows.column(0), path)).to_numpy()

    for task in tasks:
        path, deletes = str(task.file.location()), task.deletes
        positions_by_file = {str(one.location()): positions(one, path) for one in deletes}
        old = {str(one.location()): positions_by_file[str(one.location())] for one in deletes if util.isFileScoped(one)}
        rows = _read(path, options, numbers).rename_columns(wanted.column_names)
        rows = _stored_as(rows, keys).append_column("", pa.array(np.arange(rows.num_rows)))
        if positions_by_file:
            alive = np.ones(rows.num_rows, dtype=bool)
            alive[reduce(np.union1d, positions_by_file.values())] = False
            rows = rows.filter(pa.array(alive))
        yield task, old, with_keys(rows, wanted).column("").to_numpy()


def _read(path: str, options: Mapping[str, str], numbers: Sequence[int]) -> pa.Table:
    """The columns of a Parquet file that Iceberg has under these numbers, in their order."""
    import pyarrow.parquet as pq

    with source(path, options) as opened, pq.ParquetFile(opened) as file:
        known = {(field.metadata or {}).get(data_files.FIELD_ID): field.name for field in file.schema_arrow}
        names = [known.get(str(number).encode()) for number in numbers]
        if None in names:
            raise NeedsSparkError("a file without numbers of columns")
        return file.read(names).select(names)


def _stored_as(rows: pa.Table, keys: Sequence[Column]) -> pa.Table:
    return pa.table(
        {column.name: rows.column(column.name).cast(arrow_type(storage_type(column.type))) for column in keys}
    )


def _base(column: Column) -> str:
    return column.type.partition("(")[0]
