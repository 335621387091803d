"""The history of an Iceberg table, read and tagged through Iceberg's own Java API."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from streamhouse.stores.base import SNAPSHOT_ID, WRITER

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TAG = "streamhouse."


class Catalog:
    """Iceberg's Java catalog behind a Spark catalog name."""

    def __init__(self, spark: "SparkSession", name: str) -> None:
        jvm: Any = spark._jvm
        # Spark finds the settings of a catalog through the thread's own session; a new thread has none.
        jvm.SparkSession.setActiveSession(spark._jsparkSession)
        self._iceberg: Any = jvm.org.apache.iceberg
        self._catalog: Any = self._iceberg.spark.Spark3Util.loadIcebergCatalog(spark._jsparkSession, name)

    def table(self, name: str) -> Any | None:
        """The Java table as it is now; None when there is none."""
        identifier = self._identifier(name)
        if not self._catalog.tableExists(identifier):
            return None
        table = self._catalog.loadTable(identifier)
        table.refresh()  # a catalog that caches hands out old ones
        return table

    def drop(self, name: str) -> None:
        """Drop the table and its files; nothing when there is none."""
        self._catalog.dropTable(self._identifier(name), True)

    def _identifier(self, name: str) -> Any:
        return self._iceberg.catalog.TableIdentifier.parse(name)


def current_id(table: Any) -> int:
    """The id of the newest snapshot; 0 before the first."""
    snapshot = table.currentSnapshot()
    return int(snapshot.snapshotId()) if snapshot else 0


def holds(table: Any, snapshot_id: int) -> bool:
    """Whether the snapshot was not expired."""
    return table.snapshot(snapshot_id) is not None


def follows(table: Any, start: int, end: int) -> bool:
    """Whether every snapshot after `start` up to `end` is still held."""
    return any(snapshot.parentId() == start for snapshot in _back(table, end))


def last_written(table: Any, writer: str) -> dict[str, str] | None:
    """The properties of the newest snapshot of `writer`; None when there is none."""
    return next((p for p in _written(table) if p[WRITER] == writer), None)


def newest_properties(table: Any) -> dict[str, str]:
    """The properties of the newest snapshot made by `write`; empty when there is none."""
    return next(_written(table), {})


def tag(table: Any, writer: str, snapshot_id: int) -> None:
    """Keep a snapshot, the newest of `writer`, from expiry, in place of the one before."""
    digest = sha256(writer.encode()).hexdigest()[:8]
    name = f"{_TAG}{re.sub(r'[^A-Za-z0-9_-]', '.', writer)}.{digest}"
    held = table.refs().get(name)
    if held is None:
        table.manageSnapshots().createTag(name, snapshot_id).commit()
    elif held.snapshotId() != snapshot_id:
        table.manageSnapshots().replaceTag(name, snapshot_id).commit()


def append_nothing(table: Any, properties: dict[str, str]) -> None:
    """A snapshot without rows, to carry properties."""
    append = table.newFastAppend()
    for key, value in properties.items():
        append.set(key, value)
    append.commit()


@contextmanager
def summary(session: "SparkSession", properties: dict[str, str]) -> Iterator[None]:
    """Put `properties` into the summary of what `session` commits in the block."""
    # DataFrame writers have an option for this, MERGE has only the session's settings.
    keys = {f"spark.sql.iceberg.snapshot-property.{key}": value for key, value in properties.items()}
    for key, value in keys.items():
        session.conf.set(key, value)
    try:
        yield
    finally:
        for key in keys:
            session.conf.unset(key)


def _written(table: Any) -> Iterator[dict[str, str]]:
    """Properties of the snapshots `write` made, newest first; those that only a tag holds come last."""
    seen: set[int] = set()
    for snapshot in _back(table, current_id(table)):
        seen.add(snapshot.snapshotId())
        if properties := _properties(snapshot):
            yield properties
    tagged = [ref.snapshotId() for name, ref in dict(table.refs()).items() if name.startswith(_TAG)]
    kept = [table.snapshot(number) for number in tagged if number not in seen]
    for snapshot in sorted(kept, key=lambda s: -s.sequenceNumber()):
        if properties := _properties(snapshot):
            yield properties


def _back(table: Any, snapshot_id: int | None) -> Iterator[Any]:
    while snapshot_id:
        snapshot = table.snapshot(snapshot_id)
        if snapshot is None:
            return
        yield snapshot
        snapshot_id = snapshot.parentId()


def _properties(snapshot: Any) -> dict[str, str]:
    summary_ = snapshot.summary()
    if not summary_.containsKey(WRITER):
        return {}
    return {**dict(summary_), SNAPSHOT_ID: str(snapshot.snapshotId())}
