"""The journal of a topic: its messages in files of the project, so that a range of them can be read again.

    .streamhouse/topics/<topic>/<group>/group.json      which topic it is
                                       /00000001.jsonl  its messages, one a line (`topic_events.py`), with a checksum
                                                        behind each (`checked_lines.py`): a segment
                                       /letters/…       where its first dead letter is (`topic_letters.py`)
                                from-…/<group>/…        the same for sources that `start` with later messages

Kafka removes messages, and of a compacted topic also those between others. The journal keeps what was read. It is the
only record of how far the topic was read. One process at a time writes to it. Its oldest segments are replaced by a
base (`topic_base.py`). A position names the segments also when they are gone, so it means the same before and after.
"""

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock

from pydantic import ValidationError

from streamhouse.errors import RowsLostError, SourceError
from streamhouse.ingest.checked_lines import DamagedLineError, event_alone, has_none, with_checksum
from streamhouse.ingest.checked_segment import checked_segment, damaged_error
from streamhouse.ingest.journal_base import TOPIC_REMEDY, files_of, name_of
from streamhouse.ingest.json_text import is_json
from streamhouse.ingest.kafka_topic import Topic, TopicBounds
from streamhouse.ingest.lines import Lines
from streamhouse.ingest.topic_base import TopicBase, base_in, header_of
from streamhouse.ingest.topic_events import (
    MessagePlace,
    TopicEvents,
    ends_in,
    event_of,
    line_of,
    mark_of,
    place_of,
    refusal_of,
)
from streamhouse.ingest.topic_letters import FIRST_LINE, Line, begin_letters, first_letter, line_at, note_letter
from streamhouse.ingest.topic_start import TopicStart
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.install.sync import only_writer, sync_folder
from streamhouse.install.whole_file import write_whole
from streamhouse.model.types import Frozen

SEGMENT_BYTES = 64 << 20
MOST_MESSAGES = 100_000
"""So many are taken over at once."""
_SAMPLE_BYTES = 1 << 18
_POLICY_EVERY_S = 10.0


class TopicGroup(Frozen):
    """Which topic a group of segments is of.

    Attributes:
        servers: As the source names them.
        topic_id: Another one when the topic was made again.
        compacted: Whether Kafka compacts it.
        partitions: How many it had at the last look.
    """

    servers: str
    topic_id: str
    compacted: bool
    partitions: int


class TopicLines:
    """The events of a segment. May be used from several threads.

    Args:
        path: The segment.
        name: What messages call it.
        wanted: How its messages are events.
    """

    def __init__(self, path: Path, name: str, wanted: TopicEvents) -> None:
        self._lines = Lines(path, name, only_ended=True)
        self._path = path
        self._error = damaged_error(name, TOPIC_REMEDY)
        self._wanted = wanted

    def count(self) -> int:
        """How many lines there are now.

        Raises:
            RowsLostError: the segment is gone.
            SourceError: it is shorter than it was, or a line is not as it was written.
        """
        found = self._lines.count()
        with suppress(FileNotFoundError):  # it goes at this moment, and what is read of it is missed
            checked_segment(self._path).check(self._error)
        return found

    def read(self, first: int, end: int) -> list[bytes]:
        """Events of the lines `[first, end)`, counted from 0; b"": it has none.

        Raises:
            RowsLostError, SourceError: as `count`.
        """
        return [event_of(line, self._wanted) for line in self.raw(first, end)]

    def raw(self, first: int, end: int) -> list[bytes]:
        """The lines `[first, end)` without their checksums.

        Raises:
            RowsLostError, SourceError: as `count`.
        """
        self.count()
        return [self._verified(line, at) for at, line in enumerate(self._lines.read(first, end), first)]

    def _verified(self, line: bytes, at: int) -> bytes:
        try:
            return event_alone(line)
        except DamagedLineError as error:
            raise self._error(str(error), at + 1) from error

    def place(self, number: int) -> MessagePlace | None:
        """Where the message of a line was; None: it has none."""
        return place_of(self.raw(number, number + 1)[0])

    def refusal(self, number: int) -> UnreadableError | None:
        """Why the message of a line cannot be read by its schema; None: it can, or has no schema."""
        return refusal_of(self.raw(number, number + 1)[0], self._wanted)


class TopicJournal:
    """The journal of one topic.

    Args:
        root: The project's folder.
        servers: Of the topic.
        topic: Its name.
        wanted: How its messages are events.
        start: Where it begins. Each place has a journal of its own.
    """

    def __init__(
        self, root: Path, servers: str, topic: str, wanted: TopicEvents, start: TopicStart | None = None
    ) -> None:
        self._start = start or TopicStart()
        self._root = root
        self._folder = folder_of(root, topic, self._start)
        self._servers = servers
        self._topic = topic
        self._wanted = wanted
        self._lines: dict[str, TopicLines] = {}
        self._base: TopicBase | None = None
        self._lock = Lock()
        self._known: tuple[Path, int, dict[str, int]] | None = None  # last segment, its size, up to where the topic is
        self._compacted: tuple[str, float, bool] | None = None  # of which topic, when it was asked, the answer
        self._seen: dict[Path, tuple[tuple[int, int], TopicGroup]] = {}  # `group.json`: which file it is, its content

    def group(self) -> tuple[Path, TopicGroup] | None:
        """The group that counts, and its folder; None: nothing was read yet."""
        found = [one for one in self._groups() if one[1].servers == self._servers]
        return found[-1] if found else None

    @property
    def title(self) -> str:
        """Of what it is a journal, as messages say it."""
        return f"the topic {self._topic}"

    @property
    def folder(self) -> Path:
        """Where it is; need not exist. Sources that share it read one journal."""
        return self._folder

    def base(self) -> TopicBase | None:
        """What is there in place of segments that are gone; None: none is gone.

        Raises:
            SourceError: its file was damaged.
        """
        found = self.group()
        while found is not None and (file := files_of(found[0]).base) is not None:
            known = self._base
            if known is not None and known.name == f"{found[0].name}/{file.name}":
                return known
            with suppress(FileNotFoundError, RowsLostError):  # a later one took its place at this moment
                self._base = base_in(file, self._wanted_now(found[1]))
                with self._lock:
                    self._lines = {one: there for one, there in self._lines.items() if one not in self._base.covers}
        return None

    def note_letters(self, positions: Iterable[str]) -> None:
        """Take note of dead letters before they are in a table; durable on return."""
        found: dict[str, Line] = {}
        for position in positions:
            group, line = position.partition("/")[0], line_at(position)
            found[group] = min(line, found.get(group, line))
        for group, line in found.items():
            note_letter(self._folder / group, line)

    def first_letter(self, positions: Collection[str]) -> Line | None:
        """The first line that was a dead letter, or may have been; None: none was.

        Args:
            positions: Of letters that were read again.
        """
        found = self.group()
        if found is None:
            return None
        folder = found[0]
        if any(one.partition("/")[0] != folder.name for one in positions):
            return FIRST_LINE  # of a group before this one
        noted = first_letter(folder)
        return min([*map(line_at, positions), *([] if noted is None else [noted])], default=None)

    def events(self, lines: Sequence[bytes]) -> list[bytes]:
        """The events of lines of the journal; b"": a line has none."""
        found = self.group()
        wanted = self._wanted if found is None else self._wanted_now(found[1])
        return [event_of(line, wanted) for line in lines]

    def _wanted_now(self, group: TopicGroup) -> TopicEvents:
        return replace(self._wanted, compacted=group.compacted)

    def names(self) -> list[str]:
        """The segments that no base replaces, in their order."""
        found = self.group()
        return [] if found is None else [f"{found[0].name}/{file.name}" for file in _segments(found[0])]

    def lines(self, name: str) -> TopicLines:
        """The events of a segment."""
        with self._lock:
            if name not in self._lines:
                found = self.group()
                wanted = self._wanted if found is None else self._wanted_now(found[1])
                self._lines[name] = TopicLines(self._folder / name, f"{self._topic}/{name}", wanted)
            return self._lines[name]

    def some(self, names: list[str]) -> list[bytes]:
        """Events of the newest segment, to look at the columns of their rows."""
        return newest_events(self._folder / names[-1], self._wanted)

    def newest(self) -> list[bytes]:
        """The last events that were read from the topic."""
        names = self.names()
        return self.some(names) if names else []

    def pull(self, topic: Topic) -> bool:
        """Take over messages that are not in the journal yet, not many at once; durable on return.

        Returns:
            Whether there may be more. False also while another process writes to the journal.

        Raises:
            RowsLostError: Kafka removed messages that are not in the journal, or may have.
            SourceError: there is no such topic, or several tables are in a topic that is compacted.
            StoreUnavailableError: no broker answers.
        """
        is_first = not self._folder.exists()
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._lock, only_writer(self._folder / "lock") as alone:
            return alone and self._pull(topic, is_first=is_first)

    def _pull(self, topic: Topic, *, is_first: bool) -> bool:
        asked_at = time.time()
        bounds = topic.bounds()
        oldest, newest = bounds.oldest, bounds.newest
        folder, group = self._group_of(topic, bounds, is_first=is_first)
        segment, taken = self._end(folder)
        self._refuse_lost(folder, group, taken, bounds, topic)
        ranges, left = {}, MOST_MESSAGES
        begins = self._start.begins(oldest, newest, topic.offsets_since) if newest.keys() - taken.keys() else {}
        for partition, end in sorted(newest.items(), key=lambda one: int(one[0])):
            first = taken.get(partition, max(begins.get(partition, 0), oldest[partition]))
            if first < end and left > 0:
                ranges[int(partition)] = (first, min(end, first + left))
                left -= ranges[int(partition)][1] - first
        if ranges:
            lines = [line_of(message) for message in topic.messages(ranges)]
            ends = {str(partition): end for partition, (_, end) in ranges.items()}
            if any(ends_in(lines).get(partition) != end for partition, end in ends.items()):
                lines.append(mark_of(ends))  # ends of transactions and removed messages are no lines
            _append(segment, lines)
            if segment.stat().st_size >= SEGMENT_BYTES:
                segment = _next_segment(folder, {**taken, **ends})
            self._known = (segment, segment.stat().st_size, {**taken, **ends})
        if left > 0:  # what was written before this moment is in the journal
            os.utime(folder / "pulled", (asked_at, asked_at))
        return left <= 0

    def _end(self, folder: Path) -> tuple[Path, dict[str, int]]:
        """The last segment, and up to where the topic is in the journal; read only where another process wrote."""
        there = _segments(folder)
        if self._known is not None and there and self._known[:2] == (there[-1], there[-1].stat().st_size):
            return there[-1], self._known[2]
        segment, taken = _repaired(folder)
        self._known = (segment, segment.stat().st_size, taken)
        return segment, taken

    def _groups(self) -> list[tuple[Path, TopicGroup]]:
        if not self._folder.is_dir():
            return []
        found = []
        for folder in sorted((one for one in self._folder.iterdir() if one.name.isdigit()), key=lambda f: int(f.name)):
            with suppress(OSError, ValidationError):
                found.append((folder, self._noted(folder / "group.json")))
        return found

    def _noted(self, file: Path) -> TopicGroup:
        """What a file says; it is never changed, and another one may take its place."""
        there = file.stat()
        which = (there.st_ino, there.st_mtime_ns)
        known = self._seen.get(file)
        if known is None or known[0] != which:
            known = self._seen[file] = (which, TopicGroup.model_validate_json(file.read_bytes()))
        return known[1]

    def _group_of(self, topic: Topic, bounds: TopicBounds, *, is_first: bool) -> tuple[Path, TopicGroup]:
        """The group of the topic as it is now; a new one, if it was made again, or where it `is_first`."""
        compacted = self._is_compacted(topic, bounds.identity)
        if compacted and self._wanted.table is not None:
            raise SourceError(
                f"Kafka compacts the topic '{self._topic}', and it has several tables: a deleted row cannot be seen",
                hint="let the connector write one topic for each table, or set the topic's cleanup.policy to delete",
            )
        partitions = len(bounds.newest)
        now = TopicGroup(servers=self._servers, topic_id=bounds.identity, compacted=compacted, partitions=partitions)
        there = self._groups()
        for folder, group in reversed(there):
            if group.topic_id == now.topic_id:
                if group != now:
                    _note(folder, now)
                return folder, now
        number = max([time.time_ns() // 1_000_000, *(int(folder.name) + 1 for folder, _ in there)])
        folder = self._folder / str(number)
        folder.mkdir(mode=0o700)
        if is_first:  # else there may be dead letters of a group before
            begin_letters(folder)
        (folder / "pulled").touch(mode=0o600)
        _next_segment(folder, {})
        _note(folder, now)
        sync_folder(self._folder)
        return folder, now

    def _is_compacted(self, topic: Topic, identity: str) -> bool:
        """Whether Kafka compacts the topic; asked for not at each look, since people change it."""
        known = self._compacted
        if known is None or known[0] != identity or time.monotonic() - known[1] >= _POLICY_EVERY_S:
            known = self._compacted = (identity, time.monotonic(), topic.is_compacted())
        return known[2]

    def _refuse_lost(
        self, folder: Path, group: TopicGroup, taken: Mapping[str, int], bounds: TopicBounds, topic: Topic
    ) -> None:
        oldest, newest = bounds.oldest, bounds.newest
        hint = (
            f"to read the topic from its beginning, remove {folder.relative_to(self._root)}: the flow "
            "then has another source, and the trigger asks what to do"
        )
        for partition, first in taken.items():
            if first < oldest.get(partition, 0):
                raise RowsLostError(
                    f"Kafka's {self._topic}, partition {partition}, begins at {oldest[partition]}; "
                    f"{first} was to be read",
                    hint=hint,
                )
            if first > newest.get(partition, 0):
                raise RowsLostError(
                    f"Kafka's {self._topic}, partition {partition}, ends at {newest.get(partition, 0)}, "
                    f"before {first}, up to where it was read",
                    hint=hint,
                )
        waits = any(taken.get(partition, 0) < end for partition, end in newest.items())
        if not (group.compacted and taken and waits):
            return
        rests_ms = (time.time() - (folder / "pulled").stat().st_mtime) * 1000
        kept_ms = topic.deletes_kept_ms()
        if rests_ms > kept_ms:
            raise RowsLostError(
                f"Kafka keeps deletes of {self._topic} for {kept_ms} ms, and it was last read "
                f"{rests_ms:.0f} ms ago: deleted rows may be unknown",
                hint=hint,
            )


def folder_of(root: Path, topic: str, start: TopicStart) -> Path:
    """Where the journal of a topic is that sources read from a place on."""
    return root / ".streamhouse" / "topics" / topic / start.folder


def newest_events(segment: Path, wanted: TopicEvents) -> list[bytes]:
    """The events that a segment ends with."""
    try:
        with segment.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _SAMPLE_BYTES))
            lines = file.read().split(b"\n")
    except OSError:
        return []
    found = (event_of(line, wanted) for line in _whole_ones(lines if size <= _SAMPLE_BYTES else lines[1:]))
    return [event for event in found if event]


def _whole_ones(lines: list[bytes]) -> Iterator[bytes]:
    """Lines without their checksums; the reader gets the error of one that is damaged."""
    for line in lines:
        with suppress(DamagedLineError):
            yield event_alone(line)


def _segments(folder: Path) -> list[Path]:
    return files_of(folder).segments


def _next_segment(folder: Path, ends: Mapping[str, int]) -> Path:
    """A new segment; its first line says up to where those before it have the topic."""
    there = _segments(folder)
    file = folder / f"{int(there[-1].stem) + 1 if there else 1:08d}.jsonl"
    with suppress(FileExistsError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    _append(file, [mark_of(ends)])
    sync_folder(folder)
    return file


def _repaired(folder: Path) -> tuple[Path, dict[str, int]]:
    """The last segment, and up to where the topic is in it; without the rest of a write that did not end.

    Raises:
        SourceError: a line is not as it was written.
    """
    there = _segments(folder)
    if not there:
        return _next_segment(folder, {}), {}
    last = there[-1]
    lines = _checked(last)
    with last.open("rb+") as file:
        data = file.read()
        whole = data.rfind(b"\n") + 1
        rest = data[whole:]
        if rest:
            # A reader of an earlier version counts a line that is whole and only lacks its end.
            completed = with_checksum(rest) + b"\n" if has_none(rest) and is_json(rest) else b""
            file.truncate(whole)
            file.seek(whole)
            file.write(completed)
            file.flush()
            os.fsync(file.fileno())
            lines += [rest] if completed else []
    if lines:
        return last, ends_in(lines)
    ends = _ends(folder, there[:-1])
    _append(last, [mark_of(ends)])
    return last, ends


def _checked(segment: Path) -> list[bytes]:
    """The whole lines of a segment without their checksums.

    Raises:
        SourceError: a line is not as it was written.
    """
    *lines, _ = segment.read_bytes().split(b"\n")
    checked_segment(segment).check(damaged_error(name_of(segment), TOPIC_REMEDY))
    return [event_alone(line) for line in lines]


def _ends(folder: Path, segments: list[Path]) -> dict[str, int]:
    """As of the last segment, whose first line says where it begins; without one as of the base."""
    if segments:
        return ends_in(_checked(segments[-1]))
    base = files_of(folder).base
    return header_of(base)[0].ends if base is not None else {}


def _append(segment: Path, lines: list[bytes]) -> None:
    with segment.open("ab") as file:
        file.write(b"".join(with_checksum(line) + b"\n" for line in lines))
        file.flush()
        os.fsync(file.fileno())


def _note(folder: Path, group: TopicGroup) -> None:
    write_whole(folder / "group.json", group.model_dump_json(), private=True)
    sync_folder(folder)
