"""One lock for each table of a lake tier.

The commits of Paimon and of Iceberg's Hadoop catalog check and then rename: two of them at once
can lose one. Whatever commits to a lake table (a flow, tiering, compaction, expiry) holds the
table's lock, so "is this epoch already there?" and the commit that follows are one step.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from streamhouse.errors import StoreUnavailableError
from streamhouse.model.types import Tier


@dataclass(frozen=True)
class TableLocks:
    """Lock files in `directory`, which every process that commits to the tables must share.

    A lock excludes threads of this process as it does other processes, and dies with its holder.
    It is not reentrant.
    """

    directory: Path
    timeout_s: float = 600.0

    @contextmanager
    def hold(self, tier: Tier, name: str) -> Iterator[None]:
        """Hold the lock of table `name` in `tier` for the length of a `with` block.

        Raises:
            StoreUnavailableError: another holder kept it for `timeout_s`.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        # An instance for each call: one shared by threads would count them as one holder.
        lock = FileLock(self.directory / f"{tier.value}.{name}.lock", timeout=self.timeout_s)
        try:
            lock.acquire()
        except Timeout as error:
            raise StoreUnavailableError(
                f"table {name} ({tier.value}) has been locked by another process for {self.timeout_s:.0f} s",
                hint="it is being written or compacted; try again when that has ended",
            ) from error
        try:
            yield
        finally:
            lock.release()
