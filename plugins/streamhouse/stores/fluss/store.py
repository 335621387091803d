"""The hot tier as the engine sees it."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta

import pyarrow as pa

from streamhouse.errors import RowsLostError, SchemaConflictError, StoreError, TableMissingError, WriteRefusedError
from streamhouse.model.shape import SeenColumn, Shape
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Position, Tier
from streamhouse.stores import null_keys
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import KIND_COLUMNS, Capabilities, Changes, Partition, WriteContext
from streamhouse.stores.fluss import ddl
from streamhouse.stores.fluss.catalog import FlussCatalog, Located, OffsetBound
from streamhouse.stores.fluss.changelog import LOG_TTL, numbered
from streamhouse.stores.fluss.exactly_once import not_yet_written, settled_end
from streamhouse.stores.fluss.fetch import RESTORED, TableReader, ranges_between
from streamhouse.stores.fluss.late import Guard
from streamhouse.stores.fluss.native import Native
from streamhouse.stores.fluss.notes import Notes
from streamhouse.stores.fluss.partitions import name_of, partition_name, partition_values
from streamhouse.stores.fluss.rows import FlussRows, pick, with_key
from streamhouse.stores.fluss.wire.cluster import Wire
from streamhouse.stores.fluss.wire.login import Login
from streamhouse.stores.fluss.writes import FlussWrites
from streamhouse.stores.keyed import apart, refuse_log, rows_to_set, rows_to_write, without_keys
from streamhouse.stores.ledger import Ledger, NoLedger, note_table, refuse_lost
from streamhouse.stores.lock import TableLocks
from streamhouse.stores.pace import by_offsets, offsets_between
from streamhouse.stores.sums import refuse_overflow
from streamhouse.stores.widen import missing, with_columns

_KIND = "_kind"


class FlussStore(Notes):
    """Tables in an Apache Fluss cluster. Positions are `{bucket: next offset}`; an absent bucket is at 0.

    Of a partitioned table a bucket is named `day#17/0` (see `partitions`); one whose partition was
    dropped has no rows. Partitions come to be when a row is written to them.

    Args:
        bootstrap: `host:port` of a coordinator or tablet server; several with commas.
        min_log_ttl: Change logs of new tables are kept at least so long; a table's TTL cannot be
            changed later, and rows past it are lost to readers that have not read them.
        timeout_s: A server that does not answer for so long counts as away.
        locks: Keep writes of late rows and drops of partitions apart; None: the caller that opens the store does.
        ledger: Knows the tables that must be there; None: nobody does.
        login: For a cluster that lets nobody in without; None: for one that does.
    """

    tier = Tier.HOT
    capabilities = Capabilities(
        add_merged_columns=False, replaces_selected=False, cuts_commits=True, before_images=True, state_as_of=True
    )

    def __init__(
        self,
        bootstrap: str,
        min_log_ttl: timedelta = ddl.SAFE_LOG_TTL,
        timeout_s: float = 60.0,
        locks: TableLocks | None = None,
        ledger: Ledger | None = None,
        login: Login | None = None,
    ) -> None:
        self.bootstrap = bootstrap  # as given
        self._wire = Wire(bootstrap, timeout_s, login)
        self._catalog = FlussCatalog(self._wire)
        self._native = Native(bootstrap, timeout_s, login)
        self._rows = FlussRows(self._catalog, self._native)
        self._writes = FlussWrites(self._catalog, self._native, self._rows)
        self._min_log_ttl = min_log_ttl
        self._guard = Guard(locks)
        self.ledger: Ledger = ledger or NoLedger()

    @null_keys.creates
    def create(self, table: Table) -> None:
        """See `Store.create`.

        Raises:
            SchemaConflictError: also when a merge function cannot fold the type of its column.
        """
        if reasons := ddl.unmergeable(table):
            raise SchemaConflictError(f"Fluss cannot hold {table.name}: {'; '.join(reasons)}")
        if self.identity(table.name) is None:
            refuse_lost(self, table)
        self._catalog.create(table.name, ddl.describe(table, self._min_log_ttl))
        if reasons := ddl.differences(table, self._catalog.stored(table.name)):
            raise SchemaConflictError(f"Fluss holds another {table.name}: {'; '.join(reasons)}")
        note_table(self, table)

    @null_keys.creates
    def add_columns(self, table: Table) -> None:
        """See `Store.add_columns`.

        Raises:
            SchemaConflictError: also for a table that merges: 0.9 has no request that says how to fold an added column.
        """
        found = self._catalog.stored(table.name)
        note_table(self, table)
        columns = missing(table, found.columns)
        if reasons := ddl.differences(with_columns(table, found.columns), found):
            raise SchemaConflictError(f"Fluss holds another {table.name}: {'; '.join(reasons)}")
        if columns and table.merge:
            raise SchemaConflictError(
                f"Fluss cannot add {', '.join(c.name for c in columns)} to {table.name}, which merges",
                hint="rebuild the table with the new column",
            )
        if not columns:
            return
        try:
            described = [(c.name, ddl.describe_type(table, c), ddl.comment(table, c)) for c in columns]
            self._catalog.add_columns(table.name, described)
        except StoreError:
            if missing(table, self._catalog.stored(table.name).columns):
                raise  # else somebody added them at the same moment

    def drop(self, name: str) -> None:
        """See `Store.drop`."""
        self._catalog.drop(name)
        self.ledger.dropped(name, self.tier)

    def columns(self, name: str) -> tuple[Column, ...] | None:
        """See `Store.columns`; key columns are not nullable, all others are."""
        try:
            return null_keys.shown(self._catalog.stored(name).columns)
        except TableMissingError:
            return None

    def stored_names(self, name: str) -> tuple[str, ...]:
        """The columns as they are stored; see `null_keys`."""
        return self._catalog.on_leaders(name, lambda located: tuple(one.name for one in located.stored.columns))

    def names(self) -> list[str]:
        """All tables of the cluster, ours and those of others."""
        return self._catalog.names()

    def identity(self, name: str) -> str | None:
        """See `Store.identity`: its number, which a Fluss that lost everything gives again, and when it was made."""
        try:
            found = self._catalog.stored(name)
        except TableMissingError:
            return None
        return f"{found.table_id}@{found.created_ms}"

    def shape(self, name: str) -> Shape | None:
        """See `ShapedStore.shape`; one question to the coordinator."""
        try:
            found = self._catalog.stored(name)
        except TableMissingError:
            return None
        shape = Shape(
            object=name,
            tier=self.tier,
            identity=str(found.table_id),
            version=f"{found.table_id}.{found.schema_id}",
            columns=tuple(SeenColumn(name=c.name, type=c.type, nullable=c.nullable) for c in found.columns),
            primary_key=found.primary_key,
            layout=f"{found.buckets} buckets by ({', '.join(found.bucket_key)})"
            + (f", partitions by ({', '.join(found.partition_key)})" if found.partition_key else ""),
        )
        return null_keys.without_bits(shape)

    def end(self, table: Table) -> Position:
        """See `Store.end`; every bucket is in it."""
        return self._rows.end(table)

    def start(self, table: Table) -> Position:
        """The oldest offset each bucket retains."""
        return self._catalog.on_leaders(
            table.name, lambda located: self._catalog.offsets(located, OffsetBound.EARLIEST)
        )

    def retention(self, table: Table) -> timedelta:
        """See `LogStore.retention`."""
        return ddl.stored_ttl(self._catalog.stored(table.name), table, self._min_log_ttl)

    def position_before(self, table: Table, at: datetime) -> Position:
        """See `LogStore.position_before`."""
        at_ms = round(at.timestamp() * 1000)
        return self._catalog.on_leaders(
            table.name, lambda located: self._catalog.offsets(located, OffsetBound.TIME, at_ms)
        )

    def position_at(self, table: Table, at_ms: int) -> Position:
        """See `TimedStore.position_at`."""
        oldest = self.start(table)
        found = self._catalog.on_leaders(
            table.name, lambda located: self._catalog.offsets(located, OffsetBound.TIME, at_ms + 1)
        )
        if any(0 < first == found.get(bucket) for bucket, first in oldest.items()):
            raise RowsLostError(f"Fluss's log of {table.name} does not go back so far", hint=LOG_TTL)
        return found

    @null_keys.reads_log
    def read_log(self, table: Table, start: Position, end: Position, columns: tuple[str, ...]) -> pa.Table:
        """See `LoggedStore.read_log`; `_offset` is the offset in `_bucket`, which is one of the row's partition."""
        ranges = ranges_between(start, end)

        def read(located: Located) -> pa.Table:
            reader = TableReader(self._catalog, located, columns)
            return numbered(reader.read(ranges), reader.schema)

        return self._rows.on_leaders(table, columns, read).select([*KIND_COLUMNS, *columns])

    def rows_between(self, table: Table, start: Position, end: Position) -> int:  # noqa: ARG002  others ask the table
        """Offsets in the range; see `Store.rows_between`. An update takes two."""
        return offsets_between(start, end)

    def advance(self, table: Table, start: Position, max_rows: int) -> Position:
        """The same share of each bucket's backlog; see `Store.advance`."""
        end = self.end(table)
        further = by_offsets(start, end, max_rows)
        if table.primary_key and not any(start.values()):
            # Before its log begins, the state of a keyed table cannot be read.
            return {bucket: max(first, further.get(bucket, 0)) for bucket, first in self.start(table).items()}
        if not table.partition_by or not offsets_between(start, end):
            return further
        return {bucket: offset for bucket, offset in further.items() if bucket in end}  # others were dropped

    @null_keys.reads_changes
    def read_changes(
        self, table: Table, start: Position, end: Position, columns: tuple[str, ...] | None = None
    ) -> Changes:
        """See `Store.read_changes`.

        A cut between the two images of an update counts as one before both. A keyed table whose
        log was cut short can still be read from its very beginning: its state stands in for the log.
        """
        names = table.column_names if columns is None else columns
        ranges = ranges_between(start, end)
        if not table.primary_key:
            return Changes(upserts=self._rows.appended(table, ranges, names))
        try:
            return self._rows.log(table, ranges, names).changes(table.primary_key, names)
        except RowsLostError:
            if any(start.values()):
                raise
            return Changes(
                upserts=self.read_state(table, end, names), before=arrow_schema(pick(table, names)).empty_table()
            )

    @null_keys.reads_state
    def read_state(self, table: Table, at: Position | None = None, columns: tuple[str, ...] | None = None) -> pa.Table:
        """See `Store.read_state`.

        Raises:
            RowsLostError: a log table's oldest rows, or the changes of a keyed table since `at`,
                are past the log TTL.
        """
        names = table.column_names if columns is None else columns
        if not table.primary_key:
            return self.read_changes(table, {}, self.end(table) if at is None else at, names).upserts
        wanted = with_key(table, names)
        # A partition that had no row yet is left out: neither its state nor its log needs to be read.
        begun = {bucket for bucket, offset in at.items() if offset} if at is not None and table.partition_by else None
        state = self._rows.state(table, wanted, begun)
        if at is not None:
            # The end is read after the state, so the log has every change that the state has.
            ends = self.end(table)
            position = at if begun is None else {bucket: at[bucket] for bucket in begun if bucket in ends}
            if beyond := {bucket: offset for bucket, offset in position.items() if offset > ends.get(bucket, 0)}:
                raise RowsLostError(f"{table.name} ends at {ends}, before {beyond}", hint=RESTORED)
            ranges = ranges_between(
                at, {bucket: end for bucket, end in ends.items() if begun is None or bucket in begun}
            )
            state = self._rows.log(table, ranges, wanted).undone(state, table.primary_key)
        return state.select(list(names))

    @null_keys.writes
    def write(self, table: Table, changes: Changes, context: WriteContext) -> Position:
        """See `Store.write`.

        Raises:
            WriteRefusedError: a null key, or a value or sum that does not fit.
            StateConflictError: an earlier attempt of this epoch appended rows that this one lacks.
        """
        plain_key = table.primary_key and not table.merge
        rows = rows_to_write(table, changes, _KIND if plain_key else None, context.columns)
        deletes = None
        if plain_key:
            rows, deletes = apart(table, rows, _KIND)
        elif context.replay_from is not None:
            rows = self._left_to_write(table, rows, context.replay_from)
        refuse_overflow(context.sums, table, rows, lambda names: self.read_state(table, None, names))
        partial = context.columns is not None
        with self._guard.hold_if_late(table, rows, deletes):
            if plain_key:
                # Safe to repeat, which a server that has not yet heard of an added column asks for.
                self._catalog.on_leaders(table.name, lambda _: self._writes.send(table, rows, deletes, partial=partial))
            elif rows.num_rows:
                self._writes.send_once(table, rows, partial=partial)
        return self.end(table)

    @null_keys.writes
    def replace(self, table: Table, changes: Changes, context: WriteContext) -> Position:
        """See `Store.replace`; in a table that merges, a reader may find a key gone for a moment.

        Raises:
            SchemaConflictError: a table that merges was created by a version that could not do this.
            WriteRefusedError: the table selects: Fluss deletes nothing from it, and compares every row.
        """
        refuse_log(table)
        if table.selects:
            raise WriteRefusedError(
                f"rows of {table.name} cannot be set in the hot tier: {table.merge_engine} lets no row that would lose "
                "replace another",
                hint="write to a new table, or drop this one: it is then created again",
            )
        if not table.merge:
            return self.write(table, changes, context)
        rows, deletes = apart(table, rows_to_set(table, changes, _KIND, context.columns), _KIND)
        with self._guard.hold_if_late(table, rows, deletes):
            self._writes.overwrite(table, rows, deletes)
            return self.end(table)

    def partitions(self, table: Table, since: Position | None = None) -> list[Partition]:
        """See `PartitionedStore.partitions`."""
        if not table.partition_by:
            return []
        located = self._catalog.on_leaders(table.name, self._catalog.refreshed)
        names = located.partitions if since is None else self._changed(table, since)
        return sorted(partition_values(table, name) for name in names)

    def drop_partitions(
        self, table: Table, to_drop: Sequence[Partition], covered: Position | None = None
    ) -> list[Partition]:
        """See `PartitionedStore.drop_partitions`; no late row is written between its look and its drop."""
        names = {partition_name(values): values for values in to_drop}
        with self.undropped(table):
            located = self._catalog.on_leaders(table.name, self._catalog.refreshed)
            changed_names = set() if covered is None else self._changed(table, covered)
            dropped = {
                name: day for name, day in names.items() if name in located.partitions and name not in changed_names
            }
            self._catalog.drop_partitions(located, dropped)
        return list(dropped.values())

    def make_partitions(self, table: Table, wanted: Sequence[Partition]) -> None:
        """See `PreparedStore.make_partitions`."""
        self._catalog.create_partitions(table.name, [partition_name(values) for values in wanted])

    def undropped(self, table: Table) -> AbstractContextManager[None]:
        """See `GuardedStore.undropped`."""
        return self._guard.hold(table)

    def close(self) -> None:
        """See `Store.close`."""
        self._native.close()
        self._wire.close()

    def _changed(self, table: Table, since: Position) -> set[str]:
        """Names of the partitions that were written to after a position."""
        behind = (bucket for bucket, end in self.end(table).items() if end > since.get(bucket, 0))
        return {name_of(bucket) for bucket in behind}

    def _left_to_write(self, table: Table, rows: pa.Table, replay_from: Position) -> pa.Table:
        self._native.settle(table.name)  # an attempt of this very process may still be on its way
        end = settled_end(lambda: self.end(table))
        if not table.primary_key:
            return not_yet_written(table.name, rows, self.read_changes(table, replay_from, end).upserts)
        # An epoch folds each key in at most once, so a key that changed since has this epoch's value in it.
        # One that was folded without a change (0 was added) may be missing here; folding it again changes nothing.
        ranges = ranges_between(replay_from, end)
        return without_keys(rows, self._rows.log(table, ranges, table.primary_key).rows.select(list(table.primary_key)))
