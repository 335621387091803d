"""Spark's checkpoint of a segment: where it lies, and what its offset log says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

from streamhouse.engine.source import offset_of, vector_of
from streamhouse.engine.vector import Vector
from streamhouse.errors import StateConflictError
from streamhouse.model.types import Position
from streamhouse.spark.offset_log import (
    has_metadata,
    is_logged,
    is_whole,
    newest_committed,
    newest_logged,
    offset_at_end,
    offset_file,
    write_first_batch,
)


@dataclass(frozen=True)
class EpochRemains:
    """What tables have of an epoch that is half done.

    Attributes:
        end: Where it ends, by its note; None: there is no note.
        wrote: Whether it may have written something.
    """

    end: Vector | None = None
    wrote: bool = True


class Checkpoint:
    """One checkpoint folder. Its name is the number of the first epoch it counts from.

    Spark numbers batches from 0 in each checkpoint; an epoch is that number plus `base`. When the
    folder was deleted or damaged, or a change of the plan made its positions void, a new one begins at the epoch and
    position that the state store knows.
    """

    def __init__(
        self, root: Path, flow: str, segment: str, next_epoch: int, last_end: Mapping[str, Position] | None = None
    ) -> None:
        """Find the newest folder that fits the state store; makes nothing but the folder of the segment.

        Args:
            root: Of all checkpoints.
            flow: Whose.
            segment: Of it.
            next_epoch: The first one that is not finished.
            last_end: Where the one before it ended; None: it is not known.
        """
        folder = root / flow / segment
        folder.mkdir(parents=True, exist_ok=True)
        known = sorted(int(p.name) for p in folder.iterdir() if p.name.isdigit())
        newest = folder / str(known[-1]) if known else None
        stale = newest is not None and not _goes_on_at(newest, next_epoch, last_end)
        self._next = next_epoch
        self._left = newest if stale else None  # what Spark cannot go on from; of one epoch it may still tell
        self.base = known[-1] if known and not stale else next_epoch
        self.path = folder / str(self.base)

    def begin(self, unfinished: int | None, remains: Callable[[], EpochRemains]) -> None:
        """Make sure that Spark can begin here, and runs an epoch that is half done again with the rows that it had.

        One that wrote nothing may have other rows.

        Args:
            unfinished: Its number; None: there is none.
            remains: What the tables have of it.

        Raises:
            StateConflictError: it is unknown where it ends.
        """
        end = None
        if unfinished is not None and (self._left is not None or not self._holds(unfinished)):
            end = self._end_left(unfinished)
            found = remains() if end is None else EpochRemains(end)
            end = found.end
            if end is None and found.wrote:
                raise StateConflictError(
                    f"epoch {unfinished} began and wrote rows, but its offset log and its note are lost: {self.path}",
                    hint="bring the folder back; or compute what the tables lack from what the flow reads: "
                    f"streamhouse restore {self.path.parent.parent.name} --from-sources",
                )
        if self._left is not None:
            rmtree(self._left)  # the state store knows everything that was in it
        if end is not None:
            self._begin_at(end)

    def _begin_at(self, end: Vector) -> None:
        """Make a checkpoint of the next epoch, in place of a log that does not have it.

        Its name is the epoch's number: under the name of the old one the epoch would count as one that is done.
        """
        old, self.base = self.path, self._next
        self.path = old.parent / str(self.base)
        self.write(self.path, end)
        if old != self.path:
            rmtree(old, ignore_errors=True)

    @staticmethod
    def write(path: Path, end: Vector) -> None:
        """Make a checkpoint whose first batch is begun and ends there, in place of any that has its path."""
        write_first_batch(path, offset_of(end), end.at_ms)

    def _end_left(self, epoch: int) -> Vector | None:
        if self._left is None:
            return None
        try:
            return _end_in(self._left, epoch - int(self._left.name))
        except ValueError:
            return None

    @property
    def has_log(self) -> bool:
        """Whether Spark's log is there; Spark makes it before its first batch, and never removes it."""
        return has_metadata(self.path)

    def epoch(self, batch: int) -> int:
        """The epoch of Spark's batch number."""
        return self.base + batch

    def _holds(self, epoch: int) -> bool:
        """Whether Spark logged where the epoch ends."""
        return is_logged(self.path, epoch - self.base)

    def end_of(self, batch: int) -> Vector:
        """The vector at the end of a batch, which Spark logged before it began the batch.

        Raises:
            StateConflictError: the log lacks the batch.
        """
        try:
            return _end_in(self.path, batch)
        except ValueError as error:
            raise StateConflictError(
                f"the offset log of epoch {self.epoch(batch)} cannot be read: {offset_file(self.path, batch)}",
                hint="start the flow again: it goes on from the state store's positions",
            ) from error


def _goes_on_at(folder: Path, next_epoch: int, last_end: Mapping[str, Position] | None) -> bool:
    """Whether Spark can go on from a checkpoint, and then goes on where the state store is.

    A log that ends before the last finished epoch is of positions that a change of the plan has replaced. One that
    goes beyond the epoch in hand, knows that as done, or knows another end of the last one, is of another moment than
    the state store: Spark would pass over rows.
    """
    if not is_whole(folder, _is_vector):
        return False
    batch = next_epoch - int(folder.name)
    logged = newest_logged(folder)
    if not batch - 1 <= logged <= batch or newest_committed(folder) >= batch:
        return False
    return last_end is None or not is_logged(folder, batch - 1) or _end_in(folder, batch - 1).is_at(last_end)


def committed(folder: Path) -> tuple[int, Vector, Vector] | None:
    """Number, start and end of the newest epoch that Spark's commit log of a segment knows as done; None: of none.

    Args:
        folder: Of all checkpoints of the segment.
    """
    base = max((int(p.name) for p in folder.glob("[0-9]*") if p.name.isdigit()), default=None)
    if base is None or not is_whole(path := folder / str(base), _is_vector) or (batch := newest_committed(path)) < 0:
        return None
    if batch == 0 and base > 0:
        return None  # where it began was in a checkpoint before
    return base + batch, _end_in(path, batch - 1) if batch else Vector(), _end_in(path, batch)


def logged_end(folder: Path, epoch: int) -> Vector | None:
    """Where an epoch ends by the newest of Spark's logs of a segment; None: it does not say so.

    Args:
        folder: Of all checkpoints of the segment.
        epoch: Its number.
    """
    base = max((int(p.name) for p in folder.glob("[0-9]*") if p.name.isdigit()), default=None)
    try:
        return None if base is None else _end_in(folder / str(base), epoch - base)
    except ValueError:
        return None


def _end_in(folder: Path, batch: int) -> Vector:
    """The vector in the offset log; ValueError when it is none."""
    return _vector(offset_at_end(folder, batch))


def _vector(offset: str) -> Vector:
    try:
        return vector_of(offset)
    except (KeyError, TypeError) as error:
        raise ValueError(offset) from error


def _is_vector(offset: str) -> bool:
    try:
        _vector(offset)
    except ValueError:
        return False
    return True
