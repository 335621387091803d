"""Options of a source that reads a topic of Kafka."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from streamhouse.doors.setting import shown
from streamhouse.ingest.broker_options import BrokerOptions
from streamhouse.ingest.not_null import NotNull
from streamhouse.ingest.options import refuse_odd_keys, stored_types
from streamhouse.model.bad_rows import OnBadRows
from streamhouse.model.table import Column
from streamhouse.model.types import NAME, Frozen

_TYPES: dict[str, str] = {
    "key": "string",
    "key_bytes": "binary",
    "headers": "array<struct<name:string,value:binary>>",
    "timestamp": "timestamp",
    "partition": "int",
    "offset": "bigint",
}
_MESSAGE = r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$"
_ALWAYS_THERE = ("partition", "offset")
Metadata = Literal["key", "key_bytes", "headers", "timestamp", "partition", "offset"]
Form = Literal["json", "avro", "json_schema", "protobuf"]


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class StartOffsets(Frozen):
    """Where partitions are read from."""

    offsets: dict[int, int] = Field(
        min_length=1, description="partition: its first offset that is read; others are read from the oldest message"
    )


class KeyOptions(Frozen):
    """Fields of the key as columns."""

    format: Form = Field(default="json", description="how keys are written; all but json need a registry")
    subject: str | None = Field(
        default=None, min_length=1, description="of whose versions the keys are; absent: the topic's, TOPIC-key"
    )
    message: str | None = Field(
        default=None, pattern=_MESSAGE, description="as 'message' of the source, for keys in Protobuf"
    )
    columns: dict[str, str] = Field(min_length=1, description="column: type, of fields of the key")

    @field_validator("columns")
    @classmethod
    def _types_can_be_stored(cls, value: dict[str, str]) -> dict[str, str]:
        return stored_types(value)

    @model_validator(mode="after")
    def _are_of_the_format(self) -> Self:
        if self.format == "json" and self.subject is not None:
            raise ValueError("'subject' is for keys with a schema: add 'format': avro, json_schema or protobuf")
        if self.format in ("json", "json_schema"):
            refuse_odd_keys(self.columns)
        if self.format != "protobuf" and self.message is not None:
            raise ValueError("'message' is for format: protobuf")
        return self


class KafkaOptions(NotNull, BrokerOptions):
    """Options of `kafka`."""

    format: Form = Field(default="json", description="how messages are written; all but json need a registry")
    registry: str | None = Field(
        default=None, pattern=NAME, description="of schemas: its name under 'connections' in streamhouse.yaml"
    )
    subject: str | None = Field(
        default=None, min_length=1, description="of whose versions the messages are; absent: the topic's, TOPIC-value"
    )
    message: str | None = Field(
        default=None,
        pattern=_MESSAGE,
        description="of format protobuf: which message of the schema says what the columns are, without its package; "
        "absent: the first",
    )
    columns: dict[str, str] = Field(min_length=1, description="column: type; a field that a message lacks is null")
    key: KeyOptions | None = Field(
        default=None, description="fields of the key as further columns; absent: metadata has the key as text"
    )
    headers: dict[str, str] = Field(
        default_factory=dict, description="further column of text: name of the header; null where a message lacks it"
    )
    metadata: dict[str, Metadata] = Field(
        default_factory=dict,
        description="further column: key, key_bytes, headers, timestamp, partition or offset of the message",
    )
    start: str | StartOffsets = Field(
        default="earliest",
        description="where a flow begins that has read nothing yet: earliest, a time with its zone "
        "(2026-03-01T00:00:00Z), or {offsets: {0: 1200}}",
    )
    on_bad_rows: OnBadRows = Field(default=OnBadRows(), description="fail or dead_letter, and a limit")

    @field_validator("columns")
    @classmethod
    def _types_can_be_stored(cls, value: dict[str, str]) -> dict[str, str]:
        return stored_types(value)

    @field_validator("start", mode="before")
    @classmethod
    def _start_is_one_place(cls, value: Any) -> Any:
        text = value.isoformat() if isinstance(value, datetime) else value
        if isinstance(text, StartOffsets) or text == "earliest":
            return text
        if not isinstance(text, str):
            return _start_offsets(text)
        if text == "latest":
            raise ValueError(
                "'latest' would be another place each time a table is made again; write the time from which messages "
                "count, with its zone: 2026-03-01T00:00:00Z"
            )
        _milliseconds(text)
        return text

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        parts: dict[str, Mapping[str, str]] = {
            "a column": self.columns,
            "a column of the key": self.key_columns,
            "a header": self.headers,
            "metadata": self.metadata,
        }
        seen: dict[str, str] = {}
        for what, names in parts.items():
            for name in names:
                if name in seen:
                    raise ValueError(f"'{name}' is both {seen[name]} and {what}")
                seen[name] = what
        return self

    @model_validator(mode="after")
    def _registry_is_for_schemas(self) -> Self:
        if self.format != "json" and self.registry is None:
            raise ValueError(f"format {self.format} needs 'registry', the name of a connection in streamhouse.yaml")
        of_key = "json" if self.key is None else self.key.format
        if of_key != "json" and self.registry is None:
            raise ValueError(
                f"format {of_key} of the key needs 'registry', the name of a connection in streamhouse.yaml"
            )
        for name in ("registry", "subject"):
            unused = self.format == "json" and (name == "subject" or of_key == "json")
            if unused and getattr(self, name) is not None:
                raise ValueError(f"'{name}' is for messages with a schema: add 'format': avro, json_schema or protobuf")
        if self.format in ("json", "json_schema"):
            refuse_odd_keys(self.columns)
        if self.format != "protobuf" and self.message is not None:
            raise ValueError("'message' is for format: protobuf")
        return self

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """Those of the values, of the keys, of headers, then the metadata."""
        further = {name: _TYPES[what] for name, what in self.metadata.items()}
        found = {**self.columns, **self.key_columns, **dict.fromkeys(self.headers, "string"), **further}
        sure = {*self.not_null, *(name for name, what in self.metadata.items() if what in _ALWAYS_THERE)}
        return tuple(Column(name=name, type=type_, nullable=name not in sure) for name, type_ in found.items())

    @property
    def start_ms(self) -> int | None:
        """The time from which messages are read, in epoch milliseconds; None: `start` is no time."""
        return _milliseconds(self.start) if isinstance(self.start, str) and self.start != "earliest" else None

    @property
    def key_columns(self) -> dict[str, str]:
        """Those of fields of the key: column → type."""
        return {} if self.key is None else self.key.columns

    @property
    def of_others(self) -> set[str]:
        """The columns that no field of the value makes."""
        return {*self.key_columns, *self.headers, *self.metadata}

    def key_subject(self, key: KeyOptions) -> str:
        """The subject whose newest version says which columns keys have."""
        return key.subject or f"{self.topic}-key"

    @property
    def subject_name(self) -> str:
        """The subject whose newest version says which columns come."""
        return self.subject or f"{self.topic}-value"


def _start_offsets(value: Any) -> StartOffsets:
    try:
        found = StartOffsets.model_validate(value)
    except ValidationError:
        found = None
    if found is None or min([*found.offsets, *found.offsets.values()]) < 0:
        raise ValueError("write earliest, a time with its zone, or {offsets: {0: 1200}}: partition and offset")
    return found


def _milliseconds(text: str) -> int:
    """The first millisecond that is not before a time."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise ValueError(f"'{shown(text)}' is no time with its zone, such as 2026-03-01T00:00:00Z, and not earliest")
    return max(0, -(-(time - _EPOCH) // timedelta(milliseconds=1)))
