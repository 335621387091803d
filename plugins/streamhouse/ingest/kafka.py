"""Messages of a Kafka topic: each is one row."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from streamhouse.errors import Location, RowsLostError, SourceError
from streamhouse.ingest.bad_rows import BadRow, Letter, Split
from streamhouse.ingest.kafka_letters import AnyMessage, message_of, split_messages
from streamhouse.ingest.kafka_options import KafkaOptions
from streamhouse.ingest.kafka_settings import check_settings, client_settings
from streamhouse.ingest.kafka_topic import Topic
from streamhouse.ingest.not_null import HINT, REASON, required_of_those
from streamhouse.ingest.options import check_options
from streamhouse.ingest.other_fields import with_other_fields
from streamhouse.ingest.topic_start import TopicStart
from streamhouse.model.bad_rows import OnBadRows
from streamhouse.model.table import Column
from streamhouse.model.types import Position, Ranges, behind
from streamhouse.stores.arrow import arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from confluent_kafka import Message

    from streamhouse.ingest.kafka_rows import MessageRows


class Kafka:
    """The messages of a topic; the position is `{partition: offset}`, its rows are counted by offsets.

    Only committed messages are read. One without a value is no row. A partition that the position does not name
    begins where the option `start` says, by default with the oldest message that exists. A topic whose messages are
    compacted is refused: a range that is read again would have other rows. Offsets of transactions' ends count as
    rows that are not there.
    Each object holds one connection; it is safe to call from several threads.

    Args:
        options: What to read.
        root: The project's folder, whose settings have the schema registry.
        columns: As a plan has them; None: the declared ones.
        given_up: Partition → offsets that are read as if they had no messages: these are gone, and somebody decided.
        at: Where the source is defined.
    """

    def __init__(
        self,
        options: KafkaOptions,
        root: Path = Path(),
        *,
        columns: tuple[Column, ...] | None = None,
        skipped_ranges: Ranges | None = None,
        at: Location | None = None,
    ) -> None:
        self._options = options
        self._root = root
        self._skipped_ranges = skipped_ranges or {}
        sure = {column.name for column in options.all_columns if not column.nullable}
        known = required_of_those(columns or options.all_columns, sure)
        further = {*options.of_others, *options.other_fields}
        by_fields = [column.name for column in known if column.name not in further]
        self._columns = with_other_fields(known, options.other_fields, by_fields)
        self._at = at
        self._checked = False
        self._topic = Topic(options.servers, options.topic, lambda: client_settings(options, root, at), at)

    @property
    def on_bad_rows(self) -> OnBadRows:
        """What the flow says of messages that cannot be read."""
        return self._options.on_bad_rows

    def columns(self) -> tuple[Column, ...]:
        """The declared columns, then those of metadata. Kafka is not asked."""
        return self._columns

    def available(self) -> Position:
        """The end of every partition, as far as transactions are committed.

        Raises:
            SourceError: there is no such topic, or it is compacted.
            StoreUnavailableError: no broker answers.
        """
        return self._offsets("latest")

    def oldest(self) -> Position:
        """The first existing offset of every partition.

        Raises:
            SourceError, StoreUnavailableError: as `available`.
        """
        return self._offsets("earliest")

    def identity(self) -> str:
        """The topic's id.

        Raises:
            SourceError, StoreUnavailableError: as `available`.
        """
        return self._topic.identity()

    def _refuse_cut_off(self, start: Position, newest: Position) -> None:
        for partition, first in start.items():
            if first > newest.get(partition, 0):
                raise RowsLostError(
                    f"Kafka's {self._options.topic}, partition {partition}, ends at {newest.get(partition, 0)}, "
                    f"before {first}, up to where it was read",
                    hint="it is another topic of that name, or lost its end; under another name the source is read "
                    "from its beginning",
                )

    def advance(self, start: Position, max_rows: int) -> Position:
        """The same share of each partition's backlog.

        Raises:
            RowsLostError: the topic ends before `start`: it was created again, or lost its end.
        """
        oldest, newest = self._offsets("earliest"), self.available()
        self._refuse_cut_off(start, newest)
        begins = self._begins(oldest, newest)
        first = {p: max(start.get(p, begins[p]), oldest[p]) for p in newest}
        waiting = {p: end - first[p] for p, end in newest.items()}
        waiting = {p: rows for p, rows in waiting.items() if rows > 0}
        total = sum(waiting.values())
        end = dict(start)
        left = max_rows
        for number, (partition, rows) in enumerate(sorted(waiting.items(), key=lambda e: (e[1], e[0]))):
            share = rows if total <= max_rows else min(rows, -(-left // (len(waiting) - number)))
            if share:
                end[partition] = first[partition] + share
                left -= share
        return end

    def rows_between(self, start: Position, end: Position) -> int:
        """Offsets in the range; of a partition that `start` does not name, from where it begins."""
        begins = self._begins(self._offsets("earliest"), end) if end.keys() - start.keys() else {}
        return sum(max(0, last - start.get(p, begins.get(p, 0))) for p, last in end.items())

    def read(self, start: Position, end: Position, columns: tuple[str, ...] | None = None) -> "pa.Table":
        """The rows of `[start, end)`, by partition, then by offset.

        Raises:
            RowsLostError: Kafka no longer holds the beginning of the range.
            SourceError: a message is malformed, or a value does not fit its type.
            StoreUnavailableError: no broker answers, or no schema registry.
        """
        if self._options.on_bad_rows.action == "dead_letter":
            return self.read_split(start, end, columns).rows
        wanted = tuple(c for c in self._columns if columns is None or c.name in columns)
        return self._rows(self._between(start, end), wanted)

    def read_split(
        self,
        start: Position,
        end: Position,
        columns: tuple[str, ...] | None = None,
        without: Collection[str] = frozenset(),
    ) -> Split:
        """See `SplitSource`.

        Raises:
            RowsLostError, StoreUnavailableError: as `read`.
        """
        left_out = without.__contains__ if without else None
        found = self._parted(self._between(start, end), left_out)
        return Split(found.rows if columns is None else found.rows.select(self._names(columns)), (), found.bad)

    def bad_rows(self, start: Position, end: Position) -> tuple[BadRow, ...]:
        """See `LetterSource`."""
        return self.read_split(start, end).bad

    def read_again(self, letters: Sequence[Letter], columns: tuple[str, ...] | None) -> Split:
        """See `LetterSource`."""
        found = self._parted([message_of(letter) for letter in letters], lambda _: False)
        rows = found.rows if columns is None else found.rows.select(self._names(columns))
        return Split(rows, found.places, found.bad)

    def _parted(self, messages: "Sequence[AnyMessage]", without: Callable[[str], bool] | None) -> Split:
        empty = arrow_schema(self._columns).empty_table()
        return split_messages(
            messages, empty, lambda some: self._parse(some, self._columns), self._messages, self._options.topic, without
        )

    def _names(self, wanted: tuple[str, ...]) -> list[str]:
        return [column.name for column in self._columns if column.name in wanted]

    def _between(self, start: Position, end: Position) -> "list[Message]":
        ranges = self._ranges(start, end)
        return [message for message in self._topic.messages(ranges) if message.value() is not None]

    def _ranges(self, start: Position, end: Position) -> dict[int, tuple[int, int]]:
        oldest = self._offsets("earliest")
        begins = self._begins(oldest, end) if end.keys() - start.keys() else {}
        found = {}
        for partition, last in end.items():
            begin = oldest.get(partition, 0)
            first = start.get(partition, begins.get(partition, begin))
            first = behind(self._skipped_ranges.get(partition, ()), first)
            if first < begin and first < last:
                raise RowsLostError(
                    f"Kafka's {self._options.topic}, partition {partition}, begins at {begin}; {first} was to be read",
                    hint="the topic's retention removed rows that were not read; keep it longer than the flow rests",
                )
            if first < last:
                found[int(partition)] = (first, last)
        return dict(sorted(found.items()))

    def _rows(self, messages: "list[Message]", wanted: tuple[Column, ...]) -> "pa.Table":
        import pyarrow as pa

        try:
            return self._parse(messages, wanted)
        except (pa.ArrowException, ValueError) as error:
            raise self._malformed(messages, wanted, error) from error

    def _parse(self, messages: "Sequence[AnyMessage]", wanted: tuple[Column, ...]) -> "pa.Table":
        return self._messages.rows(messages, wanted)

    def _malformed(self, messages: "list[Message]", wanted: tuple[Column, ...], cause: Exception) -> SourceError:
        """What is wrong with the first message that cannot be read alone."""
        import pyarrow as pa

        for message in messages:
            place = f"partition {message.partition()}, offset {message.offset()} of {self._options.topic}"
            try:
                self._parse([message], wanted)
            except (ValueError, pa.ArrowException) as error:
                code, text = self._messages.reason(message, error)
                if code == REASON:
                    return SourceError(f"the message at {place}: {text}", at=self._at, hint=HINT)
                return SourceError(
                    f"the message at {place} is malformed: {text}",
                    at=self._at,
                    hint="correct the column's type under 'columns'; or let the flow go on behind such messages: "
                    "on_bad_rows: dead_letter",
                )
        return SourceError(f"messages of {self._options.topic} are malformed: {cause}", at=self._at)

    @cached_property
    def _messages(self) -> "MessageRows":
        from streamhouse.ingest.kafka_rows import message_rows

        return message_rows(self._options, self._root, self._at)

    def _offsets(self, which: Literal["earliest", "latest"]) -> Position:
        found = self._topic.offsets(which)
        if not self._checked and self._topic.is_compacted():
            raise SourceError(
                f"Kafka compacts the topic '{self._options.topic}': rows that are read again would be others",
                at=self._at,
                hint="read it as a table with a key: cdc: {kafka: {servers: …, topic: …}, primary_key: […]}; "
                "or set its cleanup.policy to delete",
            )
        self._checked = True
        return found

    def _begins(self, oldest: Position, newest: Position) -> Position:
        """Partition → where it is read from, if no position names it; before `newest` the same at each call."""
        return TopicStart(self._options.start).begins(oldest, newest, self._topic.offsets_since)


def open_kafka(
    options: Mapping[str, Any],
    root: Path = Path(),
    *,
    columns: tuple[Column, ...] | None = None,
    skipped_ranges: Ranges | None = None,
    at: Location | None = None,
) -> Kafka:
    """Check the options; no broker and no schema registry is asked.

    Raises:
        SourceError: an option is wrong, a file is outside of the project, or a variable is not permitted.
    """
    checked = check_options(KafkaOptions, "kafka", options, at)
    check_settings(checked, root, at)
    return Kafka(checked, root, columns=columns, skipped_ranges=skipped_ranges, at=at)
