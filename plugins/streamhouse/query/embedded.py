"""Answers plain queries in this process, without Spark."""

from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from streamhouse.query.parse import Query
from streamhouse.query.plain_sql import Plain
from streamhouse.query.plain_values import NotPlainError
from streamhouse.query.reading import ReadableRows
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.without_pandas import without_pandas

if TYPE_CHECKING:
    import duckdb

_FEW_ROWS = 1_000_000
_STREAM = "streamhouse_rows"
_SETTINGS = (  # it reads what is put into it, and no file
    "SET autoinstall_known_extensions = false; SET TimeZone = 'UTC'; SET enable_external_access = false; "
    "SET lock_configuration = true"
)


def answer_here(query: Query, plain: Plain, tables: ReadableRows, *, limit: int | None = None) -> pa.Table:
    """Run a plain query with DuckDB over the rows of its tables.

    Args:
        query: What `plain` was made of.
        plain: For DuckDB.
        tables: None of them is in a tier that only Spark reads.
        limit: At most so many rows of the result.

    Raises:
        NotPlainError: DuckDB cannot answer it; ask Spark, whose error or answer counts.
        StoreError: a tier cannot be read.
    """
    import duckdb

    rows = {use.name: tables.rows(use) for use in query.uses}
    with duckdb.connect() as connection, without_pandas():
        connection.execute(_SETTINGS)
        try:
            for name, found in rows.items():
                _put(connection, name, found)
            result = connection.sql(plain.sql)
            found = (result if limit is None else result.limit(limit)).to_arrow_table()
            return found.cast(arrow_schema(plain.columns))
        except (duckdb.Error, pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
            raise NotPlainError(f"what DuckDB says: {str(error).splitlines()[0]}") from error


def _put(connection: "duckdb.DuckDBPyConnection", name: str, rows: pa.Table) -> None:
    if rows.num_rows > _FEW_ROWS:
        connection.register(name, rows)
        return
    # To register a table imports pyarrow.dataset, which takes longer than all else of a small query. A stream does
    # not, but can be read once only.
    connection.register(_STREAM, rows.__arrow_c_stream__())
    table = exp.Table(this=exp.to_identifier(name, quoted=True))
    connection.execute(exp.select("*").from_(_STREAM).ctas(table).sql(dialect="duckdb"))
    connection.unregister(_STREAM)
