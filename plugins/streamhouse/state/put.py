"""One row of a table by its key: a new one, or one that replaces the row that is there."""

from collections.abc import Mapping

from sqlalchemy import Connection, Table, and_, insert, update

from streamhouse.state.instants import to_ms
from streamhouse.state.records import Owner


def put(
    connection: Connection, table: Table, key: Mapping[str, str], values: Mapping[str, object], *, there: bool
) -> None:
    """Write values of a row.

    Args:
        connection: In a transaction, in which the row was looked for.
        table: Of the row.
        key: Column → value; which row.
        values: Column → value; what it gets.
        there: Whether it is there.
    """
    if there:
        this = and_(*(table.c[name] == value for name, value in key.items()))
        connection.execute(update(table).where(this).values(**values))
    else:
        connection.execute(insert(table).values(**key, **values))


def owner_values(owner: Owner) -> dict[str, object]:
    """Columns that tell a process."""
    return {"host": owner.host, "pid": owner.pid, "process_started_ms": to_ms(owner.started_at)}
