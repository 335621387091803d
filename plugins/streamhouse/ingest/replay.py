"""Replays a table that ships inside an installed Python package, as if its rows arrived now."""

import re
import time
from collections.abc import Callable, Mapping
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from pydantic import Field, field_validator

from streamhouse.errors import Location, MissingPackageError, SourceError, did_you_mean
from streamhouse.ingest.not_null import HINT, NotNull, first_null, required
from streamhouse.ingest.options import check_options
from streamhouse.ingest.parquet import ParquetRows, parquet_rows
from streamhouse.ingest.wrong_option import of_option
from streamhouse.model.table import Column
from streamhouse.model.types import Position

if TYPE_CHECKING:
    import pyarrow as pa

_SPEED = re.compile(r"(?P<rows>[1-9]\d*)\s*/\s*s", re.ASCII)


class ReplayOptions(NotNull):
    """Options of `replay`."""

    package: str = Field(pattern=r"^[A-Za-z_]\w*$", description="an installed Python package with Parquet files")
    table: str = Field(pattern=r"^\w[\w.-]*$", description="name of the file, without .parquet")
    speed: str = Field(default="max", description="max, or rows per second: 1000/s")
    limit: int | None = Field(default=None, ge=0, description="only so many rows, from the first")

    @field_validator("speed")
    @classmethod
    def _speed_is_max_or_a_rate(cls, value: str) -> str:
        if value != "max" and not _SPEED.fullmatch(value):
            raise ValueError(f"'{value}' is no speed; write max, or rows per second such as 1000/s")
        return value

    @property
    def rows_per_second(self) -> int | None:
        """The rate; None for `max`."""
        rate = _SPEED.fullmatch(self.speed)
        return int(rate["rows"]) if rate else None


class Replay:
    """The rows of one table in the order of its file; the position is `{"row": next row}`.

    With a rate, rows become available by the wall clock. Nothing about it is stored: the clock
    starts when this object is first asked about a position, at that position, so a replay that
    restarts goes on from where it was at the same rate, and time it was not running adds no rows.

    Args:
        file: Where the rows are.
        rows_per_second: None: all rows are available at once.
        limit: Rows beyond the first so many do not exist. None: all.
        clock: Seconds that only grow; a test passes its own.
        columns: Of the file, with what is known of NULL; None: any may have it.
    """

    def __init__(
        self,
        file: ParquetRows,
        *,
        rows_per_second: int | None = None,
        limit: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        columns: tuple[Column, ...] | None = None,
    ) -> None:
        self._file = file
        self._columns = columns or file.columns
        self._total = file.rows if limit is None else min(limit, file.rows)
        self._rate = rows_per_second
        self._clock = clock
        self._began: tuple[int, float] | None = None  # row and clock at the first question
        self._lock = Lock()

    def columns(self) -> tuple[Column, ...]:
        """The columns it delivers, in the order of the file."""
        return self._columns

    def available(self) -> Position:
        """The row after the last one that has arrived by now."""
        if self._rate is None:
            return {"row": self._total}
        with self._lock:
            if self._began is None:
                return {"row": 0}
            row, since = self._began
            return {"row": min(self._total, row + int(self._rate * (self._clock() - since)))}

    def advance(self, start: Position, max_rows: int) -> Position:
        """The furthest position from `start` that spans at most `max_rows` rows."""
        row = self._begin(start)
        return {"row": max(row, min(self.available()["row"], row + max_rows))}

    def rows_between(self, start: Position, end: Position) -> int:
        """How many rows `[start, end)` has."""
        return max(0, end.get("row", 0) - self._begin(start))

    def due_s(self, start: Position) -> float | None:
        """Seconds until the row after `start` has arrived; None: there is none any more."""
        row = start.get("row", 0)
        if row >= self._total:
            return None
        with self._lock:
            if self._rate is None or self._began is None:
                return 0.0
            first, since = self._began
            return max(0.0, (row + 1 - first) / self._rate - (self._clock() - since))

    def read(self, start: Position, end: Position, columns: tuple[str, ...] | None = None) -> "pa.Table":
        """The rows of `[start, end)` in order; the columns are in the order of the file.

        Raises:
            SourceError: a row lacks a value that every row has, by what the flow says.
        """
        first = start.get("row", 0)
        rows = self._file.slice(first, max(first, min(end.get("row", 0), self._total)), columns)
        if found := first_null(rows, self._columns):
            raise SourceError(found[1], at=Location(self._file.name, first + found[0] + 1), hint=HINT)
        return rows

    def _begin(self, start: Position) -> int:
        row = start.get("row", 0)
        with self._lock:
            if self._began is None:
                self._began = (row, self._clock())
        return row


def open_replay(
    options: Mapping[str, Any], *, at: Location | None = None, clock: Callable[[], float] = time.monotonic
) -> Replay:
    """Find the table's file without importing the package, and read its footer.

    Raises:
        SourceError: an option is wrong, or the package has no such table.
        MissingPackageError: the package is not installed.
    """
    checked = check_options(ReplayOptions, "replay", options, at)
    tables = _tables(checked.package, at)
    with of_option("table"):
        if checked.table not in tables:
            raise SourceError(
                f"package '{checked.package}' has no table '{checked.table}'",
                at=at,
                hint=did_you_mean(checked.table, tables, f"tables: {', '.join(sorted(tables)) or 'none'}"),
            )
        file = parquet_rows(tables[checked.table], at)
    columns = required(file.columns, checked.not_null, at)
    return Replay(file, rows_per_second=checked.rows_per_second, limit=checked.limit, clock=clock, columns=columns)


def _tables(package: str, at: Location | None) -> dict[str, Path]:
    """Table name → file, for every Parquet file in the package's folder and its `data` folder."""
    try:
        spec = find_spec(package)
    except ValueError:  # a module that was made, not found, such as __main__
        spec = None
    if spec is None:
        raise MissingPackageError(
            f"package '{package}' is not installed",
            at=at,
            hint=did_you_mean(package, packages_distributions(), f"install it: uv pip install {package}"),
        )
    folders = [Path(place) for place in spec.submodule_search_locations or ()]
    return {
        file.stem: file
        for folder in folders
        for part in (folder, folder / "data")
        for file in part.glob("*.parquet")
        if file.resolve().is_relative_to(folder.resolve())  # a link may lead anywhere
    }
