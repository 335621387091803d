"""Which lines of a topic's journal were dead letters, as far as its base needs to know.

    .streamhouse/topics/<topic>/<group>/letters/       there since the group began, of the first group of a topic
                                               /3.17   line 17 of segment 3, from 0: no earlier one was a dead letter

A dead letter may be read again at any time, also by columns that can read its message by then. It must not undo a
later delete, so the base keeps the deletes behind the first dead letter. Deletes before it need not stay.
"""

import os
from contextlib import suppress
from pathlib import Path

from streamhouse.ingest.journal_base import number_of
from streamhouse.install.sync import sync_folder

Line = tuple[int, int]
"""Number of a segment, and of a line in it, from 0."""
FIRST_LINE: Line = (0, 0)
"""A line before all others."""


def begin_letters(group: Path) -> None:
    """Take note that no message of a topic is a dead letter yet. Its group is the first one."""
    (group / "letters").mkdir(mode=0o700)


def line_at(position: str) -> Line:
    """The line of a dead letter.

    Example:
        >>> line_at("1767000000/00000003.jsonl:18")
        (3, 17)
    """
    name, _, number = position.rpartition(":")
    return number_of(Path(name)), int(number) - 1


def note_letter(group: Path, line: Line) -> None:
    """Take note of a dead letter; durable on return."""
    first = first_letter(group)
    if first is None or line < first:
        folder = group / "letters"
        with suppress(FileExistsError):  # another process found it as well
            os.close(os.open(folder / f"{line[0]}.{line[1]}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        sync_folder(folder)


def first_letter(group: Path) -> Line | None:
    """The first line that was a dead letter; `FIRST_LINE`: that is not known; None: there was none."""
    try:
        names = [one.name for one in (group / "letters").iterdir()]
    except FileNotFoundError:
        return FIRST_LINE  # of an earlier version, of a topic that was made again, or gone
    return min(((int(segment), int(line)) for segment, _, line in (one.partition(".") for one in names)), default=None)
