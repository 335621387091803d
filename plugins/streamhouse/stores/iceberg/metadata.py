"""Metadata of an Iceberg table in a folder, read without Java; in the words of Iceberg's own Java API.

So `snapshots` tells the history of a table that is read here just as it tells that of one that Spark has open.
"""

# ruff: noqa: D102, N802  names and meaning are Iceberg's

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from streamhouse.stores.base import NeedsSparkError

Json = dict[str, Any]

PLAIN_TYPES = (
    *("tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "boolean"),
    *("string", "binary", "date", "timestamp", "timestamp_ntz"),
)
"""Types of columns, without their parameters, that this process reads and writes as Spark does."""

FIELD_ID = b"PARQUET:field_id"
"""Where Arrow keeps the number of a column of a Parquet file, by which Iceberg knows it."""

_VERSION = 2
_METADATA, _HINT = "metadata", "version-hint.text"
_GONE = 2  # status of an entry that a manifest only remembers
_DATA, _POSITION_DELETES = 0, 1


class Summary(dict[str, str]):
    """What a commit says of itself."""

    def containsKey(self, key: str) -> bool:
        return key in self

    def getOrDefault(self, key: str, default: str) -> str:
        return self.get(key, default)


@dataclass(frozen=True)
class Commit:
    """One snapshot."""

    json: Json

    def snapshotId(self) -> int:
        return int(self.json["snapshot-id"])

    def parentId(self) -> int | None:
        found = self.json.get("parent-snapshot-id")
        return None if found is None else int(found)

    def sequenceNumber(self) -> int:
        return int(self.json["sequence-number"])

    def timestampMillis(self) -> int:
        return int(self.json["timestamp-ms"])

    def operation(self) -> str:
        return str(self.json["summary"]["operation"])

    def summary(self) -> Summary:
        return Summary({key: value for key, value in self.json["summary"].items() if key != "operation"})


@dataclass(frozen=True)
class _Ref:
    number: int

    def snapshotId(self) -> int:
        return self.number


@dataclass(frozen=True)
class File:
    """A file of a snapshot: of rows, or of positions of rows that are deleted."""

    path: Path
    rows: int
    bytes: int
    deletes: bool
    partition: tuple[Any, ...]


class Metadata:
    """One version of a table's metadata: as it was when it was opened, whatever is committed since."""

    def __init__(self, json_: Json) -> None:
        self._json = json_

    @classmethod
    def newest(cls, folder: Path) -> Self | None:
        """The table in a folder as it is now; None: there is none.

        Raises:
            NeedsSparkError: it is of a version of the format that is not read here.
        """
        hint = folder / _METADATA / _HINT
        try:
            version = int(hint.read_text())
        except FileNotFoundError:
            if (folder / _METADATA).is_dir():
                raise NeedsSparkError("the table has no version hint") from None
            return None
        except ValueError as error:
            raise NeedsSparkError("the table's version hint is no number") from error
        # A commit renames its file first, and writes the hint then.
        while (_file(folder, version + 1)).exists():
            version += 1
        try:
            found = json.loads(_file(folder, version).read_bytes())
        except FileNotFoundError as error:
            raise NeedsSparkError("the table's metadata is not where its version hint says") from error
        if found["format-version"] != _VERSION:
            raise NeedsSparkError(f"the table is of Iceberg's format {found['format-version']}")
        return cls(found)

    def properties(self) -> dict[str, str]:
        return dict(self._json.get("properties", {}))

    def currentSnapshot(self) -> Commit | None:
        return self.snapshot(self._json.get("current-snapshot-id"))

    def snapshot(self, number: int | None) -> Commit | None:
        return self._commits.get(-1 if number is None else number)

    def snapshots(self) -> Iterable[Commit]:
        return self._commits.values()

    def refs(self) -> dict[str, _Ref]:
        return {name: _Ref(int(ref["snapshot-id"])) for name, ref in self._json.get("refs", {}).items()}

    def fields(self, commit: Commit | None = None) -> list[Json]:
        """The columns, now or as a snapshot was written: id, name, type."""
        number = (commit.json.get("schema-id") if commit else None) or self._json["current-schema-id"]
        (schema,) = (one for one in self._json["schemas"] if one["schema-id"] == number)
        return list(schema["fields"])

    def files(self, commit: Commit) -> Iterator[File]:
        """The files of a snapshot.

        Raises:
            NeedsSparkError: one is of a kind that is not read here.
        """
        for manifest in _records(commit.json["manifest-list"]):
            for entry in _records(manifest["manifest_path"]):
                if entry["status"] != _GONE:
                    yield _described(entry["data_file"])

    @cached_property
    def _commits(self) -> dict[int, Commit]:
        return {int(one["snapshot-id"]): Commit(one) for one in self._json.get("snapshots", [])}


def _file(folder: Path, version: int) -> Path:
    return folder / _METADATA / f"v{version}.metadata.json"


def _described(found: Json) -> File:
    content = found.get("content", _DATA)
    if content not in (_DATA, _POSITION_DELETES):
        raise NeedsSparkError("rows are deleted by their values")
    if str(found["file_format"]).upper() != "PARQUET":
        raise NeedsSparkError(f"a file is of the format {found['file_format']}")
    return File(
        local(found["file_path"]),
        int(found["record_count"]),
        int(found["file_size_in_bytes"]),
        content == _POSITION_DELETES,
        tuple(found["partition"].values()),
    )


def _records(location: str) -> list[Json]:
    import fastavro

    with local(location).open("rb") as file:
        return [record for record in fastavro.reader(file) if isinstance(record, dict)]


def is_local(location: str) -> bool:
    """Whether Iceberg names a place in a folder of this machine."""
    return location.removeprefix("file:").startswith("/")


def local(location: str) -> Path:
    """The path of a file that Iceberg names.

    Raises:
        NeedsSparkError: it is elsewhere.
    """
    if not is_local(location):
        raise NeedsSparkError(f"a file is at {location}")
    return Path("/" + location.removeprefix("file:").lstrip("/"))
