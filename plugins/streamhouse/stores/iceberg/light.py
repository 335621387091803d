"""Small Iceberg tables of a local folder read in this process: no Spark has to start for them."""

import operator
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.errors import RowsLostError, StoreError, TableMissingError
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Position, Tier
from streamhouse.stores.arrow import arrow_schema, arrow_type
from streamhouse.stores.base import DataFile, NeedsSparkError, Partition, Snapshot
from streamhouse.stores.iceberg import snapshots
from streamhouse.stores.iceberg.metadata import FIELD_ID, PLAIN_TYPES, Commit, File, Metadata, local
from streamhouse.stores.where import Condition

_SNAPSHOT = "snapshot"
_MOST_ROWS, _MOST_BYTES, _MOST_FILES = 1_000_000, 64 << 20, 200  # beyond, Spark's start does not matter
_COMPARED = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_HINT = "table$lake$snapshots lists those that are held; upkeep expires old ones"

Positions: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int64]]"


class IcebergReader:
    """The reading half of a `LakeStore`, for tables of a Hadoop catalog in a folder of this machine.

    Gives the rows that Spark gives, as a test holds it to; what it cannot read alike, or not quickly, is refused.

    Args:
        warehouse: Of the catalog.
    """

    tier: Tier = Tier.COLD

    def __init__(self, warehouse: Path) -> None:
        self._warehouse = warehouse

    def columns(self, name: str) -> tuple[Column, ...] | None:
        """See `Store.columns`, but for the types, which are those that Iceberg names."""
        found = self._metadata(name)
        return None if found is None else tuple(Column(name=f["name"], type=str(f["type"])) for f in found.fields())

    def end(self, table: Table) -> Position:
        """See `Store.end`."""
        return {_SNAPSHOT: snapshots.newest(self._table(table))}

    def snapshot_properties(self, table: Table) -> dict[str, str]:
        """See `LakeStore.snapshot_properties`."""
        return snapshots.newest_properties(self._table(table))

    def list_snapshots(self, table: Table) -> list[Snapshot]:
        """See `LakeMetadata.list_snapshots`."""
        return snapshots.held(self._table(table))

    def position_at(self, table: Table, at_ms: int) -> Position:
        """See `TimedStore.position_at`."""
        found = snapshots.newest_before(self._table(table), at_ms)
        if found is None:
            raise RowsLostError(f"Iceberg's snapshots of {table.name} do not go back so far", hint=_HINT)
        return {_SNAPSHOT: found}

    def list_files(self, table: Table, at: Position | None = None, where: Sequence[Condition] = ()) -> list[DataFile]:
        """See `LakeMetadata.list_files`; of `where`, what it says of partitions counts."""
        metadata = self._table(table)
        commit = self._commit(table, metadata, at)
        found = [] if commit is None else [one for one in metadata.files(commit) if _may_hold(one, table, where)]
        return [
            DataFile(str(one.path), one.rows, one.bytes, deletes=one.deletes, partition=_partition(one, table))
            for one in found
        ]

    def read_state(self, table: Table, at: Position | None = None, columns: tuple[str, ...] | None = None) -> pa.Table:
        """See `Store.read_state`."""
        return self.read_where(table, at, table.column_names if columns is None else columns, ())

    def read_where(
        self, table: Table, at: Position | None, columns: tuple[str, ...], where: Sequence[Condition]
    ) -> pa.Table:
        """See `FilteredStore.read_where`.

        Raises:
            NeedsSparkError: the table is large, or has what is not read here.
        """
        wanted = [table.column(name) for name in columns]
        if odd := [one for one in wanted if one.type.partition("(")[0] not in PLAIN_TYPES]:
            raise NeedsSparkError(f"column {odd[0].name} of the cold tier is {odd[0].type}")
        metadata = self._table(table)
        commit = self._commit(table, metadata, at)
        if commit is None:
            return arrow_schema(wanted).empty_table()
        with _while_held(table):
            return self._read(table, metadata, commit, wanted, where)

    def _read(
        self, table: Table, metadata: Metadata, commit: Commit, wanted: list[Column], where: Sequence[Condition]
    ) -> pa.Table:
        files = list(metadata.files(commit))
        read = [one for one in files if not one.deletes and _may_hold(one, table, where)]
        deletes = [one for one in files if one.deletes and _may_hold(one, table, where)]
        _refuse_large([*read, *deletes])
        ids = {field["name"]: int(field["id"]) for field in metadata.fields(commit)}
        gone = _deleted(deletes)
        parts = [_rows(one, wanted, ids, gone.get(one.path, []), table.partition_by) for one in read]
        return pa.concat_tables([arrow_schema(wanted).empty_table(), *parts])

    def close(self) -> None:
        """Nothing is held."""

    def _metadata(self, name: str) -> Metadata | None:
        layer, _, table = name.partition(".")
        return Metadata.newest(self._warehouse / layer / table)

    def _table(self, table: Table) -> Metadata:
        found = self._metadata(table.name)
        if found is None:
            raise TableMissingError(f"Iceberg has no table {table.name}")
        return found

    def _commit(self, table: Table, metadata: Metadata, at: Position | None) -> Commit | None:
        """The snapshot at a position; None: before the first."""
        number = snapshots.newest(metadata) if at is None else at.get(_SNAPSHOT, 0)
        if not number:
            return None
        found = metadata.snapshot(snapshots.id_of(metadata, number))
        if found is None:
            lost = "has no snapshot" if snapshots.newest(metadata) < number else "no longer holds snapshot"
            raise RowsLostError(f"Iceberg {lost} {number} of {table.name}", hint=_HINT)
        return found


def _refuse_large(files: Sequence[File]) -> None:
    rows, size = sum(one.rows for one in files), sum(one.bytes for one in files)
    if rows > _MOST_ROWS or size > _MOST_BYTES or len(files) > _MOST_FILES:
        raise NeedsSparkError(f"{rows:,} rows of the cold tier in {len(files)} files")


def _partition(file: File, table: Table) -> Partition:
    if len(file.partition) != len(table.partition_by):
        raise NeedsSparkError("the table is partitioned in another way")
    return file.partition


def _may_hold(file: File, table: Table, where: Sequence[Condition]) -> bool:
    """Whether a file may have rows that fulfil the conditions, by its partition alone."""
    values = dict(zip(table.partition_by, _partition(file, table), strict=True))
    return all(_holds(values[one.column], one) for one in where if one.column in values)


def _holds(value: Any, condition: Condition) -> bool:
    if condition.operator in ("is null", "is not null"):
        return (value is None) == (condition.operator == "is null")
    if value is None:
        return False
    if condition.operator == "in":
        return value in condition.values
    return bool(_COMPARED[condition.operator](value, condition.values[0]))


def _deleted(files: Sequence[File]) -> dict[Path, list[Positions]]:
    """Data file → positions of its rows that are gone."""
    import pyarrow.parquet as pq

    found: dict[Path, list[Positions]] = defaultdict(list)
    for file in files:
        with pq.ParquetFile(file.path) as opened:
            rows = opened.read(columns=["file_path", "pos"])
        paths = rows.column("file_path")
        for path in paths.unique().to_pylist():
            positions = rows.column("pos").filter(pc.equal(paths, path))
            found[local(path)].append(positions.to_numpy())
    return found


def _rows(
    file: File, wanted: Sequence[Column], ids: Mapping[str, int], deleted: Sequence[Positions], by: Sequence[str]
) -> pa.Table:
    """The rows of a file with the columns `wanted`; one that the file was written without is null."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(file.path) as opened:
        fields = {int((field.metadata or {}).get(FIELD_ID, -1)): field.name for field in opened.schema_arrow}
        names = {one.name: fields[ids[one.name]] for one in wanted if ids.get(one.name) in fields}
        if lacking := [one.name for one in wanted if one.name in by and one.name not in names]:
            raise NeedsSparkError(f"{lacking[0]}, by which the table is partitioned, is not in its files")
        rows = opened.read(columns=list(names.values()))
        count = opened.metadata.num_rows
    arrays = [
        rows.column(names[one.name]).cast(arrow_type(one.type))
        if one.name in names
        else pa.nulls(count, arrow_type(one.type))
        for one in wanted
    ]
    found = pa.table(arrays, schema=arrow_schema(wanted))
    if not deleted:
        return found
    kept = np.ones(count, dtype=bool)
    kept[np.concatenate(deleted)] = False
    return found.filter(pa.array(kept))


@contextmanager
def _while_held(table: Table) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise StoreError(
            f"a file of {table.name} in the cold tier is gone: {error}", hint="upkeep removed it meanwhile: ask again"
        ) from error
