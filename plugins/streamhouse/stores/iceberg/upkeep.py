"""Upkeep of Iceberg tables, by the actions that Iceberg brings to Spark."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamhouse.errors import TableMissingError
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.stores.iceberg import snapshots
from streamhouse.stores.iceberg.failures import translated
from streamhouse.stores.iceberg.java import each
from streamhouse.stores.lock import TableLocks
from streamhouse.stores.object_store import is_object_store
from streamhouse.stores.upkeep import Files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SNAPSHOT = "snapshot"
_NEVER = 1 << 62
_AT_LEAST = 2  # snapshots that stay whatever their age: a reader may have begun with the one before the newest
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
            told = snapshot.summary()
            count = sum(int(told.getOrDefault(f"total-{kind}-files", "0")) for kind in ("data", "delete"))
            return Files(count, int(told.getOrDefault("total-files-size", "0")))

    def compact(self, table: Table, *, full: bool = False) -> None:
        """See `LakeUpkeep.compact`; with `full` the manifests, too."""
        with translated("compacting", table.name), self._hold(table.name):
            stored = self._table(table)
            if stored.currentSnapshot() is None:
                return
            rewrite = self._actions.rewriteDataFiles(stored)
            for option, value in (_ALL if full else _SMALL).items():
                rewrite = rewrite.option(option, value)
            rewrite.execute()
            if full:
                self._actions.rewriteManifests(self._table(table)).execute()

    def expire(self, table: Table, older_than: datetime, read_from: Position) -> int:
        """See `LakeUpkeep.expire`; tags keep their snapshots as well, and a table whose catalog keeps its files all."""
        with translated("expiring", table.name), self._hold(table.name):
            stored = self._table(table)
            if _keeps_files(stored):
                return 0
            held = list(each(stored.snapshots()))
            unread = (s.timestampMillis() for s in held if s.sequenceNumber() >= read_from.get(_SNAPSHOT, _NEVER))
            before = min([_millis(older_than), *unread])
            stored.expireSnapshots().expireOlderThan(before).retainLast(_AT_LEAST).commit()
            return len(held) - len(self._table(table).snapshots())

    def remove_orphans(self, table: Table, older_than: datetime) -> int:
        """See `LakeUpkeep.remove_orphans`; nothing of a table that keeps its files."""
        with translated("cleaning", table.name), self._hold(table.name):
            stored = self._table(table)
            if _keeps_files(stored):
                return 0
            action = self._actions.deleteOrphanFiles(stored).olderThan(_millis(older_than))
            # Spark's Hadoop knows folders only; an object store is listed by what Iceberg reads and writes through.
            action = action.usePrefixListing(is_object_store(stored.location()))
            return sum(1 for _ in each(action.execute().orphanFileLocations()))

    def _hold(self, name: str) -> AbstractContextManager[None]:
        return self._locks.hold(self.tier, name, self._spark_provider())

    @property
    def _actions(self) -> Any:
        spark = self._spark_provider()
        jvm: Any = spark._jvm
        return jvm.org.apache.iceberg.spark.actions.SparkActions.get(spark._jsparkSession)

    def _table(self, table: Table) -> Any:
        found = snapshots.Catalog(self._spark_provider(), self._catalog).table(table.name)
        if found is None:
            raise TableMissingError(f"Iceberg has no table {table.name}", hint="it is created when it is first filled")
        return found


def _keeps_files(stored: Any) -> bool:
    """Whether only its catalog may delete files, as one with branches does: other tables may share them."""
    return bool(stored.properties().getOrDefault("gc.enabled", "true") == "false")


def _millis(at: datetime) -> int:
    return round(at.timestamp() * 1000)
