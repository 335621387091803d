"""One engine: the tables of a group, from their snapshot or from where the journal ends, into segments."""

import json
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from streamhouse.capture.database import CapturedDatabase
from streamhouse.capture.java import JavaBatches, JavaCapture, JavaEngine, is_heartbeat, offset_of
from streamhouse.capture.journal import (
    SEGMENT_BYTES,
    SegmentFile,
    cut_torn,
    forget_snapshot,
    has_begun,
    next_segment,
    set_begun,
    written_from,
)
from streamhouse.capture.repeats import Repeats
from streamhouse.ingest.journal import Group

_FEW = 3
"""Records of a batch that may be heartbeats alone."""
_OF_SNAPSHOT = b'"aggregate_type":"Initial Snapshot"'
_SETTINGS = {
    "offset.storage": "org.apache.kafka.connect.storage.FileOffsetBackingStore",
    "offset.flush.interval.ms": "0",
    "key.converter.schemas.enable": "false",
    "value.converter.schemas.enable": "false",
    # Else NULL becomes the column's DEFAULT.
    "key.converter.replace.null.with.default": "false",
    "value.converter.replace.null.with.default": "false",
    "skipped.operations": "none",
    "tombstones.on.delete": "false",
    # Values as whole texts or numbers, as events have no schema part.
    "decimal.handling.mode": "string",
    "time.precision.mode": "microseconds",
    "interval.handling.mode": "string",
    "binary.handling.mode": "base64",
    "notification.enabled.channels": "sink",
    "notification.sink.topic.name": "notifications",
    "max.batch.size": "2048",
    "poll.interval.ms": "100",
}


class CaptureStream:
    """A group that is captured now.

    Args:
        database: Where its tables are.
        java: Where engines run.
        folder: Of the group.
        group: What is in it.
    """

    def __init__(self, database: CapturedDatabase, java: JavaCapture, folder: Path, group: Group) -> None:
        self.folder = folder
        self.group = group
        self.events = 0  # written since the start
        self._database = database
        self._java = java
        self._repeats: Repeats | None = None
        self._segment: SegmentFile | None = None
        self._batches: JavaBatches | None = None
        self._begun = has_begun(folder)
        self._heard_at = time.monotonic()
        self._closed = False
        self.failure: BaseException | None = None
        self._engine = self._start()

    @property
    def has_ended(self) -> bool:
        """Whether the engine runs no more."""
        return self._engine.has_ended or not self._java.is_alive

    @property
    def is_silent(self) -> bool:
        """Whether it says nothing for so long that its connection must be dead."""
        limit_s = self._database.silent_s
        return self._begun and limit_s is not None and time.monotonic() - self._heard_at > limit_s

    @property
    def error(self) -> str:
        """Why, without secrets."""
        if self.failure is None and not self._engine.error and self.is_silent:
            return f"the engine heard nothing from the server for {self._database.silent_s:.0f} s"
        return self._database.masked(str(self.failure) if self.failure is not None else self._engine.error)

    @property
    def has_begun(self) -> bool:
        """Whether the snapshot is whole."""
        return self._begun

    def close(self) -> None:
        """End it after the batch in hand."""
        if self._java.is_alive:
            self._engine.close()
        self._closed = True
        if self._segment is not None:
            self._segment.close()
        if self._batches is not None and self._java.is_alive:
            self._batches.close()

    def _start(self) -> JavaEngine:
        scratch = self.folder / "scratch"
        offsets = scratch / "offsets"
        database, group = self._database, self.group
        database.free(group)
        if self._begun:
            resume = database.resume(group, self.folder)
            cut_torn(self.folder)
            self._repeats = Repeats(database.place, partial(written_from, self.folder, database.place))
        else:
            database.prepare(group, self.folder)
            forget_snapshot(self.folder)
        scratch.mkdir(mode=0o700, exist_ok=True)
        offsets.unlink(missing_ok=True)
        if self._begun:
            self._java.write_offset(offsets, group.slot, resume)
        self._batches = self._java.batches(scratch / "batch")
        self._roll()
        settings = _SETTINGS | {
            "name": group.slot,
            "topic.prefix": group.slot,  # another one for each engine, or their metrics clash in Java
            "offset.storage.file.filename": str(offsets),
            # A journal that has begun never gets a second snapshot.
            "snapshot.mode": "no_data" if self._begun else "initial",
            **database.settings(group, self.folder, begun=self._begun),
        }
        return self._java.start(settings, self._take)

    def _take(self, records: Any) -> None:
        self._heard_at = time.monotonic()
        try:
            assert not self._closed, "another engine writes to the group now"
            self._write(records)
        except BaseException as error:
            self.failure = error
            raise
        finally:
            self._heard_at = time.monotonic()

    def _write(self, records: Any) -> None:
        last = records.get(records.size() - 1)
        if not self._says_nothing(records):
            self._append(records)
        self._database.keep(self.folder, partial(offset_of, last))

    def _says_nothing(self, records: Any) -> bool:
        count = records.size()
        return count <= _FEW and all(is_heartbeat(records.get(number)) for number in range(count))

    def _append(self, records: Any) -> None:
        if self._repeats is not None:
            repeated = self._repeated(records, self._repeats)
            if repeated == records.size():
                return
            self._repeats = None
            records = records.subList(repeated, records.size())
        assert self._segment is not None
        assert self._batches is not None
        lines = self._batches.lines(records)
        size = self._segment.append(lines)
        self.events += len(lines)
        if not self._begun and _ends_snapshot(lines):
            self._database.keep(self.folder, partial(offset_of, records.get(records.size() - 1)))
            set_begun(self.folder)
            self._begun = True
        if size >= SEGMENT_BYTES:
            self._segment.close()
            self._roll()

    def _repeated(self, records: Any, repeats: Repeats) -> int:
        """How many of the first events the journal has."""
        for number in range(records.size()):
            value = records.get(number).value()
            if value is not None and not repeats.has(value.encode()):
                return number
        return int(records.size())

    def _roll(self) -> None:
        self._segment = SegmentFile(next_segment(self.folder))


def _ends_snapshot(lines: Sequence[bytes]) -> bool:
    """Whether one of these events says that the snapshot is whole."""
    values = [json.loads(line).get("value") or {} for line in lines if _OF_SNAPSHOT in line]
    # A row may have the same words, but then there is a source beside it.
    return any(one.get("type") == "COMPLETED" and "source" not in one for one in values)
