"""The position vector: where one epoch ends in everything its segment reads."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier


@dataclass(frozen=True)
class Vector:
    """The end of an epoch, and the start of the next.

    Attributes:
        at_ms: When the clock saw the rows, epoch milliseconds; the epoch's recorded time, to which
            `current_timestamp` and similar functions are bound. 0 before the first epoch.
        positions: Source or table → next position to read; absent: its beginning.
        tick: True for an epoch without new rows, made only so that `full` steps come due.
    """

    at_ms: int = 0
    positions: Mapping[str, Position] = field(default_factory=dict)
    tick: bool = False

    def is_at(self, positions: Mapping[str, Position]) -> bool:
        """Whether it has these positions; what is not begun may be left out on either side."""
        return covers(self.positions, positions) and covers(positions, self.positions)

    def to_json(self) -> str:
        """Text that is equal for equal vectors."""
        positions = {name: self.positions[name] for name in self.positions}
        return json.dumps({"at_ms": self.at_ms, "positions": positions, "tick": self.tick}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "Vector":
        """The vector that `to_json` wrote."""
        data = json.loads(text)
        return cls(data["at_ms"], data["positions"], data["tick"])


def cap(position: Position, limit: Position) -> Position:
    """`position`, but nowhere beyond `limit`; a key that `limit` lacks has not begun there."""
    return {key: min(value, limit[key]) for key, value in position.items() if key in limit}


def covers(reached: Mapping[str, Position], target: Mapping[str, Position]) -> bool:
    """Whether `reached` is at or beyond `target` everywhere."""
    wanted = ((name, key, value) for name, position in target.items() for key, value in position.items())
    return all(reached.get(name, {}).get(key, 0) >= value for name, key, value in wanted)


def without_dropped(table: Table, position: Position, end: Position) -> Position:
    """A position in a table without its parts that `end` lacks: in the hot tier each partition has parts of its own."""
    if not table.partition_by or table.tiers.target is not Tier.HOT:
        return position
    return {part: offset for part, offset in position.items() if part in end}
