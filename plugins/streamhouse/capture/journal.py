"""The journal of a capture, as the capture writes it. What readers see is in `ingest/journal.py`."""

import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Lock
from uuid import uuid4

from streamhouse.capture.repeats import place_of
from streamhouse.errors import SourceError
from streamhouse.ingest.checked_lines import DamagedLineError, event_alone, with_checksum
from streamhouse.ingest.checked_segment import checked_segment, damaged_error
from streamhouse.ingest.journal import Group, groups, segments
from streamhouse.ingest.journal_base import CAPTURE_REMEDY, name_of, number_of, numbered_files
from streamhouse.install.sync import sync_folder
from streamhouse.install.whole_file import write_whole

SEGMENT_BYTES = 64 << 20


def new_group(folder: Path, connection: str, tables: Iterable[str]) -> Path:
    """A group of tables that begin now; gives its folder."""
    # Rises over a reset, too: no position in what was removed then means a place in what comes after.
    number = max([int(time.time()), *(int(one.name) + 1 for one in folder.iterdir() if one.name.isdigit())])
    group_folder = folder / str(number)
    group_folder.mkdir(mode=0o700)
    identity = uuid4().hex
    slot = f"streamhouse_{connection[:40]}_{identity[:8]}"
    group = Group(identity=identity, tables=tuple(sorted(tables)), slot=slot)
    write_whole(group_folder / "group.json", group.model_dump_json(), private=True)
    sync_folder(group_folder)
    sync_folder(folder)
    return group_folder


def has_begun(folder: Path) -> bool:
    """Whether the snapshot of a group is whole."""
    return (folder / "begun").exists()


def set_begun(folder: Path) -> None:
    """Let readers see a group."""
    (folder / "begun").touch()
    sync_folder(folder)


def forget_snapshot(folder: Path) -> None:
    """Remove what a snapshot that did not end has written; nobody has read it."""
    assert not has_begun(folder), "flows have read it"
    for file in segments(folder):
        file.unlink()
    shutil.rmtree(folder / "scratch", ignore_errors=True)
    sync_folder(folder)


def next_segment(folder: Path) -> Path:
    """A new empty segment; its name is on the disk."""
    # Above a base, too: positions name the segments that it replaced.
    file = folder / f"{max(map(number_of, numbered_files(folder)), default=0) + 1:08d}.jsonl"
    with file.open("xb"):
        file.chmod(0o600)
    sync_folder(folder)
    return file


class SegmentFile:
    """A segment that is open for writing. May be used from several threads."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("ab")
        self._lock = Lock()

    def append(self, lines: Iterable[bytes]) -> int:
        """Write events with their checksums and wait until the disk has them; gives the size of the file in bytes.

        Raises:
            OSError: the disk is full.
            ValueError: it is closed.
        """
        with self._lock:
            self._file.write(b"".join(with_checksum(line) + b"\n" for line in lines))
            self._file.flush()
            os.fsync(self._file.fileno())
            return self._file.tell()

    def close(self) -> None:
        """End it, after the batch in hand; everything is on the disk already."""
        with self._lock, suppress(OSError):  # of what could not be written before
            self._file.close()


def size_of(folder: Path) -> int:
    """Bytes of all segments and bases of a group; one that goes at this moment does not count."""
    found = 0
    for file in numbered_files(folder):
        with suppress(FileNotFoundError):
            found += file.stat().st_size
    return found


def cut_torn(folder: Path) -> None:
    """Cut what is after the last whole line of the last segment: a write that did not end.

    Raises:
        SourceError: a line of it is not as it was written.
    """
    there = segments(folder)
    if there:
        _check(there[-1])
        cut_torn_file(there[-1])


def cut_torn_file(path: Path) -> None:
    """Cut what is after the last whole line of a file."""
    with path.open("rb+") as file:
        size = at = file.seek(0, os.SEEK_END)
        while at:
            start = max(0, at - (1 << 16))
            file.seek(start)
            end = file.read(at - start).rfind(b"\n")
            if end >= 0:
                at = start + end + 1
                break
            at = start
        if at != size:
            file.truncate(at)
        os.fsync(file.fileno())


def written_from(folder: Path, pattern: re.Pattern[bytes], place: bytes) -> list[bytes]:
    """The places of all events from the first at a place on, to the end of the journal; empty: it has none there.

    Args:
        folder: Of the group.
        pattern: Of places.
        place: Of an event.

    Raises:
        SourceError: a line of a segment is not as it was written.
    """
    later: list[Path] = []
    there = segments(folder)
    while there and place not in checked_bytes(there[-1]):
        later.append(there.pop())
    found: list[bytes] = []
    for file in reversed(there):  # events of one statement have one place, and may be in several segments
        places = _places(file, pattern)
        if place in places:
            found = [*places[places.index(place) :], *found]
        elif places:  # a segment without any is of a start that wrote nothing
            break
    return [*found, *(one for file in reversed(later) for one in _places(file, pattern))] if found else []


def _places(file: Path, pattern: re.Pattern[bytes]) -> list[bytes]:
    lines = checked_bytes(file).splitlines()
    return [place for line in lines if (place := place_of(line, pattern)) is not None]


def checked_bytes(file: Path) -> bytes:
    """What a segment has.

    Raises:
        SourceError: a line is not as it was written.
    """
    found = file.read_bytes()
    _check(file)
    return found


def events_of(file: Path) -> Iterator[bytes]:
    """The events of a segment without their checksums; not one that is being written.

    Raises:
        SourceError: a line is not as it was written.
    """
    _check(file)
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                return
            try:
                event = event_alone(line[:-1])
            except DamagedLineError as damage:  # it was written since
                raise _error_of(file)(str(damage), number) from damage
            if event:
                yield event


def _check(file: Path) -> None:
    checked_segment(file).check(_error_of(file))


def _error_of(file: Path) -> Callable[[str, int], SourceError]:
    return damaged_error(name_of(file), CAPTURE_REMEDY)


def all_tables(folder: Path) -> set[str]:
    """Every table that is in a group."""
    return {table for group in groups(folder).values() for table in group.tables}
