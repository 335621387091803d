"""What keeps a lake table small and quick to read: compaction, expiry of snapshots, removal of orphan files.

Nothing here changes rows, or what is known of epochs and tiering: the newest commit of each writer is tagged, and a
tag outlives expiry. Whatever commits holds the table's lock, so it never runs into a commit of a flow.
"""

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


class LakeUpkeep(Protocol):
    """Keeps the tables of one lake tier. Library errors leave as `StoreError`s; every call may be repeated."""

    tier: Tier

    def files(self, table: Table) -> Files:
        """What the table consists of now."""

    def compact(self, table: Table, *, full: bool = False) -> None:
        """Write small files together, and with `full` everything anew, deletes folded in; nothing when none is small.

        Raises:
            StoreUnavailableError: another commit took part of the files away; the next call does the rest.
        """

    def expire(self, table: Table, older_than: datetime, read_from: Position) -> int:
        """Remove snapshots, and the files that only they have.

        Args:
            table: As it is stored.
            older_than: Only snapshots made before this; the newest always stays.
            read_from: This snapshot and all after it stay, whatever their age: somebody has yet to read on from it.
                Empty: nobody has.

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
