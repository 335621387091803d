"""Paimon behind the `LakeStore` protocol."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from streamhouse.errors import MissingPackageError, RowsLostError
from streamhouse.model.shape import Shape
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Position, Tier
from streamhouse.stores import null_keys
from streamhouse.stores.base import (
    EPOCH,
    WRITER,
    Capabilities,
    Changes,
    DataFile,
    Partition,
    Snapshot,
    WriteContext,
)
from streamhouse.stores.keyed import refuse_log, rows_to_set, rows_to_write
from streamhouse.stores.ledger import Ledger, NoLedger, note_table, refuse_lost
from streamhouse.stores.lock import TableLocks
from streamhouse.stores.object_store import ObjectStore
from streamhouse.stores.pace import by_snapshots
from streamhouse.stores.paimon import commits, metadata, partitions, reading
from streamhouse.stores.paimon.checksums import checksums_of
from streamhouse.stores.paimon.failures import translated
from streamhouse.stores.paimon.private import builder_of, overwrite_all
from streamhouse.stores.paimon.schema import (
    KIND,
    additions,
    as_stored,
    creation_time,
    has_kind,
    paimon_schema,
    refuse_difference,
    shape_of,
    stored_columns,
)
from streamhouse.stores.paimon.verified import prove_lists, prove_metadata, record, record_schemas, snapshots_of
from streamhouse.stores.sums import refuse_overflow
from streamhouse.stores.where import RowCondition
from streamhouse.stores.widen import missing, with_columns

_SNAPSHOT = "snapshot"
_KNOWN_SNAPSHOTS = 100_000
_HOW = {
    # Without these, keys are hashed and rows merged one by one in Python: twenty times slower.
    "write.native.enabled": "true",
    "read.native.enabled": "true",
    "scan.native-plan.enabled": "true",
    # An epoch without rows may carry properties.
    "snapshot.ignore-empty-commit": "false",
    # `replace` writes every partition again, those of which no row is left, too.
    "dynamic-partition-overwrite": "false",
}


class PaimonStore:
    """Tables of a Paimon warehouse; a position is `{"snapshot": id of the last one read}`.

    The commit user of a write is its writer and the commit identifier its epoch, so a repeated
    epoch finds itself and changes nothing. A writer's epochs only rise: a lower one than the last
    committed counts as repeated. Safe to call from several threads; not across `fork`.
    """

    tier: Tier = Tier.WARM
    capabilities: Capabilities = Capabilities(
        upsert=True, merge=True, changes=True, before_images=False, state_as_of=True
    )
    _packages: ClassVar[tuple[str, ...]] = ("pypaimon", "pypaimon_rust")

    def __init__(
        self,
        warehouse: str | Path,
        lock_dir: Path,
        objects: ObjectStore | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        """Open a warehouse, which is created with its first table.

        Args:
            warehouse: A folder, or a URI that Paimon knows.
            lock_dir: Shared by all processes that commit to this warehouse.
            objects: Where a warehouse is that is in an object store; None: at Amazon.
            ledger: Knows the tables that must be there; None: nobody does.

        Raises:
            MissingPackageError: pypaimon or its Rust engine is not installed.
        """
        for package in self._packages:
            if find_spec(package) is None:
                raise MissingPackageError(
                    f"the warm tier needs the Python package {package.replace('_', '-')}",
                    hint="pip install 'streamhouse[engine]'",
                )
        self.ledger: Ledger = ledger or NoLedger()
        self._locks = TableLocks(lock_dir)
        self._rows: dict[tuple[str, int], int] = {}  # table name, snapshot → rows it wrote; asked for in each poll
        self._options = {"warehouse": str(warehouse), **(objects or ObjectStore()).paimon_options(str(warehouse))}

    @null_keys.creates
    def create(self, table: Table) -> None:
        """Create the table and its database; see `Store.create`."""
        from pypaimon.catalog.catalog_exception import TableNotExistException

        with self._locks.hold(self.tier, table.name), translated("creating", table.name):
            try:
                handle = self._loaded(table.name)
            except TableNotExistException:
                refuse_lost(self, table)
                self._catalog.create_database(table.layer.value, True)
                self._catalog.create_table(table.name, paimon_schema(table), False)
                record_schemas(self._catalog.get_table(table.name))
            else:
                refuse_difference(table, handle)
            note_table(self, table)

    @null_keys.creates
    def add_columns(self, table: Table) -> None:
        """Add the columns the stored table lacks; see `Store.add_columns`."""
        with self._locks.hold(self.tier, table.name), translated("altering", table.name):
            handle = self._loaded(table.name)
            note_table(self, table)
            stored = stored_columns(handle)
            columns = missing(table, stored)
            refuse_difference(with_columns(table, stored), handle)
            if columns:
                self._catalog.alter_table(table.name, additions(table, columns), False)
                record_schemas(handle)

    def drop(self, name: str) -> None:
        """Drop the table and its rows; see `Store.drop`."""
        from pypaimon.common.identifier import Identifier

        with self._locks.hold(self.tier, name), translated("dropping", name):
            # pypaimon reads the schemas first, and drops nothing where they are gone or damaged: what is left would
            # pass for the next table's.
            path = self._catalog.get_table_path(Identifier.from_string(name))
            if self._catalog.file_io.exists(path):
                self._catalog.file_io.delete(path, True)
            self._rows.clear()
            self.ledger.dropped(name, self.tier)

    def columns(self, name: str) -> tuple[Column, ...] | None:
        """The stored columns in their order; None when there is no such table."""
        from pypaimon.catalog.catalog_exception import TableNotExistException

        with translated("reading", name):
            try:
                return null_keys.shown(stored_columns(self._stored(name)))
            except TableNotExistException:
                return None

    def stored_names(self, name: str) -> tuple[str, ...]:
        """The columns as they are stored; see `null_keys`."""
        with translated("reading", name):
            return tuple(field.name for field in self._stored(name).table_schema.fields)

    def identity(self, name: str) -> str | None:
        """See `Store.identity`: when its first schema was made, since Paimon names a table by its path only."""
        from pypaimon.catalog.catalog_exception import TableNotExistException

        with translated("reading", name):
            try:
                return creation_time(self._stored(name))
            except TableNotExistException:
                return None

    def shape(self, name: str) -> Shape | None:
        """See `ShapedStore.shape`."""
        from pypaimon.catalog.catalog_exception import TableNotExistException

        with translated("reading", name):
            try:
                return null_keys.without_bits(shape_of(name, self._loaded(name)))
            except TableNotExistException:
                return None

    def end(self, table: Table) -> Position:
        """The newest snapshot; 0 before the first."""
        with translated("reading", table.name):
            return self._end(self._stored(table.name))

    def check_lists(self, table: Table) -> None:
        """See `ListedStore.check_lists`."""
        with translated("reading", table.name):
            stored = self._stored(table.name)
            prove_lists(stored, self._end(stored)[_SNAPSHOT])

    def rows_between(self, table: Table, start: Position, end: Position) -> int:
        """Rows that the snapshots of the range wrote; see `Store.rows_between`."""
        first, last = start.get(_SNAPSHOT, 0), end.get(_SNAPSHOT, 0)
        if first >= last:
            return 0
        with translated("reading", table.name):
            # A range without rows counts, too: a reader that stood before it would find it expired one day.
            return max(1, sum(rows for _, rows in self._steps(table, first, last)))

    def advance(self, table: Table, start: Position, max_rows: int) -> Position:
        """Whole snapshots; see `Store.advance`."""
        first = start.get(_SNAPSHOT, 0)
        with translated("reading", table.name):
            last = self._end(self._handle(table.name))[_SNAPSHOT]
            return {_SNAPSHOT: by_snapshots(self._steps(table, first, last), first, max_rows)}

    @null_keys.reads_changes
    def read_changes(
        self, table: Table, start: Position, end: Position, columns: tuple[str, ...] | None = None
    ) -> Changes:
        """What the snapshots after `start` up to and with `end` did; see `Store.read_changes`.

        Compactions are skipped. A range from the beginning is the state at `end`: its `deletes`
        are None, since a key that came and went in it was never there for the reader. A table
        that merges gives the folded rows of the keys written to, found in the state at `end`.
        """
        first, last = start.get(_SNAPSHOT, 0), end.get(_SNAPSHOT, 0)
        with translated("reading", table.name):
            handle = self._handle(table.name)
            return reading.changes(handle, table, first, last, table.column_names if columns is None else columns)

    @null_keys.reads_state
    def read_state(self, table: Table, at: Position | None = None, columns: tuple[str, ...] | None = None) -> pa.Table:
        """All rows at a snapshot (None: the newest); see `Store.read_state`."""
        return self.read_where(table, at, table.column_names if columns is None else columns, ())

    @null_keys.reads_where
    def read_where(
        self, table: Table, at: Position | None, columns: tuple[str, ...], where: Sequence[RowCondition]
    ) -> pa.Table:
        """See `FilteredStore.read_where`."""
        with translated("reading", table.name):
            handle = self._handle(table.name)
            snapshot = (self._end(handle) if at is None else at).get(_SNAPSHOT, 0)
            return reading.state(handle, table, snapshot, columns, where=where)

    @null_keys.reads_placed
    def read_placed(self, table: Table, at: Position | None, columns: tuple[str, ...], column: str) -> pa.Table:
        """See `PlacedStore.read_placed`."""
        with translated("reading", table.name):
            handle = self._handle(table.name)
            snapshot = (self._end(handle) if at is None else at).get(_SNAPSHOT, 0)
            return reading.placed(handle, table, snapshot, columns, column)

    def position_at(self, table: Table, at_ms: int) -> Position:
        """See `TimedStore.position_at`."""
        with translated("reading", table.name):
            found = metadata.newest_before(self._stored(table.name), at_ms)
        if found is None:
            raise RowsLostError(
                f"Paimon's snapshots of {table.name} do not go back so far", hint=reading.SNAPSHOTS_HINT
            )
        return {_SNAPSHOT: found}

    def position_of(self, table: Table, snapshot: int) -> Position:  # noqa: ARG002  others ask the table
        """See `LakeMetadata.position_of`."""
        return {_SNAPSHOT: snapshot}

    def list_snapshots(self, table: Table) -> list[Snapshot]:
        """See `LakeMetadata.list_snapshots`."""
        with translated("reading", table.name):
            return metadata.retained(self._stored(table.name))

    @null_keys.lists_files
    def list_files(
        self, table: Table, at: Position | None = None, where: Sequence[RowCondition] = ()
    ) -> list[DataFile]:
        """See `LakeMetadata.list_files`."""
        with translated("reading", table.name):
            handle = self._handle(table.name)
            snapshot = (self._end(handle) if at is None else at).get(_SNAPSHOT, 0)
            if snapshot == 0:
                return []
            return metadata.files(reading.at_snapshot(handle, table, snapshot), where)

    @null_keys.writes
    def write(self, table: Table, changes: Changes, context: WriteContext) -> Position:
        """Apply `changes` in one snapshot, once; see `Store.write`.

        A partial write reads the rows of its keys first, and so does one to a table that selects; the
        table's lock keeps others out until it is committed. An epoch without rows makes a snapshot only
        when it has properties to keep.
        """
        rows = rows_to_write(table, changes, KIND if has_kind(table) else None, context.columns)
        user = commits.commit_user(context.writer)
        with self._locks.hold(self.tier, table.name), translated("writing", table.name):
            handle = self._handle(table.name)
            last = commits.last_commit(handle, user)
            repeated = last is not None and last.commit_identifier >= context.epoch
            if context.columns is not None and rows.num_rows and not repeated:
                rows = reading.whole_rows(handle, table, rows)
            if table.selects and rows.num_rows and not repeated:
                rows = reading.winning_rows(handle, table, rows)
            if table.merge and not repeated:
                end = self._end(handle)[_SNAPSHOT]
                refuse_overflow(context.sums, table, rows, lambda names: reading.state(handle, table, end, names))
            if not repeated and (rows.num_rows or context.properties):
                self._commit(handle, rows, user, context)
                last = commits.last_commit(handle, user)
            record(handle)
            if last is not None:
                commits.tag_commit(handle, last)
            return self._end(handle)

    @null_keys.writes
    def replace(self, table: Table, changes: Changes, context: WriteContext) -> Position:
        """Set rows in one snapshot, once; see `Store.replace`.

        A table that merges is read and written again as a whole, by this process: set as many
        keys at once as there are.
        """
        refuse_log(table)
        if not table.merge:
            return self.write(table.replica, changes, context)
        rows = rows_to_set(table, changes, KIND, context.columns)
        user = commits.commit_user(context.writer)
        with self._locks.hold(self.tier, table.name), translated("writing", table.name):
            handle = self._handle(table.name)
            last = commits.last_commit(handle, user)
            repeated = last is not None and last.commit_identifier >= context.epoch
            if not repeated and (rows.num_rows or context.properties):
                self._commit(handle, reading.with_rows_set(handle, table, rows), user, context, overwrite=True)
                last = commits.last_commit(handle, user)
            record(handle)
            if last is not None:
                commits.tag_commit(handle, last)
            return self._end(handle)

    def snapshot_properties(self, table: Table) -> dict[str, str]:
        """See `LakeStore.snapshot_properties`."""
        with translated("reading", table.name):
            return commits.newest_properties(self._stored(table.name))

    def last_commit(self, table: Table, writer: str) -> dict[str, str] | None:
        """See `LakeStore.last_commit`."""
        with translated("reading", table.name):
            return commits.properties_of(commits.last_commit(self._stored(table.name), commits.commit_user(writer)))

    def partitions(self, table: Table, since: Position | None = None) -> list[Partition]:
        """See `PartitionedStore.partitions`."""
        if not table.partition_by:
            return []
        with translated("reading", table.name):
            handle = self._handle(table.name)
            found = partitions.stored(handle)
            return sorted(found if since is None else found & self._changed(handle, table, since))

    def drop_partitions(
        self, table: Table, to_drop: Sequence[Partition], covered: Position | None = None
    ) -> list[Partition]:
        """Drop partitions in one snapshot, of kind OVERWRITE, that `read_changes` passes over.

        See `PartitionedStore.drop_partitions`.
        """
        with self._locks.hold(self.tier, table.name), translated("dropping partitions of", table.name):
            handle = self._handle(table.name)
            these = partitions.stored(handle) & set(to_drop)
            if these and covered is not None:
                these -= self._changed(handle, table, covered)
            if these:
                partitions.drop(handle, sorted(these))
            return sorted(these)

    def close(self) -> None:
        """Nothing stays open between calls."""

    @cached_property
    def _catalog(self) -> Any:
        from pypaimon import CatalogFactory

        with translated("opening", self._options["warehouse"]):
            return CatalogFactory.create(self._options)

    def _stored(self, name: str) -> Any:
        """The metadata of a table: schema, snapshots, tags."""
        return self._loaded(name)

    def _loaded(self, name: str) -> Any:
        self._prove_schemas(name)
        return self._catalog.get_table(name)

    def _prove_schemas(self, name: str) -> None:
        if (checksums := checksums_of(self._options["warehouse"], name)) is not None:
            checksums.prove_schemas()

    def _handle(self, name: str) -> Any:
        # Loaded again for each call (0.7 ms): a handle never sees columns added after it was made.
        return self._loaded(name).copy(_HOW)

    def _changed(self, handle: Any, table: Table, since: Position) -> set[Partition]:
        numbers = range(since.get(_SNAPSHOT, 0) + 1, self._end(handle)[_SNAPSHOT] + 1)
        return partitions.changed(handle, (reading.snapshot_of(handle, table, number) for number in numbers))

    def _steps(self, table: Table, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Id and rows of each snapshot after `start`; when the first ones are gone, from 0 to the oldest one is one."""
        handle = self._handle(table.name)
        if start == 0 and end > 0:
            oldest = snapshots_of(handle).try_get_earliest_snapshot()
            start = min(oldest.id, end)
            yield start, oldest.total_record_count
        for number in range(start + 1, end + 1):
            rows = self._rows.get((table.name, number))
            if rows is None or number == start + 1:  # snapshots go oldest first, also those that were counted
                rows = reading.rows_written(handle, table, number)
                if len(self._rows) >= _KNOWN_SNAPSHOTS:
                    self._rows.clear()
                self._rows[table.name, number] = rows
            yield number, rows

    def _end(self, handle: Any) -> Position:
        latest = snapshots_of(handle).get_latest_snapshot()
        return {_SNAPSHOT: latest.id if latest else 0}

    def _commit(
        self, handle: Any, rows: pa.Table, user: str, context: WriteContext, *, overwrite: bool = False
    ) -> None:
        if (newest := snapshots_of(handle).get_latest_snapshot()) is not None:
            prove_metadata(handle, newest)  # the commit takes its manifests over
        builder = builder_of(handle, user)
        properties = {**context.properties, WRITER: context.writer, EPOCH: str(context.epoch)}
        write, commit = builder.new_write(), builder.new_commit()
        try:
            write.write_arrow(as_stored(handle, rows))
            messages = write.prepare_commit(context.epoch)
            if overwrite:
                written = [message for message in messages if not message.is_empty()]
                overwrite_all(commit, written, context.epoch, properties)
            else:
                commit.commit(messages, context.epoch, snapshot_properties=properties)
        finally:
            write.close()
            commit.close()
