"""Upkeep of Paimon tables, by Paimon's own Java library in the JVM of a Spark driver: its Python library has none."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamhouse.errors import StoreError, StoreUnavailableError
from streamhouse.model.table import Table
from streamhouse.model.types import Position, Tier
from streamhouse.stores.lock import TableLocks
from streamhouse.stores.object_store import ObjectStore
from streamhouse.stores.paimon import commits
from streamhouse.stores.sums import summed
from streamhouse.stores.upkeep import AT_LEAST, Files, spared

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SNAPSHOT = "snapshot"
_WRITER = "streamhouse.upkeep"
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
        self._options = {"warehouse": str(warehouse), **(objects or ObjectStore()).paimon_options(str(warehouse))}
        self._locks = TableLocks(lock_dir)

    def files(self, table: Table) -> Files:
        """See `LakeUpkeep.files`."""
        with _translated("reading", table.name):
            buckets = list(self._table(table).newSnapshotReader().bucketEntries())
            return Files(sum(b.fileCount() for b in buckets), sum(b.fileSizeInBytes() for b in buckets))

    def compact(self, table: Table, *, full: bool = False) -> None:
        """See `LakeUpkeep.compact`. Flows commit while files are written together; only the commit holds the lock."""
        with _translated("compacting", table.name), tempfile.TemporaryDirectory(prefix="sh-compact-") as scratch:
            stored = self._table(table)
            if stored.newSnapshotReader().bucketEntries().isEmpty():
                return  # Paimon's compaction of appended files fails where there are none
            by_bucket = bool(table.hashed)
            # Paimon folds only some of a key's values then, whose sum may overflow where that of all does not.
            full = full or any(table.column(name).type.startswith("decimal(38,") for name in summed(table))
            messages = self._compacted(stored, scratch, full=full) if by_bucket else self._joined(stored, full=full)
            with self._hold(table.name):
                if not messages.isEmpty():
                    commit = self._paimon.table.sink.BatchWriteBuilderImpl(stored).newCommit()
                    try:
                        commit.commit(messages)
                    finally:
                        commit.close()
                commits.carry(self._catalog.get_table(table.name).copy(_EMPTY_TOO))

    def expire(
        self, table: Table, older_than: datetime, read_from: Position, *, unless_many: datetime | None = None
    ) -> int:
        """See `LakeUpkeep.expire`; tags keep their snapshots in Paimon as well."""
        with _translated("expiring", table.name), self._hold(table.name):
            stored = self._table(table)
            newest = stored.snapshotManager().latestSnapshotId()
            if newest is None:
                return 0
            unread = newest - read_from.get(_SNAPSHOT, newest) + 1
            number = max(AT_LEAST, unread, spared(self._held(stored, newest), older_than, unless_many))
            builder = self._paimon.options.ExpireConfig.builder().snapshotRetainMin(number).snapshotRetainMax(number)
            config = builder.snapshotTimeRetain(self._jvm.java.time.Duration.ZERO).build()
            return int(stored.newExpireSnapshots().config(config).expire())

    def _held(self, stored: Any, newest: int) -> Iterator[tuple[int, Callable[[], int]]]:
        manager = stored.snapshotManager()
        for number in range(newest, 0, -1):
            if not manager.snapshotExists(number):
                return
            yield int(manager.snapshot(number).timeMillis()), partial(_files, stored, manager.snapshot(number))

    def remove_orphans(self, table: Table, older_than: datetime) -> int:
        """See `LakeUpkeep.remove_orphans`."""
        with _translated("cleaning", table.name):
            millis = round(older_than.timestamp() * 1000)
            clean = self._paimon.operation.LocalOrphanFilesClean(self._table(table), millis, False)
            return int(clean.clean().getDeletedFileCount())

    def _hold(self, name: str) -> AbstractContextManager[None]:
        return self._locks.hold(self.tier, name, self._spark_provider())

    def _compacted(self, stored: Any, scratch: str, *, full: bool) -> Any:
        """Commit messages of a table with buckets: each is compacted by itself."""
        write = self._paimon.table.sink.BatchWriteBuilderImpl(stored).newWrite()
        try:
            write.withIOManager(self._paimon.disk.IOManager.create(scratch))
            for entry in stored.newSnapshotReader().bucketEntries():
                if full or entry.fileCount() > 1:
                    write.compact(entry.partition(), entry.bucket(), full)
            prepared = write.prepareCommit()
            messages = self._jvm.java.util.ArrayList()
            for message in prepared:
                if not message.isEmpty():
                    messages.add(message)
            return messages
        finally:
            write.close()

    def _joined(self, stored: Any, *, full: bool) -> Any:
        """Commit messages of a table without buckets: small files are written together."""
        messages = self._jvm.java.util.ArrayList()
        writer = stored.store().newWrite(_WRITER)
        try:
            coordinator = self._paimon.append.AppendCompactCoordinator(stored, False)
            for task in coordinator.run():
                if full or len(task.compactBefore()) > 1:
                    messages.add(task.doCompact(stored, writer))
        finally:
            writer.close()
        return messages

    def _table(self, table: Table) -> Any:
        options = self._paimon.options.Options()
        for key, value in self._options.items():
            options.set(key, value)
        catalog = self._paimon.catalog.CatalogFactory.createCatalog(self._paimon.catalog.CatalogContext.create(options))
        dynamic = self._jvm.java.util.HashMap()
        dynamic.put("write-only", "false")  # what writers are told, so that they leave this to upkeep
        layer, name = table.name.split(".")
        return catalog.getTable(self._paimon.catalog.Identifier.create(layer, name)).copy(dynamic)

    @cached_property
    def _catalog(self) -> Any:
        from pypaimon import CatalogFactory

        return CatalogFactory.create(self._options)

    @property
    def _jvm(self) -> Any:
        return self._spark_provider()._jvm

    @property
    def _paimon(self) -> Any:
        return self._jvm.org.apache.paimon


def _files(stored: Any, snapshot: Any) -> int:
    return sum(bucket.fileCount() for bucket in stored.newSnapshotReader().withSnapshot(snapshot).bucketEntries())


@contextmanager
def _translated(doing: str, table: str) -> Iterator[None]:
    from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError

    try:
        yield
    except (Py4JNetworkError, ConnectionError) as error:
        raise StoreUnavailableError(f"{doing} Paimon table {table} failed: Spark's JVM is gone") from error
    except Py4JJavaError as error:
        cause = str(error.java_exception.getMessage()).splitlines()[0]
        # Somebody overwrote the table, or compacted it too, between the reading of its files and the commit.
        kind = StoreUnavailableError if "conflict" in cause.lower() else StoreError
        raise kind(f"{doing} Paimon table {table} failed: {cause}") from error
    except Py4JError as error:
        raise StoreError(f"{doing} Paimon table {table} failed: {error}") from error
