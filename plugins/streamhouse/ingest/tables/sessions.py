"""Sessions in databases that others own, as captures and readers of tables open them."""

import os
import re
import ssl
import time
from contextlib import suppress
from importlib.util import find_spec
from select import select
from typing import TYPE_CHECKING, Any

from streamhouse.errors import MissingPackageError
from streamhouse.ingest.tables.database_troubles import trouble_of
from streamhouse.model.connection import Connection

if TYPE_CHECKING:
    import psycopg
    import pymysql

AWAY = (1040, 1053, 1077, 1079, 1152, 1184, 1203, 1226, 1927, 2002, 2003, 2006, 2013, 2014, 2055)
"""Codes of errors of MariaDB and MySQL that end when the server is back, or when it has fewer sessions."""
TIMEOUT_S = 10
"""How long a server may take to answer a new session."""
_OF_THE_SERVER = re.compile(r"failed: [^\s:]+:  ")
"""What a driver of PostgreSQL says behind this comes from the server: severity and text in the server's language."""
_CODES: dict[tuple[Connection, str], str] = {}
"""SQLSTATE of what a server has said, so that it is asked once for each text; the newest `_MOST_CODES`."""
_MOST_CODES = 64
_REFUSAL = re.compile(rb'ErrorResponse\s+S "[^"]*" V "[^"]*" C "([0-9A-Z]{5})"')


def postgres_session(
    place: Connection, password: str, *, options: str = "", autocommit: bool = False
) -> "psycopg.Connection":
    """A session in a PostgreSQL database.

    Args:
        place: Where the database is; its `ca` is a whole path (`with_authorities`).
        password: Of its user; empty: there is none.
        options: Settings of the session, as `-c name=value`.
        autocommit: Whether each statement is a transaction of its own.

    Raises:
        MissingPackageError: psycopg is not installed.
        psycopg.Error: there is no such session; its text may have the password. Where that is in a language that we
            do not know, it has the `sqlstate` of the server.
    """
    require_psycopg()
    import psycopg
    from psycopg.conninfo import make_conninfo

    settings: dict[str, Any] = {
        "host": place.host,
        "port": place.port_number,
        "dbname": place.database,
        "user": place.user,
        "password": password or None,
        "sslmode": place.tls,
        "sslrootcert": place.ca,
        "connect_timeout": TIMEOUT_S,
        "application_name": "streamhouse",
        "options": options,
    }
    try:
        return psycopg.connect(**settings, autocommit=autocommit)
    except psycopg.OperationalError as error:
        said = str(error)
        if error.sqlstate is None and _OF_THE_SERVER.search(said) and trouble_of(said) is None:
            with suppress(OSError, ValueError, psycopg.Error):  # the first error says more than that of a second try
                error.sqlstate = _CODES.get((place, said)) or _sqlstate_of(make_conninfo(**settings))
            if error.sqlstate is not None:
                _remember(place, said, error.sqlstate)
        raise


def _remember(place: Connection, said: str, code: str) -> None:
    """Keep a code for a text, instead of the oldest one where there are many: some servers write an id into each."""
    while len(_CODES) >= _MOST_CODES:
        _CODES.pop(next(iter(_CODES)), None)
    _CODES[place, said] = code


def _sqlstate_of(asked: str) -> str | None:
    """Why a server refuses a session: psycopg gives the text of that, and not the code, so it is asked once more."""
    from psycopg import pq

    if not hasattr(os, "memfd_create"):
        return None  # only on Linux the driver says more
    with os.fdopen(os.memfd_create("streamhouse"), "rb") as trace:  # in memory, since it may have the password
        connection = pq.PGconn.connect_start(asked.encode())
        try:
            connection.trace(trace.fileno())
            _wait_for(connection)
            connection.untrace()
        finally:
            connection.finish()
        trace.seek(0)
        found = _REFUSAL.search(trace.read())
    return None if found is None else found[1].decode()


def _wait_for(connection: "psycopg.pq.abc.PGconn") -> None:
    """Wait until there is a session or none, at most for `TIMEOUT_S`."""
    from psycopg.pq import ConnStatus, PollingStatus

    until = time.monotonic() + TIMEOUT_S
    while connection.status != ConnStatus.BAD and (left := until - time.monotonic()) > 0:
        match connection.connect_poll():
            case PollingStatus.READING:
                select([connection.socket], [], [], left)
            case PollingStatus.WRITING:
                select([], [connection.socket], [], left)
            case _:
                return


def binlog_session(place: Connection, password: str, **more: Any) -> "pymysql.Connection[Any]":
    """A session in a server of MariaDB or MySQL.

    Args:
        place: Where the server is; its `ca` is a whole path (`with_authorities`).
        password: Of its user.
        **more: Further arguments of `pymysql.connect`.

    Raises:
        MissingPackageError: PyMySQL is not installed.
        pymysql.MySQLError: there is no such session.
    """
    require_pymysql()
    import pymysql

    return pymysql.connect(
        host=place.host,
        port=place.port_number,
        user=place.user,
        password=password,
        connect_timeout=TIMEOUT_S,
        charset="utf8mb4",
        **more,
        **tls_of(place),
    )


def tls_of(place: Connection) -> dict[str, Any]:
    """What PyMySQL takes for `tls` and `ca` of a connection."""
    mode = place.tls
    if mode == "disable":
        return {"ssl_disabled": True}
    if mode == "prefer":
        return {}
    context = ssl.create_default_context(cafile=place.ca)
    context.check_hostname = mode == "verify-full"
    if mode == "require":
        context.verify_mode = ssl.CERT_NONE
    return {"ssl": context}


def require_psycopg() -> None:
    """Check that psycopg is installed.

    Raises:
        MissingPackageError: it is not.
    """
    if find_spec("psycopg") is None:
        raise MissingPackageError("psycopg is not installed", hint="pip install 'streamhouse[postgres]'")


def require_pymysql() -> None:
    """Check that PyMySQL is installed.

    Raises:
        MissingPackageError: it is not.
    """
    if find_spec("pymysql") is None:
        raise MissingPackageError("PyMySQL is not installed", hint="pip install 'streamhouse[mysql]'")
