"""Columns of two meanings: since when each means what is applied, where older rows hold something else."""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Connection, delete, insert, select

from streamhouse.state.instants import from_ms
from streamhouse.state.records import Change, MeaningSince
from streamhouse.state.schema import meaning, version_meaning

_MARK = ("table_name", "column_name", "revision", "since_ms")


def mark(
    connection: Connection,
    change: Change,
    revision: int,
    now_ms: int,
    *,
    before: Mapping[str, int],
    back: Collection[str] = (),
) -> None:
    """Record which columns mean something else from now on; all rows of a recomputed table mean the same.

    Args:
        connection: In a transaction.
        change: That is done.
        revision: Of its plan.
        now_ms: The time.
        before: Table → the version that served before it, of those that were not at their first.
        back: Tables that go back to a version which served once: they mean what they meant then.
    """
    for table, version in change.versions.items():
        _keep(connection, table, before.get(table, 1))
        if table in back or table not in change.copies:
            connection.execute(delete(meaning).where(meaning.c.table_name == table))
        if table in back:
            _bring_back(connection, table, version)
    for table, columns in change.marks.items():
        if table not in back:
            _mark(connection, table, columns, revision, now_ms)


def _mark(connection: Connection, table: str, columns: Sequence[str], revision: int, now_ms: int) -> None:
    connection.execute(delete(meaning).where(meaning.c.table_name == table, meaning.c.column_name.in_(columns)))
    for column in columns:
        row = insert(meaning).values(table_name=table, column_name=column, revision=revision, since_ms=now_ms)
        connection.execute(row)


def forget(connection: Connection, table: str, version: int) -> None:
    """Remove what is kept of a version that is dropped."""
    this = (version_meaning.c.table_name == table) & (version_meaning.c.version == version)
    connection.execute(delete(version_meaning).where(this))


def _keep(connection: Connection, table: str, version: int) -> None:
    forget(connection, table, version)
    for row in connection.execute(select(meaning).where(meaning.c.table_name == table)).all():
        values = {name: getattr(row, name) for name in _MARK}
        connection.execute(insert(version_meaning).values(version=version, **values))


def _bring_back(connection: Connection, table: str, version: int) -> None:
    this = (version_meaning.c.table_name == table) & (version_meaning.c.version == version)
    for row in connection.execute(select(version_meaning).where(this)).all():
        connection.execute(insert(meaning).values({name: getattr(row, name) for name in _MARK}))
    forget(connection, table, version)


def of_table(connection: Connection, table: str) -> dict[str, MeaningSince]:
    """Column → since when it means what is applied; of those only that ever meant something else."""
    rows = connection.execute(select(meaning).where(meaning.c.table_name == table).order_by(meaning.c.column_name))
    return {row.column_name: MeaningSince(row.revision, from_ms(row.since_ms)) for row in rows}
