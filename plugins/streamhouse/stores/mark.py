"""How far the copy of a table in a lake reaches: kept in the same commit as the rows, and nowhere else."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from streamhouse.errors import StateConflictError, TableLostError
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.stores.base import SNAPSHOT_ID, LakeStore
from streamhouse.stores.ledger import Ledger, LedgerEntry, lost_as, refuse, verify

OFFSETS = "streamhouse.offsets"
ROUND = "streamhouse.round"
SOURCE = "streamhouse.tiered-from"
EPOCHS = "streamhouse.tiered-epochs"
TIMES = "streamhouse.tiered-epoch-times"
SNAPSHOT = "snapshot"  # the key of positions that count commits, not rows


@dataclass(frozen=True)
class WriterEpochs:
    """What is known of the epochs of those who write a table, where a copy of it is filled.

    Attributes:
        newest: Segment → its newest epoch, done or begun.
        times: Segment → some of its done epochs that wrote rows to the table → when each was, epoch milliseconds.
    """

    newest: Mapping[str, int] = field(default_factory=dict)
    times: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Mark:
    """The lake's copy holds the rows of `source` before `offsets`, and was written in rounds `[0, round]`.

    Attributes:
        round: The last one.
        source: The tier that the flow writes.
        offsets: Bucket → first offset that the copy does not hold.
        epochs: Segment that writes the table → the newest of its epochs that the rows may be of, so that a position
            of another record can be compared with the copy when the log is gone; empty: an older version wrote it.
        times: As of `WriterEpochs`: in another history of the flow, epochs of these numbers have other times; empty:
            an older version wrote it.
    """

    round: int
    source: Tier
    offsets: Position
    epochs: Mapping[str, int] = field(default_factory=dict)
    times: Mapping[str, Mapping[int, int]] = field(default_factory=dict)

    def newest_epoch(self, writer: str) -> int | None:
        """The highest number of an epoch of a segment that it names; None: it names none."""
        newest = [self.epochs[writer]] if writer in self.epochs else []
        return max([*newest, *self.times.get(writer, {})], default=None)

    def properties(self) -> dict[str, str]:
        """The mark as snapshot properties; equal marks give equal text."""
        epochs = {EPOCHS: json.dumps(dict(self.epochs), sort_keys=True)} if self.epochs else {}
        times = {writer: sorted(found.items()) for writer, found in self.times.items() if found}
        return {
            OFFSETS: json.dumps(self.offsets, sort_keys=True),
            ROUND: str(self.round),
            SOURCE: self.source.value,
            **epochs,
            **({TIMES: json.dumps(times, sort_keys=True)} if times else {}),
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
            offsets, epochs = (
                {str(key): int(number) for key, number in json.loads(text).items()}
                for text in (properties[OFFSETS], properties.get(EPOCHS, "{}"))
            )
            times = {
                str(writer): {int(epoch): int(at_ms) for epoch, at_ms in found}
                for writer, found in json.loads(properties.get(TIMES, "{}")).items()
            }
            return cls(int(properties[ROUND]), Tier(properties[SOURCE]), offsets, epochs, times)
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise StateConflictError(
                f"cannot read how far tiering came: {properties}",
                hint="the snapshot was written by another program; drop the copy in the lake to tier it again",
            ) from error


def read_mark(lake: LakeStore, table: Table, source: Tier) -> Mark | None:
    """How far `lake` holds the rows of `source`; None when nothing was tiered.

    Raises:
        StateConflictError: the copy was filled from another tier.
        TableLostError: the copy is not what the ledger knows: it is gone, another table, older, or of another history.
    """
    known = verify(lake, table)
    mark = again(lake, table, source)
    if (what := _behind_record(known, mark) or other_history(lake.ledger, mark)) is not None:
        refuse(table, lake.tier, what)
    return mark


def lost_copy_as(lake: LakeStore, table: Table, source: Tier, *, with_times: bool = False) -> str | None:
    """In what a copy differs from its record, in words; None: in nothing, or nothing is recorded.

    Args:
        lake: That has it.
        table: The copy.
        source: The tier that the flow writes.
        with_times: Whether it differs also where it is of another history, see `other_history`.

    Raises:
        StateConflictError: the copy was filled from another tier.
    """
    known = lake.ledger.known(table, lake.tier)  # before the look at the copy, which only goes on
    if (what := lost_as(lake, table)) is not None:
        return what
    mark = again(lake, table, source)
    return _behind_record(known, mark) or (other_history(lake.ledger, mark) if with_times else None)


def mark_and_loss(lake: LakeStore, table: Table, source: Tier) -> tuple[Mark | None, str | None]:
    """How far a copy reaches, and in what it differs from its record, in words; None as of `mark_of`, `lost_copy_as`.

    Raises:
        StateConflictError: the copy was filled from another tier.
    """
    known = lake.ledger.known(table, lake.tier)  # before the look at the copy, which only goes on
    mark = again(lake, table, source)
    return mark, lost_as(lake, table) or _behind_record(known, mark)


def other_history(ledger: Ledger, mark: Mark | None) -> str | None:
    """Why a copy is of another history of its flow than the ledger knows, in words; None: nothing says so.

    So it is after an old copy of the lake, or of the state store, was put back, and the flow had run on without it.

    Args:
        ledger: Knows when epochs were.
        mark: Of the copy; None: there is none.
    """
    for writer, times in sorted(mark.times.items()) if mark is not None else ():
        known = ledger.recorded_times(writer, times)
        for epoch in sorted(times.keys() & known.keys(), reverse=True):
            if known[epoch] is None:
                return f"has rows of epoch {epoch} of {writer}, and the state store knows that there was none"
            if known[epoch] != times[epoch]:
                return f"has rows of another epoch {epoch} of {writer} than the one that the state store knows"
    return None


def _behind_record(known: LedgerEntry | None, mark: Mark | None) -> str | None:
    if known is None or known.round is None or (mark is not None and mark.round >= known.round):
        return None
    shown = "no round" if mark is None else f"round {mark.round}"
    return f"ends before its record: it has {shown} of tiering, recorded is {known.round}"


def mark_of(lake: LakeStore, table: Table) -> Mark | None:
    """How far a copy of a table reaches, whatever its ledger knows; None: there is no copy, or nothing was tiered.

    Raises:
        StateConflictError: this version cannot read the mark.
    """
    if lake.identity(table.name) is None:
        return None
    return Mark.from_properties(lake.snapshot_properties(table))


def again(lake: LakeStore, table: Table, source: Tier) -> Mark | None:
    """`read_mark` of a copy that was found to be what the ledger knows a moment ago.

    Raises:
        StateConflictError: the copy was filled from another tier.
    """
    mark = mark_of(lake, table)
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
