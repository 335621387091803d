"""The counts that the metadata of a Paimon snapshot has of itself, for snapshots of which no checksums are recorded.

A snapshot says how many rows it has and how large its lists are, a list how many files each manifest adds and removes,
a manifest how many rows and bytes each file has. Damage that leaves all of them in agreement is not seen.
"""

from typing import Any

from streamhouse.errors import StoreError
from streamhouse.model.types import Tier
from streamhouse.stores.data_check import remedy

_counted: set[tuple[str, int, int]] = set()  # path of a table, snapshot, its time
_MOST_COUNTED = 10_000


def refuse_other_counts(handle: Any, snapshot: Any) -> None:
    """Do nothing when the counts of a snapshot's metadata agree.

    Args:
        handle: pypaimon's table.
        snapshot: One of its snapshots.

    Raises:
        StoreError: they do not.
    """
    from pypaimon.manifest.manifest_file_manager import ManifestFileManager
    from pypaimon.manifest.manifest_list_manager import ManifestListManager

    key = (str(handle.table_path), snapshot.id, snapshot.time_millis)
    if key in _counted:
        return
    lists, files = ManifestListManager(handle), ManifestFileManager(handle)
    for name, size in (
        (snapshot.base_manifest_list, snapshot.base_manifest_list_size),
        (snapshot.delta_manifest_list, snapshot.delta_manifest_list_size),
    ):
        _refuse_size(handle, name, size)
    manifests = lists.read_all(snapshot)
    for one in manifests:
        _refuse_size(handle, one.file_name, one.file_size)
        kinds = [entry.kind for entry in files.read(one.file_name)]
        found, said = (kinds.count(0), kinds.count(1)), (one.num_added_files, one.num_deleted_files)
        if found != said:
            raise _other(handle, one.file_name, f"it adds and removes {found} files, its list says {said}")
    rows = sum(entry.file.row_count for entry in files.read_entries_parallel(manifests))
    if rows != snapshot.total_record_count:
        raise _other(
            handle,
            snapshot.base_manifest_list,
            f"its manifests have {rows:,} rows, snapshot {snapshot.id} says {snapshot.total_record_count:,}",
        )
    if len(_counted) >= _MOST_COUNTED:
        _counted.clear()
    _counted.add(key)


def _refuse_size(handle: Any, name: str, size: int | None) -> None:
    path = f"{handle.table_path.rstrip('/')}/manifest/{name}"
    if size and (found := handle.file_io.get_file_size(path)) != size:
        raise _other(handle, name, f"it has {found:,} bytes, {size:,} were written")


def _other(handle: Any, name: str, what: str) -> StoreError:
    path = f"{handle.table_path.rstrip('/')}/manifest/{name}"
    return StoreError(
        f"{handle.identifier.get_full_name()} in the warm tier is damaged: {path}: {what}", hint=remedy(Tier.WARM)
    )
