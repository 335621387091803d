"""Read ranges of offsets, exactly, from the leaders of a table's buckets."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from time import monotonic

import pyarrow as pa

from streamhouse.errors import RowsLostError, StoreUnavailableError
from streamhouse.model.types import Position
from streamhouse.stores.fluss.catalog import FlussCatalog, Located, OffsetBound
from streamhouse.stores.fluss.log import LogBatch, decode_batches
from streamhouse.stores.fluss.partitions import bucket_of, in_order
from streamhouse.stores.fluss.remote import read_segments
from streamhouse.stores.fluss.wire import proto
from streamhouse.stores.fluss.wire.api import Api
from streamhouse.stores.fluss.wire.link import Address
from streamhouse.stores.fluss.wire.refusal import OUT_OF_RANGE, LeaderMovedError, refusal

Ranges = dict[str, tuple[int, int]]
"""Bucket, as positions name it → `[start, end)` offsets."""

RESTORED = "was the table restored from an older state, or dropped and created again?"

_PROJECTION_REFUSED = 34
_CLIENT = -1
_ANSWER_BYTES = 64 << 20
_BUCKET_BYTES = 16 << 20
_WAIT_MS = 100  # only spent when rows that exist are not there yet
_BEYOND_S = 1.0  # a new leader learns within it how far its predecessor was
_STALL_S = 10.0


def ranges_between(start: Position, end: Position) -> Ranges:
    """What was written after `start` and before `end`, bucket by bucket in their order."""
    return {bucket: (start.get(bucket, 0), end[bucket]) for bucket in in_order(end)}


class TableReader:
    """One table's rows, with the columns of one projection."""

    def __init__(self, catalog: FlussCatalog, located: Located, columns: Sequence[str]) -> None:
        self._catalog = catalog
        self._located = located
        names = located.stored.column_names
        self._fields = sorted(names.index(name) for name in columns)
        self._projects = len(self._fields) < len(names)  # whether the server is asked to
        self.schema = self._projected(located.stored.schema_id)

    def read(self, ranges: Ranges) -> dict[str, list[LogBatch]]:
        """Bucket → its batches, in the order of their offsets. A bucket whose partition was dropped has none.

        Raises:
            RowsLostError: the log begins after a range does, or ends before it.
            LeaderMovedError: look the table up again.
            StoreUnavailableError: Fluss sends no rows for a while.
        """
        found: dict[str, list[LogBatch]] = {bucket: [] for bucket in ranges}
        there = self._there(ranges)
        for address, buckets in self._located.by_leader(there).items():
            left = {bucket: ranges[bucket] for bucket in buckets}
            moved_at = monotonic()
            while left:
                got = self._fetch(address, left)
                for bucket, batches in got.items():
                    start, end = left.pop(bucket)
                    for batch in batches:
                        if batch.end > start and batch.base < end:
                            found[bucket].append(batch.cut(start, end))
                    reached = max((batch.end for batch in batches), default=start)
                    if reached > start:
                        moved_at = monotonic()
                    if reached < end:
                        left[bucket] = (reached, end)
                if left and monotonic() - moved_at > _BEYOND_S:
                    self._refuse_beyond(left)
                if left and monotonic() - moved_at > _STALL_S:
                    raise StoreUnavailableError(f"Fluss sends no rows of {self._located.name}, buckets {sorted(left)}")
        return found

    def _there(self, ranges: Ranges) -> list[str]:
        """The buckets that are to be read and exist; that one does not is not believed to an older look."""
        wanted = [bucket for bucket, (start, end) in ranges.items() if start < end]
        if any(bucket not in self._located.leaders for bucket in wanted):
            self._located = self._catalog.refreshed(self._located)
        return [bucket for bucket in wanted if bucket in self._located.leaders]

    def _refuse_beyond(self, left: Ranges) -> None:
        ends = self._catalog.offsets(self._located, OffsetBound.LATEST)
        for bucket, (_, end) in left.items():
            if bucket not in ends:
                raise LeaderMovedError(f"{self._located.name} has no bucket {bucket} any more")
            if ends[bucket] < end:
                raise RowsLostError(
                    f"{self._located.name}, bucket {bucket}: offset {end} was asked for, "
                    f"but the log ends at {ends[bucket]}",
                    hint=RESTORED,
                )

    def _fetch(self, address: Address, ranges: Ranges) -> dict[str, list[LogBatch]]:
        keys = {bucket_of(key): key for key in ranges}
        wanted = [
            (4, proto.encode((1, partition_id), (2, number), (3, ranges[key][0]), (4, _BUCKET_BYTES)))
            for (partition_id, number), key in keys.items()
        ]
        projection = ((2, 1), (3, self._fields)) if self._projects else ((2, 0),)
        table = proto.encode((1, self._located.stored.table_id), *projection, *wanted)
        body = proto.encode((1, _CLIENT), (2, _ANSWER_BYTES), (3, table), (4, _WAIT_MS), (5, 1))
        projected = self._projects
        answer = self._catalog.wire.call(address, Api.FETCH_LOG, body, self._located.name)
        answers = {
            keys[proto.number(bucket, 1) if 1 in bucket else None, proto.number(bucket, 2)]: bucket
            for table_answer in proto.messages(answer, 1)
            for bucket in proto.messages(table_answer, 2)
        }
        return {key: self._batches(bucket, key, ranges[key], projected) for key, bucket in answers.items()}

    def _batches(self, answer: proto.Message, bucket: str, wanted: tuple[int, int], projected: bool) -> list[LogBatch]:
        start, end = wanted
        name = self._located.name
        code = proto.number(answer, 3)
        if code == OUT_OF_RANGE:
            raise RowsLostError(
                f"{name}, bucket {bucket}: the log no longer has, or never had, offset {start}",
                hint="rows past the table's log TTL are in warmer tiers only",
            )
        if code == _PROJECTION_REFUSED and projected:
            self._projects = False  # rows from before a column was added: take them whole from here on
            return []
        if code:
            raise refusal(code, proto.text(answer, 4), name)
        if remote := proto.blob(answer, 7):
            found = read_segments(proto.decode(remote), start, end, self._full, self._fields)
            return [self._padded(batch) for batch in found]
        # A server fills its answer, also with what lies beyond the range.
        sent = decode_batches(proto.blob(answer, 8), self._projected if projected else self._full)
        batches = takewhile(lambda batch: batch.base < end, sent)
        return [self._padded(batch) if projected else self._project(batch) for batch in batches]

    def _full(self, schema_id: int) -> pa.Schema:
        return self._catalog.schema(self._located, schema_id)

    def _projected(self, schema_id: int) -> pa.Schema:
        schema = self._full(schema_id)
        # Columns are only ever added at the end, so an index means the same in every version.
        return pa.schema([schema.field(index) for index in self._fields if index < len(schema)])

    def _project(self, batch: LogBatch) -> LogBatch:
        if batch.rows is None:
            return batch
        present = [index for index in self._fields if index < batch.rows.num_columns]
        return self._padded(replace(batch, rows=batch.rows.select(present)))

    def _padded(self, batch: LogBatch) -> LogBatch:
        rows = batch.rows
        if rows is None or rows.num_columns == len(self.schema):
            return batch
        absent = list(self.schema)[rows.num_columns :]
        arrays = [*rows.columns, *(pa.nulls(rows.num_rows, field.type) for field in absent)]
        return replace(batch, rows=pa.record_batch(arrays, schema=self.schema))
