"""Rows of a log appended to an Iceberg table of this machine: this process writes the files, Iceberg commits them.

Spark would take each row out of Arrow and put it into Parquet again, at six times the cost.
"""

import errno
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.errors import DiskFullError, StoreError
from streamhouse.model.table import Column, Table
from streamhouse.stores.arrow import arrow_type
from streamhouse.stores.base import Partition
from streamhouse.stores.iceberg.statements import PLAIN_TYPES, storage_type

_FIELD_ID = b"PARQUET:field_id"  # where Arrow keeps the number by which Iceberg knows a column of a Parquet file
_MOST_PARTITIONS = 100  # of one commit; each is a file
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # what Iceberg takes this text for, where partitions are told as texts


def partitions_of(table: Table, stored: Any, rows: pa.Table) -> list[Partition] | None:
    """The partitions that rows are in, for `append`; None: it cannot take them.

    It takes those of a log without nested columns, in few partitions of a local folder.
    """
    if table.primary_key or not all(column.type.partition("(")[0] in PLAIN_TYPES for column in table.columns):
        return None
    by = list(table.partition_by)
    found: list[Partition] = [()]
    if by:
        found = [tuple(row.values()) for row in rows.select(by).group_by(by).aggregate([]).to_pylist()]
    few = len(found) <= _MOST_PARTITIONS and not any(_NO_VALUE in values for values in found)
    return found if few and _is_local(str(stored.location())) else None


def append(
    jvm: Any,
    stored: Any,
    table: Table,
    rows: pa.Table,
    partitions: Iterable[Partition],
    properties: Mapping[str, str],
) -> None:
    """Commit one snapshot of rows with `properties`; the caller holds the table's lock.

    Args:
        jvm: Spark's.
        stored: The table in Iceberg's own Java.
        table: With every column that is stored.
        rows: With these columns.
        partitions: From `partitions_of`.
        properties: Of the snapshot.

    Raises:
        DiskFullError: no room is left; nothing was committed, and files may be left that belong to no snapshot.
        StoreError: a file cannot be written; likewise.
    """
    schema = _schema(stored, table)
    commit = stored.newAppend()
    for values in partitions:
        path = str(stored.locationProvider().newDataLocation(f"{uuid4()}.parquet"))
        with _written(table):
            _write(_local(path), _of(table, rows, values), schema)
        commit.appendFile(_described(jvm, stored, path, values))
    for key, value in properties.items():
        commit.set(key, value)
    commit.commit()


def _described(jvm: Any, stored: Any, path: str, values: Partition) -> Any:
    iceberg = jvm.org.apache.iceberg
    file = stored.io().newInputFile(path)
    metrics = iceberg.parquet.ParquetUtil.fileMetrics(file, iceberg.MetricsConfig.forTable(stored))
    # Not withInputFile: that puts `file:` before the path, which Spark's own files have not.
    made = iceberg.DataFiles.builder(stored.spec()).withPath(path).withFormat("parquet").withMetrics(metrics)
    made = made.withFileSizeInBytes(_local(path).stat().st_size)
    if values:
        texts = jvm.java.util.ArrayList()
        for value in values:
            texts.add(str(value))
        made = made.withPartitionValues(texts)
    return made.build()


def _write(path: Path, rows: pa.Table, schema: pa.Schema) -> None:
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = [column.cast(field.type) for column, field in zip(rows.columns, schema, strict=True)]
    pq.write_table(
        pa.table(arrays, schema=schema), path, compression="zstd", store_schema=False, store_decimal_as_integer=True
    )


def _schema(stored: Any, table: Table) -> pa.Schema:
    """The columns as Iceberg knows them: by number, and with the types it has."""
    found = stored.schema()

    def field(column: Column) -> pa.Field:
        number = str(found.findField(column.name).fieldId()).encode()
        return pa.field(column.name, arrow_type(storage_type(column.type)), metadata={_FIELD_ID: number})

    return pa.schema([field(column) for column in table.columns])


def _of(table: Table, rows: pa.Table, values: Partition) -> pa.Table:
    """The rows of one partition, in their order."""
    for name, value in zip(table.partition_by, values, strict=True):
        rows = rows.filter(pc.equal(rows.column(name), pa.scalar(value, rows.schema.field(name).type)))
    return rows


def _is_local(location: str) -> bool:
    """Whether Iceberg names a place in a folder of this machine."""
    return location.removeprefix("file:").startswith("/")


def _local(location: str) -> Path:
    return Path("/" + location.removeprefix("file:").lstrip("/"))


@contextmanager
def _written(table: Table) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise DiskFullError(f"no room left while writing Iceberg table {table.name}") from error
        raise StoreError(f"writing Iceberg table {table.name} failed: {error}") from error
