"""Dead letters that a person asked to read again: one file for each request, which is read like a part of the source.

Their positions are parts of the source's position: `.replay-3` → how many rows of the third request were read. So
they are read in epochs, once, like every other row.
"""

import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import pyarrow as pa

from streamhouse.errors import RowsLostError
from streamhouse.ingest.bad_rows import Letter
from streamhouse.model.types import Position

_BEGIN = ".replay-"  # no file of a source is called so: those that begin with a dot are passed over
_SCHEMA = pa.schema([("position", pa.string()), ("raw", pa.binary()), ("context", pa.string())])


class Replays:
    """The requests of one dead-letter table, numbered from 1. A request never changes.

    Args:
        root: The project's folder.
        table: The dead-letter table, as people know it.
    """

    def __init__(self, root: Path, table: str) -> None:
        self._folder = root / ".streamhouse" / "replays" / table

    def numbers(self) -> list[int]:
        """Every request, in order."""
        with suppress(OSError):
            return sorted(int(file.stem) for file in self._folder.iterdir() if _is_request(file))
        return []

    def letters(self, number: int) -> tuple[Letter, ...]:
        """The rows of a request.

        Raises:
            RowsLostError: its file is gone or broken.
        """
        path = self._folder / f"{number}.arrow"
        try:
            return _read(path, path.stat().st_mtime_ns)
        except (OSError, pa.ArrowException) as error:
            raise RowsLostError(
                f"'{path.name}' of {path.parent.name}, which asks for rows to be read again, cannot be read: {error}",
                hint="put the file back; an epoch needs it as long as its flow exists",
            ) from error

    def last(self) -> Mapping[str, int]:
        """Position of a row → the last request that has it: only there it may become a row."""
        return {letter.position: number for number in self.numbers() for letter in self.letters(number)}

    def add(self, letters: Sequence[Letter]) -> int:
        """Ask for rows to be read again; durable on return.

        Args:
            letters: At least one.

        Returns:
            The number of the request.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        columns = ([one.position for one in letters], [one.raw for one in letters], [one.context for one in letters])
        rows = pa.table(list(map(pa.array, columns)), schema=_SCHEMA)
        handle, temporary = tempfile.mkstemp(dir=self._folder, suffix=".new")
        with os.fdopen(handle, "wb") as file:
            with pa.ipc.new_file(file, _SCHEMA) as writer:
                writer.write_table(rows)
            file.flush()
            os.fsync(file.fileno())
        try:
            return self._publish(Path(temporary))
        finally:
            Path(temporary).unlink()

    def _publish(self, file: Path) -> int:
        number = max([0, *self.numbers()]) + 1
        while True:  # another command may take the number
            try:
                os.link(file, self._folder / f"{number}.arrow")
            except FileExistsError:
                number += 1
            else:
                return number

    def available(self) -> Position:
        """Every request with all its rows."""
        return {part_of(number): len(self.letters(number)) for number in self.numbers()}

    def advance(self, start: Position, end: Position, max_rows: int) -> Position:
        """`end` with at most `max_rows` rows of requests behind `start`."""
        end = dict(end)
        for part, rows in self.available().items():
            step = min(max(0, rows - start.get(part, 0)), max_rows)
            if step:
                end[part] = start.get(part, 0) + step
                max_rows -= step
        return end

    def between(self, start: Position, end: Position) -> list[tuple[int, tuple[Letter, ...]]]:
        """The requests of a range, in order, with their rows in it."""
        found = []
        for number in sorted(int(part.removeprefix(_BEGIN)) for part in end if part.startswith(_BEGIN)):
            first, last = start.get(part_of(number), 0), end[part_of(number)]
            if first < last:
                found.append((number, self.letters(number)[first:last]))
        return found


def part_of(number: int) -> str:
    """The part of a position that counts the rows of a request."""
    return f"{_BEGIN}{number}"


def without_replays(position: Position) -> Position:
    """A position without what counts rows that are read again."""
    return {part: taken for part, taken in position.items() if not part.startswith(_BEGIN)}


def rows_again(start: Position, end: Position) -> int:
    """How many rows of requests `[start, end)` has."""
    return sum(max(0, last - start.get(part, 0)) for part, last in end.items() if part.startswith(_BEGIN))


def _is_request(file: Path) -> bool:
    return file.suffix == ".arrow" and file.stem.isdigit()


@lru_cache(maxsize=64)
def _read(path: Path, _stamp: int) -> tuple[Letter, ...]:
    with pa.OSFile(str(path)) as file:
        rows = pa.ipc.open_file(file).read_all().to_pylist()
    return tuple(Letter(row["position"], row["raw"], row["context"]) for row in rows)
