"""Change events of a Kafka topic: rows that are inserted, updated and deleted by their key."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from streamhouse.errors import Location, RowsLostError, SourceError
from streamhouse.ingest.bad_rows import BadRow
from streamhouse.ingest.cdc import Based
from streamhouse.ingest.cdc_options import CdcOptions
from streamhouse.ingest.cdc_order import LaterEvents
from streamhouse.ingest.event_run import Events
from streamhouse.ingest.kafka_settings import check_settings, client_settings
from streamhouse.ingest.kafka_topic import Topic
from streamhouse.ingest.message_formats import RegisteredEvents
from streamhouse.ingest.schema_registry import registry_client
from streamhouse.ingest.topic_base import BaseLines, TopicBase, TopicView, view_of
from streamhouse.ingest.topic_events import TopicEvents
from streamhouse.ingest.topic_fold import NeededLines
from streamhouse.ingest.topic_journal import TopicJournal, TopicLines
from streamhouse.ingest.topic_letters import Line
from streamhouse.ingest.topic_start import TopicStart
from streamhouse.ingest.truncations import Truncations
from streamhouse.model.table import Column
from streamhouse.model.types import Position

_LOOK_EVERY_S = 1.0
_OTHERS_TABLE = "let the producer mend it, or let such messages go to a table of their own: on_bad_rows: dead_letter"


class CdcTopic(Based[TopicBase]):
    """The rows that the events of a topic make; the position counts lines of the topic's journal.

    To ask what is there takes messages over into the journal; nothing else asks Kafka. It is asked at most once a
    second, unless more messages wait.

    Args:
        journal: Of the topic.
        topic: The topic.
        args: As for `Cdc`.
        options: As for `Cdc`.
    """

    def __init__(self, journal: TopicJournal, topic: Topic, options: CdcOptions, *args: Any, **more: Any) -> None:
        super().__init__(options, *args, **more)
        self._journal: TopicJournal = journal
        self._topic = topic
        self._view = view_of(options)
        self._lost: RowsLostError | None = None
        self._clock = time.monotonic  # a test sets its own
        self._asked_at: float | None = None

    def available(self) -> Position:
        """See `Cdc`. Not all of a long topic is there at the first call.

        Raises:
            SourceError: there is no such topic, the broker refuses us, or the journal was damaged.
            StoreUnavailableError: no broker answers.
        """
        self._pull()
        return self._written()

    def advance(self, start: Position, max_rows: int) -> Position:
        """See `Cdc`.

        Raises:
            RowsLostError: nothing is left in the journal, and Kafka removed messages that are not in it.
            SourceError: as `Cdc.advance`.
        """
        end = super().advance(start, max_rows)
        if end == start and self._lost is not None:
            raise self._lost
        return end

    def _there(self) -> Position:
        return self._written()

    @property
    def journal(self) -> TopicJournal:
        """Of the topic."""
        return self._journal

    @property
    def view(self) -> TopicView:
        """How it tells rows apart."""
        return self._view

    @property
    def keeps_bad_rows(self) -> bool:
        """Whether messages that cannot be read may be read again later."""
        return self._tolerant

    def needed(self, is_removed: Callable[[str], bool], *, deletes_from: int | None) -> NeededLines:
        """Finds the lines that make its rows, among those of `journal.events`; see there."""
        return NeededLines(self._wanted, is_removed, deletes_from=deletes_from)

    def first_letter(self) -> Line | None:
        """The first line of the journal that was a dead letter, or may have been; None: none was.

        Raises:
            RowsLostError: a request to read dead letters again is gone.
        """
        return self._journal.first_letter(self._replays.last() if self._replays is not None else ())

    def truncation(self, id_: str) -> str:
        """What it does when all rows are removed: `removed`, `kept` or `asked`."""
        return self._wanted.truncations.of(id_)

    def identity(self) -> str:
        """Another one when the topic was made again, or the journal was removed; empty: nothing was read yet.

        Raises:
            SourceError, StoreUnavailableError: as `available`.
        """
        self._pull()
        found = self._journal.group()
        return "" if found is None else f"{found[1].topic_id}.{found[0].name}"

    def bad_rows(self, start: Position, end: Position) -> list[BadRow]:
        """See `LetterSource`. The context says where the message was."""
        found = super().bad_rows
        bad = self._of_one_moment(lambda _: [self._with_place(one) for one in found(start, end)])
        self._journal.note_letters(one.letter.position for one in bad)
        return bad

    def _pull(self) -> None:
        now = self._clock()
        if self._asked_at is not None and now - self._asked_at < _LOOK_EVERY_S:
            return
        try:
            self._asked_at = None if self._journal.pull(self._topic) else now
            self._lost = None
        except RowsLostError as error:  # what is in the journal is read first
            self._lost, self._asked_at = error, now

    def _refuse_begin(self, base: TopicBase) -> None:
        """Refuse a base that does not have the rows of this source.

        Raises:
            RowsLostError: it has those of sources that tell rows apart otherwise, or that removed rows which this one
                keeps.
        """
        if self._view in base.header.views:
            kept = [id_ for id_ in base.header.removed if self._wanted.truncations.of(id_) == "kept"]
            if not kept:
                return
            why = "without the rows before the table was truncated"
        else:
            why = "as sources with another primary_key, table, messages or format needed them"
        raise RowsLostError(
            f"the journal of {self._journal.title} has its older messages only {why}",
            hint="let the source begin in a journal of its own, with the oldest messages that Kafka still has: "
            "start: {offsets: {0: 0}}",
        )

    def _events(self, start: Position, end: Position) -> Iterator[Events]:
        try:
            for events in super()._events(start, end):
                self._refuse_order_unknown(events)
                yield events
        except SourceError as error:
            raise self._placed(error) from error

    def _refuse_order_unknown(self, events: Events) -> None:
        found = self._journal.group() if events.cleared else None
        if found is not None and found[1].partitions > 1:
            raise SourceError(
                "the table was truncated, and its topic has several partitions: which rows came later is unknown",
                at=self._at,
                hint="let the topic have one partition, or never follow it: schema_change: {exclude: [truncate_table]}",
            )

    def _placed(self, error: SourceError) -> SourceError:
        """The error with partition and offset of its message."""
        if error.at is None or not error.at.line:
            return error
        lines = self._lines_of(error.at.file)
        place = lines.place(error.at.line - 1) if lines is not None else None
        if lines is None or place is None:
            return error
        where = f"the message at partition {place.partition}, offset {place.offset} of {self._topic.name}"
        if why := lines.refusal(error.at.line - 1):
            return SourceError(f"{where} cannot be read: {why}", at=self._at, hint=_OTHERS_TABLE)
        return SourceError(f"{where}: {error.message}", at=self._at, hint=error.hint)

    def _with_place(self, bad: BadRow) -> BadRow:
        name, _, line = bad.letter.position.rpartition(":")
        lines = self._lines_of(name)
        place = lines.place(int(line) - 1) if lines is not None else None
        if lines is None or place is None:
            return bad
        context = {
            "topic": self._topic.name,
            "partition": place.partition,
            "offset": place.offset,
            "timestamp": place.time_ms,
            "key": place.key,
        }
        position = bad.letter.position
        if isinstance(lines, BaseLines):  # a dead letter keeps the position that it had
            [(segment, number, _)] = lines.placed(int(line) - 1, int(line))
            position = f"{segment}:{number + 1}"
        found = replace(bad, letter=replace(bad.letter, position=position, context=json.dumps(context)))
        why = lines.refusal(int(line) - 1)
        return replace(found, reason=why.reason, message=str(why)) if why else found

    def _lines_of(self, name: str) -> TopicLines | BaseLines | None:
        """Those of a segment or of the base; None: there is none of that name."""
        base = self._journal.base()
        if base is not None and name == base.name:
            return base.lines
        return self._journal.lines(name) if name in self._journal.names() else None

    def _see_later(self, later: LaterEvents, end: Position, decoded: Callable[[list[bytes]], list[Events]]) -> None:
        base, since = self._journal.base(), later.since(end)
        if base is None or self._is_behind(since, base):
            super()._see_later(later, end, decoded)
            return
        for name, first, lines in self._chunks({}, end):
            if name != base.name:
                later.see(name, first, lines, decoded)
                continue
            places = base.lines.placed(first, first + len(lines))
            for (segment, number, _), line in zip(places, lines, strict=True):
                later.see(segment, number, [line], decoded)


def open_topic(
    options: CdcOptions,
    root: Path,
    *,
    columns: tuple[Column, ...] | None,
    truncations: Truncations,
    loose: tuple[str, ...],
    at: Location | None,
) -> CdcTopic:
    """The changes of a topic; no broker is asked yet.

    Raises:
        SourceError: a file is outside of the project, or a variable is not permitted.
    """
    place = options.kafka
    assert place is not None, "the caller looked"
    check_settings(place, root, at)
    topic = Topic(place.servers, place.topic, lambda: client_settings(place, root, at), at)
    journal = journal_of(options, root, at)
    return CdcTopic(
        journal, topic, options, journal, root, columns=columns, truncations=truncations, loose=loose, at=at
    )


def journal_of(options: CdcOptions, root: Path, at: Location | None = None) -> TopicJournal:
    """The journal of the topic of a source; neither Kafka nor a registry is asked.

    Raises:
        SourceError: the settings have no such registry.
    """
    place = options.kafka
    assert place is not None, "only of a topic"
    key = {name: options.columns[name] for name in options.primary_key}
    as_json = None
    if place.registry is not None:
        as_json = RegisteredEvents(registry_client(place.registry, root, at), place.format).text
    wanted = TopicEvents(place.messages, key, place.table, as_json=as_json)
    return TopicJournal(root, place.servers, place.topic, wanted, TopicStart(place.start))
