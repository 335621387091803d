"""What the hot tier sends to the leaders of a table's buckets, and how it knows that all of it is durable."""

import pyarrow as pa

from streamhouse.errors import SchemaConflictError, StoreError
from streamhouse.model.table import Table
from streamhouse.model.types import Position
from streamhouse.stores.fluss import ddl
from streamhouse.stores.fluss.catalog import FlussCatalog, Located
from streamhouse.stores.fluss.fetch import ranges_between
from streamhouse.stores.fluss.late import forgotten
from streamhouse.stores.fluss.native import Native, Target
from streamhouse.stores.fluss.partitions import by_partition, partitions_in
from streamhouse.stores.fluss.rows import FlussRows, pick
from streamhouse.stores.fluss.wire.refusal import LeaderMovedError, UnsentError
from streamhouse.stores.keyed import absent, deciding, not_outdone, padded, without_keys

_KIND = "_kind"
_FEW_ROWS = 16
_STATE_ROWS = 50  # so many rows of a table's state are read while one write is waited for


class FlussWrites:
    """Sends rows and deletes to tables; see `FlussStore`."""

    def __init__(self, catalog: FlussCatalog, native: Native, rows: FlussRows) -> None:
        """Touches nothing yet."""
        self._catalog = catalog
        self._native = native
        self._rows = rows

    def overwrite(self, table: Table, rows: pa.Table, deletes: pa.Table) -> None:
        """Set the values of rows in a table that merges, and delete some, whatever it merges by.

        Raises:
            SchemaConflictError: the table was created by a version that could not do this.
            StoreError: a write was refused, or its server does not answer.
        """
        located = self._rows.located(table, table.column_names)
        located, deletes = self._with_partitions(table, located, rows, deletes)
        if located.stored.properties.get(ddl.DELETES) != ddl.DELETES_ALLOWED:
            raise SchemaConflictError(
                f"values of {table.name} cannot be set: it ignores deletes",
                hint="drop the table and fill it again; tables created now allow them",
            )
        before = self._mark(table, rows)
        keys = rows.select(list(table.primary_key))
        try:
            writes = self._native.overwrite(Target.of(located), padded(rows, located.stored.columns), keys, deletes)
        except StoreError:
            self._catalog.forget(table.name)
            raise
        self._native.confirm(table.name, writes[: deletes.num_rows])
        writes = writes[deletes.num_rows :]
        self._native.confirm(table.name, [writes[i] for i in self._unseen(table, before, rows)])

    def send_once(self, table: Table, rows: pa.Table, *, partial: bool) -> None:
        """As `send`, and again only where no row was sent: a server that has just started knows no tables.

        Raises:
            StoreError: as of `send`; or a part of the rows was sent, and is not sent again.
        """

        def send(_: Located) -> StoreError | None:
            try:
                self.send(table, rows, None, partial=partial)
            except UnsentError:
                raise
            except LeaderMovedError as error:
                return error
            return None

        if (error := self._catalog.on_leaders(table.name, send)) is not None:
            raise error

    def send(self, table: Table, rows: pa.Table, deletes: pa.Table | None, *, partial: bool = False) -> None:
        """Write rows and deletes, and wait until they are durable; a repeat is safe in a table with a plain key.

        Args:
            table: That takes them.
            rows: One for each key, where it has a key.
            deletes: Keys; None: there are none.
            partial: The rows have some of its columns, and the others keep their values.

        Raises:
            StoreError: a write was refused, or its server does not answer.
        """
        if not rows.num_rows and not deletes:
            return
        located = self._rows.located(table, tuple(rows.column_names))
        lost = rows.slice(0, 0)
        if not partial:
            rows = padded(rows, located.stored.columns)  # Fluss may hold newer columns than the plan
            lost = padded(forgotten(table, deletes), located.stored.columns)
        located, deletes = self._with_partitions(table, located, pa.concat_tables([rows, lost]), deletes)
        target = Target.of(located)
        try:
            if partial:
                self._update(table, target, rows, deletes)
            elif table.primary_key:
                self._upsert(table, target, rows, deletes, lost)
            else:
                self._native.append(target, by_partition(table, rows).values())
        except StoreError:
            self._catalog.forget(table.name)
            raise

    def _with_partitions(
        self, table: Table, located: Located, rows: pa.Table, deletes: pa.Table | None
    ) -> tuple[Located, pa.Table]:
        """The table with a partition for every row, and those of the deletes that can meet one."""
        if deletes is None:
            deletes = rows.slice(0, 0).select(list(table.primary_key))
        if not table.partition_by:
            return located, deletes
        # Asked at every write: the client would wait forever for one that was dropped.
        located = self._catalog.create_partitions(table.name, partitions_in(table, rows))
        if not deletes:
            return located, deletes
        parts = [part for name, part in by_partition(table, deletes).items() if name in located.partitions]
        return located, pa.concat_tables([deletes.slice(0, 0), *parts])

    def _upsert(self, table: Table, target: Target, rows: pa.Table, deletes: pa.Table | None, lost: pa.Table) -> None:
        keys = rows.select(list(table.primary_key))
        if deletes:
            keys = pa.concat_tables([deletes, keys])
        if keys.num_rows <= _FEW_ROWS:
            self._native.confirm(table.name, self._native.upsert(target, rows, deletes, first=lost))
            return
        # To wait for every single write takes ten times as long as to send it. So look in the change log, and
        # wait for those that are not there: deletes of absent keys, and what was refused.
        before = self._rows.end(table)
        writes = self._native.upsert(target, rows, deletes, first=lost)
        after = ranges_between(before, self._rows.end(table))
        logged_keys = self._rows.log(table, after, table.primary_key).rows.select(list(table.primary_key))
        numbered = keys.append_column(_KIND, pa.array(range(keys.num_rows)))
        if table.selects:  # so there are no deletes, and these are the rows
            numbered = rows.select(deciding(table)).append_column(_KIND, numbered.column(_KIND))
        unseen = without_keys(numbered, logged_keys)
        if table.selects and sum(end for _, end in after.values()) < _STATE_ROWS * unseen.num_rows:
            # Rows that lose leave no trace. The rows that won distinguish them from refused ones.
            unseen = not_outdone(unseen, self._rows.state(table, tuple(deciding(table))), table)
        self._native.confirm(table.name, [writes[i] for i in unseen.column(_KIND).to_pylist()])

    def _update(self, table: Table, target: Target, rows: pa.Table, deletes: pa.Table | None) -> None:
        names = tuple(rows.column_names)
        written = pa.concat_tables([padded(deletes, pick(table, names)), rows]) if deletes else rows
        before = self._mark(table, written)
        writes = self._native.upsert(target, rows, deletes, names)
        self._native.confirm(table.name, [writes[i] for i in self._unseen(table, before, written)])

    def _mark(self, table: Table, rows: pa.Table) -> Position | None:
        """Where to look for `rows` in the log later; None: each one is waited for instead."""
        nested = any(pa.types.is_nested(field.type) for field in rows.schema)
        return None if nested or rows.num_rows <= _FEW_ROWS else self._rows.end(table)

    def _unseen(self, table: Table, before: Position | None, written: pa.Table) -> list[int]:
        """Indexes of the rows that the log since `before` does not show; as in `_upsert`, but values count, too."""
        if before is None:
            return list(range(written.num_rows))
        after = ranges_between(before, self._rows.end(table))
        names = tuple(written.column_names)
        return absent(written, self._rows.log(table, after, names).images().select(names))
