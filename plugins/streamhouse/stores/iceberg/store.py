"""Iceberg behind the `LakeStore` protocol."""

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from streamhouse.errors import RowsLostError, StoreError, TableMissingError
from streamhouse.model.shape import Shape
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Position, Tier
from streamhouse.spark.frame import arrow_frame
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import (
    EPOCH,
    SNAPSHOT_ID,
    WRITER,
    Capabilities,
    Changes,
    DataFile,
    Partition,
    Snapshot,
    WriteContext,
)
from streamhouse.stores.data_check import CHECKED_COMPRESSION
from streamhouse.stores.iceberg import committing, files, partitions, reading, snapshots, statements
from streamhouse.stores.iceberg.bounds import METADATA
from streamhouse.stores.iceberg.failures import translated
from streamhouse.stores.iceberg.java import IcebergJava
from streamhouse.stores.iceberg.stored import (
    TYPES,
    identify,
    optional,
    refuse_difference,
    shape_of,
    shown_columns,
    stored_version,
    table_properties,
    types_with,
)
from streamhouse.stores.keyed import in_turn, padded, refuse_log, rows_to_write
from streamhouse.stores.ledger import Ledger, NoLedger, note_table, refuse_lost
from streamhouse.stores.lock import TableLocks
from streamhouse.stores.null_keys import refuse_unstorable
from streamhouse.stores.pace import by_snapshots
from streamhouse.stores.where import RowCondition
from streamhouse.stores.widen import missing, with_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SNAPSHOT = "snapshot"
_VIEW, _KIND = "streamhouse_rows", "_rk"
_ROWS_PER_FILE = 500_000
_MOST_VALUES = 1_000  # of a partition column that a MERGE names one by one
_SNAPSHOTS_HINT = "table.lake.snapshots lists those that exist; upkeep expires old ones"
_PROPERTIES = {
    "format-version": "2",
    "write.parquet.compression-codec": CHECKED_COMPRESSION,
    # A commit of tiering changes few of many rows: it writes small delete files beside the data files
    # instead of writing those again, and compaction folds them in later.
    "write.merge.mode": "merge-on-read",
    "write.update.mode": "merge-on-read",
    "write.delete.mode": "merge-on-read",
    **METADATA,
}


class IcebergStore:
    """Tables of an Iceberg catalog of a Spark session.

    A position is `{"snapshot": sequence number}`; 0 is the empty table. Every commit names its writer and
    epoch in the snapshot's summary, so a repeated epoch finds itself and changes nothing; a
    writer's epochs only rise. Safe to call from several threads.
    """

    tier: Tier = Tier.COLD
    capabilities: Capabilities = Capabilities(
        upsert=True,
        merge=False,
        selects=False,
        add_merged_columns=False,
        changes=True,
        before_images=True,
        state_as_of=True,
    )

    def __init__(
        self,
        spark_provider: Callable[[], "SparkSession"],
        catalog: str,
        lock_dir: Path,
        ledger: Ledger | None = None,
    ) -> None:
        """Nothing is touched before the first call.

        Args:
            spark_provider: Gives a session started with the settings of the catalog, `cache-enabled`
                false among them: each session has a cache of its own, and with one it would not
                see what was committed beside it.
            catalog: Name of the Iceberg catalog in that session.
            lock_dir: Shared by all processes that commit to this catalog.
            ledger: Knows the tables that must be there; None: nobody does.
        """
        self.ledger: Ledger = ledger or NoLedger()
        self._spark_provider = spark_provider
        self._catalog_name = catalog
        self._locks = TableLocks(lock_dir)
        self._local = threading.local()
        self._shapes: dict[str, Shape] = {}

    def create(self, table: Table) -> None:
        """Create the table and its namespace; see `Store.create`.

        Raises:
            StoreError: the table merges or selects, which Iceberg cannot.
            SchemaConflictError: it stands with other columns or another key.
        """
        _refuse_engine(table)
        with translated("creating", table.name), self._hold(table.name):
            stored = self._catalog().table(table.name)
            if stored is not None:
                self._refuse_difference(table, stored)
                if stored.currentSnapshot() is None:  # cut off in the making; of one with rows readers know the columns
                    identify(self._java(), table, stored)
                note_table(self, table)
                return
            refuse_lost(self, table)
            properties = {**_PROPERTIES, **table_properties(table)}
            spark = self._spark_provider()
            spark.sql(statements.create_namespace(self._catalog_name, table.layer.value))
            spark.sql(statements.create_table(self._catalog_name, table, properties))
            identify(self._java(), table, self._table(table.name))
            note_table(self, table)

    def add_columns(self, table: Table) -> None:
        """Add the columns the stored table lacks; see `Store.add_columns`."""
        with translated("altering", table.name), self._hold(table.name):
            stored = self._table(table.name)
            note_table(self, table)
            have = self._columns(table.name, stored)
            columns = missing(table, have)
            self._refuse_difference(with_columns(table, have), stored)
            if not columns:
                return
            spark = self._spark_provider()
            if (types := types_with(stored, columns)) is not None:
                # First: a type of a column that is not there (yet) harms nobody.
                spark.sql(statements.set_property(self._catalog_name, table, TYPES, types))
            spark.sql(statements.add_columns(self._catalog_name, table, columns))

    def drop(self, name: str) -> None:
        """Drop the table and its rows; see `Store.drop`."""
        with translated("dropping", name), self._hold(name):
            self._catalog().drop(name)
            self.ledger.dropped(name, self.tier)

    def columns(self, name: str) -> tuple[Column, ...] | None:
        """The stored columns in their order; None when there is no such table."""
        with translated("reading", name):
            stored = self._catalog().table(name)
            return None if stored is None else self._columns(name, stored)

    def identity(self, name: str) -> str | None:
        """See `Store.identity`."""
        with translated("reading", name):
            stored = self._catalog().table(name)
            return None if stored is None else str(stored.uuid())

    def shape(self, name: str) -> Shape | None:
        """See `ShapedStore.shape`; columns are read again only when Iceberg numbers another schema."""
        with translated("reading", name):
            stored = self._catalog().table(name)
            if stored is None:
                return None
            version, known = stored_version(stored), self._shapes.get(name)
            if known is None or known.version != version:
                known = self._shapes[name] = shape_of(name, self.tier, stored, self._columns(name, stored))
            return known

    def end(self, table: Table) -> Position:
        """The newest snapshot; 0 before the first."""
        with translated("reading", table.name):
            return {_SNAPSHOT: snapshots.newest(self._table(table.name))}

    def rows_between(self, table: Table, start: Position, end: Position) -> int:
        """Rows that the snapshots of the range added; see `Store.rows_between`."""
        first, last = start.get(_SNAPSHOT, 0), end.get(_SNAPSHOT, 0)
        if first == last:
            return 0
        with translated("reading", table.name):
            return max(1, sum(rows for _, rows in self._steps(table, self._table(table.name), first, last)))

    def advance(self, table: Table, start: Position, max_rows: int) -> Position:
        """Whole snapshots; see `Store.advance`."""
        first = start.get(_SNAPSHOT, 0)
        with translated("reading", table.name):
            stored = self._table(table.name)
            steps = self._steps(table, stored, first, snapshots.newest(stored))
            return {_SNAPSHOT: by_snapshots(steps, first, max_rows)}

    def read_changes(
        self, table: Table, start: Position, end: Position, columns: tuple[str, ...] | None = None
    ) -> Changes:
        """What happened after `start` up to and with `end`; see `Store.read_changes`.

        A log table reads the files appended in the range. A keyed table compares the states at
        both ends: two full reads in Spark. A range from the beginning is the state at `end`.

        Raises:
            RowsLostError: a snapshot of the range has expired.
        """
        names = table.column_names if columns is None else columns
        first, last = start.get(_SNAPSHOT, 0), end.get(_SNAPSHOT, 0)
        if first == last:
            nothing = arrow_schema([table.column(name) for name in names]).empty_table()
            return Changes(upserts=nothing, before=nothing if table.primary_key else None)
        with translated("reading", table.name):
            stored = self._table(table.name)
            new_id = self._snapshot_id(table, stored, last)
            spark = self._spark_provider()
            if table.primary_key:
                return self._keyed_changes(table, stored, first, last, names)
            if not first:
                found = reading.in_order(spark, self._catalog_name, table, new_id)
            else:
                before = snapshots.id_before(stored, first, last)
                if before is None:
                    raise RowsLostError(
                        f"Iceberg no longer holds every snapshot of {table.name} from {first} to {last}",
                        hint="keep snapshots longer than the reader may be down, then rebuild the tables downstream",
                    )
                files = snapshots.files_added(stored, first, last)
                found = reading.appended(spark, self._catalog_name, table, before, new_id, files)
            return Changes(upserts=reading.collected(found.select(*names), table))

    def _keyed_changes(self, table: Table, stored: Any, start: int, end: int, names: Sequence[str]) -> Changes:
        """The difference of the states at both ends; around each drop of partitions, which is no change, one more."""
        drops = snapshots.drops(stored, start, end) if start and table.partition_by else []
        bounds = zip([start, *(n for _, n in drops)], [*(before for before, _ in drops), end], strict=True)
        wanted_names = list(dict.fromkeys([*names, *table.primary_key])) if drops else names
        parts = []
        for bound in (bound for bound in bounds if bound[0] != bound[1]):
            states = [
                reading.frame(
                    self._spark_provider(), self._catalog_name, table, self._snapshot_id(table, stored, number)
                )
                for number in bound
            ]
            parts.append(reading.difference(states[0], states[1], table, wanted_names))
        if not parts:
            nothing = arrow_schema([table.column(name) for name in names]).empty_table()
            return Changes(nothing, before=nothing)
        done = in_turn(parts, table.primary_key)
        before = done.before.select(list(names)) if done.before is not None else None
        return Changes(done.upserts.select(list(names)), done.deletes, before)

    def read_state(self, table: Table, at: Position | None = None, columns: tuple[str, ...] | None = None) -> pa.Table:
        """All rows at a snapshot (None: the newest), brought into this process; see `Store.read_state`."""
        names = table.column_names if columns is None else columns
        found = self.dataframe(table, at)
        with translated("reading", table.name):
            return reading.collected(found.select(*names), table)

    def dataframe(self, table: Table, at: Position | None = None) -> "DataFrame":
        """All rows at a snapshot (None: the newest), read by Spark only when and where they are used.

        The snapshot is fixed now: later commits do not show.

        Raises:
            TableMissingError: there is no such table.
            RowsLostError: the snapshot was expired.
        """
        with translated("reading", table.name):
            stored = self._table(table.name)
            number = snapshots.newest(stored) if at is None else at.get(_SNAPSHOT, 0)
            snapshot_id = self._snapshot_id(table, stored, number)
            return reading.frame(self._spark_provider(), self._catalog_name, table, snapshot_id)

    def ordered(self, table: Table, at: Position | None, column: str) -> "DataFrame":
        """See `OrderedStore.ordered`."""
        with translated("reading", table.name):
            stored = self._table(table.name)
            number = snapshots.newest(stored) if at is None else at.get(_SNAPSHOT, 0)
            snapshot_id = self._snapshot_id(table, stored, number)
            return reading.ordered(self._spark_provider(), self._catalog_name, table, snapshot_id, column)

    def count_rows(self, table: Table, at: Position | None = None) -> int:
        """See `FrameStore.count_rows`."""
        found = self.dataframe(table, at)
        with translated("counting rows of", table.name):
            return int(found.count())

    def position_at(self, table: Table, at_ms: int) -> Position:
        """See `TimedStore.position_at`."""
        with translated("reading", table.name):
            found = snapshots.newest_before(self._table(table.name), at_ms)
        if found is None:
            raise RowsLostError(f"Iceberg's snapshots of {table.name} do not go back so far", hint=_SNAPSHOTS_HINT)
        return {_SNAPSHOT: found}

    def position_of(self, table: Table, snapshot: int) -> Position:
        """See `LakeMetadata.position_of`."""
        with translated("reading", table.name):
            return {_SNAPSHOT: snapshots.number_of(self._table(table.name), snapshot)}

    def list_snapshots(self, table: Table) -> list[Snapshot]:
        """See `LakeMetadata.list_snapshots`."""
        with translated("reading", table.name):
            return snapshots.retained(self._table(table.name))

    def list_files(
        self, table: Table, at: Position | None = None, where: Sequence[RowCondition] = ()
    ) -> list[DataFile]:
        """See `LakeMetadata.list_files`."""
        with translated("reading", table.name):
            stored = self._table(table.name)
            snapshot_id = self._snapshot_id(
                table, stored, snapshots.newest(stored) if at is None else at.get(_SNAPSHOT, 0)
            )
            return files.planned(self._java(), stored, snapshot_id, where) if snapshot_id else []

    def write(self, table: Table, changes: Changes, context: WriteContext) -> Position:
        """Apply `changes` in one snapshot, once; see `Store.write`.

        An epoch without rows makes a snapshot only when it has properties to keep.
        """
        _refuse_engine(table)
        rows = rows_to_write(table, changes, _KIND if table.primary_key else None, context.columns)
        with translated("writing", table.name), self._hold(table.name):
            stored = self._table(table.name)
            last = snapshots.last_written(stored, context.writer)
            repeated = last is not None and int(last[EPOCH]) >= context.epoch
            if not repeated and (rows.num_rows or context.properties):
                refuse_unstorable(table, partial(optional, table, stored), rows)
                self._commit(table, stored, rows, context)
                stored = self._table(table.name)
                last = snapshots.last_written(stored, context.writer)
            if last is not None:
                snapshots.tag(stored, context.writer, int(last[SNAPSHOT_ID]))
            return {_SNAPSHOT: snapshots.newest(stored)}

    def replace(self, table: Table, changes: Changes, context: WriteContext) -> Position:
        """`write`, as no table of this tier merges; see `Store.replace`."""
        refuse_log(table)
        return self.write(table, changes, context)

    def snapshot_properties(self, table: Table) -> dict[str, str]:
        """See `LakeStore.snapshot_properties`."""
        with translated("reading", table.name):
            return snapshots.newest_properties(self._table(table.name))

    def last_commit(self, table: Table, writer: str) -> dict[str, str] | None:
        """See `LakeStore.last_commit`."""
        with translated("reading", table.name):
            return snapshots.last_written(self._table(table.name), writer)

    def partitions(self, table: Table, since: Position | None = None) -> list[Partition]:
        """See `PartitionedStore.partitions`."""
        if not table.partition_by:
            return []
        with translated("reading", table.name):
            self._table(table.name)
            found = self._partitions(table)
            return sorted(found if since is None else found & self._changed(table, since))

    def drop_partitions(
        self, table: Table, to_drop: Sequence[Partition], covered: Position | None = None
    ) -> list[Partition]:
        """Drop partitions in one snapshot that reads no file; see `PartitionedStore.drop_partitions`."""
        with translated("dropping partitions of", table.name), self._hold(table.name):
            stored = self._table(table.name)
            these = self._partitions(table) & set(to_drop)
            if these and covered is not None:
                these -= self._changed(table, covered)
            if these:
                partitions.drop(self._java(), stored, table, sorted(these))
            return sorted(these)

    def close(self) -> None:
        """Nothing is open; the Spark session belongs to the caller."""

    def _hold(self, name: str) -> AbstractContextManager[None]:
        return self._locks.hold(self.tier, name, self._spark_provider())

    def _commit(self, table: Table, stored: Any, rows: pa.Table, context: WriteContext) -> None:
        properties = {**context.properties, WRITER: context.writer, EPOCH: str(context.epoch)}
        if not rows.num_rows:
            snapshots.append_nothing(stored, properties)
            return
        if context.columns is None:
            # The table may hold newer columns than the plan.
            wide = self._columns(table.name, stored)
            table = table.model_copy(update={"columns": wide})
            rows = padded(rows, [*wide, Column(name=_KIND, type="string")] if table.primary_key else wide)
            java = self._java()
            if table.primary_key and committing.upsert(java, stored, table, rows, _KIND, properties):
                return
            if not table.primary_key and committing.append(java, stored, table, rows, properties):
                return
        session = self._session()
        # Spark makes a partition, and so a file, of every 10,000 Arrow rows.
        frame = arrow_frame(session, rows).coalesce(rows.num_rows // _ROWS_PER_FILE + 1)
        with snapshots.summary(session, properties):
            if not table.primary_key:
                frame.writeTo(f"{self._catalog_name}.{table.name}").append()
                return
            frame.createOrReplaceTempView(_VIEW)
            try:
                session.sql(self._merge(table, stored, rows) if context.columns else self._upsert(table, rows))
            finally:
                session.catalog.dropTempView(_VIEW)

    def _upsert(self, table: Table, rows: pa.Table) -> str:
        return statements.merge_into(self._catalog_name, table, _VIEW, _KIND, _values(table, rows))

    def _merge(self, table: Table, stored: Any, rows: pa.Table) -> str:
        written = table.model_copy(update={"columns": tuple(c for c in table.columns if c.name in rows.column_names)})
        others = [c.name for c in self._columns(table.name, stored) if c.name not in rows.column_names]
        return statements.merge_columns(self._catalog_name, written, _VIEW, _KIND, others, _values(table, rows))

    def _partitions(self, table: Table) -> set[Partition]:
        return partitions.stored(self._spark_provider(), f"{self._catalog_name}.{table.name}", table)

    def _changed(self, table: Table, since: Position) -> set[Partition]:
        name, number = f"{self._catalog_name}.{table.name}", since.get(_SNAPSHOT, 0)
        return partitions.changed(self._spark_provider(), name, table, number)

    def _session(self) -> "SparkSession":
        """This thread's session beside the caller's: settings made for one commit stay out of others."""
        parent = self._spark_provider()
        session = getattr(self._local, "session", None)
        if session is None or session.sparkContext is not parent.sparkContext:
            session = self._local.session = parent.newSession()
        return session

    def _java(self) -> IcebergJava:
        return IcebergJava(self._spark_provider())

    def _catalog(self) -> snapshots.JavaCatalog:
        return snapshots.JavaCatalog(self._spark_provider(), self._catalog_name)

    def _table(self, name: str) -> Any:
        stored = self._catalog().table(name)
        if stored is None:
            raise TableMissingError(
                f"Iceberg has no table {name}", hint="it is created when the flow that writes it starts"
            )
        return stored

    def _steps(self, table: Table, stored: Any, start: int, end: int) -> list[tuple[int, int]]:
        steps = snapshots.after(stored, start, end)
        if steps is None:
            raise RowsLostError(
                f"Iceberg no longer holds {table.name} as of snapshot {start}, up to which it was read",
                hint="keep snapshots longer than the reader may be down, then rebuild the tables downstream",
            )
        return steps

    def _snapshot_id(self, table: Table, stored: Any, number: int) -> int:
        """The id of a snapshot; 0, which `reading` takes for the empty table, before the first."""
        if number == 0:
            return 0
        snapshot_id = snapshots.id_of(stored, number)
        if snapshot_id is None:
            if snapshots.newest(stored) < number:
                raise RowsLostError(f"Iceberg has no snapshot {number} of {table.name}", hint=_SNAPSHOTS_HINT)
            raise RowsLostError(f"Iceberg no longer holds {table.name} as of snapshot {number}", hint=_SNAPSHOTS_HINT)
        return snapshot_id

    def _columns(self, name: str, stored: Any) -> tuple[Column, ...]:
        return shown_columns(self._spark_provider().table(f"{self._catalog_name}.{name}").schema, stored)

    def _refuse_difference(self, table: Table, stored: Any) -> None:
        refuse_difference(table, stored, self._columns(table.name, stored))


def _refuse_engine(table: Table) -> None:
    """Raise StoreError when rows must be folded, or compared with stored ones: here each takes the place of another."""
    if table.merge or table.selects:
        cannot = "add up the values" if table.merge else "choose among the rows of a key"
        raise StoreError(
            f"the cold tier cannot {cannot} of {table.name}",
            hint="let hot or warm merge, and tier the merged rows to cold",
        )


def _values(table: Table, rows: pa.Table) -> list[statements.Within]:
    """The partition columns that have few values in `rows`, with these."""
    found = [(name, rows.column(name).unique().to_pylist()) for name in table.partition_by]
    return [(name, values) for name, values in found if len(values) <= _MOST_VALUES and None not in values]
