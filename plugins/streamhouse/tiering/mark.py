"""How far the copy of a table in a lake reaches: kept in the same commit as the rows, and nowhere else."""

import json
from dataclasses import dataclass
from typing import Self

from streamhouse.errors import StateConflictError
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.stores.base import LakeStore

OFFSETS = "streamhouse.offsets"
ROUND = "streamhouse.round"
SOURCE = "streamhouse.tiered-from"


@dataclass(frozen=True)
class Mark:
    """The lake's copy holds the rows of `source` before `offsets`, and was written in rounds `[0, round]`."""

    round: int
    source: Tier
    offsets: Position

    def properties(self) -> dict[str, str]:
        """The mark as snapshot properties; equal marks give equal text."""
        return {
            OFFSETS: json.dumps(self.offsets, sort_keys=True),
            ROUND: str(self.round),
            SOURCE: self.source.value,
        }

    @classmethod
    def from_properties(cls, properties: dict[str, str]) -> Self | None:
        """The mark that was stored; None when there is none.

        Raises:
            StateConflictError: there is one that this version cannot read.
        """
        if ROUND not in properties:
            return None
        try:
            offsets = {str(bucket): int(offset) for bucket, offset in json.loads(properties[OFFSETS]).items()}
            return cls(int(properties[ROUND]), Tier(properties[SOURCE]), offsets)
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise StateConflictError(
                f"cannot read how far tiering came: {properties}",
                hint="the snapshot was written by another program; drop the copy in the lake to tier it anew",
            ) from error


def read_mark(lake: LakeStore, table: Table, source: Tier) -> Mark | None:
    """How far `lake` holds the rows of `source`; None when nothing was tiered.

    Raises:
        StateConflictError: the copy was filled from another tier.
    """
    if lake.columns(table.name) is None:
        return None
    mark = Mark.from_properties(lake.snapshot_properties(table))
    if mark is not None and mark.source is not source:
        raise StateConflictError(
            f"{table.name}: its {lake.tier} copy was filled from the {mark.source} tier, not from {source}",
            hint=f"keep the table's {mark.source} tier, or drop the {lake.tier} copy to tier it anew",
        )
    return mark
