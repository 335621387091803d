"""The lines of a file that may grow at its end: counted once, read by number."""

from pathlib import Path
from threading import Lock

import numpy as np

from streamhouse.errors import Location, RowsLostError, SourceError
from streamhouse.ingest.foreign import ForeignError, refuse_foreign
from streamhouse.ingest.json_text import is_json

_STRIDE = 4096  # lines between two remembered places
_BLOCK_BYTES = 1 << 22
_MARK = b"\xef\xbb\xbf"
_MOST_MARK = 256


class Lines:
    """Finds line N without reading those before it. May be used from several threads.

    A last line that does not end counts as soon as it is whole JSON; before, it is still being written.

    Args:
        path: The file.
        name: What messages call it.
        only_ended: A last line that does not end never counts.
    """

    def __init__(self, path: Path, name: str, *, only_ended: bool = False) -> None:
        self._path = path
        self._name = name
        self._only_ended = only_ended
        self._places = [0]  # byte where every `_STRIDE`-th line begins
        self._ended = 0  # lines with an end
        self._end = 0  # byte after the last of them
        self._size = 0  # bytes when last looked at
        self._open_line = False  # whether a line without an end counts too
        self._lock = Lock()

    def count(self) -> int:
        """How many lines there are now.

        Raises:
            RowsLostError: the file is gone.
            SourceError: it is shorter than it was, or is no text.
        """
        with self._lock:
            try:
                size = self._path.stat().st_size
                if size < self._size:
                    raise SourceError(
                        f"the file shrank from {self._size} to {size} bytes after it was first read",
                        at=Location(self._name),
                        hint="write new events behind the others, or to a new file",
                    )
                if size > self._size:
                    self._look_at(size)
            except OSError as error:
                raise self._missing_error() from error
            return self._ended + self._open_line

    def read(self, first: int, end: int) -> list[bytes]:
        """Lines `[first, end)`, counted from 0, without their ends.

        Raises:
            RowsLostError: the file is gone or has not so many lines.
            SourceError: it is shorter than it was.
        """
        count = self.count()
        if count < end:
            raise RowsLostError(f"file '{self._name}' has {count} lines, but {end} were counted")
        block = first // _STRIDE
        behind = -(-end // _STRIDE)
        with self._lock:
            start = self._places[block]
            stop = self._places[behind] if behind < len(self._places) else self._size
        try:
            with self._path.open("rb") as file:
                file.seek(start)
                lines = file.read(stop - start).split(b"\n")
        except OSError as error:
            raise self._missing_error() from error
        skipped = block * _STRIDE
        return lines[first - skipped : end - skipped]

    def _look_at(self, size: int) -> None:
        """Count the lines of the bytes that were added."""
        with self._path.open("rb") as file:
            at = self._end
            if not at:
                _refuse_packed(file.read(_MOST_MARK), self._name)
            file.seek(at)
            while at < size and (block := file.read(min(_BLOCK_BYTES, size - at))):
                ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n")) + at + 1
                nth = np.arange(self._ended + 1, self._ended + 1 + len(ends))
                self._places += ends[nth % _STRIDE == 0].tolist()
                self._ended += len(ends)
                self._end = int(ends[-1]) if len(ends) else self._end
                at += len(block)
            file.seek(self._end)
            rest = b"" if self._only_ended else file.read(size - self._end)
            self._open_line = is_json(rest.removeprefix(_MARK))
        self._size = size

    def _missing_error(self) -> RowsLostError:
        return RowsLostError(f"file '{self._name}' is gone, with events not read yet", hint="put it back")


def _refuse_packed(begins: bytes, name: str) -> None:
    try:
        refuse_foreign(begins, must_unpack=True)
    except ForeignError as error:
        raise SourceError(str(error), at=Location(name, 1), hint=error.hint) from error
