"""Sessions in databases that others own, as captures and readers of tables open them."""

import ssl
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from streamhouse.errors import MissingPackageError
from streamhouse.model.connection import Connection

if TYPE_CHECKING:
    import psycopg
    import pymysql

AWAY = (1040, 1053, 1077, 1079, 1152, 1184, 1927, 2002, 2003, 2006, 2013, 2014, 2055)
"""Codes of errors of MariaDB and MySQL that end when the server is back."""
TIMEOUT_S = 10
"""How long a server may take to answer a new session."""


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
        psycopg.Error: there is no such session; its text may have the password.
    """
    require_psycopg()
    import psycopg

    return psycopg.connect(
        host=place.host,
        port=place.port_number,
        dbname=place.database,
        user=place.user,
        password=password or None,
        sslmode=place.tls,
        sslrootcert=place.ca,
        connect_timeout=TIMEOUT_S,
        application_name="streamhouse",
        options=options,
        autocommit=autocommit,
    )


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
