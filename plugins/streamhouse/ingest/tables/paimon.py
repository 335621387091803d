"""Paimon tables of others, read by pypaimon and its Rust engine. Snapshots have rising numbers from 1 on."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from streamhouse.errors import Location, RowsLostError, SourceError
from streamhouse.ingest.tables.base import Piece, SnapshotPart, TableCommit, TwoStates, joined, pieces
from streamhouse.ingest.tables.failures import Failures
from streamhouse.ingest.tables.modes import refuse_table
from streamhouse.ingest.tables.options import Mode
from streamhouse.model.lake_connection import PaimonConnection
from streamhouse.model.place import is_local, local_path
from streamhouse.model.shape import SeenColumn
from streamhouse.model.table import Table, Tiers
from streamhouse.model.types import FOREVER
from streamhouse.stores.equality import distinct_keys
from streamhouse.stores.object_store import ObjectStore
from streamhouse.stores.paimon import reading
from streamhouse.stores.paimon.failures import translate_panics
from streamhouse.stores.paimon.schema import creation_time, shape_of, stored_columns

_HOW = {"read.native.enabled": "true", "scan.native-plan.enabled": "true"}
_RETENTION = "let its owner keep snapshots (snapshot.time-retained) for longer than the flow may rest"
_APPEND, _COMPACT = "APPEND", "COMPACT"


class PaimonTable:
    """One table of a warehouse.

    Args:
        name: `database.table`.
        options: Of the catalog.
        connection: Its name, for messages.
        mode: What is read of it.
        at: Where the source is defined.
    """

    def __init__(
        self, name: str, options: dict[str, str], connection: str, mode: Mode, at: Location | None = None
    ) -> None:
        self.name = name
        self._options = options
        self._mode = mode
        self._at = at
        secrets = tuple(options[key] for key in ("s3.secret-key", "s3.session-token") if key in options)
        self._failures = Failures(name, connection, secrets, at)

    def look(self) -> "PaimonLook":
        """See `OtherTable.look`.

        Raises:
            SourceError: there is no such table, or it cannot be read so.
            StoreUnavailableError: the catalog or the object store does not answer.
        """
        from pypaimon.catalog.catalog_exception import TableNotExistException

        with self._failures.translated(), translate_panics():
            try:
                handle = self._catalog.get_table(self.name)
            except TableNotExistException as error:
                raise self._failures.missing() from error
        found = PaimonLook(self.name, handle, self._failures, by_changes=self._mode == "upsert")
        others, key, hidden = "append, or snapshot_diff", found.primary_key, found.is_hidden
        refuse_table(self.name, self._mode, key, self._at, others=others, is_hidden=hidden)
        return found

    def names(self) -> list[str]:
        """The names of all tables of the warehouse.

        Raises:
            StoreUnavailableError: the object store does not answer.
            SourceError: it refuses us.
        """
        with self._failures.translated(), translate_panics():
            databases = sorted(self._catalog.list_databases())
            return [f"{one}.{table}" for one in databases for table in sorted(self._catalog.list_tables(one))]

    @cached_property
    def _catalog(self) -> Any:
        from pypaimon import CatalogFactory

        return CatalogFactory.create(self._options)


class PaimonLook:
    """See `TableLook`.

    Args:
        name: Of the table.
        handle: pypaimon's.
        failures: Says what went wrong.
        by_changes: Whether `apart` reads the keys that were written; else it compares whole snapshots.
    """

    def __init__(self, name: str, handle: Any, failures: Failures, *, by_changes: bool) -> None:
        self._name = name
        self._handle = handle.copy(_HOW)
        self._failures = failures
        self._by_changes = by_changes
        self._manager = self._handle.snapshot_manager()
        self._seen: dict[int, Any] = {}  # a snapshot never changes

    @cached_property
    def identity(self) -> str:
        """See `TableLook`: when its first schema was made, since Paimon names a table by its path only."""
        with self._translated():
            return creation_time(self._handle)

    @cached_property
    def columns(self) -> tuple[SeenColumn, ...]:
        """See `TableLook`."""
        with self._translated():
            return shape_of(self._name, self._handle).columns

    def name_now(self, name: str) -> str | None:
        """See `TableLook`."""
        names = {field.id: field.name for field in self._handle.table_schema.fields}
        number = self._ids.get(name)
        return None if number is None else names.get(number)

    @property
    def primary_key(self) -> tuple[str, ...]:
        """See `TableLook`."""
        return tuple(self._handle.primary_keys)

    @cached_property
    def is_hidden(self) -> bool:
        """Whether rows are seen only after a compaction, or are hidden without a snapshot that says so."""
        options = self._handle.table_schema.options
        vectors = options.get("deletion-vectors.enabled") == "true"
        merged = options.get("deletion-vectors.merge-on-read") == "true" and bool(self.primary_key)
        return options.get("merge-engine") == "first-row" or options.get("bucket") == "-2" or (vectors and not merged)

    @cached_property
    def newest(self) -> int:
        """See `TableLook`."""
        with self._translated():
            found = self._manager.get_latest_snapshot()
        return 0 if found is None else int(found.id)

    @cached_property
    def oldest(self) -> int:
        """See `TableLook`."""
        with self._translated():
            found = self._manager.try_get_earliest_snapshot()
        return 0 if found is None else int(found.id) - 1

    def has(self, number: int) -> bool:
        """See `TableLook`."""
        with self._translated():
            return number == 0 or self._manager.get_snapshot_by_id(number) is not None

    def commits(self, start: int, end: int) -> list[TableCommit]:
        """See `TableLook`."""
        if start >= end:
            return []
        if start == 0:
            total = int(self._snapshot(end).total_record_count or 0)
            return [TableCommit(end, total, added=True, what="all rows")]
        return [self._commit(self._snapshot(number)) for number in range(start + 1, end + 1)]

    def added(self, start: int, end: int, columns: Sequence[str]) -> pa.Table:
        """See `TableLook`."""
        parts = [
            self._changed(n, columns) for n in range(start + 1, end + 1) if self._snapshot(n).commit_kind == _APPEND
        ]
        return pa.concat_tables(parts, promote_options="permissive") if parts else pa.table({})

    def state(self, at: int, columns: Sequence[str]) -> pa.Table:
        """See `TableLook`."""
        return self._state(at, columns)

    def parts(self, at: int) -> list[SnapshotPart]:
        """See `TableLook`: pieces of each file of a log, and of each bucket of a table with a primary key."""
        self._snapshot(at)
        with self._translated():
            found = reading.state_parts(self._handle, _readable(self._name, self._handle), at)
        return [piece for part in found for piece in pieces(part, part.rows)]

    def rows_of(self, at: int, parts: Sequence[SnapshotPart], columns: Sequence[str]) -> pa.Table:
        """See `TableLook`."""
        self._snapshot(at)
        with self._translated():
            past = reading.at_snapshot(self._handle, _readable(self._name, self._handle), at)
            names = self._names_in(past, columns)
            rows = self._read(past, joined(parts), list(names.values()))
        return rows.rename_columns(list(names))

    def _read(self, past: Any, taken: Sequence[Piece], columns: list[str]) -> pa.Table:
        table = _readable(self._name, past)
        found = [reading.rows_of(past, table, [one.whole for one in taken if one.is_whole], columns)]
        for one in taken:
            if not one.is_whole:
                key = [(name, "ascending") for name in table.primary_key]
                rows = reading.rows_of(past, table, [one.whole], list(dict.fromkeys([*columns, *table.primary_key])))
                # A file gives its rows in their order; those of a bucket are merged, and the key gives theirs.
                placed = rows.sort_by(key) if key else rows
                found.append(placed.slice(one.first, one.end - one.first).select(columns))
        return pa.concat_tables(found)

    def apart(self, start: int, end: int, columns: Sequence[str], key: Sequence[str]) -> TwoStates:
        """See `TableLook`."""
        written = [self._snapshot(n) for n in range(start + 1, end + 1)] if self._by_changes else []
        if not self._by_changes or any(one.commit_kind not in (_APPEND, _COMPACT) for one in written):
            # Rows were overwritten: what that changed, only both states show.
            return TwoStates(self._state(start, columns), self._state(end, columns))
        touched = [self._changed(int(one.id), key) for one in written if one.commit_kind == _APPEND]
        keys = distinct_keys(pa.concat_tables(touched), key) if touched else None
        if keys is None or not keys.num_rows:
            return TwoStates(pa.table({}), pa.table({}))
        return TwoStates(self._state(start, columns, keys), self._state(end, columns, keys))

    def _state(self, number: int, columns: Sequence[str], keys: pa.Table | None = None) -> pa.Table:
        if number == 0:
            return pa.table({})
        self._snapshot(number)
        with self._translated():
            past = reading.at_snapshot(self._handle, _readable(self._name, self._handle), number)
            names = self._names_in(past, columns)
            table = _readable(self._name, past)
            if keys is not None:
                keys = keys.rename_columns(list(self._names_in(past, keys.column_names).values()))
            rows = reading.state(self._handle, table, number, list(names.values()), keys)
        return rows.rename_columns(list(names))

    def _changed(self, number: int, columns: Sequence[str]) -> pa.Table:
        """Of a log the rows that a snapshot added; else the keys that it wrote."""
        with self._translated():
            past = reading.at_snapshot(self._handle, _readable(self._name, self._handle), number)
            names = self._names_in(past, columns)
            done = reading.changes(past, _readable(self._name, past), number - 1, number, list(names.values()))
        parts = [done.upserts, *([done.deletes] if done.deletes is not None else [])]
        return pa.concat_tables(parts).rename_columns(list(names))

    def _names_in(self, past: Any, columns: Sequence[str]) -> dict[str, str]:
        """Column, as it is asked for → its name in a past schema; one that this schema lacks is left out."""
        then = {field.id: field.name for field in past.table_schema.fields}
        found = {name: self._ids.get(name) for name in columns}
        return {name: then[number] for name, number in found.items() if number in then}

    @cached_property
    def _ids(self) -> dict[str, int]:
        """Name → id of the column that has it now, or else had it last."""
        newest = self._handle.table_schema
        past = [self._handle.schema_manager.get_schema(n) for n in range(newest.id - 1, -1, -1)]
        found: dict[str, int] = {}
        for schema in (newest, *past):
            for field in schema.fields if schema is not None else ():
                found.setdefault(field.name, field.id)
        return found

    def _commit(self, snapshot: Any) -> TableCommit:
        number, kind = int(snapshot.id), str(snapshot.commit_kind)
        total, delta = int(snapshot.total_record_count or 0), int(snapshot.delta_record_count or 0)
        if kind == _COMPACT:
            return TableCommit(number, max(1, total) if self.is_hidden else 0, added=not self.is_hidden, what="compact")
        if kind == _APPEND and delta >= 0:
            return TableCommit(number, delta, added=True, what="append")
        return TableCommit(number, max(1, total, -delta), added=False, what=kind.lower())

    def _snapshot(self, number: int) -> Any:
        found = self._seen.get(number)
        if found is None:
            with self._translated():
                found = self._manager.get_snapshot_by_id(number)
        if found is None:
            raise RowsLostError(f"{self._name} no longer has snapshot {number}", hint=_RETENTION)
        self._seen[number] = found
        return found

    @contextmanager
    def _translated(self) -> Iterator[None]:
        with self._failures.translated(), translate_panics():
            yield


def paimon_table(
    name: str, connection: str, place: PaimonConnection, mode: Mode, root: Path, at: Location | None = None
) -> PaimonTable:
    """A table of a connection; nothing is asked yet.

    Raises:
        SourceError: the name has more than two parts.
    """
    if name.count(".") != 1:
        raise SourceError(f"'{name}' is no table of Paimon", at=at, hint="write database.table")
    objects = ObjectStore(endpoint=place.endpoint, region=place.region, path_style=place.path_style)
    local = is_local(place.warehouse)
    warehouse = str((root / local_path(place.warehouse)).resolve()) if local else place.warehouse
    return PaimonTable(name, {"warehouse": warehouse, **objects.paimon_options(warehouse)}, connection, mode, at)


def _readable(name: str, handle: Any) -> Table:
    """As our readers take a table; its name has none of our layers."""
    return Table.model_construct(
        name=name,
        columns=stored_columns(handle),
        primary_key=tuple(handle.primary_keys),
        tiers=Tiers(warm=FOREVER),
        merge={},
    )
