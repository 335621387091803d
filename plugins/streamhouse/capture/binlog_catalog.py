"""What tables a MariaDB or MySQL server has, as `streamhouse import` asks."""

from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING

from streamhouse.ingest.tables.binlog_types import is_readable, natural
from streamhouse.planner.found_tables import FoundColumn, FoundKey, FoundTable

if TYPE_CHECKING:
    from pymysql.cursors import Cursor

_OURS = "TABLE_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')"
_TABLES = f"""
SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME), TABLE_TYPE, TABLE_COMMENT
FROM information_schema.TABLES WHERE {_OURS} ORDER BY 1
"""
_COLUMNS = f"""
SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME), COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, IS_NULLABLE, COLUMN_COMMENT
FROM information_schema.COLUMNS WHERE {_OURS} ORDER BY 1, ORDINAL_POSITION
"""
_KEYS = f"""
SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME), COLUMN_NAME
FROM information_schema.STATISTICS WHERE {_OURS} AND INDEX_NAME = 'PRIMARY' ORDER BY 1, SEQ_IN_INDEX
"""
_FOREIGN_KEYS = f"""
SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME), CONSTRAINT_NAME, COLUMN_NAME,
  CONCAT(REFERENCED_TABLE_SCHEMA, '.', REFERENCED_TABLE_NAME), REFERENCED_COLUMN_NAME
FROM information_schema.KEY_COLUMN_USAGE
WHERE {_OURS} AND REFERENCED_TABLE_NAME IS NOT NULL ORDER BY 1, 2, ORDINAL_POSITION
"""


def binlog_tables(session: "Cursor", kind: str, connection: str, is_wanted: Callable[[str], bool]) -> list[FoundTable]:
    """The tables of a server that are wanted, by name; system databases have none. Four queries, whatever their number.

    The server shows only what the user may see.

    Args:
        session: At the server.
        kind: `mariadb` or `mysql`.
        connection: Its name in streamhouse.yaml.
        is_wanted: Whether `database.table` is.
    """
    session.execute(_TABLES)
    wanted = {str(name): (str(type_), str(comment or "")) for name, type_, comment in session if is_wanted(str(name))}
    columns: dict[str, list[FoundColumn]] = defaultdict(list)
    unreadable: dict[str, str] = {}
    session.execute(_COLUMNS)
    for table, name, type_, whole, nullable, comment in session:
        if not is_readable(str(type_)):
            unreadable[table] = f"the engine reads no table with a column of type {type_}, such as '{name}'"
        columns[table].append(_column(name, type_, whole, nullable == "YES", comment or ""))
    primary: dict[str, list[str]] = defaultdict(list)
    session.execute(_KEYS)
    for table, name in session:
        primary[table].append(name)
    foreign = _foreign_keys(session)
    return [
        FoundTable(
            name,
            "cdc",
            {kind: {"connection": connection, "table": name}},
            tuple(columns[name]),
            tuple(primary[name]),
            foreign.get(name, ()),
            comment if type_ == "BASE TABLE" else "",
            _refusal(type_, unreadable.get(name, ""), primary[name]),
        )
        for name, (type_, comment) in wanted.items()
    ]


def _refusal(type_: str, unreadable: str, key: list[str]) -> str:
    if type_ != "BASE TABLE":
        return f"it is a {type_.lower()}"
    return unreadable or ("" if key else "it has no primary key")


def _foreign_keys(session: "Cursor") -> dict[str, tuple[FoundKey, ...]]:
    pairs: dict[tuple[str, str, str], list[tuple[str, str]]] = defaultdict(list)
    session.execute(_FOREIGN_KEYS)
    for table, constraint, column, to, to_column in session:
        pairs[table, constraint, to].append((column, to_column))
    found: dict[str, tuple[FoundKey, ...]] = {}
    for (table, _, to), columns in pairs.items():
        own, theirs = zip(*columns, strict=True)
        found[table] = (*found.get(table, ()), FoundKey(own, to, theirs))
    return found


def _column(name: str, type_: str, whole: str, nullable: bool, comment: str) -> FoundColumn:
    found, why = natural(type_, whole)
    return FoundColumn(name, whole, found, why or ("" if found else "cannot be captured"), nullable, comment)
