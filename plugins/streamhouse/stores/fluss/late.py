"""Rows of days that are past their time in the hot tier, and which upkeep may be dropping at this moment."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.model.table import Table
from streamhouse.model.types import Tier
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.lock import TableLocks

_EARLY = timedelta(hours=1)  # clocks of machines differ, and a write that began before a day's end takes its time


def late(table: Table, rows: pa.Table, now: datetime) -> pa.ChunkedArray:
    """Which rows are of days that upkeep may have dropped, or may drop before long: one boolean for each.

    Args:
        table: Drops days from its hot tier, see `Table.forgets_after`.
        rows: With its partition columns.
        now: With a time zone.

    Example:
        Of a table that holds rows for a day, those of the 1st are late from an hour before the 3rd begins.
    """
    retention = table.forgets_after
    if table.ages_by is None or retention is None:
        return pa.chunked_array([pa.repeat(False, rows.num_rows)])
    # The day D is dropped when D + 1 day + retention < now: see `tiering/retention.py`.
    first_day = (now + _EARLY - retention).astimezone(UTC).date() - timedelta(days=1)
    return pc.less_equal(rows.column(table.ages_by), pa.scalar(first_day, pa.date32()))


def forgotten(table: Table, deletes: pa.Table | None) -> pa.Table:
    """The keys to delete whose rows the hot tier may have dropped, while colder tiers hold them.

    Fluss deletes nothing that it does not have, and reports nothing. So it is given such rows first.
    """
    if deletes is None or table.tiers.present == (Tier.HOT,):
        return arrow_schema([table.column(name) for name in table.primary_key]).empty_table()
    return deletes.filter(late(table, deletes, datetime.now(UTC)))


class Guard:
    """Keeps the drop of a partition and writes to it apart, by the lock of the table; rows of recent days need none.

    Args:
        locks: None: the caller that opened the store takes the lock.
    """

    def __init__(self, locks: TableLocks | None) -> None:
        self._locks = locks

    @contextmanager
    def hold(self, table: Table) -> Iterator[None]:
        """A block in which no partition of the table is dropped, or in which its late rows are not written.

        Raises:
            StoreUnavailableError: another holder kept the lock for too long.
        """
        if self._locks is None or table.forgets_after is None:
            yield
            return
        with self._locks.hold(Tier.HOT, table.name):
            yield

    @contextmanager
    def hold_if_late(self, table: Table, *parts: pa.Table | None) -> Iterator[None]:
        """`hold`, where a row of any part is late."""
        now = datetime.now(UTC)
        if not any(part is not None and pc.any(late(table, part, now)).as_py() for part in parts):
            yield
            return
        with self.hold(table):
            yield
