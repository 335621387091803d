"""Data files of an Iceberg table, and files of deleted positions, written by this process.

Spark would take each row out of Arrow and put it into Parquet again, at six times the cost.
"""

import errno
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.errors import DiskFullError, StoreError
from streamhouse.model.table import Table
from streamhouse.stores.arrow import arrow_type
from streamhouse.stores.base import Partition
from streamhouse.stores.data_check import CHECKED_COMPRESSION
from streamhouse.stores.iceberg.file_io import is_local, sink
from streamhouse.stores.iceberg.java import pairs
from streamhouse.stores.iceberg.light_failures import of_object_store
from streamhouse.stores.iceberg.statements import storage_type

FIELD_ID = b"PARQUET:field_id"  # where Arrow keeps the number by which Iceberg knows a column of a Parquet file
_MOST_PARTITIONS = 100  # of one commit; each is a file
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # what Iceberg takes this text for, where partitions are told as texts
POSITIONS = (2147483546, 2147483545)  # the columns of a file of deleted positions: file and row
_DELETES = pa.schema(
    [
        pa.field(name, kind, nullable=False, metadata={FIELD_ID: str(number).encode()})
        for name, kind, number in zip(("file_path", "pos"), (pa.string(), pa.int64()), POSITIONS, strict=True)
    ]
)


def partitions_of(table: Table, rows: pa.Table) -> list[Partition] | None:
    """The partitions that rows are in, for `written`; None: it cannot take them.

    It takes those in few partitions.
    """
    by = list(table.partition_by)
    found: list[Partition] = [()] if rows.num_rows else []
    if by:
        found = [tuple(row.values()) for row in rows.select(by).group_by(by).aggregate([]).to_pylist()]
    few = len(found) <= _MOST_PARTITIONS and not any(_NO_VALUE in values for values in found)
    return found if few else None


def written(jvm: Any, stored: Any, table: Table, rows: pa.Table, partitions: Iterable[Partition]) -> list[Any]:
    """New data files with these rows, as Iceberg's Java describes them; no snapshot has them yet.

    Args:
        jvm: Spark's.
        stored: The table in Iceberg's own Java.
        table: With every column that is stored.
        rows: With these columns.
        partitions: From `partitions_of`.

    Raises:
        DiskFullError: no room is left; files may be left that belong to no snapshot.
        StoreError: a file cannot be written; likewise.
        NeedsSparkError: the table is at a place that this process does not reach. Nothing was written.
    """
    schema, found = _schema(jvm, stored, table), []
    for values in partitions:
        part = _of(table, rows, values)
        arrays = [column.cast(field.type) for column, field in zip(part.columns, schema, strict=True)]
        path = _write(stored, table, pa.table(arrays, schema=schema), "parquet")
        config = jvm.org.apache.iceberg.MetricsConfig.forTable(stored)
        # Not withInputFile: that puts `file:` before the path, which Spark's own files have not.
        made = jvm.org.apache.iceberg.DataFiles.builder(stored.spec()).withPath(path).withFormat("parquet")
        if values:
            texts = jvm.java.util.ArrayList()
            for value in values:
                texts.add(str(value))
            made = made.withPartitionValues(texts)
        found.append(_measured(jvm, stored, made, path, config))
    return found


def deleted(
    jvm: Any, stored: Any, table: Table, file: Any, positions: "np.ndarray[tuple[int], np.dtype[np.int64]]"
) -> Any:
    """A new file that deletes rows of a data file, as Iceberg's Java describes it; no snapshot has it yet.

    Args:
        jvm: Spark's.
        stored: The table in Iceberg's own Java.
        table: What it is to us.
        file: The data file, in Java.
        positions: Of the rows, in rising order.

    Raises:
        DiskFullError, StoreError: as of `written`.
    """
    name = pa.array([str(file.location())]).take(pa.array(np.zeros(len(positions), dtype=np.int64)))
    path = _write(stored, table, pa.table([name, positions], schema=_DELETES), "deletes.parquet")
    made = jvm.org.apache.iceberg.FileMetadata.deleteFileBuilder(stored.spec()).ofPositionDeletes()
    made = made.withPath(path).withFormat("parquet")
    if table.partition_by:
        made = made.withPartition(file.partition())
    return _measured(jvm, stored, made, path, jvm.org.apache.iceberg.MetricsConfig.forPositionDelete())


def options_of(stored: Any) -> Mapping[str, str]:
    """How files of a table are reached, as its own `FileIO` is told; nothing of those in a folder of this machine."""
    if is_local(str(stored.location())):
        return {}
    return pairs(stored.io().properties())


def _measured(jvm: Any, stored: Any, made: Any, path: str, config: Any) -> Any:
    file = stored.io().newInputFile(path)
    metrics = jvm.org.apache.iceberg.parquet.ParquetUtil.fileMetrics(file, config)
    return made.withFileSizeInBytes(file.getLength()).withMetrics(metrics).build()


def _write(stored: Any, table: Table, rows: pa.Table, ending: str) -> str:
    import pyarrow.parquet as pq

    path = str(stored.locationProvider().newDataLocation(f"{uuid4()}.{ending}"))
    with _translated(table), sink(path, options_of(stored)) as target:
        pq.write_table(
            rows,
            target,
            compression=CHECKED_COMPRESSION,
            store_schema=False,
            store_decimal_as_integer=True,
        )
    return path


def _schema(jvm: Any, stored: Any, table: Table) -> pa.Schema:
    """The columns as Iceberg knows them: by number, and with the types it has."""
    told = json.loads(str(jvm.org.apache.iceberg.SchemaParser.toJson(stored.schema())))
    return pa.schema(_fields([(column.name, arrow_type(storage_type(column.type))) for column in table.columns], told))


def _fields(wanted: Iterable[tuple[str, pa.DataType]], told: dict[str, Any]) -> list[pa.Field]:
    """Columns, or fields of a struct, with the numbers that Iceberg's JSON tells."""
    known = {field["name"]: field for field in told["fields"]}
    return [_field(name, kind, known[name]["id"], known[name]["type"]) for name, kind in wanted]


def _field(name: str, kind: pa.DataType, number: int, told: Any, *, nullable: bool = True) -> pa.Field:
    return pa.field(name, _numbered(kind, told), nullable, metadata={FIELD_ID: str(number).encode()})


def _numbered(kind: pa.DataType, told: Any) -> pa.DataType:
    """A type whose every part has the number that Iceberg's JSON tells."""
    if pa.types.is_struct(kind):
        return pa.struct(_fields([(field.name, field.type) for field in kind], told))
    if pa.types.is_map(kind):
        key = _field("key", kind.key_type, told["key-id"], told["key"], nullable=False)
        return pa.map_(key, _field("value", kind.item_type, told["value-id"], told["value"]))
    if pa.types.is_list(kind):
        return pa.list_(_field("element", kind.value_type, told["element-id"], told["element"]))
    return kind


def _of(table: Table, rows: pa.Table, values: Partition) -> pa.Table:
    """The rows of one partition, in their order."""
    for name, value in zip(table.partition_by, values, strict=True):
        rows = rows.filter(pc.equal(rows.column(name), pa.scalar(value, rows.schema.field(name).type)))
    return rows


@contextmanager
def _translated(table: Table) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise DiskFullError(f"no room left while writing Iceberg table {table.name}") from error
        told = of_object_store(error)
        raise told or StoreError(f"writing Iceberg table {table.name} failed: {error}") from error
