"""Messages of Kafka as rows: of the value, of the key, of headers, and of what Kafka itself says of a message."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from streamhouse.errors import Location
from streamhouse.ingest.column_errors import in_column
from streamhouse.ingest.kafka_letters import AnyMessage
from streamhouse.ingest.kafka_options import KafkaOptions
from streamhouse.ingest.message_formats import JsonMessages, MessageFormat, RegisteredMessages
from streamhouse.ingest.not_null import refuse_nulls
from streamhouse.ingest.schema_registry import registry_client
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.ingest.years import within_years
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_schema, arrow_type


class WrongPartError(UnreadableError):
    """A message cannot be read for its key or a header; its text says all."""


@dataclass(frozen=True)
class MessageRows:
    """Makes rows of messages.

    Attributes:
        options: Of the source.
        values: Reads values.
        keys: Reads keys; None: no column is of a key's field.
    """

    options: KafkaOptions
    values: MessageFormat
    keys: MessageFormat | None = None

    def rows(self, messages: Sequence[AnyMessage], wanted: tuple[Column, ...]) -> pa.Table:
        """One row for each message, with exactly these columns.

        Raises:
            ValueError, pa.ArrowException: a message cannot be read; `reason` says why, of one that is read alone.
            StoreUnavailableError: what is needed to read them does not answer.
        """
        schema = arrow_schema(wanted)
        if not messages:
            return schema.empty_table()
        arrays = {**self._of_values(messages, wanted), **self._of_keys(messages, wanted)}
        for column in wanted:
            if (ask := self._ask(column.name)) is not None:
                arrays[column.name] = _asked(messages, column, ask)
        rows = pa.table([arrays[f.name].cast(f.type) for f in schema], schema=schema)
        rows.validate(full=True)  # Arrow takes bytes that are no UTF-8 as they are
        return refuse_nulls(rows, wanted)

    def reason(self, message: AnyMessage, error: Exception) -> tuple[str, str]:
        """Why a message cannot be read, by the error of reading it alone: as dead letters have it, and in words."""
        if isinstance(error, WrongPartError):
            return error.reason, str(error)
        return self.values.reason(message.value(), error)

    def context(self, value: bytes) -> Mapping[str, Any]:
        """What a dead letter says besides of how the value was written."""
        return self.values.context(value)

    def _of_values(self, messages: Sequence[AnyMessage], wanted: tuple[Column, ...]) -> dict[str, Any]:
        fields = tuple(c for c in wanted if c.name not in self.options.of_others)
        return _columns(self.values.rows([m.value() for m in messages], fields)) if fields else {}

    def _of_keys(self, messages: Sequence[AnyMessage], wanted: tuple[Column, ...]) -> dict[str, Any]:
        """Fields of keys; a message without a key has NULL in them."""
        fields = tuple(c for c in wanted if c.name in self.options.key_columns)
        if not fields or self.keys is None:
            return {}
        keys = [message.key() for message in messages]
        there = [key for key in keys if key is not None]
        try:
            rows = self.keys.rows(there, fields) if there else arrow_schema(fields).empty_table()
            rows.validate(full=True)
        except (ValueError, pa.ArrowException) as error:
            if len(there) > 1:
                raise  # which one it is shows when each is read alone
            code, text = self.keys.reason(there[0], error)
            raise WrongPartError(code, f"its key: {text}") from error
        if len(there) == len(keys):
            return _columns(rows)
        numbers = iter(range(len(there)))
        places = pa.array([None if key is None else next(numbers) for key in keys], pa.int64())
        return _columns(rows.take(places))

    def _ask(self, name: str) -> Callable[[AnyMessage], Any] | None:
        """What gives the value of a column that is neither of the value nor of the key."""
        header = self.options.headers.get(name)
        if header is not None:
            return lambda message: _last_header(message, header)
        what = self.options.metadata.get(name)
        return None if what is None else _METADATA.get(what)


def message_rows(options: KafkaOptions, root: Path, at: Location | None) -> MessageRows:
    """What reads the messages of a source; no registry is asked.

    Raises:
        SourceError: the settings have no such registry.
    """
    values = _format(options, options.format, options.subject_name, root, at)
    key = options.key
    return MessageRows(
        options, values, None if key is None else _format(options, key.format, options.key_subject(key), root, at)
    )


def _format(options: KafkaOptions, form: str, subject: str, root: Path, at: Location | None) -> MessageFormat:
    if form == "json":
        return JsonMessages()
    assert options.registry is not None, "the options ask for it"
    return RegisteredMessages(registry_client(options.registry, root, at), form, subject)


def _columns(rows: pa.Table) -> dict[str, Any]:
    return {name: rows[name] for name in rows.column_names}


def _asked(messages: Sequence[AnyMessage], column: Column, ask: Callable[[AnyMessage], Any]) -> pa.Array:
    type_ = arrow_type(column.type)
    values = [ask(message) for message in messages]
    with in_column(column.name):
        if pa.types.is_list(type_):
            return pa.array(values, type_)
        return within_years(pa.array(values, type_ if pa.types.is_binary(type_) else None).cast(type_))


def _text(what: str, data: bytes | None) -> str | None:
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError as error:
        raise WrongPartError("encoding", f"{what} is no UTF-8: {error.reason} at byte {error.start}") from error


def _last_header(message: AnyMessage, name: str) -> str | None:
    """The header as text; the last one where several have the name, as Kafka's own clients take it."""
    for found, value in reversed(message.headers() or []):
        if found == name:
            return _text(f"its header '{name}'", value)
    return None


_METADATA: Mapping[str, Callable[[AnyMessage], Any]] = {
    "key": lambda m: _text("its key", m.key()),
    "key_bytes": lambda m: m.key(),
    "headers": lambda m: [{"name": name, "value": value} for name, value in m.headers() or []],
    "timestamp": lambda m: m.timestamp()[1] * 1000 if m.timestamp()[0] else None,
    "partition": lambda m: m.partition(),
    "offset": lambda m: m.offset(),
}
