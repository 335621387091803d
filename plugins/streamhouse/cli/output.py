"""How results look: tables and lines for people, one JSON document for programs."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from math import isfinite, isnan
from pathlib import PurePath
from typing import Any, TextIO

from streamhouse.errors.base import DIRECTIONS

Cell = object  # shown with `text_of`
_WHOLE_NAME = 32  # characters
_COMMANDS = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{DIRECTIONS}]")


class CommandOutput:
    """Prints results to standard output; on a terminal with colour and rules, elsewhere as plain text."""

    def __init__(self, *, as_json: bool, stream: TextIO | None = None) -> None:
        self.as_json = as_json
        self.stream = stream or sys.stdout

    def document(self, data: Any) -> None:
        """Print `data` as the one JSON document of this command."""
        self.stream.write(json_text(data, indent=2) + "\n")

    def models(self, data: Any) -> None:
        """As `document`, of data that holds models and what JSON has words for: ten times as fast on large data."""
        from pydantic_core import to_json

        self.stream.write(to_json(data, indent=2).decode() + "\n")

    def line(self, text: str = "", style: str = "") -> None:
        """Print one line without characters that would command a terminal; `style` is a colour there."""
        text = plain(text)
        if style and self._is_terminal:
            self._console().print(text, style=style, markup=False, highlight=False, soft_wrap=True)
        else:
            self.stream.write(f"{text}\n")

    def table(self, headers: Sequence[str], rows: Sequence[Sequence[Cell]], title: str = "") -> None:
        """Print rows under headers; numbers stand to the right. Nothing is cut off when output is no terminal."""
        right = [any(_is_number(row[i]) for row in rows) for i in range(len(headers))]
        if self._is_terminal:
            self._rich_table(headers, rows, right, title)
        else:
            self._plain_table(headers, rows, right, title)

    def facts(self, facts: Mapping[str, Cell]) -> None:
        """Print names and values, one pair on each line."""
        width = max(map(len, facts), default=0)
        for name, value in facts.items():
            self.line(f"{name:<{width}}  {text_of(value)}")

    @property
    def _is_terminal(self) -> bool:
        return self.stream.isatty()

    def _console(self) -> Any:
        from rich.console import Console

        return Console(file=self.stream)

    def _rich_table(
        self, headers: Sequence[str], rows: Sequence[Sequence[Cell]], right: Sequence[bool], title: str
    ) -> None:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        table = Table(title=title or None, title_justify="left", box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
        for i, (header, numeric) in enumerate(zip(headers, right, strict=True)):
            # Names stay whole where they can; it is the last column, mostly prose, that wraps.
            longest = max((len(text_of(row[i])) for row in rows), default=0)
            least = None if i == len(headers) - 1 else min(max(longest, len(header)), _WHOLE_NAME)
            table.add_column(Text(header), justify="right" if numeric else "left", overflow="fold", min_width=least)
        for row in rows:
            table.add_row(*(Text(text_of(cell)) for cell in row))
        self._console().print(table)

    def _plain_table(
        self, headers: Sequence[str], rows: Sequence[Sequence[Cell]], right: Sequence[bool], title: str
    ) -> None:
        if title:
            self.line(title)
        lines = [list(headers), *([text_of(cell) for cell in row] for row in rows)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(headers))]
        for line in lines:
            cells = (
                cell.rjust(width) if numeric else cell.ljust(width)
                for cell, width, numeric in zip(line, widths, right, strict=True)
            )
            self.line("  ".join(cells).rstrip())


def text_of(value: Cell) -> str:
    """A value for people: `-` for nothing, numbers with thousands apart, one line."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}" + (f".{value:%f}".rstrip("0") if value.microsecond else "")
    return plain(" ".join(str(value).split("\n")))


def plain(text: str) -> str:
    """A text without characters that command a terminal, or turn around what follows: each becomes `\ufffd`.

    Names, values and what a language model writes may have them.
    """
    return text if text.isprintable() else _COMMANDS.sub("\ufffd", text)


def duration_text(milliseconds: float) -> str:
    """How long, for people: `340 ms`, `2.4 s`, `3 min`, `5 h`."""
    if milliseconds < 1_000:
        return f"{milliseconds:.0f} ms"
    for limit, size, unit in ((60_000, 1_000, "s"), (3_600_000, 60_000, "min"), (86_400_000, 3_600_000, "h")):
        if milliseconds < limit:
            return f"{milliseconds / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{milliseconds / 86_400_000:.1f}".removesuffix(".0") + " d"


def rate_text(per_second: float) -> str:
    """Rows per second, for people: `1,250`, `8`, `0.04`; 0 only where there were none."""
    if per_second <= 0 or per_second >= 1:
        return f"{per_second:,.0f}"
    return f"{per_second:.2f}" if per_second >= 0.01 else "under 0.01"


def json_text(data: Any, indent: int | None = None) -> str:
    """As one JSON document; NaN and the infinities, which JSON has not, as the texts that Spark writes for them."""
    try:
        return json.dumps(data, indent=indent, ensure_ascii=False, default=json_value, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(data), indent=indent, ensure_ascii=False, default=json_value)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, list | tuple) else value


def json_value(value: object) -> object:
    """What JSON has no word for: instants as ISO 8601, decimals as text (exact), bytes as hex.

    Raises:
        TypeError: nothing of ours prints such a value.
    """
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal | PurePath):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _is_number(value: Cell) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)
