"""Checksums of the files of a Paimon table in a folder of this machine: what is damaged is an error, never other rows.

Paimon has none for its metadata. A flipped bit in a manifest is another name, count, bound or order of rows, and what
is read then is most often less. So each commit of ours records the size and the CRC-32 of every file that its snapshot
uses, in a folder of the table that Paimon passes over, and each read compares the files that it needs.

- `checksums/snapshot-N` has the metadata of snapshot N: the snapshot, its lists of manifests, and the manifests.
- `checksums/files` grows by a line for each data file and each schema.

Each line has a checksum of its own; a line that is damaged or cut off says nothing. What another program committed is
unknown until our next commit: `counts` compares its metadata with itself.
"""

import json
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

from streamhouse.errors import StoreError
from streamhouse.install.whole_file import write_whole
from streamhouse.model.place import is_local, local_path
from streamhouse.model.types import Tier
from streamhouse.stores.data_check import remedy
from streamhouse.stores.file_memory import FileMemory

_FOLDER, _LEDGER, _FIRST = "checksums", "files", "first"
_MANIFEST = "manifest/manifest-"
_LIST = "manifest/manifest-list-"
_CHUNK = 1 << 20
_MOST_RECORDS = 100

_sums: FileMemory[int] = FileMemory()


@dataclass(frozen=True)
class Checksum:
    """What a file had when it was written.

    Attributes:
        size: In bytes.
        crc: CRC-32.
    """

    size: int
    crc: int


@dataclass
class _Ledger:
    """The lines of `checksums/files` that were read so far: relative path → checksum."""

    files: dict[str, Checksum] = field(default_factory=dict)
    schemas: dict[str, Checksum] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)  # of data files, which have names of their own → relative path
    inode: int = 0
    end: int = 0


class Checksums:
    """Those of one table.

    Attributes:
        name: `layer.name`, for messages.
        folder: Of the table.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self._own = folder / _FOLDER
        self._ledger = _Ledger()
        self._reading = threading.Lock()
        self._records: dict[int, tuple[tuple[int, int] | None, dict[str, Checksum]]] = {}  # size and time, what it says

    def has(self, number: int) -> bool:
        """Whether the metadata of a snapshot is recorded; it may also be damaged."""
        return (self._own / f"snapshot-{number}").exists()

    def gone_snapshot(self, number: int | None) -> StoreError | None:
        """The error of a snapshot that is recorded and has no file; None: it is not recorded, or has one.

        Args:
            number: Of the snapshot; None: the newest that is recorded.
        """
        if number is None:
            names = (file.name.removeprefix("snapshot-") for file in self._own.glob("snapshot-*"))
            number = max((int(name) for name in names if name.isdecimal()), default=None)
        if number is None or not self.has(number):
            return None
        file = self.folder / "snapshot" / f"snapshot-{number}"
        return None if file.exists() else self._damaged(file, "it is gone")

    def prove_file(self, number: int) -> None:
        """Compare the file of a snapshot alone, for those who want to know what it says and no rows.

        Raises:
            StoreError: it is not as it was written, or is gone.
        """
        path = f"snapshot/snapshot-{number}"
        if (known := self._snapshot(number).get(path)) is not None:
            self._prove(self.folder / path, known)

    def prove_lists(self, number: int) -> None:
        """Compare the file of a snapshot and its lists of manifests, and the sizes of the manifests.

        Raises:
            StoreError: as `prove_snapshot`.
        """
        for path, known in self._snapshot(number).items():
            if path.startswith(_MANIFEST) and not path.startswith(_LIST):
                self._prove_size(self.folder / path, known)
            else:
                self._prove(self.folder / path, known)

    def prove_snapshot(self, number: int) -> bool:
        """Compare the metadata of a snapshot with what is recorded; whether there is a record.

        Raises:
            StoreError: a file is not as it was written, or is gone.
        """
        found = self._snapshot(number)
        for path, known in found.items():
            self._prove(self.folder / path, known)
        return bool(found)

    def prove_snapshots(self) -> None:
        """`prove_snapshot` of all that exist."""
        for file in (self.folder / "snapshot").glob("snapshot-*"):
            if (number := file.name.removeprefix("snapshot-")).isdecimal():
                self.prove_snapshot(int(number))

    def prove_schemas(self) -> None:
        """Compare all schemas that are recorded. Where the folder of the table is gone, none is, and the table is lost.

        Raises:
            StoreError: as `prove_snapshot`.
        """
        for path, known in self._read().schemas.items():
            self._prove(self.folder / path, known)

    def prove_data(self, names: Iterable[str]) -> None:
        """Compare the data files with these names; those that are not recorded pass.

        Raises:
            StoreError: as `prove_snapshot`.
        """
        ledger = self._read()
        for name in names:
            if (path := ledger.names.get(name)) is not None:
                self._prove(self.folder / path, ledger.files[path])

    def prove_tag(self, path: str, tagged: Any) -> None:
        """Compare a tag of ours with the snapshot that it keeps.

        Raises:
            StoreError: it is another one, or none that was tagged by us.
        """
        first = self._read().files.get(_FIRST)
        if first is None or tagged.id < first.size:
            return  # of an earlier version, which recorded nothing
        known = self._lines(self._own / f"snapshot-{tagged.id}").get(_content_of(tagged.id))
        if known is None and self.has(tagged.id):
            return  # the record is damaged, and says nothing
        if known is None or known.crc != _content(tagged):
            raise self._damaged(Path(path), "it says something else than the snapshot that it keeps")

    def record_files(self, paths: Iterable[str], first: int | None = None) -> None:
        """Record data files or schemas as they are now; the caller has the table's lock.

        Args:
            paths: Relative to the table.
            first: With the first snapshot that is recorded: its number.
        """
        known = self._read().files
        new = {path: self._sum(path) for path in paths if path not in known}
        if first is not None and _FIRST not in known:
            new[_FIRST] = Checksum(first, 0)
        if not new:
            return
        self._own.mkdir(exist_ok=True)
        ledger = self._own / _LEDGER
        with ledger.open("ab") as opened:
            cut = opened.tell() > 0 and not _ends_whole(ledger)
            opened.write((b"\n" if cut else b"") + "".join(_line(*one) for one in new.items()).encode())

    def record_snapshot(self, snapshot: Any, metadata: Iterable[str]) -> None:
        """Record the metadata of a snapshot as it is now; its data files were recorded before.

        Args:
            snapshot: pypaimon's.
            metadata: Paths relative to the table.
        """
        lines = {path: self._sum(path) for path in dict.fromkeys(metadata)}
        lines[_content_of(snapshot.id)] = Checksum(0, _content(snapshot))
        unfinished = self._own / f".snapshot-{snapshot.id}"
        self._own.mkdir(exist_ok=True)
        unfinished.write_text("".join(_line(*one) for one in lines.items()))
        unfinished.replace(self._own / f"snapshot-{snapshot.id}")

    def forget(self, tagged: Iterable[int]) -> None:
        """Remove what is recorded of files that were removed; the caller has the table's lock.

        Args:
            tagged: Snapshots that a tag keeps.
        """
        kept = {f"snapshot-{number}" for number in tagged}
        for file in self._own.glob("snapshot-*"):
            if file.name not in kept and not (self.folder / "snapshot" / file.name).exists():
                file.unlink(missing_ok=True)
        files = self._read().files
        left = {path: known for path, known in files.items() if path == _FIRST or (self.folder / path).exists()}
        if len(left) < len(files):
            write_whole(self._own / _LEDGER, "".join(_line(*one) for one in left.items()))

    def _snapshot(self, number: int) -> dict[str, Checksum]:
        path = self._own / f"snapshot-{number}"
        try:
            status = path.stat()
        except OSError:
            return {}
        now = (status.st_size, status.st_mtime_ns)
        before, known = self._records.get(number, (None, {}))
        if before == now:
            return known
        found = self._lines(path)
        if found.pop(_content_of(number), None) is None:  # the last line
            return {}
        if len(self._records) >= _MOST_RECORDS:
            self._records.clear()
        self._records[number] = (now, found)
        return found

    def _read(self) -> _Ledger:
        """The ledger with the lines that came since it was last read."""
        path = self._own / _LEDGER
        with self._reading:
            try:
                with path.open("rb") as opened:
                    inode = os.fstat(opened.fileno()).st_ino
                    if inode != self._ledger.inode:
                        self._ledger = _Ledger(inode=inode)
                    opened.seek(self._ledger.end)
                    new = opened.read()
            except OSError:
                self._ledger = _Ledger()
                return self._ledger
            whole = new[: new.rfind(b"\n") + 1]
            self._ledger.end += len(whole)
            for path_, known in _parsed(whole):
                self._ledger.files[path_] = known
                if path_.startswith("schema/"):
                    self._ledger.schemas[path_] = known
                elif "/data-" in path_:
                    self._ledger.names[path_.rpartition("/")[2]] = path_
            return self._ledger

    def _lines(self, file: Path) -> dict[str, Checksum]:
        """What a file of ours says; nothing where one of its lines is damaged."""
        try:
            text = file.read_bytes()
        except OSError:
            return {}
        found = dict(_parsed(text))
        return found if len(found) == text.count(b"\n") else {}

    def _sum(self, path: str) -> Checksum:
        status, crc = _crc_of(self.folder / path)
        return Checksum(status.st_size, crc)

    def _prove(self, path: Path, known: Checksum) -> None:
        self._prove_size(path, known)
        try:
            _, crc = _crc_of(path)
        except FileNotFoundError as error:
            raise self._damaged(path, "it is gone") from error
        if crc != known.crc:
            raise self._damaged(path, "its checksum is not that of what was written")

    def _prove_size(self, path: Path, known: Checksum) -> None:
        try:
            size = path.stat().st_size
        except FileNotFoundError as error:
            raise self._damaged(path, "it is gone") from error
        if size != known.size:
            raise self._damaged(path, f"it has {size:,} bytes, {known.size:,} were written")

    def _damaged(self, path: Path, what: str) -> StoreError:
        return StoreError(f"{self.name} in the warm tier is damaged: {path}: {what}", hint=remedy(Tier.WARM))


def checksums_of(warehouse: str, name: str) -> Checksums | None:
    """Those of a table; None: it is in an object store, which has checksums of its own.

    Args:
        warehouse: A folder, or a URI.
        name: `layer.name`.
    """
    if not is_local(warehouse):
        return None
    layer, _, table = name.partition(".")
    return _of_folder(name, local_path(warehouse) / f"{layer}.db" / table)


def checksums_at(path: str) -> Checksums | None:
    """`checksums_of` the table whose folder this is."""
    warehouse, layer, table = path.rstrip("/").rsplit("/", 2)
    return checksums_of(warehouse, f"{layer.removesuffix('.db')}.{table}")


@lru_cache(maxsize=4096)
def _of_folder(name: str, folder: Path) -> Checksums:
    return Checksums(name, folder)


def _crc_of(path: Path) -> tuple[os.stat_result, int]:
    """The CRC-32 of a file; it is read only when it is another one than the last time."""
    status = path.stat()
    if (known := _sums.get(path, status)) is not None:
        return status, known
    crc = 0
    with path.open("rb") as opened:
        while chunk := opened.read(_CHUNK):
            crc = crc32(chunk, crc)
    _sums.put(path, status, crc)
    return status, crc


def _line(path: str, known: Checksum) -> str:
    said = json.dumps([path, known.size, known.crc])
    return f"{crc32(said.encode()):08x} {said}\n"


def _parsed(lines: bytes) -> Iterator[tuple[str, Checksum]]:
    for line in lines.splitlines():
        with suppress(ValueError):
            if int(line[:8], 16) == crc32(line[9:]):
                path, size, crc = json.loads(line[9:])
                yield path, Checksum(size, crc)


def _ends_whole(file: Path) -> bool:
    with file.open("rb") as opened:
        opened.seek(-1, os.SEEK_END)
        return opened.read() == b"\n"


def _content_of(number: int) -> str:
    return f"content of snapshot {number}"


def _content(snapshot: Any) -> int:
    """A checksum of what a snapshot says, which its tags say too."""
    said = {name: value for name, value in vars(snapshot).items() if not name.startswith("tag_")}
    return crc32(json.dumps(said, sort_keys=True, default=str).encode())
