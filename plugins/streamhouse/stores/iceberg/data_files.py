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
from streamhouse.model.place import is_local
from streamhouse.model.table import Table
from streamhouse.stores.arrow import arrow_type
from streamhouse.stores.base import Partition
from streamhouse.stores.data_check import CHECKED_COMPRESSION
from streamhouse.stores.iceberg.file_io import sink
from streamhouse.stores.iceberg.java import IcebergJava, pairs
from streamhouse.stores.iceberg.light_failures import of_object_store
from streamhouse.stores.iceberg.statements import storage_type

FIELD_ID = b"PARQUET:field_id"  # where Arrow keeps the number by which Iceberg knows a column of a Parquet file
_MOST_PARTITIONS = 100  # of one commit; each is a file
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # what Iceberg takes this text for, where partitions are given as texts
POSITIONS = (2147483546, 2147483545)  # the columns of a file of deleted positions: file and row
_DELETES = pa.schema(
    [
        pa.field(name, kind, nullable=False, metadata={FIELD_ID: str(number).encode()})
        for name, kind, number in zip(("file_path", "pos"), (pa.string(), pa.int64()), POSITIONS, strict=True)
    ]
)


def partitions_of(table: Table, rows: pa.Table) -> list[Partition] | None:
    """The partitions that rows are in, for `written`; None: it cannot take them.

    It takes those in few partitions that have a name.
    """
    by = list(table.partition_by)
    found: list[Partition] = [()] if rows.num_rows else []
    if by:
        found = [tuple(row.values()) for row in rows.select(by).group_by(by).aggregate([]).to_pylist()]
    few = len(found) <= _MOST_PARTITIONS and not any(_NO_VALUE in values or None in values for values in found)
    return found if few else None


def written(java: IcebergJava, stored: Any, table: Table, rows: pa.Table, partitions: Iterable[Partition]) -> list[Any]:
    """New data files with these rows, as Iceberg's Java describes them; no snapshot has them yet.

    Args:
        java: Iceberg's classes.
        stored: The table in Iceberg's own Java.
        table: With every column that is stored.
        rows: With these columns.
        partitions: From `partitions_of`.

    Raises:
        DiskFullError: no room is left; files may be left that belong to no snapshot.
        StoreError: a file cannot be written; as above.
        NeedsSparkError: the table is at a place that this process does not reach. Nothing was written.
    """
    schema, found = _schema(java, stored, table), []
    for values in partitions:
        part = _of(table, rows, values)
        arrays = [column.cast(field.type) for column, field in zip(part.columns, schema, strict=True)]
        path = _write(stored, table, pa.table(arrays, schema=schema), "parquet")
        config = java.metrics_of(stored)
        # Not withInputFile: that puts `file:` before the path, which Spark's own files have not.
        builder = java.data_file(stored).withPath(path).withFormat("parquet")
        if values:
            builder = builder.withPartitionValues(java.texts(map(str, values)))
        found.append(_measured(java, stored, builder, path, config))
    return found


def deleted(
    java: IcebergJava, stored: Any, table: Table, file: Any, positions: "np.ndarray[tuple[int], np.dtype[np.int64]]"
) -> Any:
    """A new file that deletes rows of a data file, as Iceberg's Java describes it; no snapshot has it yet.

    Args:
        java: Iceberg's classes.
        stored: The table in Iceberg's own Java.
        table: What it is to us.
        file: The data file, in Java.
        positions: Of the rows, in rising order.

    Raises:
        DiskFullError, StoreError: as of `written`.
    """
    name = pa.array([str(file.location())]).take(pa.array(np.zeros(len(positions), dtype=np.int64)))
    path = _write(stored, table, pa.table([name, positions], schema=_DELETES), "deletes.parquet")
    builder = java.position_deletes(stored)
    builder = builder.withPath(path).withFormat("parquet")
    if table.partition_by:
        builder = builder.withPartition(file.partition())
    return _measured(java, stored, builder, path, java.metrics_of_deletes())


def options_of(stored: Any) -> Mapping[str, str]:
    """How files of a table are reached: settings of its `FileIO`; empty for a folder of this machine."""
    if is_local(str(stored.location())):
        return {}
    return pairs(stored.io().properties())


def _measured(java: IcebergJava, stored: Any, builder: Any, path: str, config: Any) -> Any:
    file = stored.io().newInputFile(path)
    metrics = java.measured(file, config)
    return builder.withFileSizeInBytes(file.getLength()).withMetrics(metrics).build()


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


def _schema(java: IcebergJava, stored: Any, table: Table) -> pa.Schema:
    """The columns as Iceberg knows them: by number, and with the types it has."""
    iceberg_schema = json.loads(java.schema_json(stored))
    return pa.schema(
        _fields([(column.name, arrow_type(storage_type(column.type))) for column in table.columns], iceberg_schema)
    )


def _fields(wanted: Iterable[tuple[str, pa.DataType]], iceberg_struct: dict[str, Any]) -> list[pa.Field]:
    """Columns, or fields of a struct, with the numbers in Iceberg's JSON."""
    known = {field["name"]: field for field in iceberg_struct["fields"]}
    return [_field(name, kind, known[name]["id"], known[name]["type"]) for name, kind in wanted]


def _field(name: str, kind: pa.DataType, number: int, iceberg_type: Any, *, nullable: bool = True) -> pa.Field:
    return pa.field(name, _numbered(kind, iceberg_type), nullable, metadata={FIELD_ID: str(number).encode()})


def _numbered(kind: pa.DataType, iceberg_type: Any) -> pa.DataType:
    """A type whose every part has the number in Iceberg's JSON."""
    if pa.types.is_struct(kind):
        return pa.struct(_fields([(field.name, field.type) for field in kind], iceberg_type))
    if pa.types.is_map(kind):
        key = _field("key", kind.key_type, iceberg_type["key-id"], iceberg_type["key"], nullable=False)
        return pa.map_(key, _field("value", kind.item_type, iceberg_type["value-id"], iceberg_type["value"]))
    if pa.types.is_list(kind):
        return pa.list_(_field("element", kind.value_type, iceberg_type["element-id"], iceberg_type["element"]))
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
        failure = of_object_store(error)
        raise failure or StoreError(f"writing Iceberg table {table.name} failed: {error}") from error
