"""Rows of a table of MariaDB or MySQL, in sessions that only read."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from streamhouse.ingest.tables.binlog_types import natural
from streamhouse.ingest.tables.database import DatabaseTableReader, StoredColumn
from streamhouse.ingest.tables.sessions import AWAY, binlog_session, require_pymysql
from streamhouse.stores.arrow import arrow_type

if TYPE_CHECKING:
    from pymysql.cursors import SSCursor

_ROWS_AT_ONCE = 20_000
_SESSION = ("SET SESSION time_zone = '+00:00'", "SET SESSION TRANSACTION READ ONLY")
_COLUMNS = """
SELECT COLUMN_NAME, COLUMN_TYPE, DATA_TYPE, IS_NULLABLE FROM information_schema.COLUMNS
WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s ORDER BY ORDINAL_POSITION
"""
_MICROSECOND = timedelta(microseconds=1)


class BinlogRows(DatabaseTableReader):
    """See `DatabaseReader` and `DatabaseTableReader`."""

    form = "database.table"

    def columns(self) -> tuple[StoredColumn, ...]:
        """See `DatabaseReader`; columns have no ids, so a renamed one is a new one.

        Raises:
            SourceError: there is no such table, or the database refuses us.
            StoreUnavailableError: it does not answer.
        """
        with self._cursor() as cursor:
            cursor.execute(_COLUMNS, tuple(self.name.split(".")))
            found = cursor.fetchall()
        if not found:
            raise self._failures.missing()
        return tuple(
            StoredColumn(name, whole, _type(kind, whole), kind, nullable == "YES")
            for name, whole, kind, nullable in found
        )

    def batches(self, columns: Sequence[StoredColumn]) -> Iterator[pa.RecordBatch]:
        """See `DatabaseReader`."""
        schema = pa.schema([pa.field(one.name, arrow_type(one.type or "")) for one in columns])
        readers = [_read(one) for one in columns]
        database, table = self.name.split(".")
        asked = exp.select(*map(_asked, columns)).from_(exp.table_(table, db=database, quoted=True))
        with self._cursor() as cursor:
            cursor.execute(asked.sql(dialect="mysql"))
            while rows := cursor.fetchmany(_ROWS_AT_ONCE):
                arrays = [
                    pa.array([None if value is None else read(value) for value in values], field.type)
                    for values, field, read in zip(zip(*rows, strict=True), schema, readers, strict=True)
                ]
                yield pa.record_batch(arrays, schema=schema)

    @contextmanager
    def _cursor(self) -> Iterator["SSCursor"]:
        require_pymysql()
        import pymysql
        from pymysql.cursors import SSCursor

        try:
            with (
                binlog_session(self._place, self._password, cursorclass=SSCursor) as session,
                session.cursor() as cursor,
            ):
                for statement in _SESSION:
                    cursor.execute(statement)
                yield cursor
        except pymysql.MySQLError as error:
            code = error.args[0] if error.args else 0
            is_away = isinstance(error, pymysql.OperationalError | pymysql.InterfaceError) and (
                code in AWAY or not code
            )
            failures = self._failures
            raise (failures.away(error) if is_away else failures.refused(error, is_session=True)) from None
        except pa.ArrowException as error:
            raise self._failures.refused(error) from None


def _type(kind: str, whole: str) -> str | None:
    return None if kind == "bit" and whole != "bit(1)" else natural(kind, whole)[0]


def _asked(column: StoredColumn) -> exp.Expression:
    name = exp.column(column.name, quoted=True)
    if column.kind == "bit":
        return exp.Add(this=name, expression=exp.Literal.number(0))
    return exp.cast(name, "double", dialect="mysql") if column.kind == "float" else name  # a float has six digits


def _read(column: StoredColumn) -> Callable[[Any], Any]:
    if column.type == "boolean":
        return bool
    if column.kind == "time":
        return _microseconds
    return _day if column.kind in ("date", "datetime", "timestamp") else _same


def _same(value: Any) -> Any:
    return value


def _day(value: Any) -> Any:
    """A day or time; the driver leaves one with zeros as text, such as 0000-00-00, and it is NULL as from the log."""
    return None if isinstance(value, str) else value


def _microseconds(value: timedelta) -> int:
    return value // _MICROSECOND
