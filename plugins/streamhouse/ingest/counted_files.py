"""How many rows files have that were counted: of objects also after a restart, as each was read as a whole for it."""

import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

_FORM = 1
"""Rises when a reader counts the rows of a file in another way."""


@dataclass(frozen=True)
class Counted:
    """A file that was counted.

    Attributes:
        rows: How many it has.
        size: Its bytes.
        etag: Of an object, another one for another content; empty: a file of a folder.
        mtime_ns: Of an object, its time in the listing.
    """

    rows: int
    size: int
    etag: str = ""
    mtime_ns: int = 0


class FileCounts:
    """Name → what was counted, in memory and, of objects, in a file to which several processes may add.

    A file that cannot be read or written makes the next process slower, and not wrong.

    Args:
        file: Holds it; None: memory alone.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file

    @cached_property
    def _found(self) -> dict[str, Counted]:
        return dict(_lines(self._file)) if self._file is not None else {}

    def get(self, name: str) -> Counted | None:
        """What was counted of a file; None: nothing yet."""
        return self._found.get(name)

    def put(self, name: str, counted: Counted) -> None:
        """Remember a file."""
        self._found[name] = counted
        if self._file is None or not self._file.parents[2].exists():  # a look at a project leaves nothing in it
            return
        text = json.dumps({"name": name, **asdict(counted)}).encode()
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            place = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(place, b"%08x %b\n" % (zlib.crc32(text), text))
            finally:
                os.close(place)
        except OSError:
            pass

    def moved(self, name: str, mtime_ns: int) -> None:
        """Remember that a file was written again with the same content."""
        self.put(name, replace(self._found[name], mtime_ns=mtime_ns))


def _lines(file: Path) -> Iterator[tuple[str, Counted]]:
    """Whole lines of a file; one that a crash cut, or that is damaged, is passed over."""
    try:
        data = file.read_bytes()
    except OSError:
        return
    for line in data.split(b"\n"):
        sum_, _, text = line.partition(b" ")
        if sum_ == b"%08x" % zlib.crc32(text):
            found = json.loads(text)
            yield found.pop("name"), Counted(**found)


def counted_objects(root: Path, *facts: Any) -> FileCounts:
    """The objects that a project counted.

    Args:
        root: Its folder.
        facts: All that says how many rows an object has, as JSON takes it: where it is, and how it is read.
    """
    key = sha256(json.dumps([_FORM, *facts], sort_keys=True, default=str).encode()).hexdigest()[:32]
    return FileCounts(root / ".streamhouse" / "cache" / "objects" / f"{key}.jsonl")
