"""Spark's checkpoint of a segment: where it lies, and what its offset log says."""

from pathlib import Path
from typing import TYPE_CHECKING

from streamhouse.engine.session_copy import once_for_each, session_copy
from streamhouse.engine.source import vector_of
from streamhouse.engine.vector import Vector
from streamhouse.errors import StateConflictError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
    folder was deleted, or a change of the plan made its positions void, a new one begins at the epoch and
    position that the state store knows.
    """

    def __init__(self, root: Path, flow: str, segment: str, next_epoch: int) -> None:
        folder = root / flow / segment
        folder.mkdir(parents=True, exist_ok=True)
        known = sorted(int(p.name) for p in folder.iterdir() if p.name.isdigit())
        # A log that ends before the last finished epoch is of positions that a change of the plan has replaced.
        stale = bool(known) and self._newest(folder / str(known[-1])) + known[-1] < next_epoch - 1
        self.base = known[-1] if known and not stale else next_epoch
        self.path = folder / str(self.base)

    @staticmethod
    def _newest(folder: Path) -> int:
        return max((int(p.name) for p in (folder / "offsets").glob("[0-9]*")), default=-1)

    def epoch(self, batch: int) -> int:
        """The epoch of Spark's batch number."""
        return self.base + batch

    def holds(self, epoch: int) -> bool:
        """Whether Spark logged where the epoch ends."""
        return (self.path / "offsets" / str(epoch - self.base)).is_file()

    def end_of(self, batch: int) -> Vector:
        """The vector at the end of a batch, which Spark logged before it began the batch.

        Raises:
            StateConflictError: the log lacks the batch.
        """
        file = self.path / "offsets" / str(batch)
        try:
            # A version, the batch's metadata, then one line for each source: we have one.
            return vector_of(file.read_text().splitlines()[2])
        except (OSError, IndexError, ValueError) as error:
            raise StateConflictError(
                f"the offset log of epoch {self.epoch(batch)} cannot be read: {file}",
                hint="remove the checkpoint folder; the flow then goes on from the state store's positions",
            ) from error
