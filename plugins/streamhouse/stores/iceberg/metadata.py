"""An Iceberg table that PyIceberg has read, in the words of Iceberg's own Java API.

So `snapshots` gives the same history for a table that is read here and for one that Spark has open.
"""

# ruff: noqa: D102, N802  names and meaning are Iceberg's

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from streamhouse.errors import StoreError
from streamhouse.model.types import Tier
from streamhouse.stores.base import UnknownFormError
from streamhouse.stores.data_check import remedy
from streamhouse.stores.iceberg.checksums import prove

if TYPE_CHECKING:
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.snapshots import Snapshot

_METADATA, _HINT = "metadata", "version-hint.text"
_PACKED = (".gz.metadata.json", ".metadata.json.gz")
_VERSION = re.compile(r"v([0-9]+)(\.gz)?\.metadata\.json(\.gz)?")


class CommitSummary(dict[str, str]):
    """What a commit says of itself."""

    def containsKey(self, key: str) -> bool:
        return key in self

    def getOrDefault(self, key: str, default: str) -> str:
        return self.get(key, default)


@dataclass(frozen=True)
class Commit:
    """One snapshot."""

    stored: "Snapshot"

    def snapshotId(self) -> int:
        return self.stored.snapshot_id

    def parentId(self) -> int | None:
        return self.stored.parent_snapshot_id

    def sequenceNumber(self) -> int:
        return self.stored.sequence_number or 0

    def timestampMillis(self) -> int:
        return self.stored.timestamp_ms

    def operation(self) -> str:
        return "" if self.stored.summary is None else self.stored.summary.operation.value

    def summary(self) -> CommitSummary:
        return CommitSummary({} if self.stored.summary is None else self.stored.summary.additional_properties)


class CommitHistory:
    """The commits of a table: those of when it was opened, whatever is committed since."""

    def __init__(self, stored: "TableMetadata") -> None:
        self._stored = stored

    def currentSnapshot(self) -> Commit | None:
        return self.snapshot(self._stored.current_snapshot_id)

    def snapshot(self, number: int | None) -> Commit | None:
        return None if number is None else self._commits.get(number)

    def snapshots(self) -> list[Commit]:
        return list(self._commits.values())

    def refs(self) -> dict[str, Commit]:
        return {name: self._commits[ref.snapshot_id] for name, ref in self._stored.refs.items()}

    @cached_property
    def _commits(self) -> dict[int, Commit]:
        return {one.snapshot_id: Commit(one) for one in self._stored.snapshots}


def newest(folder: Path) -> Path | None:
    """The newest metadata of a table that a Hadoop catalog has in a folder; None: there is no table.

    A version hint that is gone or damaged is found out again from the names of the files, as Iceberg's Java does it.

    Raises:
        StoreError: it is gone; an older one is not taken for it.
        UnknownFormError: it is not where that catalog puts it.
    """
    hinted = _hinted(folder / _METADATA / _HINT)
    version = hinted or _listed(folder / _METADATA)
    if version is None:
        return None
    # A commit renames its file first, and writes the hint then.
    while _file(folder, version + 1).exists():
        version += 1
    found = _file(folder, version)
    if found.exists():
        return found
    if any((folder / _METADATA / f"v{version}{packed}").exists() for packed in _PACKED):
        raise UnknownFormError("the table's metadata is packed")
    if _hinted(folder / _METADATA / _HINT) != hinted:  # another process has committed meanwhile
        return newest(folder)
    name = f"{folder.parent.name}.{folder.name}"
    raise StoreError(f"{name} in the cold tier is damaged: {found}: it is gone", hint=remedy(Tier.COLD))


def _hinted(hint: Path) -> int | None:
    try:
        prove(hint)
        return int(hint.read_text())
    except (FileNotFoundError, NotADirectoryError, ValueError, StoreError):
        return None


def _listed(metadata: Path) -> int | None:
    """The newest version of which there is a file; None: there is none.

    Raises:
        UnknownFormError: its file is packed.
    """
    names = [name for file in metadata.glob("v*") if (name := _VERSION.fullmatch(file.name))]
    if not names:
        return None
    newest_name = max(names, key=lambda name: int(name[1]))
    if newest_name[2] or newest_name[3]:
        raise UnknownFormError("the table's metadata is packed")
    return int(newest_name[1])


def _file(folder: Path, version: int) -> Path:
    return folder / _METADATA / f"v{version}.metadata.json"
