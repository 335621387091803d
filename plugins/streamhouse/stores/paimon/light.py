"""Small Paimon tables read by Paimon's Rust engine alone: what pypaimon imports takes longer than all else of them."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from streamhouse.model.place import is_local, local_path
from streamhouse.model.table import Table
from streamhouse.model.types import Position
from streamhouse.stores import null_keys
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.keyed import padded
from streamhouse.stores.paimon import reading
from streamhouse.stores.paimon.failures import translated
from streamhouse.stores.paimon.light_table import LightTable, light_table, row_json, schema_of
from streamhouse.stores.paimon.store import PaimonStore
from streamhouse.stores.paimon.verified import is_proven, prove_native, refuse_other_rows, refuse_other_total
from streamhouse.stores.where import RowCondition

_SNAPSHOT = "snapshot"
_MOST_ROWS = 1_000_000  # beyond, what pypaimon imports does not matter, and it reads with several threads
_FORMAT, _PARQUET = "file.format", "parquet"
_METHODS = {
    "=": "equal",
    "<": "lessThan",
    "<=": "lessOrEqual",
    ">": "greaterThan",
    ">=": "greaterOrEqual",
    "in": "in",
    "is null": "isNull",
    "is not null": "isNotNull",
}


class PaimonReader(PaimonStore):
    """A `PaimonStore` whose first answer is quick: columns, snapshots, their properties, and rows where they are few.

    Rows are those that `PaimonStore` gives, by the same engine. What Rust alone does not read is left to pypaimon, and
    so is all else.
    """

    @null_keys.reads_where
    def read_where(
        self, table: Table, at: Position | None, columns: tuple[str, ...], where: Sequence[RowCondition]
    ) -> pa.Table:
        """See `FilteredStore.read_where`."""
        with translated("reading", table.name):
            stored = self._stored(table.name)
            snapshot = (self._end(stored) if at is None else at).get(_SNAPSHOT, 0)
            rows = small_state(stored, table, snapshot, columns, where)
        return super().read_where(table, {_SNAPSHOT: snapshot}, columns, where) if rows is None else rows

    @cached_property
    def _file_io(self) -> Any:
        from pypaimon.common.file_io import FileIO
        from pypaimon.common.options import Options

        return FileIO.get(self._options["warehouse"], Options(self._options))

    def identity(self, name: str) -> str | None:
        """See `Store.identity`; of a folder that is not there only the system is asked: a look asks of each table."""
        if self._folder is not None:
            database, table = name.split(".")
            try:
                (self._folder / f"{database}.db" / table).stat()
            except (FileNotFoundError, NotADirectoryError):
                return None
            except OSError:
                pass  # which the whole look reports
        return super().identity(name)

    @cached_property
    def _folder(self) -> Path | None:
        """Of the warehouse; None: it is in an object store."""
        place = str(self._options["warehouse"])
        return local_path(place) if is_local(place) else None

    def _stored(self, name: str) -> LightTable:
        self._prove_schemas(name)
        return light_table(name, self._options, self._file_io)


def small_state(
    stored: LightTable, table: Table, snapshot_id: int, columns: Sequence[str], where: Sequence[RowCondition] = ()
) -> pa.Table | None:
    """`reading.state` by Rust alone; None: it has many rows, or is none that Rust reads.

    Raises:
        RowsLostError: the snapshot was expired, or never was.
    """
    shown = [table.column(name) for name in columns]
    if snapshot_id == 0:
        return arrow_schema(shown).empty_table()
    snapshot = reading.snapshot_at(stored, table, snapshot_id)
    if not is_proven(stored, snapshot_id):
        return None
    if stored.table_schema.options.get(_FORMAT, _PARQUET) != _PARQUET:
        return None
    schema = schema_of(stored.path, stored.file_io, snapshot.schema_id)
    try:
        batches = _batches(stored, table, schema, snapshot, columns, where)
    except (ValueError, RuntimeError, TypeError, NotImplementedError, OSError):
        return None  # all that Rust raises; whether there is anything wrong, pypaimon reports
    if batches is None:
        return None
    return padded(pa.Table.from_batches(batches), shown) if batches else arrow_schema(shown).empty_table()


def _batches(
    stored: LightTable, table: Table, schema: Any, snapshot: Any, columns: Sequence[str], where: Sequence[RowCondition]
) -> list[pa.RecordBatch] | None:
    """The rows of a snapshot, planned and read as pypaimon has Rust do it; None: they are many, or of no column."""
    fields = {field.name: field for field in schema.fields}
    names = dict.fromkeys([*columns, *(one.column for one in where)])
    present = [fields[name] for name in names if name in fields]  # a past schema may lack some
    if not present:
        return None
    by_rust = stored.by_rust(schema, {"scan.snapshot-id": str(snapshot.id)})
    scan = by_rust.new_read_builder().with_projection([field.name for field in present])
    read = by_rust.new_read_builder().with_read_type(row_json(present))
    if pushed := [_predicate(one) for one in where if one.column in fields]:
        every = pushed[0] if len(pushed) == 1 else {"method": "and", "children": pushed}
        scan, read = scan.with_filter(every), read.with_filter(every)
    splits = scan.new_scan().plan().splits()
    if sum(split.row_count() for split in splits) > _MOST_ROWS:
        return None
    if not where:
        refuse_other_total(table, snapshot, splits)
    if not prove_native(stored.path, splits):
        return None
    found = list(read.new_read().read_arrow(splits)) if splits else []
    if not where and not table.primary_key:
        refuse_other_rows(table, snapshot, sum(batch.num_rows for batch in found))
    return found


def _predicate(one: RowCondition) -> dict[str, Any]:
    return {"method": _METHODS[one.operator], "field": one.column, "literals": list(one.values)}
