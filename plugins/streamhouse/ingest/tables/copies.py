"""Copies of a table that has no snapshots of its own, in files of the project; their numbers rise.

    .streamhouse/tables/<connection>/<table>/<identity>/00000001.parquet   all rows that the table had at one moment
                                                       /looked             its time: when the table was last read;
                                                                           its text: the number of the last copy

A range between two copies can be read again after any crash. One process at a time copies.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from streamhouse.errors import RowsLostError
from streamhouse.install.private_file import write_private
from streamhouse.install.sync import only_writer, sync_folder

MOST_COPIES = 24
"""So many are there at once; the oldest one goes."""
_IDS = b"streamhouse.ids"


class TableCopies:
    """The copies of one table.

    Args:
        folder: Of the table.
        name: Of the table, for messages.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name

    @property
    def identity(self) -> str:
        """Another one when the copies were removed; they begin with the first question."""
        return self._group().name

    def numbers(self) -> list[int]:
        """Those of the copies that are there, in their order."""
        return sorted(int(file.stem) for file in self._group().glob("[0-9]*.parquet"))

    def age_s(self) -> float:
        """Seconds since the table was last read; endless: it never was."""
        try:
            return max(0.0, time.time() - (self._group() / "looked").stat().st_mtime)
        except FileNotFoundError:
            return float("inf")

    def add(self, batches: Iterable[pa.RecordBatch], schema: pa.Schema, ids: Mapping[str, str], every_s: float) -> None:
        """Copy a table, unless another process does, or did since it was asked; an equal copy is not kept.

        Args:
            batches: All rows that the table has now.
            schema: Of these.
            ids: Column → its id, which stays when it is renamed; empty: the database has none.
            every_s: So old the last look is, or older.
        """
        group = self._group()
        with only_writer(group / "lock") as alone:
            if not alone or self.age_s() < every_s:
                return
            began = time.time()
            for left in group.glob("*.new"):  # of a process that died
                left.unlink()
            file = group / f"{uuid4().hex}.new"
            _write(file, batches, schema.with_metadata({_IDS: json.dumps(ids).encode()}))
            there, last = self.numbers(), self._last(group)
            if there and _digest(file) == _digest(self._file(there[-1])):
                file.unlink()
            else:
                last += 1
                file.replace(group / f"{last:08d}.parquet")
            for number in self.numbers()[:-MOST_COPIES]:
                self._file(number).unlink()
            write_private(group / "looked.new", str(last))
            os.utime(group / "looked.new", (began, began))
            (group / "looked.new").replace(group / "looked")
            sync_folder(group)

    def _last(self, group: Path) -> int:
        """The number of the last copy, also if it is gone: another one with its number would have other rows."""
        noted = (group / "looked").read_text() if (group / "looked").exists() else "0"
        return max(int(noted) if noted.isdigit() else 0, *self.numbers(), 0)

    def rows(self, number: int) -> list[int]:
        """How many rows each part of a copy has.

        Raises:
            RowsLostError: there is no such copy any more.
        """
        with self._opened(number) as file:
            return [file.metadata.row_group(part).num_rows for part in range(file.metadata.num_row_groups)]

    def ids(self, number: int) -> dict[str, str]:
        """Column → its id, as the table had them; without ids the names.

        Raises:
            RowsLostError: as `rows`.
        """
        with self._opened(number) as file:
            known: dict[str, str] = json.loads((file.schema_arrow.metadata or {}).get(_IDS, b"{}"))
            return {name: known.get(name) or name for name in file.schema_arrow.names}

    def read(self, number: int, columns: Sequence[str], parts: Sequence[int] | None = None) -> pa.Table:
        """Rows of a copy.

        Args:
            number: Of the copy.
            columns: Those wanted, as the copy has them.
            parts: Those wanted; None: all.

        Raises:
            RowsLostError: as `rows`.
        """
        with self._opened(number) as file:
            if parts is None:
                return file.read(list(columns))
            return file.read_row_groups(list(parts), list(columns))

    @contextmanager
    def _opened(self, number: int) -> Iterator[pq.ParquetFile]:
        try:
            with pq.ParquetFile(self._file(number)) as file:
                yield file
        except FileNotFoundError as error:
            hint = f"it has {MOST_COPIES} at most; let the flow run more often, or the source copy less often: every"
            raise RowsLostError(f"the project no longer has copy {number} of {self._name}", hint=hint) from error

    def _file(self, number: int) -> Path:
        return self._group() / f"{number:08d}.parquet"

    def _group(self) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        there = sorted(one for one in self._folder.iterdir() if one.is_dir())
        if there:
            return there[0]
        with only_writer(self._folder / "lock", wait=True):
            there = sorted(one for one in self._folder.iterdir() if one.is_dir())
            if not there:
                there = [self._folder / uuid4().hex]
                there[0].mkdir(mode=0o700)
                sync_folder(self._folder)
        return there[0]


def _write(path: Path, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        with pq.ParquetWriter(file, schema, compression="zstd") as writer:
            for batch in batches:
                writer.write_batch(batch)
        file.flush()
        os.fsync(file.fileno())


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
