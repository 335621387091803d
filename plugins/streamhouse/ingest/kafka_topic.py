"""One topic of Kafka: its partitions, its offsets and its messages."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from streamhouse.errors import Location, MissingPackageError, RowsLostError, SourceError, StoreUnavailableError
from streamhouse.model.types import Position

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message
    from confluent_kafka.admin import AdminClient, TopicDescription

TIMEOUT_S = 30.0
_POLL_S = 0.5
_BATCH = 10_000

Settings = dict[str, str | int | float | bool]


class TopicBounds(NamedTuple):
    """A topic at one moment.

    Attributes:
        identity: Another one when it was made again.
        oldest: Partition → its first offset.
        newest: Partition → the end of what is committed.
    """

    identity: str
    oldest: Position
    newest: Position


class Topic:
    """A topic. Each object holds one connection, opened by the first question; it is safe to call from several threads.

    Only committed messages are read. Offsets of transactions' ends count as messages that are not there.

    Args:
        servers: As the source names them.
        name: Of the topic.
        settings: Gives what librdkafka gets.
        at: Where the source is defined.
    """

    def __init__(self, servers: str, name: str, settings: Callable[[], Settings], at: Location | None = None) -> None:
        self._servers = servers
        self.name = name
        self._settings_of = settings
        self._at = at
        self._lock = Lock()
        self._refused: str | None = None

    def identity(self) -> str:
        """The topic's id.

        Raises:
            SourceError: there is no such topic, or the broker refuses us.
            StoreUnavailableError: no broker answers.
        """
        with self._lock, self._translated():
            return str(self._described().topic_id)

    def bounds(self) -> TopicBounds:
        """Which topic it is, and where each partition begins and ends, in three requests.

        Raises:
            SourceError, StoreUnavailableError: as `identity`.
        """
        from confluent_kafka.admin import OffsetSpec

        with self._lock, self._translated():
            found = self._described()
            partitions = sorted(one.id for one in found.partitions)
            oldest = self._offsets_of(partitions, OffsetSpec.earliest())
            newest = self._offsets_of(partitions, OffsetSpec.latest())
        return TopicBounds(str(found.topic_id), oldest, newest)

    def _described(self) -> "TopicDescription":
        from confluent_kafka import KafkaError, KafkaException, TopicCollection

        futures = self._admin.describe_topics(TopicCollection([self.name]), request_timeout=TIMEOUT_S)
        (described,) = futures.values()
        try:
            return described.result()
        except KafkaException as error:
            if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise self._missing() from error
            raise

    def _missing(self) -> SourceError:
        return SourceError(
            f"Kafka at {self._servers} has no topic '{self.name}'",
            at=self._at,
            hint="create it, or correct the name",
        )

    def is_compacted(self) -> bool:
        """Whether Kafka removes messages whose key has a later one.

        Raises:
            SourceError, StoreUnavailableError: as `identity`.
        """
        return "compact" in self._config("cleanup.policy")

    def deletes_kept_ms(self) -> int:
        """How long a compacted topic keeps a tombstone at least, in milliseconds.

        Raises:
            SourceError, StoreUnavailableError: as `identity`.
        """
        return int(self._config("delete.retention.ms"))

    def _config(self, name: str) -> str:
        from confluent_kafka.admin import ConfigResource, ResourceType

        with self._lock, self._translated():
            resource = ConfigResource(ResourceType.TOPIC, self.name)
            (described,) = self._admin.describe_configs([resource], request_timeout=TIMEOUT_S).values()
            return str(described.result()[name].value)

    def offsets(self, which: Literal["earliest", "latest"]) -> Position:
        """Partition → its first offset, or the end of what is committed.

        Raises:
            SourceError, StoreUnavailableError: as `identity`.
        """
        from confluent_kafka.admin import OffsetSpec

        return self._offsets(OffsetSpec.earliest() if which == "earliest" else OffsetSpec.latest())

    def offsets_since(self, time_ms: int) -> Position:
        """Partition → the first offset whose message has this time or a later one, in epoch milliseconds.

        A partition without such a message is absent.

        Raises:
            SourceError, StoreUnavailableError: as `identity`.
        """
        from confluent_kafka.admin import OffsetSpec

        found = self._offsets(OffsetSpec.for_timestamp(time_ms))
        return {partition: offset for partition, offset in found.items() if offset >= 0}

    def _offsets(self, spec: Any) -> Position:
        with self._lock, self._translated():
            return self._offsets_of(self._partitions(), spec)

    def _offsets_of(self, partitions: Sequence[int], spec: Any) -> Position:
        from confluent_kafka import IsolationLevel, TopicPartition

        futures = self._admin.list_offsets(
            {TopicPartition(self.name, p): spec for p in partitions},
            isolation_level=IsolationLevel.READ_COMMITTED,
            request_timeout=TIMEOUT_S,
        )
        return {str(found.partition): result.result().offset for found, result in futures.items()}

    def messages(self, ranges: Mapping[int, tuple[int, int]]) -> "list[Message]":
        """The messages of partition → `[first, end)`, by partition, then by offset; also those without a value.

        Raises:
            RowsLostError: Kafka no longer holds the beginning of a range.
            SourceError, StoreUnavailableError: as `identity`.
        """
        with self._lock:
            return self._messages(ranges) if ranges else []

    def _messages(self, ranges: Mapping[int, tuple[int, int]]) -> "list[Message]":
        from confluent_kafka import KafkaError, TopicPartition

        found: dict[int, list[Message]] = {partition: [] for partition in ranges}
        pending = set(ranges)
        with self._translated():
            self._consumer.assign([TopicPartition(self.name, p, first) for p, (first, _) in ranges.items()])
            try:
                silent = 0.0
                while pending:
                    batch = self._consumer.consume(_BATCH, _POLL_S)
                    silent = 0.0 if batch else silent + _POLL_S
                    if silent >= TIMEOUT_S:
                        raise StoreUnavailableError(f"Kafka delivers nothing of {self.name} at {self._servers}")
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

    def _partitions(self) -> list[int]:
        from confluent_kafka import KafkaError

        topic = self._admin.list_topics(self.name, timeout=TIMEOUT_S).topics[self.name]
        if topic.error is not None:
            if topic.error.code() in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC):
                raise self._missing()
            raise self._failure(topic.error)
        return sorted(topic.partitions)

    @cached_property
    def _settings(self) -> Settings:
        return self._settings_of()

    @cached_property
    def _admin(self) -> "AdminClient":
        from confluent_kafka.admin import AdminClient

        return AdminClient({**self._settings, "error_cb": self._note}, logger=_Silent())

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
                "error_cb": self._note,
            },
            logger=_Silent(),
        )

    def _hear(self) -> None:
        """Take in what the client has noted of brokers."""
        if "_admin" in vars(self):
            self._admin.poll(0)

    def _note(self, error: Any) -> None:
        """Keep what a broker says of a login or a certificate; that it went away meanwhile is no refusal."""
        from confluent_kafka import KafkaError

        code, text = error.code(), error.str()
        is_of_login = code == KafkaError._AUTHENTICATION and "isconnected" not in text
        if is_of_login or (code == KafkaError._SSL and "certificate" in text):
            self._refused = text

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            from confluent_kafka import KafkaException
        except ModuleNotFoundError as error:
            raise MissingPackageError(
                "the package confluent-kafka is not installed", hint="pip install 'streamhouse[kafka]'"
            ) from error
        self._hear()
        self._refused = None  # by an earlier call, and this one may be answered
        try:
            yield
        except KafkaException as error:
            raise self._failure(error.args[0]) from error

    def _failure(self, error: Any) -> SourceError | StoreUnavailableError | RowsLostError:
        from confluent_kafka import KafkaError

        place, text = self._servers, error.str()
        if error.code() == KafkaError._AUTO_OFFSET_RESET:
            return RowsLostError(f"Kafka's {self.name} does not hold what was to be read: {text}")
        self._hear()  # a call that fails for a login only says that its time is over
        if self._refused is not None:
            hint = "see 'properties' and 'secrets' of the source: who logs in, and the authority of the certificate"
            return SourceError(f"Kafka at {place} refuses: {self._refused}", at=self._at, hint=hint)
        if error.code() in (KafkaError._AUTHENTICATION, KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError._INVALID_ARG):
            return SourceError(f"Kafka at {place} refuses: {text}", at=self._at)
        return StoreUnavailableError(f"Kafka at {place} does not answer: {text}", hint="check that the broker runs")


class _Silent:
    """Takes what librdkafka logs: it would go to standard error, again and again while a broker is away."""

    def log(self, *_: object, **__: object) -> None:
        """Take a line."""
