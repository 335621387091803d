"""Options of a source that reads changes by their key."""

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from streamhouse.ingest.broker_options import BrokerOptions
from streamhouse.ingest.encodings import TimeUnit
from streamhouse.ingest.not_null import NotNull
from streamhouse.ingest.options import stored_types
from streamhouse.ingest.packed_file import without_packing
from streamhouse.ingest.topic_events import Messages
from streamhouse.model.bad_rows import OnBadRows
from streamhouse.model.connection import DATABASES
from streamhouse.model.table import NO_KEY_TYPES, Column
from streamhouse.model.types import NAME, Frozen

_TABLE = r"^[^.\s]+\.[^.\s]+$"
_TOPIC = r"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,248}$"


_METADATA: dict[str, str] = {
    "op": "string",
    "committed_at": "timestamp",
    "number": "bigint",
    "transaction": "string",
}
ChangeMetadata = Literal["op", "committed_at", "number", "transaction"]


class CapturedTable(Frozen):
    """A table of a database that a capture reads (docs/postgres.md, docs/mariadb.md)."""

    connection: str = Field(pattern=NAME, description="its name under 'connections' in streamhouse.yaml")
    table: str = Field(
        pattern=_TABLE,
        description="schema.table, such as public.orders; of mariadb and mysql database.table",
    )


class ChangesTopic(BrokerOptions):
    """A topic of Kafka that has changes."""

    topic: str = Field(pattern=_TOPIC, description="whose messages change the rows")
    messages: Messages = Field(
        default="changes",
        description="changes: Debezium's change events; rows: the value is the row, and no value removes it",
    )
    format: Literal["json", "avro", "protobuf"] = Field(
        default="json", description="how messages are written; all but json need a registry"
    )
    registry: str | None = Field(
        default=None, pattern=NAME, description="of schemas: its name under 'connections' in streamhouse.yaml"
    )
    table: str | None = Field(
        default=None,
        pattern=_TABLE,
        description="schema.table, where the topic has changes of several tables: only those of this one are read",
    )

    @model_validator(mode="after")
    def _rows_are_of_one_table(self) -> Self:
        if self.messages == "rows" and self.table is not None:
            raise ValueError("'table' is for messages: changes; rows do not say of which table they are")
        return self

    @model_validator(mode="after")
    def _registry_is_for_schemas(self) -> Self:
        if (self.format != "json") != (self.registry is not None):
            raise ValueError(
                "'format' avro or protobuf and 'registry', the name of a connection in streamhouse.yaml, go together"
            )
        if self.format != "json" and self.messages == "rows":
            raise ValueError("'messages: rows' is for format: json")
        return self


class CdcOptions(NotNull):
    """Options of `cdc`."""

    path: str | None = Field(
        default=None, min_length=1, description="file or pattern (*, ?, [a-z], **), relative to the project"
    )
    postgres: CapturedTable | None = Field(
        default=None, description="a table of a database, instead of files: {connection: shop, table: public.orders}"
    )
    mariadb: CapturedTable | None = Field(
        default=None, description="the same of MariaDB: {connection: shop, table: shop.orders}"
    )
    mysql: CapturedTable | None = Field(default=None, description="the same of MySQL, where it is not tested")
    kafka: ChangesTopic | None = Field(
        default=None, description="a topic, instead of files: {servers: 'broker-1:9092', topic: shop.public.orders}"
    )
    primary_key: tuple[str, ...] = Field(min_length=1, description="the columns that identify a row: [id]")
    columns: dict[str, str] = Field(min_length=1, description="what to take of each row: {id: bigint, name: string}")
    time_unit: TimeUnit | None = Field(
        default=None, description="ms, us or ns: of times that are numbers, in events without a schema part"
    )
    nulls_kept: bool = Field(
        default=False,
        description="the connector has value.converter.replace.null.with.default=false, so NULL never came as DEFAULT",
    )
    mode: Literal["upsert", "append"] = Field(
        default="upsert", description="upsert: the rows as they are by now; append: each change is a row, for a history"
    )
    metadata: dict[str, ChangeMetadata] = Field(
        default_factory=dict,
        description="of mode append: further column: op (c, u, d or r), committed_at, number or transaction of the "
        "change",
    )
    on_bad_rows: OnBadRows = Field(default=OnBadRows(), description="fail or dead_letter, and a limit")

    _types_can_be_stored = field_validator("columns")(stored_types)

    @model_validator(mode="after")
    def _from_one_place(self) -> Self:
        named = [name for name in ("path", "kafka", *DATABASES) if getattr(self, name) is not None]
        if len(named) != 1:
            raise ValueError(
                "say where the changes are: either 'path' (files), 'kafka' or 'postgres', 'mariadb' or 'mysql'"
            )
        for name in ("time_unit", "nulls_kept") if self.captured is not None else ():
            if name in self.model_fields_set:
                raise ValueError(f"'{name}' is for files and topics; of a database it is known")
        if self.captured is not None and self.on_bad_rows != OnBadRows():
            raise ValueError("'on_bad_rows' is for files and topics; the events of a capture are never malformed")
        return self

    @model_validator(mode="after")
    def _files_are_not_compressed(self) -> Self:
        if self.path is not None and without_packing(self.path) != self.path:
            raise ValueError("files of change events are not read in compressed form; unpack them: gunzip FILE")
        return self

    @model_validator(mode="after")
    def _key_is_of_columns(self) -> Self:
        for name in self.primary_key:
            if name not in self.columns:
                raise ValueError(f"primary_key names '{name}', which is not among the columns")
            if self.columns[name].startswith(NO_KEY_TYPES):
                raise ValueError(f"'{name}' is {self.columns[name]} and cannot be part of a primary key")
        if len(set(self.primary_key)) != len(self.primary_key):
            raise ValueError("primary_key names a column twice")
        return self

    @model_validator(mode="after")
    def _changes_are_rows(self) -> Self:
        if self.mode == "upsert" and self.metadata:
            raise ValueError("'metadata' describes each change, and is for mode: append")
        if self.mode == "append" and self.kafka is not None:
            raise ValueError("'mode: append' is for files and databases; the messages of a topic are rows by 'kafka'")
        if self.mode == "append" and self.on_bad_rows != OnBadRows():
            raise ValueError("'on_bad_rows' is for mode: upsert; an event that cannot be read stops the flow")
        if twice := sorted(set(self.metadata) & set(self.columns)):
            raise ValueError(f"metadata names '{twice[0]}', which is among the columns")
        return self

    @property
    def metadata_columns(self) -> tuple[Column, ...]:
        """Of the metadata; never NULL but for the transaction."""
        found = self.metadata.items()
        return tuple(Column(name=name, type=_METADATA[of], nullable=of == "transaction") for name, of in found)

    @property
    def captured(self) -> CapturedTable | None:
        """The table of a database; None: the changes are in files."""
        return self.postgres or self.mariadb or self.mysql
