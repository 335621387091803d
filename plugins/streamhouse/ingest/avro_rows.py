"""Messages of one Avro schema as rows."""

import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from io import BytesIO
from itertools import pairwise
from typing import Any

import fastavro
import pyarrow as pa

from streamhouse.ingest.avro_at_once import NotAtOnce, read_at_once
from streamhouse.ingest.avro_schema import AvroType, avro_record, physical_schema
from streamhouse.ingest.avro_strict import StrictRecord
from streamhouse.ingest.avro_values import ValueReader, value_reader
from streamhouse.ingest.column_errors import in_column
from streamhouse.ingest.schema_registry import RegisteredSchema
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_type

_FEWEST_AT_ONCE = 200
"""Of fewer messages, reading one by one takes less time."""

_BROKEN = (EOFError, ArithmeticError, LookupError, TypeError, ValueError, MemoryError, struct.error)
"""What fastavro raises for bytes that are no record of the schema."""


class AvroRows:
    """Reads messages by the schema they were written with; columns are found by their names.

    Args:
        schema: The writer's.

    Raises:
        UnreadableError: it is no schema of a record.
    """

    def __init__(self, schema: RegisteredSchema) -> None:
        references = dict(schema.references)
        self.record: AvroType = avro_record(schema.text, references)
        self._physical, named = physical_schema(schema.text, references)
        self._strict = StrictRecord(self._physical, named)
        self._fields = dict(self.record.fields)
        self._readers: dict[Column, ValueReader] = {}

    def rows(self, values: Sequence[bytes], skip: int, columns: Sequence[Column]) -> pa.Table:
        """One row for each message.

        Args:
            values: The messages.
            skip: Bytes before each record.
            columns: Those wanted; one that the schema lacks is null.

        Raises:
            UnreadableError: a message is no record of the schema, or a value does not fit its column.
        """
        readers = {c.name: self._reader(c) for c in columns if c.name in self._fields}
        found = self._columns(values, skip, readers)
        arrays = [found.get(c.name, pa.nulls(len(values), arrow_type(c.type))) for c in columns]
        return pa.table(arrays, names=[c.name for c in columns])

    def _columns(self, values: Sequence[bytes], skip: int, readers: dict[str, ValueReader]) -> dict[str, pa.Array]:
        if len(values) >= _FEWEST_AT_ONCE:
            try:
                raw = read_at_once(self.record, values, skip, {name: one.physical for name, one in readers.items()})
            except NotAtOnce:
                pass  # what is wrong with which message, if anything is, shows when they are read one by one
            else:
                return {name: _column(name, one.convert, raw[name]) for name, one in readers.items()}
        records = self.records(values, skip)
        return {name: _column(name, reader.column, [one[name] for one in records]) for name, reader in readers.items()}

    def _reader(self, column: Column) -> ValueReader:
        if column not in self._readers:
            with in_column(column.name):
                self._readers[column] = value_reader(self._fields[column.name], arrow_type(column.type))
        return self._readers[column]

    def cut(self, block: bytes, count: int) -> list[bytes]:
        """The records of a block of a file, which stand one behind the other.

        Args:
            block: Unpacked.
            count: How many records it has.

        Raises:
            UnreadableError: they are no records of the schema, or do not end where the block does.
        """
        if count > len(block):
            raise UnreadableError("malformed", f"a block of {len(block):,} bytes is said to have {count:,} records")
        stream = BytesIO(block)
        ends = [0]
        try:
            for _ in range(count):
                fastavro.schemaless_reader(stream, self._physical, None)
                ends.append(stream.tell())
        except UnicodeDecodeError as error:
            raise UnreadableError("encoding", f"a text is no UTF-8: {error.reason}") from error
        except _BROKEN as error:
            raise UnreadableError(
                "malformed", f"record {len(ends)} of a block is none of the schema: {error}"
            ) from error
        if ends[-1] != len(block):
            raise UnreadableError("malformed", "a block does not end with its last record")
        return [block[begin:end] for begin, end in pairwise(ends)]

    def records(self, values: Sequence[bytes], skip: int) -> list[dict[str, Any]]:
        """Each message as a record, without logical types; `skip` bytes are before it.

        Raises:
            UnreadableError: a message is no record of the schema.
        """
        # One stream for all, since one for each message costs as much as to read it.
        data = b"".join(values)
        stream, end = BytesIO(data), 0
        records: list[Any] = []
        for value in values:
            begin = end + skip
            stream.seek(begin)
            end += len(value)
            try:
                records.append(fastavro.schemaless_reader(stream, self._physical, None))
            except UnicodeDecodeError as error:
                raise UnreadableError("encoding", f"it is no UTF-8: {error.reason}") from error
            except _BROKEN as error:
                raise UnreadableError("malformed", f"it is no record of its schema: {error}") from error
            if stream.tell() != end:
                what = "ends before its record" if stream.tell() > end else "goes on behind its record"
                raise UnreadableError("malformed", f"it {what}")
            self._strict.check(data, begin)
        return records


def _column(name: str, convert: Callable[[Any], pa.Array], values: Any) -> pa.Array:
    with in_column(name):
        return convert(values)


@lru_cache(maxsize=256)
def avro_rows(schema: RegisteredSchema) -> AvroRows:
    """The reader of a schema; see `AvroRows`."""
    return AvroRows(schema)
