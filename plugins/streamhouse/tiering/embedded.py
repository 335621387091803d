"""Answers plain queries in this process, without Spark."""

import pyarrow as pa

from streamhouse.stores.arrow import arrow_schema
from streamhouse.tiering.ask import Query
from streamhouse.tiering.plain_sql import NotPlainError, Plain
from streamhouse.tiering.reading import Readable


def answer_here(query: Query, plain: Plain, tables: Readable, *, limit: int | None = None) -> pa.Table:
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
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for name, found in rows.items():
            connection.register(name, found)
        try:
            result = connection.sql(plain.sql)
            found = (result if limit is None else result.limit(limit)).to_arrow_table()
            return found.cast(arrow_schema(plain.columns))
        except (duckdb.Error, pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
            raise NotPlainError(f"what DuckDB says: {str(error).splitlines()[0]}") from error
