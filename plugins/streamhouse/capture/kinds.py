"""The kinds of databases that can be captured."""

from pathlib import Path

from streamhouse.capture.binlog import MARIADB, MYSQL, CapturedBinlog
from streamhouse.capture.database import CapturedDatabase, password_of
from streamhouse.capture.postgres import CapturedPostgres
from streamhouse.ingest.authorities import with_authorities
from streamhouse.model.connection import Connection


def open_database(name: str, connection: Connection, root: Path) -> CapturedDatabase:
    """The database of a connection; it is not asked yet.

    Args:
        name: Of the connection.
        connection: Where the database is.
        root: The project's folder.

    Raises:
        EnvironmentProblem: its password or its authorities are not where the settings say.
    """
    password = password_of(name, connection, root)
    connection = with_authorities(name, connection, root)
    match connection.kind:
        case "postgres":
            return CapturedPostgres(name, connection, password)
        case "mariadb":
            return CapturedBinlog(name, connection, password, MARIADB)
        case "mysql":
            return CapturedBinlog(name, connection, password, MYSQL)
