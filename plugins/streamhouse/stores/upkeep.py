"""What keeps a lake table small and quick to read: compaction, expiry of snapshots, removal of orphan files.

Nothing here changes rows, or what is known of epochs and tiering: the newest commit of each writer is tagged, and a
tag outlives expiry. It would also keep every file of its snapshot; so once files were written together, a commit
without rows says the same again, and is tagged instead. Whatever commits holds the table's lock, so it never runs into
a commit of a flow.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier


@dataclass(frozen=True)
class Files:
    """What the newest snapshot of a table consists of.

    Attributes:
        files: Data files, and files of deletes.
        size_bytes: Of all of them.
    """

    files: int
    size_bytes: int


AT_LEAST = 2
"""Snapshots that stay whatever their age: a reader may have begun with the one before the newest."""

_MOST_SNAPSHOTS = 10
_MOST_FILES = 25


def spared(
    snapshots: Iterable[tuple[int, Callable[[], int]]], older_than: datetime, unless_many: datetime | None = None
) -> int:
    """How many of the newest snapshots stay when nobody has to read on from them.

    Args:
        snapshots: When each was made, in epoch milliseconds, and how many files it consists of; newest first.
        older_than: As of `LakeUpkeep.expire`.
        unless_many: As above.
    """
    since_ms = millis(older_than)
    many_ms = 0 if unless_many is None else millis(unless_many)
    number = newest_files = 0
    for created_ms, files in snapshots:
        if not number and many_ms:
            newest_files = files()
        if number >= AT_LEAST and created_ms < since_ms:
            break
        may_go = number >= AT_LEAST and created_ms < many_ms
        if may_go and (number >= _MOST_SNAPSHOTS or files() > newest_files + _MOST_FILES):
            break
        number += 1
    return number


def millis(at: datetime) -> int:
    """Epoch milliseconds."""
    return round(at.timestamp() * 1000)


class LakeUpkeep(Protocol):
    """Keeps the tables of one lake tier. Library errors leave as `StoreError`s; every call may be repeated."""

    tier: Tier

    def files(self, table: Table) -> Files:
        """What the table consists of now."""

    def compact(self, table: Table, *, full: bool = False) -> None:
        """Write small files together, and with `full` everything again, deletes folded in; nothing when none is small.

        Raises:
            StoreUnavailableError: another commit took part of the files away; the next call does the rest.
        """

    def expire(
        self, table: Table, older_than: datetime, read_from: Position, *, unless_many: datetime | None = None
    ) -> int:
        """Remove snapshots, and the files that only they have.

        Args:
            table: As it is stored.
            older_than: Only snapshots made before this; the newest two always stay.
            read_from: This snapshot and all after it stay, whatever their age: somebody has yet to read on from it.
                Empty: nobody has.
            unless_many: Of those made before this, younger ones go as well where they are many, or need many files
                that the newest does not have; None: however many there are.

        Returns:
            How many snapshots are gone.
        """

    def remove_orphans(self, table: Table, older_than: datetime) -> int:
        """Remove files that no snapshot has, left by commits that failed, and return how many.

        Args:
            table: As it is stored.
            older_than: Only files written before this: a younger one may belong to a commit that is on its way. At
                least a day ago.
        """
