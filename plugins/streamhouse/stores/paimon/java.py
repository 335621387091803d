"""Paimon's own Java library in the JVM of a Spark session: the only place that names its classes."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from streamhouse.errors import StoreError, StoreUnavailableError
from streamhouse.spark.failures import failed_calls, java_message, lost_connection, thrown_by_java
from streamhouse.spark.jvm import java_list, java_map, java_package

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class PaimonJava:
    """The classes of Paimon that upkeep uses."""

    def __init__(self, spark_provider: "Callable[[], SparkSession]") -> None:
        """Nothing is touched before the first call.

        Args:
            spark_provider: Gives a session whose class path has paimon-bundle.
        """
        self._spark_provider = spark_provider

    @property
    def _paimon(self) -> Any:
        return java_package(self._spark_provider(), "org.apache.paimon")

    def table(self, options: Mapping[str, str], layer: str, name: str, dynamic: Mapping[str, str]) -> Any:
        """A table as it is now.

        Args:
            options: Of the catalog.
            layer: With `name`, which table.
            name: Without its layer.
            dynamic: Options of the table that are others here than stored.
        """
        paimon = self._paimon
        stated = paimon.options.Options()
        for key, value in options.items():
            stated.set(key, value)
        catalog = paimon.catalog.CatalogFactory.createCatalog(paimon.catalog.CatalogContext.create(stated))
        found = catalog.getTable(paimon.catalog.Identifier.create(layer, name))
        return found.copy(java_map(self._spark_provider(), dynamic))

    def messages(self, found: Iterable[Any]) -> Any:
        """A list of Java, of commit messages."""
        return java_list(self._spark_provider(), found)

    def writer(self, stored: Any, scratch: str) -> Any:
        """Writes to a table in batches, and compacts it; `scratch` is a folder of its own."""
        write = self._paimon.table.sink.BatchWriteBuilderImpl(stored).newWrite()
        write.withIOManager(self._paimon.disk.IOManager.create(scratch))
        return write

    def commit(self, stored: Any, messages: Any) -> None:
        """Commit what a writer of batches prepared."""
        commit = self._paimon.table.sink.BatchWriteBuilderImpl(stored).newCommit()
        try:
            commit.commit(messages)
        finally:
            commit.close()

    def compactions(self, stored: Any) -> Any:
        """Which small files of a table without buckets are to be written together."""
        return self._paimon.append.AppendCompactCoordinator(stored, False).run()

    def expire(self, stored: Any, retained: int) -> int:
        """Remove all snapshots but the newest `retained`; how many went."""
        builder = self._paimon.options.ExpireConfig.builder().snapshotRetainMin(retained).snapshotRetainMax(retained)
        zero = java_package(self._spark_provider(), "java.time").Duration.ZERO
        return int(stored.newExpireSnapshots().config(builder.snapshotTimeRetain(zero).build()).expire())

    def remove_orphans(self, stored: Any, older_than_ms: int) -> int:
        """Delete files that no snapshot has and that are older than a time; how many went."""
        clean = self._paimon.operation.LocalOrphanFilesClean(stored, older_than_ms, False)
        return int(clean.clean().getDeletedFileCount())


@contextmanager
def translated(doing: str, table: str) -> Iterator[None]:
    """Turn what Paimon's Java raises in the block into a `StoreError`.

    Args:
        doing: What failed, to stand before the table's name: "compacting".
        table: `layer.name`.

    Raises:
        StoreUnavailableError: the session ended, or a commit lost a race; the call may be repeated.
        StoreError: anything else Paimon refuses.
    """
    try:
        yield
    except lost_connection() as error:
        raise StoreUnavailableError(f"{doing} Paimon table {table} failed: Spark's JVM is gone") from error
    except thrown_by_java() as error:
        cause = java_message(error)
        # Somebody overwrote the table, or compacted it too, between the reading of its files and the commit.
        kind = StoreUnavailableError if "conflict" in cause.lower() else StoreError
        raise kind(f"{doing} Paimon table {table} failed: {cause}") from error
    except failed_calls() as error:
        raise StoreError(f"{doing} Paimon table {table} failed: {error}") from error
