"""Whether all lines of a journal's segment are as they were written, also those that a reader does not look for.

A reader finds events by what is written in them, and counts lines by their ends. So a damaged byte anywhere can make it
miss an event, or give the events behind it other numbers. Each process compares each line once, for all its readers.
"""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from threading import Lock

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.checked_lines import damage_of, damaged, has_none, is_whole

_BLOCK_BYTES = 1 << 22
_MOST_SEGMENTS = 4096


class CheckedSegment:
    """Compares the checksums of the lines of a file that grows at its end. May be used from several threads.

    Args:
        path: The segment.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._end = 0  # byte after the last line that was compared
        self._count = 0  # of lines before it
        self._has_checksums = False  # whether one before it had a checksum: then each has one behind it
        self._lock = Lock()

    def check(self, error: Callable[[str, int], SourceError]) -> None:
        """Compare what was added since the last call. A last line that does not end is not looked at.

        Args:
            error: What is wrong and the number of the line, from 1 → the error.

        Raises:
            SourceError: a line is not as it was written.
            OSError: the file is gone.
        """
        with self._lock:
            if self._path.stat().st_size <= self._end:
                return
            with self._path.open("rb") as file:
                file.seek(self._end)
                rest = b""
                while block := file.read(_BLOCK_BYTES):
                    *lines, rest = (rest + block).split(b"\n")
                    self._compare(lines, error)
                if is_whole(rest[:-1]):
                    raise error("it does not end where its checksum ends", self._count + 1)

    def _compare(self, lines: list[bytes], error: Callable[[str, int], SourceError]) -> None:
        must = self._has_checksums
        for number, line in enumerate(lines, self._count + 1):
            if not line or (has_none(line) and not must):  # of an earlier version, which wrote empty ones, too
                continue
            if not is_whole(line):
                raise error(damage_of(line), number)
            must = True
        self._has_checksums = must
        self._count += len(lines)
        self._end += sum(map(len, lines)) + len(lines)


def checked_segment(path: Path) -> CheckedSegment:
    """That of a file in this process.

    Raises:
        OSError: the file is gone.
    """
    return _of_file(path, path.stat().st_ino)


@lru_cache(maxsize=_MOST_SEGMENTS)
def _of_file(path: Path, inode: int) -> CheckedSegment:  # noqa: ARG001  one that is put back is another file
    return CheckedSegment(path)


def forget_all() -> None:
    """Compare every line again, as a new process does."""
    _of_file.cache_clear()


def damaged_error(where: str, remedy: str) -> Callable[[str, int], SourceError]:
    """Makes the error of a damaged line.

    Args:
        where: What messages call the segment.
        remedy: What to do.

    Example:
        >>> print(damaged_error("shop/1/00000001.jsonl", "")("its checksum is that of another line", 3))
        shop/1/00000001.jsonl:3:1: SH212 a line of the journal is damaged: its checksum is that of another line
    """
    return lambda why, line: damaged("a line of the journal", why, Location(where, line), remedy)
