"""The partitions of a Paimon table: which there are, which changed, and the commit that drops some."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from streamhouse.stores.base import DROPPED, Partition
from streamhouse.stores.paimon.private import builder_of, drop_rows
from streamhouse.stores.paimon.verified import prove_metadata, record, snapshots_of

_USER = "streamhouse.retention"


def stored(handle: Any) -> set[Partition]:
    """Those that have files in the newest snapshot."""
    from pypaimon.manifest.manifest_file_manager import ManifestFileManager
    from pypaimon.manifest.manifest_list_manager import ManifestListManager

    newest = snapshots_of(handle).get_latest_snapshot()
    if newest is None:
        return set()
    prove_metadata(handle, newest)
    manifests = ManifestListManager(handle).read_all(newest)
    return _of(ManifestFileManager(handle).read_entries_parallel(manifests))


def changed(handle: Any, snapshots: Iterable[Any]) -> set[Partition]:
    """Those that these snapshots wrote to."""
    from pypaimon.manifest.manifest_file_manager import ManifestFileManager
    from pypaimon.manifest.manifest_list_manager import ManifestListManager

    lists, files = ManifestListManager(handle), ManifestFileManager(handle)
    return {
        partition
        for snapshot in _proven(handle, snapshots)
        if snapshot.commit_kind != "COMPACT" and not is_drop(snapshot)
        for manifest in lists.read_delta(snapshot)
        for partition in _of(files.read(manifest.file_name))
    }


def _proven(handle: Any, snapshots: Iterable[Any]) -> Iterator[Any]:
    for snapshot in snapshots:
        prove_metadata(handle, snapshot)
        yield snapshot


def is_drop(snapshot: Any) -> bool:
    """Whether it only dropped partitions, which changes nothing for readers."""
    return DROPPED in (snapshot.properties or {})


def drop(handle: Any, to_drop: Sequence[Partition]) -> None:
    """Commit a snapshot without the rows of some partitions; the caller holds the table's lock.

    Args:
        handle: Of the table.
        to_drop: At least one; stored.
    """
    from pypaimon.common.predicate_builder import PredicateBuilder

    predicate_builder = PredicateBuilder(handle.partition_keys_fields)
    these = [
        predicate_builder.and_predicates(
            [predicate_builder.equal(name, value) for name, value in zip(handle.partition_keys, one, strict=True)]
        )
        for one in to_drop
    ]
    commit = builder_of(handle, _USER).new_commit()
    try:
        newest = handle.snapshot_manager().get_latest_snapshot().id
        drop_rows(commit, predicate_builder.or_predicates(these), newest, {DROPPED: str(len(to_drop))})
    finally:
        commit.close()
    record(handle)


def _of(entries: Iterable[Any]) -> set[Partition]:
    return {tuple(entry.partition.values) for entry in entries}
