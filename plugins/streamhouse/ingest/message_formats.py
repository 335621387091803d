"""How values of messages become rows: as JSON, or by a schema that a registry has."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from streamhouse.ingest.bad_rows import json_reason
from streamhouse.ingest.column_errors import in_column
from streamhouse.ingest.json_rows import json_rows
from streamhouse.ingest.schema_registry import NotRegistered, RegisteredSchema, RegistryClient
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.ingest.years import within_years
from streamhouse.model.table import Column

if TYPE_CHECKING:
    from streamhouse.ingest.avro_connect import ConnectRecords
    from streamhouse.ingest.protobuf_connect import ConnectMessages

_MARK = b"\0"
_HEADER_BYTES = 5
LANGUAGES = {"avro": "AVRO", "json_schema": "JSON", "protobuf": "PROTOBUF"}
"""Format of a source → what a registry calls it."""


class MessageFormat(Protocol):
    """Reads values of messages, of those that have one."""

    def rows(self, values: Sequence[bytes], columns: tuple[Column, ...]) -> pa.Table:
        """One row for each value, with exactly these columns; one that a value lacks is null.

        Raises:
            ValueError, pa.ArrowException: a value cannot be read.
            StoreUnavailableError: what is needed to read them does not answer.
        """

    def reason(self, value: bytes, error: Exception) -> tuple[str, str]:
        """Why a value cannot be read, by the error of reading it alone: as dead letters have it, and in words."""

    def context(self, value: bytes) -> Mapping[str, Any]:
        """What a dead letter says besides of how the value was written."""


class JsonMessages:
    """Each value is a JSON object."""

    def rows(self, values: Sequence[bytes], columns: tuple[Column, ...]) -> pa.Table:
        """See `MessageFormat`.

        Raises:
            UnreadableError: a value is no object, or does not fit.
        """
        return json_rows(values, columns)

    def reason(self, value: bytes, error: Exception) -> tuple[str, str]:
        """See `MessageFormat`."""
        return json_reason(value, error)

    def context(self, value: bytes) -> Mapping[str, Any]:  # noqa: ARG002  JSON says nothing of how it was written
        """See `MessageFormat`."""
        return {}


class RegisteredMessages:
    """Each value begins with a zero byte and the id of its schema, in four bytes; values may have several schemas.

    Args:
        client: Of the registry.
        form: What the source says the messages are.
        subject: Of which schemas are versions, for messages to people.
    """

    def __init__(self, client: RegistryClient, form: str, subject: str) -> None:
        self._client = client
        self._form = form
        self._subject = subject

    def rows(self, values: Sequence[bytes], columns: tuple[Column, ...]) -> pa.Table:
        """See `MessageFormat`."""
        return _by_group(
            values,
            [value[:_HEADER_BYTES] for value in values],
            lambda head, some: self._of_schema(_schema_id(head), some, columns),
        )

    def reason(self, value: bytes, error: Exception) -> tuple[str, str]:
        """See `MessageFormat`."""
        code = error.reason if isinstance(error, UnreadableError) else "type"
        text = str(error)
        try:
            number = _schema_id(value)
            if self._form == "json_schema" and not isinstance(error, UnreadableError):
                code, text = json_reason(value[_HEADER_BYTES:], error)
        except UnreadableError:
            return code, text
        return code, f"{text}; it was written with {self._called(number)}"

    def context(self, value: bytes) -> Mapping[str, Any]:
        """See `MessageFormat`."""
        try:
            number = _schema_id(value)
        except UnreadableError:
            return {}
        return {"schema": number, "schema_version": self._client.version(self._subject, number)}

    def _called(self, number: int) -> str:
        version = self._client.version(self._subject, number)
        return f"schema {number}" + (f", version {version} of '{self._subject}'" if version is not None else "")

    def _of_schema(self, number: int, values: Sequence[bytes], columns: tuple[Column, ...]) -> pa.Table:
        schema = _registered(self._client, number, self._form)
        rows = _READERS[schema.language](schema, values, columns)
        for name, column in zip(rows.column_names, rows.columns, strict=True):
            with in_column(name):
                for chunk in column.chunks:
                    within_years(chunk)
        return rows


class RegisteredEvents:
    """Reads keys and values that Kafka Connect wrote with a schema, as JSON with their schema part.

    Args:
        client: Of the registry.
        form: What the source says they are: avro or protobuf.
    """

    def __init__(self, client: RegistryClient, form: str) -> None:
        self._client = client
        self._form = form

    def text(self, value: bytes) -> bytes:
        """A key or value as JSON.

        Raises:
            UnreadableError: it is none of a schema that the registry has, or no record of it.
            StoreUnavailableError: the registry does not answer.
            MissingPackageError: the compiler of Protobuf is not installed.
        """
        schema = _registered(self._client, _schema_id(value), self._form)
        return _connect(schema).text(value, _HEADER_BYTES)


def _registered(client: RegistryClient, number: int, form: str) -> RegisteredSchema:
    try:
        schema = client.schema(number)
    except NotRegistered as error:
        raise UnreadableError("schema", f"the registry has no schema {number}") from error
    if schema.language != LANGUAGES[form]:
        raise UnreadableError("schema", f"schema {number} is in {schema.language} and not in {form}")
    return schema


def connect_part(schema: RegisteredSchema) -> Mapping[str, Any]:
    """A schema of Avro or Protobuf as a schema part of Kafka Connect; {}: it is in another language.

    Raises:
        UnreadableError: it makes none.
        MissingPackageError: what reads its language is not installed.
    """
    return {} if schema.language == "JSON" else _connect(schema).part


def _connect(schema: RegisteredSchema) -> "ConnectRecords | ConnectMessages":
    if schema.language == "PROTOBUF":
        from streamhouse.ingest.protobuf_connect import connect_messages

        return connect_messages(schema)
    from streamhouse.ingest.avro_connect import connect_records

    return connect_records(schema)


def _schema_id(value: bytes) -> int:
    if len(value) < _HEADER_BYTES or value[:1] != _MARK:
        raise UnreadableError("malformed", "it does not begin with the id of a schema")
    return int.from_bytes(value[1:_HEADER_BYTES], "big")


def _by_group(
    values: Sequence[bytes], groups: Sequence[Hashable], read: Callable[[Any, Sequence[bytes]], pa.Table]
) -> pa.Table:
    """Rows that are read group by group, in the order of the values."""
    places: dict[Hashable, list[int]] = {}
    if len(set(groups)) == 1:
        return read(groups[0], values)
    for number, group in enumerate(groups):
        places.setdefault(group, []).append(number)
    tables = [read(group, [values[n] for n in numbers]) for group, numbers in places.items()]
    order = np.empty(len(values), dtype=np.int64)
    order[np.concatenate(list(places.values()))] = np.arange(len(values))
    return pa.concat_tables(tables).take(order)


def _avro(schema: RegisteredSchema, values: Sequence[bytes], columns: tuple[Column, ...]) -> pa.Table:
    from streamhouse.ingest.avro_rows import avro_rows  # fastavro is loaded where messages need it

    return avro_rows(schema).rows(values, _HEADER_BYTES, columns)


def _json(_schema: RegisteredSchema, values: Sequence[bytes], columns: tuple[Column, ...]) -> pa.Table:
    return JsonMessages().rows([value[_HEADER_BYTES:] for value in values], columns)


def _protobuf(schema: RegisteredSchema, values: Sequence[bytes], columns: tuple[Column, ...]) -> pa.Table:
    from streamhouse.ingest.protobuf_rows import message_path, protobuf_rows

    return _by_group(
        values,
        [message_path(value, _HEADER_BYTES) for value in values],
        lambda _, some: protobuf_rows(schema, some, _HEADER_BYTES, columns),
    )


Reader = Callable[[RegisteredSchema, Sequence[bytes], tuple[Column, ...]], pa.Table]
_READERS: Mapping[str, Reader] = {"AVRO": _avro, "JSON": _json, "PROTOBUF": _protobuf}
