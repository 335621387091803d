"""What the hot tier reads of a table, and of its change log, from the leaders of its buckets."""

from collections.abc import Callable, Collection
from typing import TypeVar

import pyarrow as pa

from streamhouse.errors import RowsLostError, SchemaConflictError
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Position
from streamhouse.stores.arrow import arrow_schema, conform
from streamhouse.stores.fluss.catalog import FlussCatalog, Located, OffsetBound
from streamhouse.stores.fluss.change_log import ChangeLog, whole_changes
from streamhouse.stores.fluss.fetch import Ranges, TableReader
from streamhouse.stores.fluss.native import Native, Target

T = TypeVar("T")


class FlussRows:
    """Reads rows and changes of tables; see `FlussStore`."""

    def __init__(self, catalog: FlussCatalog, native: Native) -> None:
        """Touches nothing yet."""
        self._catalog = catalog
        self._native = native

    def end(self, table: Table) -> Position:
        """Where each bucket ends."""
        return self._catalog.on_leaders(table.name, lambda located: self._catalog.offsets(located, OffsetBound.LATEST))

    def appended(self, table: Table, ranges: Ranges, names: tuple[str, ...]) -> pa.Table:
        """The rows that were appended to a log table in some ranges of its buckets."""
        columns = names or table.column_names[:1]  # rows without columns could not be counted

        def read(located: Located) -> pa.Table:
            reader = TableReader(self._catalog, located, columns)
            found = reader.read(ranges)
            batches = [batch.rows for bucket in found.values() for batch in bucket if batch.rows is not None]
            return pa.Table.from_batches(batches, schema=reader.schema)

        return self.on_leaders(table, columns, read).select(list(names))

    def log(self, table: Table, ranges: Ranges, names: tuple[str, ...]) -> ChangeLog:
        """The changes of a keyed table in some ranges; both images of an update, or none.

        Raises:
            RowsLostError: offsets of a range are past the log TTL.
        """
        columns = with_key(table, names)
        starts = {bucket: start for bucket, (start, _) in ranges.items()}

        def read(located: Located) -> ChangeLog:
            reader = TableReader(self._catalog, located, columns)
            wider = {bucket: (max(start - 1, 0), end) for bucket, (start, end) in ranges.items() if start < end}
            try:
                found = reader.read(wider)
            except RowsLostError:
                oldest = self._catalog.offsets(located, OffsetBound.EARLIEST)
                available = {b: (max(start, oldest.get(b, start)), end) for b, (start, end) in wider.items()}
                if available == wider or any(start > ranges[b][0] for b, (start, _) in available.items()):
                    raise
                found = reader.read(available)  # only offsets before a range are gone
            return whole_changes(found, starts, reader.schema)

        return self.on_leaders(table, columns, read)

    def state(self, table: Table, columns: tuple[str, ...], buckets: Collection[str] | None = None) -> pa.Table:
        """The rows of some buckets; None: of all."""

        def scan(known: Located) -> pa.Table:
            located = self._catalog.refreshed(known)
            target = Target.of(located)
            read = [bucket for bucket in located.leaders if buckets is None or bucket in buckets]
            parts = [self._native.scan(target, bucket, columns) for bucket in read]
            if not parts:
                return arrow_schema(pick(table, columns)).empty_table()
            return conform(pa.concat_tables(parts), pick(table, columns))

        return self.on_leaders(table, columns, scan)

    def on_leaders(self, table: Table, columns: tuple[str, ...], work: Callable[[Located], T]) -> T:
        """What `work` gives, asked again where a leader moved; the table has these columns."""
        self.located(table, columns)
        return self._catalog.on_leaders(table.name, work)

    def located(self, table: Table, columns: tuple[str, ...]) -> Located:
        """The table, looked up again when a column seems to be missing.

        Raises:
            SchemaConflictError: it lacks one.
        """
        located = self._catalog.on_leaders(table.name, lambda found: found)
        if not set(columns) <= set(located.stored.column_names):
            self._catalog.forget(table.name)
            located = self._catalog.on_leaders(table.name, lambda found: found)
            if missing := sorted(set(columns) - set(located.stored.column_names)):
                raise SchemaConflictError(
                    f"Fluss's {table.name} lacks {', '.join(missing)}", hint="apply the flow's plan to add them"
                )
        return located


def with_key(table: Table, names: tuple[str, ...]) -> tuple[str, ...]:
    """Columns, the key's first."""
    return tuple(dict.fromkeys((*table.primary_key, *names)))


def pick(table: Table, names: tuple[str, ...]) -> list[Column]:
    """Some columns of a table, in this order."""
    return [table.column(name) for name in names]
