"""Messages of a Kafka topic: each is one row, a JSON object."""

import io
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from streamhouse.errors import Location, MissingPackageError, RowsLostError, SourceError, StoreUnavailableError
from streamhouse.ingest.options import check_options, stored_types
from streamhouse.model.table import Column
from streamhouse.model.types import Frozen, Position, Ranges, behind
from streamhouse.secret import holds_secret, names_secret
from streamhouse.stores.arrow import arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from confluent_kafka import Consumer, Message
    from confluent_kafka.admin import AdminClient

_TIMEOUT_S = 30.0
_POLL_S = 0.5
_BATCH = 10_000
_TYPES: dict[str, str] = {"key": "string", "timestamp": "timestamp", "partition": "int", "offset": "bigint"}
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
Metadata = Literal["key", "timestamp", "partition", "offset"]


class KafkaOptions(Frozen):
    """Options of `kafka`."""

    servers: str = Field(pattern=r"^[^\s:,]+:\d+(,[^\s:,]+:\d+)*$", description="host:port of some brokers")
    topic: str = Field(min_length=1, description="of which every message is one JSON object")
    columns: dict[str, str] = Field(min_length=1, description="column: type; a field that a message lacks is null")
    metadata: dict[str, Metadata] = Field(
        default_factory=dict, description="further column: key, timestamp, partition or offset of the message"
    )
    properties: dict[str, str] = Field(
        default_factory=dict, description="settings of librdkafka, such as security.protocol: SASL_SSL"
    )
    secrets: dict[str, str] = Field(
        default_factory=dict,
        description="setting of librdkafka: name of the environment variable that holds it, such as "
        "sasl.password: KAFKA_PASSWORD; never the secret itself",
    )

    @field_validator("columns")
    @classmethod
    def _types_can_be_stored(cls, value: dict[str, str]) -> dict[str, str]:
        return stored_types(value)

    @field_validator("properties")
    @classmethod
    def _no_secret_stands_here(cls, value: dict[str, str]) -> dict[str, str]:
        # A plan keeps these settings, and so does everybody who has the file.
        for name, text in value.items():
            if names_secret(name) or holds_secret(text):
                raise ValueError(
                    f"'{name}' is a secret; use `secrets:` with the name of the variable that holds it, "
                    f"such as {name}: KAFKA_{name.upper().replace('.', '_')}"
                )
        return value

    @field_validator("secrets")
    @classmethod
    def _secrets_are_names(cls, value: dict[str, str]) -> dict[str, str]:
        for name, variable in value.items():
            if not _VARIABLE.fullmatch(variable):
                raise ValueError(f"'{name}' does not name a variable of the environment, such as KAFKA_PASSWORD")
        return value

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        if twice := sorted(self.columns.keys() & self.metadata.keys()):
            raise ValueError(f"'{twice[0]}' is both a column and metadata")
        return self

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """Those of the messages, then the metadata."""
        found = {**self.columns, **{name: _TYPES[what] for name, what in self.metadata.items()}}
        return tuple(Column(name=name, type=type_) for name, type_ in found.items())


class Kafka:
    """The messages of a topic; the position is `{partition: offset}`, its rows are counted by offsets.

    Only committed messages are read. One without a value is no row. A partition that the position does not name
    begins with the oldest message that is held. A topic whose messages are compacted is refused: a range that is read
    again would have other rows. Offsets of transactions' ends count as rows that are not there.
    Each object holds one connection; it is safe to call from several threads.

    Args:
        options: What to read.
        columns: As a plan has them; None: the declared ones.
        given_up: Partition → offsets that are read as if they had no messages: these are gone, and somebody decided.
        at: Where the source is defined.
    """

    def __init__(
        self,
        options: KafkaOptions,
        *,
        columns: tuple[Column, ...] | None = None,
        given_up: Ranges | None = None,
        at: Location | None = None,
    ) -> None:
        self._options = options
        self._given_up = given_up or {}
        self._columns = columns or options.all_columns
        self._at = at
        self._lock = Lock()
        self._checked = False

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
        """The first offset of every partition that is held.

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
            asked = self._admin.describe_topics(TopicCollection([self._options.topic]), request_timeout=_TIMEOUT_S)
            (described,) = asked.values()
            return str(described.result().topic_id)

    def advance(self, start: Position, max_rows: int) -> Position:
        """The same share of each partition's backlog.

        Raises:
            RowsLostError: the topic ends before `start`: it was made anew, or lost its end.
        """
        oldest, newest = self._offsets("earliest"), self.available()
        for partition, first in start.items():
            if first > newest.get(partition, 0):
                raise RowsLostError(
                    f"Kafka's {self._options.topic}, partition {partition}, ends at {newest.get(partition, 0)}, "
                    f"before {first}, up to where it was read",
                    hint="it is another topic of that name, or lost its end; under another name the source is read "
                    "from its beginning",
                )
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
        """Offsets in the range; of a partition that `start` does not name, from the oldest that is held."""
        oldest = self._offsets("earliest") if end.keys() - start.keys() else {}
        return sum(max(0, last - start.get(p, oldest.get(p, 0))) for p, last in end.items())

    def read(self, start: Position, end: Position, columns: tuple[str, ...] | None = None) -> "pa.Table":
        """The rows of `[start, end)`, by partition, then by offset.

        Raises:
            RowsLostError: Kafka no longer holds the beginning of the range.
            SourceError: a message is no JSON object, or a value does not fit its type.
            StoreUnavailableError: no broker answers.
        """
        wanted = tuple(c for c in self._columns if columns is None or c.name in columns)
        ranges = self._ranges(start, end)
        with self._lock:
            messages = self._messages(ranges) if ranges else []
        return self._rows([m for m in messages if m.value()], wanted)

    def _ranges(self, start: Position, end: Position) -> dict[int, tuple[int, int]]:
        oldest = self._offsets("earliest")
        found = {}
        for partition, last in end.items():
            held = oldest.get(partition, 0)
            first = behind(self._given_up.get(partition, ()), start.get(partition, held))
            if first < held and first < last:
                raise RowsLostError(
                    f"Kafka's {self._options.topic}, partition {partition}, begins at {held}; {first} was to be read",
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

        from streamhouse.ingest.formats import json_rows

        schema = arrow_schema(wanted)
        if not messages:
            return schema.empty_table()
        fields = tuple(c for c in wanted if c.name not in self._options.metadata)
        arrays: dict[str, pa.ChunkedArray | pa.Array] = {}
        if fields:
            try:
                rows = json_rows(io.BytesIO(b"\n".join(_line(m) for m in messages)), fields)
            except pa.ArrowException as error:
                raise self._malformed(messages, fields, error) from error
            if rows.num_rows != len(messages):
                raise self._malformed(messages, fields, ValueError("one message is not one row"))
            arrays = {name: rows[name] for name in rows.column_names}
        for name, what in self._options.metadata.items():
            arrays[name] = pa.array([_METADATA[what](m) for m in messages])
        try:
            return pa.table([arrays[f.name].cast(f.type) for f in schema], schema=schema)
        except pa.ArrowException as error:
            raise self._malformed(messages, fields, error) from error

    def _malformed(self, messages: "list[Message]", fields: tuple[Column, ...], cause: Exception) -> SourceError:
        """What is wrong with the first message that cannot be read alone."""
        import pyarrow as pa

        from streamhouse.ingest.formats import json_rows

        for message in messages:
            place = f"partition {message.partition()}, offset {message.offset()} of {self._options.topic}"
            try:
                if not isinstance(json.loads(message.value()), dict):
                    raise ValueError("it is no JSON object")
                json_rows(io.BytesIO(_line(message)), fields)
            except (ValueError, pa.ArrowException) as error:
                return SourceError(
                    f"the message at {place} is malformed: {error}",
                    at=self._at,
                    hint="declare the column with a wider type under 'columns'; a message cannot be changed",
                )
        return SourceError(f"messages of {self._options.topic} are malformed: {cause}", at=self._at)

    def _offsets(self, which: Literal["earliest", "latest"]) -> Position:
        from confluent_kafka import IsolationLevel, TopicPartition
        from confluent_kafka.admin import OffsetSpec

        spec = OffsetSpec.earliest() if which == "earliest" else OffsetSpec.latest()
        topic = self._options.topic
        with self._lock, self._translated():
            partitions = self._partitions()
            self._refuse_compacted()
            asked = self._admin.list_offsets(
                {TopicPartition(topic, p): spec for p in partitions},
                isolation_level=IsolationLevel.READ_COMMITTED,
                request_timeout=_TIMEOUT_S,
            )
            return {str(found.partition): result.result().offset for found, result in asked.items()}

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
        found: dict[str, str | int | float | bool] = {
            "bootstrap.servers": self._options.servers,
            **self._options.properties,
        }
        for name, variable in self._options.secrets.items():
            if variable not in os.environ:
                raise SourceError(
                    f"the environment variable {variable} is not set; it holds {name} of Kafka",
                    at=self._at,
                    hint=f"export {variable}=…",
                )
            found[name] = os.environ[variable]
        return found

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


def _line(message: "Message") -> bytes:
    value: bytes = message.value()
    return value.replace(b"\n", b" ")  # between tokens: within a text JSON writes it otherwise


def open_kafka(
    options: Mapping[str, Any],
    *,
    columns: tuple[Column, ...] | None = None,
    given_up: Ranges | None = None,
    at: Location | None = None,
) -> Kafka:
    """Check the options; no broker is asked.

    Raises:
        SourceError: an option is wrong.
    """
    return Kafka(check_options(KafkaOptions, "kafka", options, at), columns=columns, given_up=given_up, at=at)
