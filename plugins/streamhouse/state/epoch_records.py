"""Epochs as a flow begins, finishes and reads them: a part of the state store."""

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import Connection

from streamhouse.model.types import Position
from streamhouse.state import epochs, leases
from streamhouse.state.connect import Database
from streamhouse.state.instants import to_ms
from streamhouse.state.metrics import Metrics
from streamhouse.state.records import EpochRecord, Lease


class EpochRecords:
    """A part of `StateStore`, which says what errors all methods may raise."""

    _database: Database
    metrics: Metrics

    def begin_epoch(self, lease: Lease, segment: str, epoch: int, at_ms: int, now: datetime) -> int:
        """Record, before anything is written, that an epoch is tried.

        `epoch` is above that of the last finished epoch, or the number of the unfinished one;
        `at_ms` is when its rows were seen at the source.

        Returns:
            The `at_ms` that this attempt must use: that of the first attempt.

        Raises:
            LeaseLostError: another runner took the flow over.
            StateConflictError: the epoch is already finished, or an earlier one is not.
        """

        def work(connection: Connection) -> int:
            leases.check(connection, lease)
            return epochs.begin(connection, lease.flow, segment, epoch, at_ms, lease.fencing, to_ms(now))

        return self._database.write(work)

    def finish_epoch(self, lease: Lease, record: EpochRecord) -> None:
        """Record that everything an epoch wrote is readable; the same record again changes nothing.

        Raises:
            LeaseLostError: another runner took the flow over; nothing was recorded.
            StateConflictError: the epoch was not begun, or is finished with another result.
            ValueError: the epoch is of another flow than the lease.
        """
        if record.flow != lease.flow:
            raise ValueError(f"an epoch of flow '{record.flow}' under a lease of '{lease.flow}'")

        def work(connection: Connection) -> bool:
            leases.check(connection, lease)
            return epochs.finish(connection, record)

        if self._database.write(work):
            self.metrics.add(record)

    def last_epoch(self, flow: str, segment: str) -> EpochRecord | None:
        """The last finished epoch of a segment; None when none is."""
        with self._database.read() as connection:
            return epochs.last(connection, flow, segment)

    def newest_epochs(self) -> list[EpochRecord]:
        """The last finished epoch of every segment of every flow, also of tables that are being rebuilt."""
        with self._database.read() as connection:
            return epochs.newest(connection)

    def recent_epochs(self, flow: str, segment: str | None = None, limit: int = 100) -> list[EpochRecord]:
        """Finished epochs of a segment (None: of all), the last one first; 1,000 of a segment are kept."""
        with self._database.read() as connection:
            return epochs.recent(connection, flow, segment, limit)

    def unfinished(self, flow: str, segment: str) -> int | None:
        """The epoch that was begun and not finished: an earlier attempt may have written some of it."""
        with self._database.read() as connection:
            return epochs.unfinished(connection, flow, segment)

    def newest_known(self, flow: str, segment: str) -> int | None:
        """The highest number of an epoch that was begun or finished; None: none was."""
        with self._database.read() as connection:
            return epochs.newest_known(connection, flow, segment)

    def recorded_times(self, flow: str, segment: str, numbers: Collection[int]) -> dict[int, int]:
        """Epoch → its recorded time, epoch milliseconds, of those of `numbers` that are known, done or begun."""
        with self._database.read() as connection:
            return epochs.recorded_times(connection, flow, segment, numbers)

    def note_ends(self, lease: Lease, segment: str, ends: Mapping[str, Position | None]) -> None:
        """Say where tables end since the last finished epoch; None: nobody knows, as something else writes to one.

        Raises:
            LeaseLostError: another runner took the flow over.
        """

        def work(connection: Connection) -> None:
            leases.check(connection, lease)
            epochs.note_ends(connection, lease.flow, segment, ends)

        self._database.write(work)

    def begin_at(self, records: Collection[EpochRecord]) -> None:
        """Record where segments of a candidate begin: for each an epoch that its tables were filled by."""
        self._database.write(lambda connection: epochs.replace_all_finished(connection, records))
