"""The base of a journal: what is left of its oldest segments, when all flows that read them are past them.

    .streamhouse/capture/<connection>/<group>/00000012.base.jsonl     in place of the segments up to 12

The first line is the `BaseHeader`. Of each table then come its rows as of the end of segment 12, as events, and again
the last events as they were, at which the Flow Trigger looks. Each line has its checksum behind it
(`checked_lines.py`); a base of an earlier version has none. A base is never changed. A later one replaces it.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pydantic import Field, ValidationError

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.checked_lines import DamagedLineError, with_checksum, without_checksum
from streamhouse.install.sync import sync_folder
from streamhouse.model.types import Frozen, Position

BASE = ".base.jsonl"
BASE_NOUN = "the base of the journal"
CAPTURE_REMEDY = (
    "only the capture may write to it; put the file back from a copy, or begin from the start: "
    "streamhouse capture reset"
)
TOPIC_REMEDY = "put the file back from a copy; only Streamhouse may write to it"
_UNFINISHED = ".new"


class BasePart(Frozen):
    """What a base has of one table.

    Attributes:
        rows: Its first events of the table: they make the rows as of the end of the base.
        tail: Those after them: the last events before the end of the base, and each earlier removal of all rows.
        covers: Segment → how many events of the table it had; of each one that is gone and had some. It is the
            position at the end of the base.
    """

    rows: int = Field(ge=0)
    tail: int = Field(ge=0)
    covers: Position


class BaseHeader(Frozen):
    """What a base has, by table."""

    tables: dict[str, BasePart]


class CountedFiles(NamedTuple):
    """The files of a group that count: all that a base replaces does not, even while it is there.

    Attributes:
        base: The newest one; None: there is none.
        segments: Those after it, in the order they were written.
    """

    base: Path | None
    segments: list[Path]


def number_of(file: Path) -> int:
    """The number of a segment, or of the last one that a base replaces.

    Example:
        >>> number_of(Path("1/00000012.base.jsonl")), number_of(Path("1/00000013.jsonl"))
        (12, 13)
    """
    return int(file.name.partition(".")[0])


def name_of(file: Path) -> str:
    """What messages call a file of a journal.

    Example:
        >>> name_of(Path(".streamhouse/capture/shop/1/00000012.jsonl"))
        'shop/1/00000012.jsonl'
    """
    return f"{file.parent.parent.name}/{file.parent.name}/{file.name}"


def numbered_files(folder: Path) -> list[Path]:
    """Every base and every segment of a group, by number, also those that do not count any more."""
    return sorted(folder.glob("[0-9]*.jsonl"), key=lambda file: (number_of(file), file.name))


def files_of(folder: Path) -> CountedFiles:
    """The files of a group that count."""
    base: Path | None = None
    found: list[Path] = []
    for file in numbered_files(folder):
        if file.name.endswith(BASE):
            base = file
        else:
            found.append(file)
    return CountedFiles(base, [file for file in found if base is None or number_of(file) > number_of(base)])


def write_base(folder: Path, last: str, header: Frozen, lines: Iterable[bytes]) -> None:
    """Write a base; the disk has it on return. What it replaces is still there, and does not count any more.

    Args:
        folder: Of the group.
        last: Name of the last segment that it replaces, with or without its folder.
        header: Its first line.
        lines: Those behind it, without checksums and line ends.

    Raises:
        OSError: the disk is full.
    """
    base = folder / f"{Path(last).stem}{BASE}"
    unfinished = base.with_name(f"{base.name}{_UNFINISHED}")
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as output:
        output.write(with_checksum(header.model_dump_json().encode()) + b"\n")
        for line in lines:
            output.write(with_checksum(line) + b"\n")
        output.flush()
        os.fsync(handle)
    unfinished.replace(base)
    sync_folder(folder)


def remove_replaced(folder: Path) -> None:
    """Remove what the base of a group replaces, and one that was not finished. No other process may write one now."""
    for file in folder.glob(f"*{BASE}{_UNFINISHED}"):
        file.unlink()
    base = files_of(folder).base
    if base is not None:
        for file in numbered_files(folder):
            if file != base and number_of(file) <= number_of(base):
                file.unlink()
        sync_folder(folder)


def first_line(base: Path) -> tuple[bytes, bool]:
    """The header of a base as JSON, and whether each line behind it has a checksum.

    Raises:
        DamagedLineError: the line is not as it was written.
        FileNotFoundError: a later base has replaced this one.
    """
    with base.open("rb") as file:
        line = file.readline().removesuffix(b"\n")
    if line.endswith(b"}"):
        return line, False  # of an earlier version
    return without_checksum(line), True


def header_of(base: Path) -> tuple[BaseHeader, bool]:
    """What a base has, and whether each line behind the header has a checksum.

    Raises:
        SourceError: the file is no base, or was damaged.
        FileNotFoundError: a later one has replaced it.
    """
    try:
        line, is_checked = first_line(base)
        return BaseHeader.model_validate_json(line), is_checked
    except (DamagedLineError, ValidationError) as error:
        raise SourceError(
            "the file is no base of a journal, or was damaged",
            at=Location(name_of(base), 1),
            hint=CAPTURE_REMEDY,
        ) from error
