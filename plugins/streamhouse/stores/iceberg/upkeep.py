"""Upkeep of Iceberg tables, by the actions that Iceberg brings to Spark."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamhouse.errors import TableMissingError
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.stores.iceberg import snapshots
from streamhouse.stores.iceberg.bounds import bound_metadata
from streamhouse.stores.iceberg.failures import translated
from streamhouse.stores.iceberg.java import IcebergJava, each, pairs
from streamhouse.stores.lock import TableLocks
from streamhouse.stores.object_store import is_object_store
from streamhouse.stores.upkeep import AT_LEAST, Files, millis, spared

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SNAPSHOT = "snapshot"
_NEVER = 1 << 62
_MANIFESTS = 10  # more of them are written together
_SMALL = {"min-input-files": "5", "delete-file-threshold": "1", "remove-dangling-deletes": "true"}
_ALL = {"rewrite-all": "true", "remove-dangling-deletes": "true"}


class IcebergUpkeep:
    """See `LakeUpkeep`. A call holds the table's lock to its end: the Hadoop catalog's commits cannot race."""

    tier: Tier = Tier.COLD

    def __init__(self, spark_provider: "Callable[[], SparkSession]", catalog: str, lock_dir: Path) -> None:
        """Nothing is touched before the first call.

        Args:
            spark_provider: As `IcebergStore` has it.
            catalog: Name of the Iceberg catalog in that session.
            lock_dir: Shared by all processes that commit to this catalog.
        """
        self._spark_provider = spark_provider
        self._catalog = catalog
        self._locks = TableLocks(lock_dir)

    def files(self, table: Table) -> Files:
        """See `LakeUpkeep.files`."""
        with translated("reading", table.name):
            snapshot = self._table(table).currentSnapshot()
            if snapshot is None:
                return Files(0, 0)
            return Files(_files(snapshot), int(snapshot.summary().getOrDefault("total-files-size", "0")))

    def compact(self, table: Table, *, full: bool = False) -> None:
        """See `LakeUpkeep.compact`; with `full` the manifests, too."""
        with translated("compacting", table.name), self._hold(table.name):
            stored = self._table(table)
            bound_metadata(stored)
            if stored.currentSnapshot() is None:
                return
            # First: a commit that takes files away writes each manifest of theirs again, and its snapshot keeps these.
            stored = self._with_few_manifests(stored, full=False)
            rewrite = self._actions.rewriteDataFiles(stored)
            for option, value in (_ALL if full else _SMALL).items():
                rewrite = rewrite.option(option, value)
            rewrite.execute()
            stored = self._with_few_manifests(self._table(table), full=full)
            snapshots.carry(stored)

    def expire(
        self, table: Table, older_than: datetime, read_from: Position, *, unless_many: datetime | None = None
    ) -> int:
        """See `LakeUpkeep.expire`; tags keep their snapshots as well, and a table whose catalog keeps its files all."""
        with translated("expiring", table.name), self._hold(table.name):
            stored = self._table(table)
            if _keeps_files(stored):
                return 0
            chain = list(snapshots.line(stored))
            if not chain:
                return 0
            number = spared(((int(s.timestampMillis()), partial(_files, s)) for s in chain), older_than, unless_many)
            unread = (s.timestampMillis() for s in chain if s.sequenceNumber() >= read_from.get(_SNAPSHOT, _NEVER))
            before = min([int(chain[number - 1].timestampMillis()), *unread])
            count = len(stored.snapshots())
            expire = stored.expireSnapshots().expireOlderThan(before).retainLast(AT_LEAST)
            tagged = {int(ref.snapshotId()) for ref in pairs(stored.refs()).values()}
            for snapshot in chain[number:]:
                if snapshot.timestampMillis() < before and snapshot.snapshotId() not in tagged:
                    # Where one is named, Iceberg removes all files that nobody reaches; else it leaves those that a
                    # snapshot replaced until that one goes.
                    expire = expire.expireSnapshotId(snapshot.snapshotId())
                    break
            expire.commit()
            return count - len(self._table(table).snapshots())

    def remove_orphans(self, table: Table, older_than: datetime) -> int:
        """See `LakeUpkeep.remove_orphans`; nothing of a table that keeps its files."""
        with translated("cleaning", table.name), self._hold(table.name):
            stored = self._table(table)
            if _keeps_files(stored):
                return 0
            action = self._actions.deleteOrphanFiles(stored).olderThan(millis(older_than))
            # Spark's Hadoop knows folders only; an object store is listed by what Iceberg reads and writes through.
            action = action.usePrefixListing(is_object_store(stored.location()))
            return sum(1 for _ in each(action.execute().orphanFileLocations()))

    def _with_few_manifests(self, stored: Any, *, full: bool) -> Any:
        """The table, its manifests written together where there are many, or in any case with `full`."""
        if full or stored.currentSnapshot().allManifests(stored.io()).size() > _MANIFESTS:
            self._actions.rewriteManifests(stored).execute()
            stored.refresh()
        return stored

    def _hold(self, name: str) -> AbstractContextManager[None]:
        return self._locks.hold(self.tier, name, self._spark_provider())

    @property
    def _actions(self) -> Any:
        return IcebergJava(self._spark_provider()).actions

    def _table(self, table: Table) -> Any:
        found = snapshots.JavaCatalog(self._spark_provider(), self._catalog).table(table.name)
        if found is None:
            raise TableMissingError(f"Iceberg has no table {table.name}", hint="it is created when it is first filled")
        return found


def _keeps_files(stored: Any) -> bool:
    """Whether only its catalog may delete files, as one with branches does: other tables may share them."""
    return bool(stored.properties().getOrDefault("gc.enabled", "true") == "false")


def _files(snapshot: Any) -> int:
    summary = snapshot.summary()
    return sum(int(summary.getOrDefault(f"total-{kind}-files", "0")) for kind in ("data", "delete"))
