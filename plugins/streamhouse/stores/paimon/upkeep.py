"""Upkeep of Paimon tables, by Paimon's own Java library in the JVM of a Spark driver: its Python library has none."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.stores.lock import TableLocks
from streamhouse.stores.object_store import ObjectStore
from streamhouse.stores.paimon import commits
from streamhouse.stores.paimon.checksums import checksums_of
from streamhouse.stores.paimon.failures import translated as translated_in_python
from streamhouse.stores.paimon.java import PaimonJava, translated
from streamhouse.stores.paimon.verified import forget, prove_before_compaction, prove_before_removal, record
from streamhouse.stores.sums import summed
from streamhouse.stores.upkeep import AT_LEAST, Files, spared

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SNAPSHOT = "snapshot"
_WRITER = "streamhouse.upkeep"
_NATIVE = {"scan.native-plan.enabled": "true"}
_EMPTY_TOO = {"snapshot.ignore-empty-commit": "false"}


class PaimonUpkeep:
    """See `LakeUpkeep`."""

    tier: Tier = Tier.WARM

    def __init__(
        self,
        spark_provider: "Callable[[], SparkSession]",
        warehouse: str | Path,
        lock_dir: Path,
        objects: ObjectStore | None = None,
    ) -> None:
        """Nothing is touched before the first call.

        Args:
            spark_provider: Gives a session whose class path has paimon-bundle; for an object store paimon-s3, too.
            warehouse: A folder, or a URI that Paimon knows.
            lock_dir: Shared by all processes that commit to this warehouse.
            objects: Where a warehouse is that is in an object store; None: at Amazon.
        """
        self._spark_provider = spark_provider
        self._java = PaimonJava(spark_provider)
        self._options = {"warehouse": str(warehouse), **(objects or ObjectStore()).paimon_options(str(warehouse))}
        self._locks = TableLocks(lock_dir)

    def files(self, table: Table) -> Files:
        """See `LakeUpkeep.files`."""
        with translated("reading", table.name):
            buckets = list(self._table(table).newSnapshotReader().bucketEntries())
            return Files(sum(b.fileCount() for b in buckets), sum(b.fileSizeInBytes() for b in buckets))

    def compact(self, table: Table, *, full: bool = False) -> None:
        """See `LakeUpkeep.compact`. Flows commit while files are written together; only the commit holds the lock."""
        with translated("compacting", table.name), tempfile.TemporaryDirectory(prefix="sh-compact-") as scratch:
            stored = self._table(table)
            self._handle(table, prove_before_compaction)
            if stored.newSnapshotReader().bucketEntries().isEmpty():
                return  # Paimon's compaction of appended files fails where there are none
            by_bucket = bool(table.hashed)
            # Paimon folds only some of a key's values then, whose sum may overflow where that of all does not.
            full = full or any(table.column(name).type.startswith("decimal(38,") for name in summed(table))
            messages = self._compacted(stored, scratch, full=full) if by_bucket else self._joined(stored, full=full)
            with self._hold(table.name):
                if not messages.isEmpty():
                    self._java.commit(stored, messages)
                handle = self._handle(table, record)
                with translated_in_python("compacting", table.name):
                    commits.carry(handle.copy(_EMPTY_TOO))

    def expire(
        self, table: Table, older_than: datetime, read_from: Position, *, unless_many: datetime | None = None
    ) -> int:
        """See `LakeUpkeep.expire`; tags keep their snapshots in Paimon as well."""
        with translated("expiring", table.name), self._hold(table.name):
            stored = self._table(table)
            newest = stored.snapshotManager().latestSnapshotId()
            if newest is None:
                return 0
            handle = self._handle(table, prove_before_removal)
            unread = newest - read_from.get(_SNAPSHOT, newest) + 1
            number = max(AT_LEAST, unread, spared(self._existing_snapshots(stored, newest), older_than, unless_many))
            removed = self._java.expire(stored, number)
            with translated_in_python("expiring", table.name):
                forget(handle, commits.tagged_snapshots(handle))
            return removed

    def _existing_snapshots(self, stored: Any, newest: int) -> Iterator[tuple[int, Callable[[], int]]]:
        manager = stored.snapshotManager()
        for number in range(newest, 0, -1):
            if not manager.snapshotExists(number):
                return
            yield int(manager.snapshot(number).timeMillis()), partial(_files, stored, manager.snapshot(number))

    def remove_orphans(self, table: Table, older_than: datetime) -> int:
        """See `LakeUpkeep.remove_orphans`."""
        with translated("cleaning", table.name):
            self._handle(table, prove_before_removal)
            return self._java.remove_orphans(self._table(table), round(older_than.timestamp() * 1000))

    def _hold(self, name: str) -> AbstractContextManager[None]:
        return self._locks.hold(self.tier, name, self._spark_provider())

    def _compacted(self, stored: Any, scratch: str, *, full: bool) -> Any:
        """Commit messages of a table with buckets: each is compacted by itself."""
        write = self._java.writer(stored, scratch)
        try:
            for entry in stored.newSnapshotReader().bucketEntries():
                if full or entry.fileCount() > 1:
                    write.compact(entry.partition(), entry.bucket(), full)
            return self._java.messages(message for message in write.prepareCommit() if not message.isEmpty())
        finally:
            write.close()

    def _joined(self, stored: Any, *, full: bool) -> Any:
        """Commit messages of a table without buckets: small files are written together."""
        writer = stored.store().newWrite(_WRITER)
        try:
            tasks = [task for task in self._java.compactions(stored) if full or len(task.compactBefore()) > 1]
            return self._java.messages(task.doCompact(stored, writer) for task in tasks)
        finally:
            writer.close()

    def _handle(self, table: Table, use: Callable[[Any], None]) -> Any:
        """The table of pypaimon, after `use` of it."""
        with translated_in_python("reading", table.name):
            self._prove_schemas(table)
            handle = self._catalog.get_table(table.name).copy(_NATIVE)
            use(handle)
            return handle

    def _prove_schemas(self, table: Table) -> None:
        if (checksums := checksums_of(self._options["warehouse"], table.name)) is not None:
            checksums.prove_schemas()

    def _table(self, table: Table) -> Any:
        self._prove_schemas(table)  # Java reads them at once
        layer, name = table.name.split(".")
        # Writers have the option `write-only`, so that they leave this to upkeep.
        return self._java.table(self._options, layer, name, {"write-only": "false"})

    @cached_property
    def _catalog(self) -> Any:
        from pypaimon import CatalogFactory

        return CatalogFactory.create(self._options)


def _files(stored: Any, snapshot: Any) -> int:
    return sum(bucket.fileCount() for bucket in stored.newSnapshotReader().withSnapshot(snapshot).bucketEntries())
