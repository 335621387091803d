"""What the tables themselves know of the epochs that wrote them: the third record of how far a flow is.

The state store decides, as long as it is the newest. A restored copy of it is not, and nothing in it shows that. So
each epoch leaves a note where its rows go: beside the hot tables before the first of them is written, and in the
commit itself in a lake. It has all that the next process needs to go on: where the epoch began and ended.
"""

import base64
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Self

from streamhouse.engine.vector import Vector
from streamhouse.model.types import Position
from streamhouse.stores.base import EPOCH

PROPERTY = "streamhouse.note"
GENERATION = "streamhouse.generation"  # in a commit for which the note is too long
_LONGEST_PROPERTY = 16_000  # a source of very many files; every snapshot that a lake keeps would have it


@dataclass(frozen=True)
class Note:
    """What one epoch left in the tables that it wrote.

    Attributes:
        epoch: Its number.
        after: Number of the epoch before it; None: it was the segment's first.
        at_ms: Its recorded time.
        plan: Fingerprint of the plan that it ran, over the names that stores hold.
        start: Source or table → the first position read.
        end: Source or table → the position after the last one read.
        tick: See `Vector.tick`.
        ends: Table written by the segment → its end before the epoch; of one that is done, behind it.
        done: Whether all that the epoch wrote is known to be there.
        generation: Of the flow, when it ran. Of two notes the one of the higher is the newer, whatever the clock says.
            0: an earlier version of Streamhouse left the note.
        after_ms: Recorded time of the epoch before it. 0: there was none, or it is not known.
    """

    epoch: int
    after: int | None
    at_ms: int
    plan: str
    start: dict[str, Position] = field(default_factory=dict)
    end: dict[str, Position] = field(default_factory=dict)
    tick: bool = False
    ends: dict[str, Position] = field(default_factory=dict)
    done: bool = False
    generation: int = 0
    after_ms: int = 0

    @property
    def age(self) -> tuple[int, int]:
        """By which the notes of several segments of a flow are put in order, the oldest first."""
        return self.generation, self.at_ms

    @property
    def vector(self) -> Vector:
        """Where the epoch ends."""
        return Vector(self.at_ms, self.end, self.tick)

    def to_text(self) -> str:
        """Text that `from_text` reads; equal for equal notes."""
        packed = zlib.compress(json.dumps(asdict(self), sort_keys=True).encode(), 9)
        return base64.b64encode(packed).decode()

    @classmethod
    def from_text(cls, text: str) -> Self | None:
        """The note in a text; None: it is none that this version reads."""
        try:
            return cls(**json.loads(zlib.decompress(base64.b64decode(text, validate=True))))
        except (ValueError, TypeError, zlib.error):
            return None

    def properties(self) -> dict[str, str]:
        """For the commit of a lake; the generation alone when the note is too long for one."""
        text = self.to_text()
        return {PROPERTY: text} if len(text) <= _LONGEST_PROPERTY else {GENERATION: str(self.generation)}


@dataclass(frozen=True)
class Trace:
    """That an epoch wrote something, and what is known of it.

    Attributes:
        epoch: Its number.
        where: Table, or tier, that has it; for people.
        note: None: a version wrote it that left none, or it was too long.
        generation: As of `Note`, where there is no note.
    """

    epoch: int
    where: str
    note: Note | None = None
    generation: int = 0


def trace_of_commit(table: str, properties: Mapping[str, str] | None) -> Trace | None:
    """The trace in the newest commit of a writer; None: there is none.

    Args:
        table: That it is in.
        properties: Of the commit.
    """
    if properties is None or EPOCH not in properties:
        return None
    text = properties.get(PROPERTY)
    note, generation = Note.from_text(text) if text else None, properties.get(GENERATION, "")
    return Trace(int(properties[EPOCH]), table, note, int(generation) if generation.isdecimal() else 0)


def trace_of_text(where: str, text: str | None) -> Trace | None:
    """The trace in a note that is stored by itself; None: there is none, or this version cannot read it."""
    note = Note.from_text(text) if text else None
    return None if note is None else Trace(note.epoch, where, note)


def newest(traces: Iterable[Trace]) -> Trace | None:
    """The newest epoch of which anything is known; of equal ones the one with more facts."""
    fact_count = {True: 2, False: 1, None: 0}
    return max(traces, key=lambda t: (t.epoch, fact_count[t.note.done if t.note else None]), default=None)
