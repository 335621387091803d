"""What was recorded of the tables of a project, so that one which is gone, another or older is never taken for it.

Every store asks its ledger before it makes a table, and `verify` asks it before anybody answers, moves or removes rows.
A record is written after what it records, so a table may be ahead of its record and is never behind it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NoReturn, Protocol

from streamhouse.errors import TableLostError
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier

_PARTITION = "/"  # in the key of a bucket of a partition, which may be dropped when it is old


@dataclass(frozen=True)
class LedgerEntry:
    """What was recorded of a table in one tier.

    Attributes:
        identity: By which the store distinguishes it from another table of its name; None: not recorded.
        end: Where it ended; it may have gone on since.
        round: Of tiering, the last one recorded; None: nothing was tiered into it.
    """

    identity: str | None = None
    end: Position = field(default_factory=dict)
    round: int | None = None


class Ledger(Protocol):
    """The records of one project."""

    def known(self, table: Table, tier: Tier) -> LedgerEntry | None:
        """What was recorded of a table as a tier stores it; None: nothing."""

    def record_table(self, table: Table, tier: Tier, identity: str) -> None:
        """Record that the table stands; what is recorded already stays."""

    def filled(self, table: Table, tier: Tier, round_: int, end: Position) -> None:
        """Record that a round of tiering is in the table, which ends at `end`; an older round changes nothing."""

    def dropped(self, name: str, tier: Tier) -> None:
        """Forget a table."""

    def recorded_times(self, writer: str, numbers: Collection[int]) -> Mapping[int, int | None]:
        """Epoch of a segment → its recorded time, epoch milliseconds, of those of `numbers` that are known.

        None: there was no epoch of that number. A number is absent where nothing is known of it.
        """


class NoLedger:
    """Of stores outside a project: nothing is known of their tables."""

    def known(self, table: Table, tier: Tier) -> LedgerEntry | None:  # noqa: ARG002
        """See `Ledger`."""
        return None

    def record_table(self, table: Table, tier: Tier, identity: str) -> None:
        """See `Ledger`."""

    def filled(self, table: Table, tier: Tier, round_: int, end: Position) -> None:
        """See `Ledger`."""

    def dropped(self, name: str, tier: Tier) -> None:
        """See `Ledger`."""

    def recorded_times(self, writer: str, numbers: Collection[int]) -> Mapping[int, int | None]:  # noqa: ARG002
        """See `Ledger`."""
        return {}


class Recorded(Protocol):
    """A store whose tables are recorded."""

    tier: Tier
    ledger: Ledger

    def identity(self, name: str) -> str | None:
        """By which the store distinguishes the table from another one of its name; None: there is no such table."""

    def end(self, table: Table) -> Position:
        """See `Store.end`."""


def lost_as(store: Recorded, table: Table) -> str | None:
    """In what a table differs from its record; None: in nothing, or nothing is recorded."""
    known = store.ledger.known(table, store.tier)  # before the look at the table, which only goes on
    return None if known is None else _differs(store, table, known)


def _differs(store: Recorded, table: Table, known: LedgerEntry) -> str | None:
    found = store.identity(table.name)
    if found is None:
        return "is gone"
    if known.identity not in (None, found):
        return "is another table than the one that was recorded"
    if known.end and (short := behind_record(store.end(table), known.end)):
        return f"ends before its record: {short}"
    return None


def verify(store: Recorded, table: Table) -> LedgerEntry | None:
    """What is known of a table that stands as recorded; None: nothing is, so it may also be absent.

    Raises:
        TableLostError: it is gone, is another table, or ends before its record.
    """
    known = store.ledger.known(table, store.tier)
    if known is not None and (what := _differs(store, table, known)) is not None:
        refuse(table, store.tier, what)
    return known


def take_for_known(store: Recorded, name: str, table: Table) -> None:
    """Let the ledger know a table as it is now, in place of what it knew of its name.

    Args:
        store: That has it.
        name: As the store calls it.
        table: It, or the one it is a copy of.
    """
    store.ledger.dropped(name, store.tier)
    if (found := store.identity(name)) is not None:
        store.ledger.record_table(table, store.tier, found)


def refuse_lost(store: Recorded, table: Table) -> None:
    """Raise TableLostError when a table is about to be made that was there: it would be there without its rows."""
    if store.ledger.known(table, store.tier) is not None:
        refuse(table, store.tier, "is gone")


def note_table(store: Recorded, table: Table) -> None:
    """Record that a table stands.

    Raises:
        TableLostError: another one of its name was recorded.
    """
    found = store.identity(table.name)
    known = store.ledger.known(table, store.tier)
    if found is None or (known is not None and known.identity not in (None, found)):
        refuse(table, store.tier, "is another table than the one that was recorded")
    if known is None or known.identity is None:
        store.ledger.record_table(table, store.tier, found)


def behind_record(end: Position, recorded: Position) -> str | None:
    """Where a table ends before its record; None: nowhere.

    Example:
        >>> behind_record({"0": 4}, {"0": 9, "2026-01-31#17/0": 3})
        'bucket 0 ends at 4, recorded is 9'
    """
    for bucket, at in recorded.items():
        if bucket not in end and _PARTITION in bucket:
            continue
        if end.get(bucket, 0) < at:
            what = bucket if bucket == "snapshot" else f"bucket {bucket}"
            return f"{what} ends at {end.get(bucket, 0)}, recorded is {at}"
    return None


_REMEDY: Mapping[bool, str] = {
    True: "bring back its data as it was then or later; if that is lost, see what comes back: "
    "streamhouse restore --dry-run",
    False: "bring back its data as it was then or later; if that is lost, fill it from the first tier, "
    "which lacks the rows that it dropped: streamhouse restore",
}


def refuse(table: Table, tier: Tier, what: str) -> NoReturn:
    """Refuse to use a table that is not as recorded.

    Raises:
        TableLostError: always; its hint says what to do.
    """
    raise TableLostError(f"{table.name} in the {tier} tier {what}", hint=_REMEDY[tier is table.tiers.target])
