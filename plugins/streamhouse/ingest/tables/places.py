"""Positions in a table of others whose snapshots have rising numbers. Pure.

    {"snapshot": 5, "part": 2}             of the rows as of snapshot 5 two parts were read: the beginning of a flow
    {"snapshot": 5, "part": 4294967296}    all of them were
    {"snapshot": 6, "part": 4294967296}    and what snapshot 6 changed, too

A later position has no lower number under any key, as the engine compares them.
"""

from typing import NamedTuple

from streamhouse.model.types import Position, Ranges, behind

SNAPSHOT, PART = "snapshot", "part"
ALL_PARTS = 1 << 32
"""Of a snapshot that was read as a whole; more than any snapshot has."""


class TablePlace(NamedTuple):
    """How far a table was read. A later place is greater.

    Attributes:
        number: Of the snapshot; 0: nothing was read.
        part: How many parts of its rows were read.
    """

    number: int
    part: int

    @property
    def is_whole(self) -> bool:
        """Whether all rows of the snapshot were read."""
        return self.part >= ALL_PARTS

    @property
    def position(self) -> Position:
        """The position, as the engine keeps it.

        >>> TablePlace(0, 0).position, TablePlace(3, 1).position
        ({}, {'snapshot': 3, 'part': 1})
        """
        return {SNAPSHOT: self.number, PART: self.part} if self.number else {}


def whole(number: int) -> TablePlace:
    """Where all rows of a snapshot were read; of 0 the beginning."""
    return TablePlace(number, ALL_PARTS if number else 0)


def place_at(position: Position, skipped: Ranges | None = None) -> TablePlace:
    """Where a position is.

    Args:
        position: One without parts is that of a snapshot that was read as a whole.
        skipped: Ranges that a person said to go on behind.

    Example:
        >>> place_at({"snapshot": 3, "part": 1}), place_at({}), place_at({"snapshot": 3}) == whole(3)
        (TablePlace(number=3, part=1), TablePlace(number=0, part=0), True)
        >>> place_at({"snapshot": 3, "part": 1}, {"snapshot": ((2, 7),)}) == whole(7)
        True
    """
    number = position.get(SNAPSHOT, 0)
    further = behind((skipped or {}).get(SNAPSHOT, ()), number)
    if not further or further != number:
        return whole(further)
    return TablePlace(number, position.get(PART, ALL_PARTS))


def further(one: Position, other: Position) -> Position:
    """Up to where two readers of a source read before one reader goes on for both; of any kind of source.

    That is the higher number under each key. Where they begin at different snapshots, parts of one are not parts of the
    other, so both read all parts.

    Example:
        >>> further({"snapshot": 5, "part": 2}, {"snapshot": 5, "part": 3})
        {'snapshot': 5, 'part': 3}
        >>> further({"snapshot": 5, "part": 2}, {"snapshot": 7, "part": 1}) == whole(7).position
        True
    """
    found = {key: max(value, other.get(key, 0)) for key, value in one.items()}
    found |= {key: value for key, value in other.items() if key not in found}
    if PART in found and one.get(SNAPSHOT) != other.get(SNAPSHOT) and one and other:
        found[PART] = ALL_PARTS
    return found
