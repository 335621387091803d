"""The history of an Iceberg table, read and tagged through Iceberg's own Java API.

Snapshots are told apart by their sequence numbers, which rise with every commit to a table (format 2 or later); their
ids are random, so of two ids nobody can tell which is the later one.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from streamhouse.stores.base import CARRIED, DROPPED, SNAPSHOT_ID, WRITER, Snapshot
from streamhouse.stores.iceberg.java import IcebergJava, each, pairs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TAG = "streamhouse."
_OWN = (  # what Iceberg says in a summary of the commit itself
    *("added-", "deleted-", "removed-", "total-", "changed-", "replace-", "partition", "manifests-", "entries-"),
    *(
        "spark.",
        "app-",
        "engine-",
        "iceberg-",
        "operation",
        "wap.",
        "published-",
        "source-snapshot",
        "snapshot-property",
    ),
)


class JavaCatalog:
    """Iceberg's Java catalog behind a Spark catalog name."""

    def __init__(self, spark: "SparkSession", name: str) -> None:
        self._java = IcebergJava(spark)
        self._catalog = self._java.catalog(name)

    def table(self, name: str) -> Any | None:
        """The Java table as it is now; None when there is none."""
        identifier = self._java.identifier(name)
        if not self._catalog.tableExists(identifier):
            return None
        table = self._catalog.loadTable(identifier)
        table.refresh()  # a catalog that caches hands out old ones
        return table

    def drop(self, name: str) -> None:
        """Drop the table and its files; nothing when there is none."""
        self._catalog.dropTable(self._java.identifier(name), True)


def newest(table: Any) -> int:
    """The number of the newest snapshot; 0 before the first."""
    snapshot = table.currentSnapshot()
    return int(snapshot.sequenceNumber()) if snapshot else 0


def number_of(table: Any, snapshot: int) -> int:
    """The number of a snapshot that is named by its id; any other number as it is."""
    found = table.snapshot(snapshot)
    return snapshot if found is None else int(found.sequenceNumber())


def id_of(table: Any, number: int) -> int | None:
    """The id of a snapshot; None when it was expired, or never was."""
    snapshot = next((s for s in _all_snapshots(table) if s.sequenceNumber() == number), None)
    return None if snapshot is None else int(snapshot.snapshotId())


def id_before(table: Any, start: int, end: int) -> int | None:
    """The id of the snapshot `start`, after which every one up to `end` still exists; None when one does not.

    `start` itself may be expired.
    """
    for snapshot in _back(table, id_of(table, end)):
        if snapshot.sequenceNumber() == start:
            return int(snapshot.snapshotId())
        if snapshot.sequenceNumber() == start + 1:
            return int(snapshot.parentId())
    return None


def after(table: Any, start: int, end: int) -> list[tuple[int, int]] | None:
    """Number and rows of each snapshot after `start` up to `end`, oldest first; None: `start` is no longer there.

    From 0, when the first snapshots are gone, the oldest one that exists stands for all before it.
    """
    found: list[tuple[int, int]] = []
    for snapshot in _back(table, id_of(table, end)):
        if snapshot.sequenceNumber() == start:
            return found[::-1]
        first = start == 0 and (snapshot.parentId() is None or table.snapshot(snapshot.parentId()) is None)
        found.append((int(snapshot.sequenceNumber()), _rows(snapshot, whole=first)))
    return found[::-1] if start == 0 else None


def files_added(table: Any, start: int, end: int) -> list[str]:
    """The data files of each commit after `start` up to `end` that only appended, in the order they were written."""
    found: list[str] = []
    for snapshot in _back(table, id_of(table, end)):  # the newest first
        if snapshot.sequenceNumber() <= start:
            break
        if snapshot.operation() == "append":
            found += sorted((str(file.location()) for file in each(snapshot.addedDataFiles(table.io()))), reverse=True)
    return found[::-1]


def drops(table: Any, start: int, end: int) -> list[tuple[int, int]]:
    """The snapshots after `start` up to `end` that only dropped partitions, oldest first: what stood before, number."""
    found: list[tuple[int, int]] = []
    for snapshot in _back(table, id_of(table, end)):
        if snapshot.sequenceNumber() <= start:
            break
        if snapshot.summary().containsKey(DROPPED):
            before = table.snapshot(snapshot.parentId())
            found.append((int(before.sequenceNumber()) if before else 0, int(snapshot.sequenceNumber())))
    return found[::-1]


def retained(table: Any) -> list[Snapshot]:
    """The snapshots of the table's present line that still exist, oldest first."""
    return [_described(snapshot) for snapshot in _back(table, _current_id(table))][::-1]


def newest_before(table: Any, at_ms: int) -> int | None:
    """The number of the newest snapshot of `at_ms` or before; 0 before the very first; None: it is no longer there."""
    oldest: Any = None
    for snapshot in _back(table, _current_id(table)):
        if snapshot.timestampMillis() <= at_ms:
            return int(snapshot.sequenceNumber())
        oldest = snapshot
    return 0 if oldest is None or oldest.parentId() is None else None


def last_written(table: Any, writer: str) -> dict[str, str] | None:
    """The properties of the newest snapshot of `writer`; None when there is none."""
    return next((p for p in _written(table) if p[WRITER] == writer), None)


def newest_properties(table: Any) -> dict[str, str]:
    """The properties of the newest snapshot made by `write`; empty when there is none."""
    return next(_written(table), {})


def tag(table: Any, writer: str, number: int) -> None:
    """Keep a snapshot, the newest of `writer`, from expiry, in place of the one before."""
    snapshot_id = id_of(table, number)
    digest = sha256(writer.encode()).hexdigest()[:8]
    name = f"{_TAG}{re.sub(r'[^A-Za-z0-9_-]', '.', writer)}.{digest}"
    current_tag = table.refs().get(name)
    if current_tag is None:
        table.manageSnapshots().createTag(name, snapshot_id).commit()
    elif current_tag.snapshotId() != snapshot_id:
        table.manageSnapshots().replaceTag(name, snapshot_id).commit()


def carry(table: Any) -> None:
    """Say again what the newest commit of each writer said, and tag that, where files were replaced since.

    Its snapshot has files that the newest one has not, and the tag would keep them all.
    """
    replaced = next((s.sequenceNumber() for s in line(table) if _replaces(s)), 0)
    tagged = [(name, table.snapshot(ref.snapshotId())) for name, ref in pairs(table.refs()).items()]
    ours = [(name, snapshot) for name, snapshot in tagged if name.startswith(_TAG) and snapshot is not None]
    for name, snapshot in sorted(ours, key=lambda one: one[1].sequenceNumber()):
        if snapshot.sequenceNumber() < replaced:
            said = {key: value for key, value in pairs(snapshot.summary()).items() if not key.startswith(_OWN)}
            append_nothing(table, said | {CARRIED: str(snapshot.sequenceNumber())})
            table.manageSnapshots().replaceTag(name, table.currentSnapshot().snapshotId()).commit()


def line(table: Any) -> Iterator[Any]:
    """The snapshots of the table's present line that still exist, newest first."""
    return _back(table, _current_id(table))


def _replaces(snapshot: Any) -> bool:
    return bool(snapshot.operation() == "replace" or snapshot.summary().containsKey(DROPPED))


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


def _described(snapshot: Any) -> Snapshot:
    summary_ = pairs(snapshot.summary())
    kinds = {"replace": "compact", "delete": "overwrite"}
    return Snapshot(
        number=int(snapshot.sequenceNumber()),
        committed_ms=int(snapshot.timestampMillis()),
        kind="drop"
        if DROPPED in summary_
        else "compact"
        if CARRIED in summary_
        else kinds.get(snapshot.operation(), snapshot.operation()),
        added_rows=int(summary_.get("added-records", 0)) + int(summary_.get("added-position-deletes", 0)),
        total_rows=int(summary_.get("total-records", 0)) - int(summary_.get("total-position-deletes", 0)),
        properties=summary_,
    )


def _written(table: Any) -> Iterator[dict[str, str]]:
    """Properties of the snapshots `write` made, newest first; those that only a tag holds come last."""
    visited: set[int] = set()
    for snapshot in _back(table, _current_id(table)):
        visited.add(snapshot.snapshotId())
        if properties := _properties(snapshot):
            yield properties
    tagged = [ref.snapshotId() for name, ref in pairs(table.refs()).items() if name.startswith(_TAG)]
    tagged_snapshots = [table.snapshot(number) for number in tagged if number not in visited]
    for snapshot in sorted(tagged_snapshots, key=lambda s: -s.sequenceNumber()):
        if properties := _properties(snapshot):
            yield properties


def _current_id(table: Any) -> int | None:
    snapshot = table.currentSnapshot()
    return int(snapshot.snapshotId()) if snapshot else None


def _all_snapshots(table: Any) -> Iterator[Any]:
    """Every snapshot that still exist; most often the first one asked for is the newest or one of the last."""
    visited: set[int] = set()
    for snapshot in _back(table, _current_id(table)):
        visited.add(snapshot.snapshotId())
        yield snapshot
    yield from (snapshot for snapshot in each(table.snapshots()) if snapshot.snapshotId() not in visited)


def _rows(snapshot: Any, *, whole: bool) -> int:
    summary_ = snapshot.summary()
    if not whole and snapshot.operation() == "replace":  # a compaction
        return 0
    return int(summary_.getOrDefault("total-records" if whole else "added-records", "0"))


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
    return {**pairs(summary_), SNAPSHOT_ID: str(snapshot.sequenceNumber())}
