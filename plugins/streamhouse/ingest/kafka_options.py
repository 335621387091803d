"""Options of a source that reads a topic of Kafka."""

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from streamhouse.doors.kafka import KAFKA
from streamhouse.doors.setting import Kind, RefusedSetting, Setting, shown
from streamhouse.doors.variables import is_variable
from streamhouse.ingest.not_null import NotNull
from streamhouse.ingest.options import refuse_odd_keys, stored_types
from streamhouse.model.bad_rows import OnBadRows
from streamhouse.model.table import Column
from streamhouse.model.types import NAME
from streamhouse.secret import holds_secret, names_secret

_TYPES: dict[str, str] = {"key": "string", "timestamp": "timestamp", "partition": "int", "offset": "bigint"}
_SERVER = r"([A-Za-z0-9_.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]):[0-9]{1,5}"
_ALWAYS_THERE = ("partition", "offset")
Metadata = Literal["key", "timestamp", "partition", "offset"]


class KafkaOptions(NotNull):
    """Options of `kafka`."""

    servers: str = Field(pattern=rf"^{_SERVER}(,{_SERVER})*$", description="host:port of some brokers")
    topic: str = Field(min_length=1, description="of which every message is one row")
    format: Literal["json", "avro", "json_schema", "protobuf"] = Field(
        default="json", description="how messages are written; all but json need a registry"
    )
    registry: str | None = Field(
        default=None, pattern=NAME, description="of schemas: its name under 'connections' in streamhouse.yaml"
    )
    subject: str | None = Field(
        default=None, min_length=1, description="of whose versions the messages are; absent: the topic's, TOPIC-value"
    )
    message: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$",
        description="of format protobuf: which message of the schema says what the columns are, without its package; "
        "absent: the first",
    )
    columns: dict[str, str] = Field(min_length=1, description="column: type; a field that a message lacks is null")
    metadata: dict[str, Metadata] = Field(
        default_factory=dict, description="further column: key, timestamp, partition or offset of the message"
    )
    properties: dict[str, str] = Field(
        default_factory=dict,
        description="settings of librdkafka, such as security.protocol: SASL_SSL; docs/sources.md lists them",
    )
    secrets: dict[str, str] = Field(
        default_factory=dict,
        description="setting of librdkafka: name of the environment variable that holds it, such as "
        "sasl.password: STREAMHOUSE_SECRET_KAFKA; never the secret itself",
    )
    on_bad_rows: OnBadRows = Field(default=OnBadRows(), description="fail or dead_letter, and a limit")

    @field_validator("columns")
    @classmethod
    def _types_can_be_stored(cls, value: dict[str, str]) -> dict[str, str]:
        return stored_types(value)

    @field_validator("properties")
    @classmethod
    def _settings_are_known(cls, value: dict[str, str]) -> dict[str, str]:
        # A plan keeps these settings, and so does everybody who has the file.
        for name, text in value.items():
            known = KAFKA.taken.get(name)
            is_secret = known is not None and known.kind is Kind.SECRET
            if is_secret or names_secret(name) or holds_secret(text):
                raise ValueError(
                    f"'{shown(name)}' is a secret; use `secrets:` with the name of the variable that holds it, "
                    f"such as {shown(name)}: STREAMHOUSE_SECRET_KAFKA"
                )
            _setting(name, text)
        return value

    @field_validator("secrets")
    @classmethod
    def _secrets_are_names(cls, value: dict[str, str]) -> dict[str, str]:
        for name, variable in value.items():
            if _setting(name).kind is not Kind.SECRET:
                raise ValueError(f"'{name}' takes no secret: it is shown; write it under `properties:`")
            if not is_variable(variable):
                raise ValueError(
                    f"'{name}' does not name a variable of the environment, such as STREAMHOUSE_SECRET_KAFKA"
                )
        return value

    @model_validator(mode="after")
    def _says_how_to_log_in(self) -> Self:
        # Without a mechanism librdkafka takes Kerberos, and runs a shell command for its ticket.
        named = {"sasl.mechanism", "sasl.mechanisms"} & self.properties.keys()
        if self.properties.get("security.protocol", "").lower().startswith("sasl") and not named:
            raise ValueError("security.protocol with SASL needs 'sasl.mechanism' beside it")
        return self

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        if twice := sorted(self.columns.keys() & self.metadata.keys()):
            raise ValueError(f"'{twice[0]}' is both a column and metadata")
        return self

    @model_validator(mode="after")
    def _registry_is_for_schemas(self) -> Self:
        if self.format != "json" and self.registry is None:
            raise ValueError(f"format {self.format} needs 'registry', the name of a connection in streamhouse.yaml")
        for name in ("registry", "subject"):
            if self.format == "json" and getattr(self, name) is not None:
                raise ValueError(f"'{name}' is for messages with a schema: add 'format': avro, json_schema or protobuf")
        if self.format in ("json", "json_schema"):
            refuse_odd_keys(self.columns)
        if self.format != "protobuf" and self.message is not None:
            raise ValueError("'message' is for format: protobuf")
        return self

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """Those of the messages, then the metadata."""
        found = {**self.columns, **{name: _TYPES[what] for name, what in self.metadata.items()}}
        sure = {*self.not_null, *(name for name, what in self.metadata.items() if what in _ALWAYS_THERE)}
        return tuple(Column(name=name, type=type_, nullable=name not in sure) for name, type_ in found.items())

    @property
    def subject_name(self) -> str:
        """The subject whose newest version says which columns come."""
        return self.subject or f"{self.topic}-value"


def _setting(name: str, text: str | None = None) -> Setting:
    try:
        return KAFKA.setting(name) if text is None else KAFKA.check(name, text)
    except RefusedSetting as error:
        raise ValueError(f"{error}; {error.hint}" if error.hint else str(error)) from None
