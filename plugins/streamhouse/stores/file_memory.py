"""Remembers what was found of files, for as long as they stay the files that they were."""

import os
import threading
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")
_MOST = 100_000


class FileMemory(Generic[T]):
    """Of each file, what was found when it was last read as a whole."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, ...], T]] = {}
        self._lock = threading.Lock()

    def get(self, file: Path, status: os.stat_result) -> T | None:
        """What was found; None: it is another file than then, or was not read yet."""
        at, found = self._known.get(str(file), (None, None))
        return found if at == _identity(status) else None

    def put(self, file: Path, status: os.stat_result, found: T) -> None:
        """Remember what was found in a file.

        Args:
            file: Which one.
            status: That it had before it was read.
            found: In it.
        """
        with self._lock:
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[str(file)] = (_identity(status), found)


def _identity(status: os.stat_result) -> tuple[int, ...]:
    """Programs can set the time of a write, but not that of the last change of the file's record."""
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
