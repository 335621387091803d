"""Log segments that a Fluss server moved to its remote storage."""

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa
from pyarrow import fs

from streamhouse.errors import StoreUnavailableError
from streamhouse.stores.fluss.log import LogBatch, decode_batches
from streamhouse.stores.fluss.wire import proto


def read_segments(
    info: proto.Message, start: int, end: int, schema: Callable[[int], pa.Schema], fields: Sequence[int] | None = None
) -> Iterator[LogBatch]:
    """Read the batches with offsets in `[start, end)` from the segment files that a server names.

    Args:
        info: The server's `PbRemoteLogFetchInfo`.
        start: First offset to read; the first batch may begin before it.
        end: Offset after the last one to read; the last batch may end after it.
        schema: Schema id → schema.
        fields: See `decode_batches`.

    Raises:
        StoreUnavailableError: a segment file cannot be read from here.
    """
    folder = proto.text(info, 1)
    skip = proto.number(info, 4)
    for segment in proto.messages(info, 3):
        first = proto.number(segment, 2)
        if first < end:
            data = _read(f"{folder}/{proto.text(segment, 1)}/{first:020d}.log", skip)
            for batch in decode_batches(data, schema, fields):
                if batch.base >= end:
                    return
                if batch.end > start:
                    yield batch
        skip = 0  # a start position is given for the first segment only


def _read(path: str, skip: int) -> memoryview:
    try:
        system, inside = fs.FileSystem.from_uri(path if ":" in path else f"file://{path}")
        if isinstance(system, fs.LocalFileSystem):
            return memoryview(pa.memory_map(inside).read_buffer())[skip:]  # what nobody looks at is never read
        with system.open_input_file(inside) as file:
            file.seek(skip)
            return memoryview(file.read_buffer())
    except (OSError, pa.ArrowInvalid) as error:
        raise StoreUnavailableError(
            f"Fluss's remote log segment {path} cannot be read: {error}",
            hint="remote.data.dir of the Fluss servers must be readable from here",
        ) from error
