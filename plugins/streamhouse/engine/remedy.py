"""What the state store is to say of a segment, by what its tables tell; pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from streamhouse.engine.note import Note
from streamhouse.engine.vector import Vector
from streamhouse.model.plan import QUARANTINE, Segment
from streamhouse.model.version import table_name, version_of
from streamhouse.state.records import EpochRecord


@dataclass(frozen=True)
class Remedy:
    """Where a segment is to go on.

    Attributes:
        done: Its last finished epoch; None: none is.
        begun: Number and `at_ms` of the one that is to run again, over the same rows: what it wrote is not repeated.
        end: Where that one ends.
    """

    done: EpochRecord | None
    begun: tuple[int, int] | None = None
    end: Vector | None = None

    @property
    def words(self) -> str:
        """For people."""
        if self.begun is not None:
            return f"epoch {self.begun[0]} is run again: what of it is there is not written twice"
        return f"goes on behind epoch {self.done.epoch}" if self.done is not None else "begins at its first row"


def remedy(flow: str, segment: str, note: Note, now_ms: int) -> Remedy:
    """Where a segment goes on, of which a note is the newest that its tables have."""

    def record(epoch: int, at_ms: int) -> EpochRecord:
        end = note.end if note.done else note.start
        return EpochRecord(flow, segment, epoch, at_ms, now_ms, now_ms, note.start, end, note.ends)

    if note.done:
        return Remedy(record(note.epoch, note.at_ms))
    done = record(note.after, note.after_ms) if note.after is not None else None
    return Remedy(done, (note.epoch, note.at_ms), note.vector)


def versions_in(notes: Collection[Note], tables: Collection[str]) -> dict[str, int]:
    """Table → its version in the newest of some notes that names it.

    Args:
        notes: Of the segments of a flow.
        tables: That count, by the names that people know: a source may be called as a version of a table is.
    """
    found: dict[str, int] = {}
    for note in sorted(notes, key=lambda note: note.age):
        for stored in (*note.start, *note.end, *note.ends):
            name = table_name(stored.removesuffix(QUARANTINE))
            if name in tables:
                found[name] = version_of(stored)
    return found


def newest_plan(notes: Iterable[Note]) -> str | None:
    """The fingerprint in the newest of some notes that has one; None: none has."""
    newest = max((note for note in notes if note.plan), key=lambda note: note.age, default=None)
    return newest.plan if newest is not None else None


def fits(note: Note, segment: Segment) -> bool:
    """Whether the positions in a note, of another plan, are those of a segment: it reads and writes nothing else."""
    inputs: Mapping[str, object] = {**note.start, **note.end}
    return inputs.keys() == segment.reads - set(segment.tables) and note.ends.keys() == segment.tables.keys()
