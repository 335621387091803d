"""What a MariaDB or MySQL server must be, so that its changes can be read."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from streamhouse.capture.wanted import WantedTable
from streamhouse.errors import CaptureFailedError, did_you_mean
from streamhouse.ingest.tables.binlog_types import declarable, fits, is_readable

if TYPE_CHECKING:
    from pymysql.cursors import Cursor

Failed = Callable[[str, str | None], CaptureFailedError]
"""Makes the error of a cause and a hint."""

_BINLOG = {
    "log_bin": ("ON", "start the server with log_bin, binlog_format=ROW and a server_id"),
    "binlog_format": ("ROW", "SET GLOBAL binlog_format = 'ROW', and in the server's configuration"),
    "binlog_row_image": ("FULL", "SET GLOBAL binlog_row_image = 'FULL', and in the server's configuration"),
    "log_bin_compress": ("OFF", "SET GLOBAL log_bin_compress = OFF, and in the server's configuration"),
}
_RIGHTS = {
    "REPLICATION SLAVE": ("REPLICATION SLAVE", "REPLICATION REPLICA"),
    "REPLICATION CLIENT": ("REPLICATION CLIENT", "BINLOG MONITOR"),
    "RELOAD": ("RELOAD", "FLUSH_TABLES"),
}
_DENIED = (1142, 1143)
_OF_EVERYTHING = re.compile(r"GRANT (?P<rights>.*?) ON \*\.\* TO ", re.DOTALL)
_COLUMNS = """
SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE FROM information_schema.COLUMNS
WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s ORDER BY ORDINAL_POSITION
"""


def check_server(session: "Cursor", title: str, oldest: tuple[int, int], failed: Failed) -> None:
    """Check that a server lets its changes be read.

    Args:
        session: At the server.
        title: MariaDB or MySQL, as the connection says.
        oldest: Version that is needed.
        failed: Makes the error.

    Raises:
        CaptureFailedError: it does not.
    """
    session.execute("SELECT VERSION()")
    version = str((session.fetchone() or ("",))[0])
    found = "MariaDB" if "mariadb" in version.lower() else "MySQL"
    if found != title:
        raise failed(f"the server is {found} {version}", f"say 'kind: {found.lower()}' in streamhouse.yaml")
    if version_of(version) < oldest:
        raise failed(f"the server is {title} {version}", f"{title} {oldest[0]}.{oldest[1]} or later is needed")
    session.execute(f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({', '.join(['%s'] * len(_BINLOG))})", (*_BINLOG,))
    there = {str(name): str(value) for name, value in session.fetchall()}
    for name, (needed, hint) in _BINLOG.items():
        if there.get(name, needed).upper() != needed:
            raise failed(f"the server has {name}={there[name]}, so its changes cannot be read", hint)
    _check_rights(session, failed)


def version_of(text: str) -> tuple[int, int]:
    """Of a server, as `VERSION()` says it.

    Example:
        >>> version_of("10.11.19-MariaDB-log")
        (10, 11)
    """
    found = re.search(r"(\d+)\.(\d+)\.\d+", text, re.ASCII)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _check_rights(session: "Cursor", failed: Failed) -> None:
    session.execute("SHOW GRANTS")
    lines = [str(row[0]) for row in session.fetchall()]
    found = [match["rights"].upper() for line in lines if (match := _OF_EVERYTHING.match(line))]
    rights = {right.strip() for one in found for right in one.split(",")}
    if "ALL PRIVILEGES" in rights:
        return
    missing = [name for name, others in _RIGHTS.items() if not rights & set(others)]
    if missing:
        raise failed(
            f"the user of the connection lacks {', '.join(missing)}",
            f"GRANT {', '.join(missing)} ON *.* TO that user",
        )


def check_table(session: "Cursor", wanted: WantedTable, failed: Failed) -> None:
    """Check that a table is as a flow declares it.

    Args:
        session: At the server.
        wanted: As declared.
        failed: Makes the error.

    Raises:
        CaptureFailedError: it is not, or its changes cannot be read.
    """
    schema, _, name = wanted.table.partition(".")
    session.execute(
        "SELECT TABLE_TYPE FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s", (schema, name)
    )
    found = session.fetchone()
    if found is None:
        raise failed(f"there is no table {wanted.table} that the user may read", _like(session, wanted.table))
    if found[0] != "BASE TABLE":
        raise failed(f"{wanted.table} is no plain table, but a {str(found[0]).lower()}", "name a table with rows")
    _check_readable(session, wanted.table, failed)
    session.execute(_COLUMNS, (schema, name))
    _check_columns(wanted, {str(row[0]): (str(row[1]), str(row[2])) for row in session.fetchall()}, failed)


def _check_readable(session: "Cursor", table: str, failed: Failed) -> None:
    from pymysql import OperationalError

    quoted = ".".join(f"`{part.replace('`', '``')}`" for part in table.split(".", 1))
    try:
        session.execute(f"SELECT * FROM {quoted} LIMIT 0")
    except OperationalError as error:
        if error.args[0] not in _DENIED:
            raise
        raise failed(f"the user may not read all of {table}", f"GRANT SELECT ON {table} TO that user") from None


def _check_columns(wanted: WantedTable, columns: dict[str, tuple[str, str]], failed: Failed) -> None:
    for name, (type_, _) in columns.items():
        if not is_readable(type_):
            cause = f"{wanted.table}: '{name}' is {type_}, and the engine reads no table with such a column"
            raise failed(cause, "keep that column in a table of its own")
    for name, declared in wanted.columns.items():
        hint: str | None
        if name not in columns:
            hint = did_you_mean(name, tuple(columns), f"it has: {', '.join(columns)}")
            raise failed(f"{wanted.table} has no column '{name}'", hint)
        type_, whole = columns[name]
        allowed = declarable(type_, whole)
        if not allowed:
            hint = "leave it out of 'columns', or add a generated column of another type to the table"
            raise failed(f"{wanted.table}: '{name}' is {whole}, which cannot be captured", hint)
        if not fits(declared, allowed):
            hint = f"declare it as {' or '.join(allowed)}"
            raise failed(f"{wanted.table}: '{name}' is {whole}, and cannot be read as {declared}", hint)


def _like(session: "Cursor", table: str) -> str | None:
    session.execute("SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.TABLES")
    known = [str(row[0]) for row in session.fetchall()]
    return did_you_mean(table, known, "write it as database.table, and GRANT SELECT on it")
