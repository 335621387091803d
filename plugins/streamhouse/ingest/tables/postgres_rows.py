"""Rows of a table of PostgreSQL, in sessions that only read."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

from streamhouse.ingest.tables.database import DatabaseTableReader, StoredColumn
from streamhouse.ingest.tables.database_troubles import code_of, trouble_of
from streamhouse.ingest.tables.postgres_types import natural
from streamhouse.ingest.tables.sessions import postgres_session, require_psycopg
from streamhouse.stores.arrow import arrow_type

if TYPE_CHECKING:
    import psycopg
    from psycopg.sql import Composable

_ROWS_AT_ONCE = 20_000
_SESSION = "-c default_transaction_read_only=on -c TimeZone=UTC -c IntervalStyle=iso_8601"
_COLUMNS = """
SELECT a.attname, format_type(a.atttypid, a.atttypmod), t.typname, t.typcategory::text, a.attnotnull, a.attnum::text
FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid JOIN pg_class AS c ON c.oid = a.attrelid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = %s AND a.attnum > 0 AND NOT a.attisdropped
  AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
ORDER BY a.attnum
"""


class PostgresRows(DatabaseTableReader):
    """See `DatabaseReader` and `DatabaseTableReader`."""

    form = "schema.table"

    def columns(self) -> tuple[StoredColumn, ...]:
        """See `DatabaseReader`.

        Raises:
            SourceError: there is no such table, or the database refuses us.
            StoreUnavailableError: it does not answer.
        """
        with self._session() as session:
            found = session.execute(_COLUMNS, tuple(self.name.split("."))).fetchall()
        if not found:
            raise self._failures.missing()
        return tuple(
            StoredColumn(name, written, natural(kind, category, written)[0], kind, not needed, number)
            for name, written, kind, category, needed, number in found
        )

    def batches(self, columns: Sequence[StoredColumn]) -> Iterator[pa.RecordBatch]:
        """See `DatabaseReader`."""
        from psycopg.sql import SQL, Identifier

        schema = pa.schema([pa.field(one.name, arrow_type(one.type or "")) for one in columns])
        asked = SQL(", ").join(_asked(one) for one in columns)
        query = SQL("SELECT {} FROM {}").format(asked, Identifier(*self.name.split(".")))
        with self._session() as session, session.cursor(name="streamhouse") as cursor:
            cursor.execute(query)
            while rows := cursor.fetchmany(_ROWS_AT_ONCE):
                values = zip(*rows, strict=True)
                arrays = [pa.array(column, field.type) for column, field in zip(values, schema, strict=True)]
                yield pa.record_batch(arrays, schema=schema)

    @contextmanager
    def _session(self) -> Iterator["psycopg.Connection"]:
        require_psycopg()
        import psycopg

        try:
            with postgres_session(self._place, self._password, options=_SESSION) as session:
                yield session
        except psycopg.OperationalError as error:
            trouble = trouble_of(str(error), code_of(error))
            ends_by_itself = trouble is None or trouble.ends_by_itself
            failures = self._failures
            raise (failures.away(error) if ends_by_itself else failures.refused(error, is_session=True)) from None
        except (psycopg.Error, pa.ArrowException) as error:
            raise self._failures.refused(error) from None  # what is behind it may have the password


def _asked(column: StoredColumn) -> "Composable":
    from psycopg.sql import SQL, Identifier

    name = Identifier(column.name)
    if column.kind == "time":
        return SQL("(EXTRACT(EPOCH FROM {}) * 1000000)::bigint").format(name)
    if column.kind == "money":
        return SQL("{}::numeric").format(name)
    if column.type == "string":
        return SQL("{}::text").format(name)
    return SQL("{}::text[]").format(name) if column.type == "array<string>" else SQL("{}").format(name)
