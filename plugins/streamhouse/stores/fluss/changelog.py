"""A change log as rows: each change with its kind, offset and time; pure Arrow."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from streamhouse.stores.base import KIND_COLUMNS
from streamhouse.stores.fluss.log import AFTER, BEFORE, DELETED, INSERTED, LogBatch
from streamhouse.stores.fluss.partitions import bucket_of, in_order

LOG_TTL = "rows past the table's log TTL are in warmer tiers only: ask the lake, as table.lake"

_KINDS = {0: "+I", INSERTED: "+I", BEFORE: "-U", AFTER: "+U", DELETED: "-D"}
_TIME = pa.timestamp("us", tz="UTC")


def numbered(batches: Mapping[str, list[LogBatch]], schema: pa.Schema) -> pa.Table:
    """The rows of all buckets behind `KIND_COLUMNS`.

    Args:
        batches: Bucket → its batches, by offset. Of its name `_bucket` is the number within its partition.
        schema: Of their rows.
    """
    full = [(bucket_of(b)[1], batch) for b in in_order(batches) for batch in batches[b] if batch.rows is not None]
    counts = [batch.rows.num_rows for _, batch in full if batch.rows is not None]
    codes = b"".join(batch.kinds or bytes(count) for (_, batch), count in zip(full, counts, strict=True))
    offsets = [np.arange(batch.base, batch.base + count) for (_, batch), count in zip(full, counts, strict=True)]
    rows = pa.Table.from_batches([batch.rows for _, batch in full], schema=schema)
    columns = (
        pa.array([_KINDS[code] for code in sorted(_KINDS)]).take(pa.array(np.frombuffer(codes, dtype=np.int8))),
        pa.array(_repeated([bucket for bucket, _ in full], counts)).cast(pa.int32()),
        pa.array(np.concatenate(offsets) if offsets else [], pa.int64()),
        pa.array(_repeated([batch.at_ms * 1000 for _, batch in full], counts)).cast(_TIME),
    )
    for place, (name, column) in enumerate(zip(KIND_COLUMNS, columns, strict=True)):
        rows = rows.add_column(place, name, column)
    return rows


def _repeated(values: list[int], counts: list[int]) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    return np.repeat(np.array(values, np.int64), np.array(counts, np.int64))
