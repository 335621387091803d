"""Small Iceberg tables read in this process, by PyIceberg: no Spark has to start for them."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import pyarrow as pa

from streamhouse.errors import RowsLostError, StoreError, TableMissingError
from streamhouse.model.place import is_local, local_path
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Position, Tier
from streamhouse.stores.arrow import arrow_schema, arrow_type, spark_type
from streamhouse.stores.base import DataFile, NeedsSparkError, Snapshot
from streamhouse.stores.data_check import remedy
from streamhouse.stores.iceberg import files, snapshots
from streamhouse.stores.iceberg.checksums import prove
from streamhouse.stores.iceberg.described import refuse_other_files, refuse_other_manifests
from streamhouse.stores.iceberg.light_failures import left_to_spark
from streamhouse.stores.iceberg.metadata import Commit, CommitHistory
from streamhouse.stores.iceberg.statements import PLAIN_TYPES, storage_type
from streamhouse.stores.iceberg.tables import Tables
from streamhouse.stores.ledger import Ledger, NoLedger
from streamhouse.stores.where import RowCondition
from streamhouse.stores.without_pandas import without_pandas

if TYPE_CHECKING:
    from pyiceberg import manifest
    from pyiceberg.expressions import BooleanExpression
    from pyiceberg.table import DataScan, FileScanTask, StaticTable

_SNAPSHOT, _TOTAL = "snapshot", "total-records"
_VERSION = 2
_MOST_ROWS, _MOST_BYTES, _MOST_FILES = 1_000_000, 64 << 20, 200  # beyond, Spark's start does not matter
_EXPRESSIONS = {
    "=": "EqualTo",
    "<": "LessThan",
    "<=": "LessThanOrEqual",
    ">": "GreaterThan",
    ">=": "GreaterThanOrEqual",
    "in": "In",
    "is null": "IsNull",
    "is not null": "NotNull",
}
_HINT = "table.lake.snapshots lists those that exist; upkeep expires old ones"


class IcebergReader:
    """The reading half of a `LakeStore`.

    Gives the rows that Spark gives, as a test holds it to; what it cannot read alike, or not quickly, is refused.
    A catalog or an object store that does not answer, or refuses us, is a `StoreError`.

    Args:
        tables: Where they are found.
        ledger: Knows the tables that must be there; None: nobody does.
    """

    tier: Tier = Tier.COLD

    def __init__(self, tables: Tables, ledger: Ledger | None = None) -> None:
        self._tables = tables
        self.ledger: Ledger = ledger or NoLedger()

    def identity(self, name: str) -> str | None:
        """See `Store.identity`."""
        found = self._opened(name)
        return None if found is None else str(found.metadata.table_uuid)

    def columns(self, name: str) -> tuple[Column, ...] | None:
        """See `Store.columns`, but for the types, which are those that Iceberg names."""
        found = self._opened(name)
        if found is None:
            return None
        return tuple(Column(name=field.name, type=str(field.field_type)) for field in found.schema().fields)

    def end(self, table: Table) -> Position:
        """See `Store.end`."""
        return {_SNAPSHOT: snapshots.newest(self._history(table))}

    def check_lists(self, table: Table) -> None:
        """See `ListedStore.check_lists`; the list of manifests has Hadoop's checksums."""
        newest = self._table(table).current_snapshot()
        if newest is not None and newest.manifest_list and is_local(newest.manifest_list):
            with self._left_to_spark(table.name):
                prove(local_path(newest.manifest_list))

    def snapshot_properties(self, table: Table) -> dict[str, str]:
        """See `LakeStore.snapshot_properties`."""
        return snapshots.newest_properties(self._history(table))

    def last_commit(self, table: Table, writer: str) -> dict[str, str] | None:
        """See `LakeStore.last_commit`."""
        return snapshots.last_written(self._history(table), writer)

    def position_of(self, table: Table, snapshot: int) -> Position:
        """See `LakeMetadata.position_of`."""
        return {_SNAPSHOT: snapshots.number_of(self._history(table), snapshot)}

    def list_snapshots(self, table: Table) -> list[Snapshot]:
        """See `LakeMetadata.list_snapshots`."""
        return snapshots.retained(self._history(table))

    def position_at(self, table: Table, at_ms: int) -> Position:
        """See `TimedStore.position_at`."""
        found = snapshots.newest_before(self._history(table), at_ms)
        if found is None:
            raise RowsLostError(f"Iceberg's snapshots of {table.name} do not go back so far", hint=_HINT)
        return {_SNAPSHOT: found}

    def list_files(
        self, table: Table, at: Position | None = None, where: Sequence[RowCondition] = ()
    ) -> list[DataFile]:
        """See `LakeMetadata.list_files`."""
        stored = self._table(table)
        commit = _commit(table, stored, at)
        if commit is None:
            return []
        with self._left_to_spark(table.name):
            found = _files(_scan(stored, commit, where).plan_files())
            return [_described(one, table, stored) for one in found]

    def read_state(self, table: Table, at: Position | None = None, columns: tuple[str, ...] | None = None) -> pa.Table:
        """See `Store.read_state`."""
        return self.read_where(table, at, table.column_names if columns is None else columns, ())

    def read_where(
        self, table: Table, at: Position | None, columns: tuple[str, ...], where: Sequence[RowCondition]
    ) -> pa.Table:
        """See `FilteredStore.read_where`.

        Raises:
            NeedsSparkError: the table is large, or has what is not read here.
        """
        wanted = [table.column(name) for name in columns]
        if odd := [one for one in wanted if one.type.partition("(")[0] not in PLAIN_TYPES]:
            raise NeedsSparkError(f"column {odd[0].name} of the cold tier is {odd[0].type}")
        stored = self._table(table)
        commit = _commit(table, stored, at)
        if commit is None:
            return arrow_schema(wanted).empty_table()
        with self._left_to_spark(table.name):
            scan = _scan(stored, commit, where)
            _refuse_other_manifests(table, stored, commit)
            total = None if where else commit.summary().get(_TOTAL)
            return _rows(table.name, stored, scan, wanted, None if total is None else int(total))

    def close(self) -> None:
        """Nothing is open."""

    def _history(self, table: Table) -> CommitHistory:
        return CommitHistory(self._table(table).metadata)

    def _table(self, table: Table) -> "StaticTable":
        found = self._opened(table.name)
        if found is None:
            raise TableMissingError(f"Iceberg has no table {table.name}")
        return found

    def _opened(self, name: str) -> "StaticTable | None":
        with without_pandas(), self._left_to_spark(name):
            found = self._tables.table(name)
        if found is None:
            return None
        if found.metadata.format_version != _VERSION:
            raise NeedsSparkError(f"the table is of Iceberg's format {found.metadata.format_version}")
        return found

    def _left_to_spark(self, name: str) -> AbstractContextManager[None]:
        return left_to_spark(name, self._tables.secrets)


def _commit(table: Table, stored: "StaticTable", at: Position | None) -> Commit | None:
    """The snapshot at a position; None: before the first."""
    history = CommitHistory(stored.metadata)
    number = snapshots.newest(history) if at is None else at.get(_SNAPSHOT, 0)
    if not number:
        return None
    found = history.snapshot(snapshots.id_of(history, number))
    if found is None:
        lost = "has no snapshot" if snapshots.newest(history) < number else "no longer holds snapshot"
        raise RowsLostError(f"Iceberg {lost} {number} of {table.name}", hint=_HINT)
    return found


def _scan(stored: "StaticTable", commit: Commit, where: Sequence[RowCondition]) -> "DataScan":
    """A scan of the columns that the table had at a snapshot, and of the rows that fulfil the conditions."""
    scan = stored.scan(snapshot_id=commit.snapshotId())
    now, then = ({field.name: field.field_id for field in one.fields} for one in (stored.schema(), scan.projection()))
    for one in where:
        # PyIceberg takes conditions to be about the columns of now, which may have had other names then.
        if one.column in then and then[one.column] == now.get(one.column):
            scan = scan.filter(_expression(one))
    return scan


def _expression(condition: RowCondition) -> "BooleanExpression":
    from pyiceberg import expressions

    expression_class = getattr(expressions, _EXPRESSIONS[condition.operator])
    values = (condition.values,) if condition.operator == "in" else condition.values
    found: BooleanExpression = expression_class(condition.column, *values)
    return found


def _refuse_other_manifests(table: Table, stored: "StaticTable", commit: Commit) -> None:
    found = stored.snapshot_by_id(commit.snapshotId())
    if found is not None and is_local(found.manifest_list):
        refuse_other_manifests(table.name, found.manifests(stored.io))


def _rows(name: str, stored: "StaticTable", scan: "DataScan", wanted: Sequence[Column], total: int | None) -> pa.Table:
    """The rows of a scan with the columns `wanted`; one that the table did not have at the snapshot is null.

    Args:
        name: Of the table.
        stored: Whose they are.
        scan: Of a snapshot.
        wanted: Which columns.
        total: The rows that the snapshot says its files have; None: they are not all read.
    """
    from pyiceberg.io.pyarrow import ArrowScan

    snapshot_columns = [field.name for field in scan.projection().fields]
    names = [one.name for one in wanted if one.name in snapshot_columns]
    tasks = list(scan.plan_files())
    described = _files(tasks)
    _refuse(described)
    if total is not None:
        _refuse_other(name, total, sum(task.file.record_count for task in tasks), "its manifests list")
    refuse_other_files(name, described)
    columns = scan.select(*(names or snapshot_columns[:1])).projection()  # without any, the rows would not be counted
    found = ArrowScan(stored.metadata, stored.io, columns, scan.row_filter).to_table(tasks)
    if total is not None and not any(task.delete_files for task in tasks):
        _refuse_other(name, total, found.num_rows, "its files gave")
    arrays = [
        _cast(found.column(one.name), one) if one.name in names else pa.nulls(found.num_rows, arrow_type(one.type))
        for one in wanted
    ]
    return pa.table(arrays, schema=arrow_schema(wanted))


def _refuse_other(name: str, total: int, rows: int, what: str) -> None:
    if rows != total:
        raise StoreError(
            f"{name} in the cold tier is damaged: its snapshot has {total:,} rows, {what} {rows:,}",
            hint=remedy(Tier.COLD),
        )


def _cast(values: pa.ChunkedArray, column: Column) -> pa.ChunkedArray:
    kind = spark_type(values.type)
    if kind != storage_type(column.type):  # Spark casts, in its own way
        raise NeedsSparkError(f"column {column.name} of the cold tier is stored as {kind}")
    return values.cast(arrow_type(column.type))


def _files(tasks: "Iterable[FileScanTask]") -> "list[manifest.DataFile]":
    """Data files, and the delete files that belong to them, each once."""
    return list({one.file_path: one for task in tasks for one in (task.file, *task.delete_files)}.values())


def _refuse(found: "Sequence[manifest.DataFile]") -> None:
    from pyiceberg.manifest import FileFormat

    rows, size = sum(one.record_count for one in found), sum(one.file_size_in_bytes for one in found)
    if rows > _MOST_ROWS or size > _MOST_BYTES or len(found) > _MOST_FILES:
        raise NeedsSparkError(f"{rows:,} rows of the cold tier in {len(found)} files")
    if odd := [one for one in found if one.file_format is not FileFormat.PARQUET]:
        raise NeedsSparkError(f"a file is of the format {odd[0].file_format.value}")


def _described(file: "manifest.DataFile", table: Table, stored: "StaticTable") -> DataFile:
    from pyiceberg.manifest import DataFileContent

    kinds = [str(field.field_type) for field in stored.specs()[file.spec_id].partition_type(stored.schema()).fields]
    if len(kinds) != len(table.partition_by):
        raise NeedsSparkError("the table is partitioned in another way")
    return DataFile(
        file.file_path,
        file.record_count,
        file.file_size_in_bytes,
        deletes=file.content is not DataFileContent.DATA,
        partition=files.partition([file.partition[number] for number in range(len(kinds))], kinds),
    )
