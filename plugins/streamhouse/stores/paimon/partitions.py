"""The partitions of a Paimon table: which there are, which changed, and the commit that drops some."""

from collections.abc import Iterable, Sequence
from typing import Any

from streamhouse.stores.base import DROPPED, Partition

_USER = "streamhouse.retention"


def stored(handle: Any) -> set[Partition]:
    """Those that have files in the newest snapshot."""
    from pypaimon.manifest.manifest_file_manager import ManifestFileManager
    from pypaimon.manifest.manifest_list_manager import ManifestListManager

    newest = handle.snapshot_manager().get_latest_snapshot()
    if newest is None:
        return set()
    manifests = ManifestListManager(handle).read_all(newest)
    return _of(ManifestFileManager(handle).read_entries_parallel(manifests))


def changed(handle: Any, snapshots: Iterable[Any]) -> set[Partition]:
    """Those that these snapshots wrote to."""
    from pypaimon.manifest.manifest_file_manager import ManifestFileManager
    from pypaimon.manifest.manifest_list_manager import ManifestListManager

    lists, files = ManifestListManager(handle), ManifestFileManager(handle)
    return {
        partition
        for snapshot in snapshots
        if snapshot.commit_kind != "COMPACT" and not is_drop(snapshot)
        for manifest in lists.read_delta(snapshot)
        for partition in _of(files.read(manifest.file_name))
    }


def is_drop(snapshot: Any) -> bool:
    """Whether it only dropped partitions, which changes nothing for readers."""
    return DROPPED in (snapshot.properties or {})


def drop(handle: Any, gone: Sequence[Partition]) -> None:
    """Commit a snapshot without the rows of some partitions; the caller holds the table's lock.

    Args:
        handle: Of the table.
        gone: At least one; stored.
    """
    from pypaimon.common.predicate_builder import PredicateBuilder

    made = PredicateBuilder(handle.partition_keys_fields)
    these = [
        made.and_predicates([made.equal(name, value) for name, value in zip(handle.partition_keys, one, strict=True)])
        for one in gone
    ]
    commit = handle.new_stream_write_builder()._with_commit_user(_USER).new_commit()
    try:
        # pypaimon's own drop_partitions takes no properties, by which readers tell this from other overwrites.
        store = commit.file_store_commit
        store._try_commit(
            commit_kind="OVERWRITE",
            commit_identifier=handle.snapshot_manager().get_latest_snapshot().id,
            commit_entries_plan=store._overwrite_changes_provider(made.or_predicates(these), []).provide,
            detect_conflicts=True,
            allow_rollback=False,
            snapshot_properties={DROPPED: str(len(gone))},
        )
    finally:
        commit.close()


def _of(entries: Iterable[Any]) -> set[Partition]:
    return {tuple(entry.partition.values) for entry in entries}
