"""How far the copy of a table in a lake reaches: kept in the same commit as the rows, and nowhere else."""

import json
from dataclasses import dataclass
from typing import Self

from streamhouse.errors import StateConflictError, TableLostError
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.stores.base import SNAPSHOT_ID, LakeStore
from streamhouse.stores.ledger import refuse, verify
from streamhouse.tiering.cut import SNAPSHOT

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
                hint="the snapshot was written by another program; drop the copy in the lake to tier it again",
            ) from error


def read_mark(lake: LakeStore, table: Table, source: Tier) -> Mark | None:
    """How far `lake` holds the rows of `source`; None when nothing was tiered.

    Raises:
        StateConflictError: the copy was filled from another tier.
        TableLostError: the copy is not what the ledger knows: it is gone, another table, or older.
    """
    known = verify(lake, table)
    mark = again(lake, table, source)
    if known is not None and known.round is not None and (mark is None or mark.round < known.round):
        shown = "no round" if mark is None else f"round {mark.round}"
        refuse(table, lake.tier, f"ends before its record: it has {shown} of tiering, recorded is {known.round}")
    return mark


def again(lake: LakeStore, table: Table, source: Tier) -> Mark | None:
    """`read_mark` of a copy that was found to be what the ledger knows a moment ago.

    Raises:
        StateConflictError: the copy was filled from another tier.
    """
    if lake.identity(table.name) is None:
        return None
    mark = Mark.from_properties(lake.snapshot_properties(table))
    if mark is not None and mark.source is not source:
        raise StateConflictError(
            f"{table.name}: its {lake.tier} copy was filled from the {mark.source} tier, not from {source}",
            hint=f"keep the table's {mark.source} tier, or drop the {lake.tier} copy to tier it again",
        )
    return mark


def forget_lost(lake: LakeStore, table: Table, source: Tier) -> None:
    """Remove what is left of a copy that `read_mark` refuses as lost, so that it can be filled again."""
    try:
        read_mark(lake, table, source)
    except TableLostError:
        lake.drop(table.name)


def note_filled(lake: LakeStore, table: Table, mark: Mark) -> None:
    """Record how far a copy is, unless that is recorded already."""
    known = lake.ledger.known(table, lake.tier)
    if known is None or known.round is None or known.round < mark.round:
        number = lake.snapshot_properties(table).get(SNAPSHOT_ID)
        lake.ledger.filled(table, lake.tier, mark.round, {SNAPSHOT: int(number)} if number else {})
