"""Columns of two meanings: since when each means what is applied, where older rows hold something else."""

from sqlalchemy import Connection, delete, insert, select

from streamhouse.state.instants import from_ms
from streamhouse.state.records import Change, Meaning
from streamhouse.state.schema import meaning


def mark(connection: Connection, change: Change, revision: int, now_ms: int) -> None:
    """Record which columns mean something else from now on; all rows of a table computed anew mean the same."""
    for table in set(change.versions) - change.copies:
        connection.execute(delete(meaning).where(meaning.c.table_name == table))
    for table, columns in change.marks.items():
        connection.execute(delete(meaning).where(meaning.c.table_name == table, meaning.c.column_name.in_(columns)))
        for column in columns:
            row = insert(meaning).values(table_name=table, column_name=column, revision=revision, since_ms=now_ms)
            connection.execute(row)


def of_table(connection: Connection, table: str) -> dict[str, Meaning]:
    """Column → since when it means what is applied; of those only that ever meant something else."""
    rows = connection.execute(select(meaning).where(meaning.c.table_name == table).order_by(meaning.c.column_name))
    return {row.column_name: Meaning(row.revision, from_ms(row.since_ms)) for row in rows}
