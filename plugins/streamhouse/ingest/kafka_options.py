"""Options of a source that reads a topic of Kafka."""

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

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
    "other_fields": "string",
}
_MESSAGE = r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$"
_ALWAYS_THERE = ("partition", "offset")
Metadata = Literal["key", "key_bytes", "headers", "timestamp", "partition", "offset", "other_fields"]
Form = Literal["json", "avro", "json_schema", "protobuf"]


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

    _types_can_be_stored = field_validator("columns")(stored_types)

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
        description="further column: key, key_bytes, headers, timestamp, partition or offset of the message, or "
        "other_fields (those of a value in JSON that no column names)",
    )
    on_bad_rows: OnBadRows = Field(default=OnBadRows(), description="fail or dead_letter, and a limit")

    _types_can_be_stored = field_validator("columns")(stored_types)

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

    @model_validator(mode="after")
    def _other_fields_are_of_json(self) -> Self:
        if self.other_fields and self.format != "json":
            raise ValueError("other_fields are of format: json; of others a registry says which fields there are")
        if unsure := sorted({*self.other_fields} & {*self.not_null}):
            raise ValueError(f"not_null names '{unsure[0]}', which is NULL where a message has no other field")
        return self

    @property
    def other_fields(self) -> list[str]:
        """The columns of the fields of a value that no column names."""
        return [name for name, what in self.metadata.items() if what == "other_fields"]

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """Those of the values, of the keys, of headers, then the metadata."""
        further = {name: _TYPES[what] for name, what in self.metadata.items()}
        found = {**self.columns, **self.key_columns, **dict.fromkeys(self.headers, "string"), **further}
        sure = {*self.not_null, *(name for name, what in self.metadata.items() if what in _ALWAYS_THERE)}
        return tuple(Column(name=name, type=type_, nullable=name not in sure) for name, type_ in found.items())

    @property
    def key_columns(self) -> dict[str, str]:
        """Those of fields of the key: column → type."""
        return {} if self.key is None else self.key.columns

    @property
    def of_others(self) -> set[str]:
        """The columns that no field of the value makes."""
        return {*self.key_columns, *self.headers, *self.metadata} - {*self.other_fields}

    def key_subject(self, key: KeyOptions) -> str:
        """The subject whose newest version says which columns keys have."""
        return key.subject or f"{self.topic}-key"

    @property
    def subject_name(self) -> str:
        """The subject whose newest version says which columns come."""
        return self.subject or f"{self.topic}-value"
