"""Messages of a Kafka topic: each is one row."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from streamhouse.errors import Location, MissingPackageError, RowsLostError, SourceError, StoreUnavailableError
from streamhouse.ingest.bad_rows import BadRow, Letter, Split
from streamhouse.ingest.kafka_letters import AnyMessage, message_of, split_messages
from streamhouse.ingest.kafka_options import KafkaOptions
from streamhouse.ingest.kafka_settings import check_settings, client_settings
from streamhouse.ingest.not_null import HINT, REASON, refuse_nulls, required_of_those
from streamhouse.ingest.options import check_options
from streamhouse.model.bad_rows import OnBadRows
from streamhouse.model.table import Column
from streamhouse.model.types import Position, Ranges, behind
from streamhouse.stores.arrow import arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from confluent_kafka import Consumer, Message
    from confluent_kafka.admin import AdminClient

    from streamhouse.ingest.message_formats import MessageFormat

_TIMEOUT_S = 30.0
_POLL_S = 0.5
_BATCH = 10_000


class Kafka:
    """The messages of a topic; the position is `{partition: offset}`, its rows are counted by offsets.

    Only committed messages are read. One without a value is no row. A partition that the position does not name
    begins with the oldest message that exists. A topic whose messages are compacted is refused: a range that is read
    again would have other rows. Offsets of transactions' ends count as rows that are not there.
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
        self._columns = required_of_those(columns or options.all_columns, sure)
        self._at = at
        self._lock = Lock()
        self._checked = False

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
        from confluent_kafka import TopicCollection

        with self._lock, self._translated():
            futures = self._admin.describe_topics(TopicCollection([self._options.topic]), request_timeout=_TIMEOUT_S)
            (described,) = futures.values()
            return str(described.result().topic_id)

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
        waiting = {p: end - max(start.get(p, 0), oldest[p]) for p, end in newest.items()}
        waiting = {p: rows for p, rows in waiting.items() if rows > 0}
        total = sum(waiting.values())
        end = dict(start)
        left = max_rows
        for number, (partition, rows) in enumerate(sorted(waiting.items(), key=lambda e: (e[1], e[0]))):
            share = rows if total <= max_rows else min(rows, -(-left // (len(waiting) - number)))
            if share:
                end[partition] = max(start.get(partition, 0), oldest[partition]) + share
                left -= share
        return end

    def rows_between(self, start: Position, end: Position) -> int:
        """Offsets in the range; of a partition that `start` does not name, from the oldest that exists."""
        oldest = self._offsets("earliest") if end.keys() - start.keys() else {}
        return sum(max(0, last - start.get(p, oldest.get(p, 0))) for p, last in end.items())

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
            messages, empty, lambda some: self._parse(some, self._columns), self._format, self._options.topic, without
        )

    def _names(self, wanted: tuple[str, ...]) -> list[str]:
        return [column.name for column in self._columns if column.name in wanted]

    def _between(self, start: Position, end: Position) -> "list[Message]":
        ranges = self._ranges(start, end)
        with self._lock:
            messages = self._messages(ranges) if ranges else []
        return [message for message in messages if message.value() is not None]

    def _ranges(self, start: Position, end: Position) -> dict[int, tuple[int, int]]:
        oldest = self._offsets("earliest")
        found = {}
        for partition, last in end.items():
            begin = oldest.get(partition, 0)
            first = behind(self._skipped_ranges.get(partition, ()), start.get(partition, begin))
            if first < begin and first < last:
                raise RowsLostError(
                    f"Kafka's {self._options.topic}, partition {partition}, begins at {begin}; {first} was to be read",
                    hint="the topic's retention removed rows that were not read; keep it longer than the flow rests",
                )
            if first < last:
                found[int(partition)] = (first, last)
        return dict(sorted(found.items()))

    def _messages(self, ranges: Mapping[int, tuple[int, int]]) -> "list[Message]":
        from confluent_kafka import KafkaError, TopicPartition

        topic = self._options.topic
        found: dict[int, list[Message]] = {partition: [] for partition in ranges}
        pending = set(ranges)
        with self._translated():
            self._consumer.assign([TopicPartition(topic, p, first) for p, (first, _) in ranges.items()])
            try:
                silent = 0.0
                while pending:
                    batch = self._consumer.consume(_BATCH, _POLL_S)
                    silent = 0.0 if batch else silent + _POLL_S
                    if silent >= _TIMEOUT_S:
                        raise StoreUnavailableError(f"Kafka delivers nothing of {topic} at {self._options.servers}")
                    for message in batch:
                        error, partition = message.error(), message.partition()
                        if error is not None and error.code() != KafkaError._PARTITION_EOF:
                            raise self._failure(error)
                        if partition not in pending:
                            continue
                        if message.offset() >= ranges[partition][1]:  # also the end of the partition
                            pending.remove(partition)
                        elif error is None:
                            found[partition].append(message)
                            if message.offset() == ranges[partition][1] - 1:
                                pending.remove(partition)
            finally:
                self._consumer.unassign()
        return [message for messages in found.values() for message in messages]

    def _rows(self, messages: "list[Message]", wanted: tuple[Column, ...]) -> "pa.Table":
        import pyarrow as pa

        try:
            return self._parse(messages, wanted)
        except (pa.ArrowException, ValueError) as error:
            raise self._malformed(messages, wanted, error) from error

    def _parse(self, messages: "Sequence[AnyMessage]", wanted: tuple[Column, ...]) -> "pa.Table":
        import pyarrow as pa

        from streamhouse.ingest.column_errors import in_column
        from streamhouse.ingest.years import within_years

        schema = arrow_schema(wanted)
        if not messages:
            return schema.empty_table()
        fields = tuple(c for c in wanted if c.name not in self._options.metadata)
        arrays: dict[str, pa.ChunkedArray | pa.Array] = {}
        if fields:
            rows = self._format.rows([m.value() for m in messages], fields)
            arrays = {name: rows[name] for name in rows.column_names}
        for name in self._options.metadata.keys() & set(schema.names):
            what = self._options.metadata[name]
            with in_column(name):
                values = pa.array([_METADATA[what](m) for m in messages])
                arrays[name] = within_years(values.cast(schema.field(name).type))
        rows = pa.table([arrays[f.name].cast(f.type) for f in schema], schema=schema)
        rows.validate(full=True)  # Arrow takes bytes that are no UTF-8 as they are
        return refuse_nulls(rows, wanted)

    def _malformed(self, messages: "list[Message]", wanted: tuple[Column, ...], cause: Exception) -> SourceError:
        """What is wrong with the first message that cannot be read alone."""
        import pyarrow as pa

        for message in messages:
            place = f"partition {message.partition()}, offset {message.offset()} of {self._options.topic}"
            try:
                self._parse([message], wanted)
            except (ValueError, pa.ArrowException) as error:
                code, text = self._format.reason(message.value(), error)
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
    def _format(self) -> "MessageFormat":
        from streamhouse.ingest.message_formats import JsonMessages, RegisteredMessages
        from streamhouse.ingest.schema_registry import registry_client

        options = self._options
        if options.registry is None:
            return JsonMessages()
        client = registry_client(options.registry, self._root, self._at)
        return RegisteredMessages(client, options.format, options.subject_name)

    def _offsets(self, which: Literal["earliest", "latest"]) -> Position:
        from confluent_kafka import IsolationLevel, TopicPartition
        from confluent_kafka.admin import OffsetSpec

        spec = OffsetSpec.earliest() if which == "earliest" else OffsetSpec.latest()
        topic = self._options.topic
        with self._lock, self._translated():
            partitions = self._partitions()
            self._refuse_compacted()
            futures = self._admin.list_offsets(
                {TopicPartition(topic, p): spec for p in partitions},
                isolation_level=IsolationLevel.READ_COMMITTED,
                request_timeout=_TIMEOUT_S,
            )
            return {str(found.partition): result.result().offset for found, result in futures.items()}

    def _partitions(self) -> list[int]:
        from confluent_kafka import KafkaError

        topic = self._admin.list_topics(self._options.topic, timeout=_TIMEOUT_S).topics[self._options.topic]
        if topic.error is not None:
            if topic.error.code() in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC):
                raise SourceError(
                    f"Kafka at {self._options.servers} has no topic '{self._options.topic}'",
                    at=self._at,
                    hint="create it, or correct the name",
                )
            raise self._failure(topic.error)
        return sorted(topic.partitions)

    def _refuse_compacted(self) -> None:
        """A topic is looked at once."""
        from confluent_kafka.admin import ConfigResource, ResourceType

        if self._checked:
            return
        resource = ConfigResource(ResourceType.TOPIC, self._options.topic)
        (described,) = self._admin.describe_configs([resource], request_timeout=_TIMEOUT_S).values()
        if "compact" in described.result()["cleanup.policy"].value:
            raise SourceError(
                f"Kafka compacts the topic '{self._options.topic}': rows that are read again would be others",
                at=self._at,
                hint="set its cleanup.policy to delete",
            )
        self._checked = True

    @cached_property
    def _settings(self) -> dict[str, str | int | float | bool]:
        return client_settings(self._options, self._root, self._at)

    @cached_property
    def _admin(self) -> "AdminClient":
        from confluent_kafka.admin import AdminClient

        return AdminClient(self._settings, logger=_Silent())

    @cached_property
    def _consumer(self) -> "Consumer":
        from confluent_kafka import Consumer

        return Consumer(
            {
                **self._settings,
                "group.id": "streamhouse",  # asked for by the client; nothing is ever committed to it
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "auto.offset.reset": "error",
                "isolation.level": "read_committed",
            },
            logger=_Silent(),
        )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            from confluent_kafka import KafkaException
        except ModuleNotFoundError as error:
            raise MissingPackageError(
                "the package confluent-kafka is not installed", hint="pip install 'streamhouse[kafka]'"
            ) from error
        try:
            yield
        except KafkaException as error:
            raise self._failure(error.args[0]) from error

    def _failure(self, error: Any) -> SourceError | StoreUnavailableError | RowsLostError:
        from confluent_kafka import KafkaError

        place, text = self._options.servers, error.str()
        if error.code() == KafkaError._AUTO_OFFSET_RESET:
            return RowsLostError(f"Kafka's {self._options.topic} does not hold what was to be read: {text}")
        if error.code() in (KafkaError._AUTHENTICATION, KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError._INVALID_ARG):
            return SourceError(f"Kafka at {place} refuses: {text}", at=self._at)
        return StoreUnavailableError(f"Kafka at {place} does not answer: {text}", hint="check that the broker runs")


class _Silent:
    """Takes what librdkafka logs: it would go to standard error, again and again while a broker is away."""

    def log(self, *_: object, **__: object) -> None:
        """Take a line."""


_METADATA: Mapping[str, Any] = {
    "key": lambda m: m.key().decode(errors="replace") if m.key() is not None else None,
    "timestamp": lambda m: m.timestamp()[1] * 1000 if m.timestamp()[0] else None,
    "partition": lambda m: m.partition(),
    "offset": lambda m: m.offset(),
}


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
