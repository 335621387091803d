"""Spark's checkpoint of a segment: where it lies, and what its offset log says."""

import json
from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING
from uuid import uuid4

from streamhouse.engine.session_copy import once_for_each, session_copy
from streamhouse.engine.source import offset_of, vector_of
from streamhouse.engine.vector import Vector
from streamhouse.errors import StateConflictError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OFFSETS, _COMMITS, _VERSION = "offsets", "commits", "v1"
_LOCAL_LOGS = {
    # Hadoop's own keeps a file of checksums beside each one, and forks a process to set the mode of either: 5 ms.
    "fs.file.impl": "com.globalmentor.apache.hadoop.fs.NakedLocalFileSystem",
    "fs.file.impl.disable.cache": "true",
}


@once_for_each
def logging_session(spark: "SparkSession") -> "SparkSession":
    """The copy of a session for streams, whose logs, where they are in a folder, are files without checksums.

    Only for these: who else wrote a file so would leave the checksums of the one before it. One for all streams:
    Spark never forgets a session that had one, and tells it all that happens.
    """
    return session_copy(spark, _LOCAL_LOGS)


class Checkpoint:
    """One checkpoint folder. Its name is the number of the first epoch it counts from.

    Spark numbers batches from 0 in each checkpoint; an epoch is that number plus `base`. When the
    folder was deleted or damaged, or a change of the plan made its positions void, a new one begins at the epoch and
    position that the state store knows.
    """

    def __init__(self, root: Path, flow: str, segment: str, next_epoch: int) -> None:
        folder = root / flow / segment
        folder.mkdir(parents=True, exist_ok=True)
        known = sorted(int(p.name) for p in folder.iterdir() if p.name.isdigit())
        newest = folder / str(known[-1]) if known else None
        # A log that ends before the last finished epoch is of positions that a change of the plan has replaced.
        stale = newest is not None and (
            _newest(newest / _OFFSETS) + known[-1] < next_epoch - 1 or not _is_whole(newest)
        )
        self._next = next_epoch
        self._left = newest if stale else None  # what Spark cannot go on from; of one epoch it may still tell
        self.base = known[-1] if known and not stale else next_epoch
        self.path = folder / str(self.base)

    def begin(self, unfinished: int | None, noted: Callable[[], Vector | None]) -> None:
        """Make sure that Spark can begin here, and runs an epoch that is half done again with the rows that it had.

        Args:
            unfinished: Its number; None: there is none.
            noted: Where it ends, as the tables tell; None: they do not.

        Raises:
            StateConflictError: nobody knows where it ends.
        """
        end = None
        if unfinished is not None and (self._left is not None or not self._holds(unfinished)):
            end = self._end_left(unfinished) or noted()
            if end is None:
                raise StateConflictError(
                    f"epoch {unfinished} began, but its offset log is lost: {self.path}",
                    hint="bring the folder back: without it nobody knows which rows the epoch had",
                )
        if self._left is not None:
            rmtree(self._left)  # the state store knows all that it told
        if end is not None:
            self.write(self.path, end)

    @staticmethod
    def write(path: Path, end: Vector) -> None:
        """Make a checkpoint whose first batch is begun and ends there, in place of any that has its path."""
        rmtree(path, ignore_errors=True)
        (path / _OFFSETS).mkdir(parents=True)
        about = {"batchWatermarkMs": 0, "batchTimestampMs": end.at_ms, "conf": {}}
        lines = (_VERSION, json.dumps(about), offset_of(end))
        (path / "metadata").write_text(json.dumps({"id": str(uuid4())}))
        (path / _OFFSETS / "0").write_text("\n".join(lines))

    def _end_left(self, epoch: int) -> Vector | None:
        if self._left is None:
            return None
        try:
            return _end_in(self._left / _OFFSETS / str(epoch - int(self._left.name)))
        except ValueError:
            return None

    def epoch(self, batch: int) -> int:
        """The epoch of Spark's batch number."""
        return self.base + batch

    def _holds(self, epoch: int) -> bool:
        """Whether Spark logged where the epoch ends."""
        return (self.path / _OFFSETS / str(epoch - self.base)).is_file()

    def end_of(self, batch: int) -> Vector:
        """The vector at the end of a batch, which Spark logged before it began the batch.

        Raises:
            StateConflictError: the log lacks the batch.
        """
        file = self.path / _OFFSETS / str(batch)
        try:
            return _end_in(file)
        except ValueError as error:
            raise StateConflictError(
                f"the offset log of epoch {self.epoch(batch)} cannot be read: {file}",
                hint="start the flow again: it goes on from the state store's positions",
            ) from error


def committed(folder: Path) -> tuple[int, Vector, Vector] | None:
    """Number, start and end of the newest epoch that Spark's commit log of a segment knows as done; None: of none.

    Args:
        folder: Of all checkpoints of the segment.
    """
    base = max((int(p.name) for p in folder.glob("[0-9]*") if p.name.isdigit()), default=None)
    if base is None or not _is_whole(path := folder / str(base)) or (batch := _newest(path / _COMMITS)) < 0:
        return None
    if batch == 0 and base > 0:
        return None  # where it began was in a checkpoint before
    offsets = path / _OFFSETS
    return base + batch, _end_in(offsets / str(batch - 1)) if batch else Vector(), _end_in(offsets / str(batch))


def _newest(log: Path) -> int:
    return max((int(p.name) for p in log.glob("[0-9]*")), default=-1)


def _is_whole(folder: Path) -> bool:
    """Whether Spark can begin from a checkpoint: a disk that was full, or lost its power, leaves empty files."""
    logs = {log: {int(p.name): p for p in (folder / log).glob("[0-9]*")} for log in (_OFFSETS, _COMMITS)}
    offsets, commits = logs[_OFFSETS], logs[_COMMITS]
    newest = max(offsets, default=-1)
    try:
        for file in offsets.values():
            _end_in(file)
        for file in (*commits.values(), *folder.glob("metadata")):
            json.loads(file.read_text().removeprefix(f"{_VERSION}\n"))
    except (OSError, ValueError):
        return False
    # Spark asks for the epoch in hand and the one before it, and commits in turn.
    in_turn = max(commits, default=-1) in (newest, newest - 1)
    return in_turn and (newest < 1 or newest - 1 in offsets) and (newest < 0 or (folder / "metadata").is_file())


def _end_in(file: Path) -> Vector:
    """The vector in a file of the offset log; ValueError when it is none."""
    try:
        # A version, the batch's metadata, then one line for each source: we have one.
        version, about, end = file.read_text().splitlines()
        if version != _VERSION:
            raise ValueError(version)
        json.loads(about)
        return vector_of(end)
    except (OSError, KeyError, TypeError) as error:
        raise ValueError(str(file)) from error
