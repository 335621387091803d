"""The snapshots, manifests and data files of a Paimon table, compared with what was recorded when they were written."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from streamhouse.errors import StoreError
from streamhouse.model.place import local_path
from streamhouse.model.table import Table
from streamhouse.model.types import Tier
from streamhouse.stores.data_check import remedy
from streamhouse.stores.paimon.checksums import Checksums, checksums_at
from streamhouse.stores.paimon.counts import refuse_other_counts

_MOST_BACK = 1_000  # snapshots of others that are recorded with our next one
_DATA_FILE = re.compile(rb"data-[0-9A-Za-z-]+\.[a-z0-9]+")


class VerifiedSnapshots:
    """pypaimon's `SnapshotManager`, each of whose answers was compared with what is recorded."""

    def __init__(self, handle: Any) -> None:
        self._manager = handle.snapshot_manager()
        self._checksums = checksums_at(handle_path(handle))

    def get_latest_snapshot(self) -> Any:
        """The newest snapshot; None: there is none yet.

        Raises:
            StoreError: it is damaged, or is gone: an older one is not taken for it.
        """
        snapshot = self._proven(self._newest)
        while (gone := self._gone_behind(snapshot)) is not None:
            again = self._proven(self._newest)
            if again is None or (snapshot is not None and again.id <= snapshot.id):
                raise gone
            snapshot = again  # another process has committed meanwhile
        return snapshot

    def try_get_earliest_snapshot(self) -> Any:
        """The oldest one that still exists; None: there is none yet. Errors as of `get_latest_snapshot`."""
        return self._proven(self._manager.try_get_earliest_snapshot)

    def get_snapshot_by_id(self, number: int) -> Any:
        """One of them; None: it was expired, or never was. Errors as of `get_latest_snapshot`."""
        if self._checksums is not None and self.exists(number):
            self._checksums.prove_file(number)
        return self._manager.get_snapshot_by_id(number)

    def exists(self, number: int) -> bool:
        """Whether there is a file of that number."""
        return self._checksums is None or (self._checksums.folder / "snapshot" / f"snapshot-{number}").exists()

    def _newest(self) -> Any | None:
        try:
            return self._manager.get_latest_snapshot()
        except Exception:
            if (gone := self._gone_behind(None)) is not None:
                raise gone from None
            raise

    def _gone_behind(self, snapshot: Any | None) -> StoreError | None:
        """The error of a newer snapshot that is recorded and has no file; None: there is none such.

        Args:
            snapshot: The newest one; None: it is not known.
        """
        if self._checksums is None:
            return None
        return self._checksums.gone_snapshot(None if snapshot is None else snapshot.id + 1)

    def _proven(self, ask: Callable[[], Any | None]) -> Any:
        if self._checksums is None:
            return ask()
        try:
            snapshot = ask()
        except Exception:
            self._checksums.prove_snapshots()  # names the file, where it is one of ours
            raise
        if snapshot is not None:
            self._checksums.prove_file(snapshot.id)
        return snapshot


def snapshots_of(handle: Any) -> VerifiedSnapshots:
    """The snapshots of a table."""
    return VerifiedSnapshots(handle)


def is_proven(handle: Any, number: int) -> bool:
    """Whether the metadata of a snapshot was compared with what is recorded, or is in a store that does so itself.

    Raises:
        StoreError: it is damaged.
    """
    checksums = checksums_at(handle_path(handle))
    return checksums is None or checksums.prove_snapshot(number)


def prove_lists(handle: Any, number: int) -> None:
    """Compare the lists of the files of a snapshot with what is recorded; see `Checksums.prove_lists`.

    Raises:
        StoreError: one is damaged.
    """
    if (checksums := checksums_at(handle_path(handle))) is not None:
        checksums.prove_lists(number)


def prove_metadata(handle: Any, snapshot: Any) -> None:
    """Compare the metadata of a snapshot: with what is recorded, or with itself.

    Args:
        handle: pypaimon's table.
        snapshot: One of its snapshots.

    Raises:
        StoreError: it is damaged.
    """
    checksums = checksums_at(handle_path(handle))
    if checksums is not None and not checksums.prove_snapshot(snapshot.id):
        refuse_other_counts(handle, snapshot)


def proven(handle: Any, splits: Sequence[Any]) -> Sequence[Any]:
    """The splits of a plan, whose data files were compared.

    Raises:
        StoreError: one is damaged.
    """
    if (checksums := checksums_at(handle_path(handle))) is not None:
        checksums.prove_data(file.file_name for split in splits for file in split.files)
    return splits


def prove_native(path: str, splits: Iterable[Any]) -> bool:
    """Compare the data files of splits of the Rust engine; False: they do not say which these are.

    Raises:
        StoreError: one is damaged.
    """
    checksums = checksums_at(path)
    if checksums is None:
        return True
    for split in splits:
        names = {name.decode() for name in _DATA_FILE.findall(split.serialize())}
        if not names:
            return False
        checksums.prove_data(names)
    return True


def refuse_other_total(table: Table, snapshot: Any, splits: Iterable[Any]) -> None:
    """Do nothing when the files of a plan have all rows of a snapshot; of a key there may be several.

    Args:
        table: Whose snapshot it is.
        snapshot: pypaimon's.
        splits: All of them, without a condition; pypaimon's or those of the Rust engine.

    Raises:
        StoreError: they have not.
    """
    counts = (split.row_count for split in splits)
    _refuse(table, snapshot, sum(one() if callable(one) else one for one in counts), "the files of its manifests have")


def refuse_other_rows(table: Table, snapshot: Any, rows: int) -> None:
    """Do nothing when all rows of a log were read.

    Raises:
        StoreError: they are more or fewer.
    """
    _refuse(table, snapshot, rows, "its files gave")


def _refuse(table: Table, snapshot: Any, rows: int, what: str) -> None:
    if rows != snapshot.total_record_count:
        raise StoreError(
            f"{table.name} in the warm tier is damaged: snapshot {snapshot.id} has {snapshot.total_record_count:,} "
            f"rows, {what} {rows:,}",
            hint=remedy(Tier.WARM),
        )


def prove_before_removal(handle: Any) -> None:
    """Compare the metadata of all snapshots: by it is decided which files nobody needs.

    Raises:
        StoreError: one is damaged.
    """
    if (checksums := checksums_at(handle_path(handle))) is not None:
        checksums.prove_snapshots()


def prove_before_compaction(handle: Any) -> None:
    """Compare all that the newest snapshot has: another program reads it, and writes it again.

    Raises:
        StoreError: a file is damaged.
    """
    newest = snapshots_of(handle).get_latest_snapshot()
    if newest is None:
        return
    prove_metadata(handle, newest)
    proven(handle, handle.new_read_builder().new_scan().plan().splits())


def record(handle: Any) -> None:
    """Record the snapshots that came since the last one that is recorded; the caller has the table's lock.

    Where none is yet, the newest is, with all that it uses.
    """
    checksums = checksums_at(handle_path(handle))
    newest = handle.snapshot_manager().get_latest_snapshot()
    if checksums is None or newest is None or checksums.has(newest.id):
        return
    manager = handle.snapshot_manager()
    new = [newest]
    for number in range(newest.id - 1, max(0, newest.id - _MOST_BACK), -1):
        if checksums.has(number):
            break
        snapshot = manager.get_snapshot_by_id(number)
        if snapshot is None:
            new = [newest]
            break
        new.insert(0, snapshot)
    follows = new[0].id == 1 or checksums.has(new[0].id - 1)
    _record(handle, checksums, new if follows else [newest], whole=not follows)


def forget(handle: Any, tagged: Iterable[int]) -> None:
    """Remove what is recorded of files that expiry removed; the caller has the table's lock.

    Args:
        handle: pypaimon's table.
        tagged: Snapshots that a tag of ours keeps.
    """
    if (checksums := checksums_at(handle_path(handle))) is not None:
        checksums.forget(tagged)


def record_schemas(handle: Any) -> None:
    """Record the schemas of a table; the caller has its lock."""
    if (checksums := checksums_at(handle_path(handle))) is not None:
        checksums.record_files(_schemas(checksums))


def handle_path(handle: Any) -> str:
    """Where a table is, of pypaimon's and of a light one."""
    return str(handle.table_path if hasattr(handle, "table_path") else handle.path)


def _record(handle: Any, checksums: Checksums, snapshots: Sequence[Any], *, whole: bool) -> None:
    from pypaimon.manifest.manifest_file_manager import ManifestFileManager
    from pypaimon.manifest.manifest_list_manager import ManifestListManager

    lists, files = ManifestListManager(handle), ManifestFileManager(handle)
    checksums.record_files(_schemas(checksums), first=snapshots[0].id)
    for snapshot in snapshots:
        manifests = lists.read_all(snapshot)
        if whole:
            entries = files.read_entries_parallel(manifests)
        else:
            entries = [one for manifest in lists.read_delta(snapshot) for one in files.read(manifest.file_name)]
        paths = (_data_path(handle, checksums, one) for one in entries if one.kind == 0)
        checksums.record_files(path for path in paths if path is not None)
        checksums.record_snapshot(snapshot, [*_metadata(snapshot), *(f"manifest/{m.file_name}" for m in manifests)])


def _metadata(snapshot: Any) -> Iterator[str]:
    yield f"snapshot/snapshot-{snapshot.id}"
    for name in (
        snapshot.base_manifest_list,
        snapshot.delta_manifest_list,
        snapshot.changelog_manifest_list,
        snapshot.index_manifest,
    ):
        if name:
            yield f"manifest/{name}"


def _data_path(handle: Any, checksums: Checksums, entry: Any) -> str | None:
    """The path of a new data file, relative to the table; None: a commit since has removed it, or it is elsewhere."""
    from pypaimon.utils.file_store_path_factory import canonical_data_file_path

    if entry.file.external_path:
        return None
    path = canonical_data_file_path(handle, entry.partition.values, entry.bucket, entry.file.file_name)
    file = local_path(path)
    is_here = file.is_relative_to(checksums.folder) and file.is_file()
    return str(file.relative_to(checksums.folder)) if is_here else None


def _schemas(checksums: Checksums) -> list[str]:
    return [f"schema/{file.name}" for file in sorted((checksums.folder / "schema").glob("schema-*"))]
