"""MariaDB and MySQL, as a capture asks them; their changes themselves are the engine's."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamhouse.capture.binlog_catalog import binlog_tables
from streamhouse.capture.binlog_checks import check_server, check_table, version_of
from streamhouse.capture.binlog_place import HISTORY, BinlogPlace, cut_later, in_log, is_before, last_in_log, remove
from streamhouse.capture.database import DatabaseAway, Offset, Slot, masked, table_pattern
from streamhouse.capture.journal import cut_torn_file
from streamhouse.capture.wanted import WantedTable
from streamhouse.errors import CaptureFailedError, SlotLostError
from streamhouse.ingest.journal import Group
from streamhouse.ingest.tables.database_troubles import code_of, explained
from streamhouse.ingest.tables.sessions import AWAY, TIMEOUT_S, binlog_session, require_pymysql
from streamhouse.install.jars import MARIADB_CAPTURE_JARS, MYSQL_CAPTURE_JARS, Jar
from streamhouse.model.connection import Connection
from streamhouse.planner.found_tables import FoundTable

if TYPE_CHECKING:
    from pymysql.cursors import Cursor

_SILENT_S = 20.0
_PLACE = re.compile(rb'"file":"[^"]+","pos":\d+,(?="row":\d+,)')
"""Without `row`: of a statement it is that of the event before it, and 0 when the engine begins with the statement."""
_NO_ROWS = ("Format_desc", "Gtid_list", "Previous_gtids", "Binlog_checkpoint", "Start_encryption", "Stop", "Rotate")
"""Types of events that no transaction has."""
_STATEMENT = (["Gtid", "Query"], ["Anonymous_Gtid", "Query"])
_DEFINED = r"(ALGORITHM\s*=\s*\S+\s+)?(DEFINER\s*=\s*\S+\s+)?(SQL\s+SECURITY\s+\S+\s+)?(AGGREGATE\s+)?"
_NO_TABLE = "(USER|ROLE|VIEW|FUNCTION|PROCEDURE|TRIGGER|EVENT|SERVER)"
_OF_NO_TABLE = (  # without commas, which separate them
    r"(SET\s+STATEMENT\s.*\sFOR\s+)?(GRANT|REVOKE|ANALYZE|OPTIMIZE|REPAIR|FLUSH|SAVEPOINT)\s.*",
    r"(CREATE|DROP)\s+(OR\s+REPLACE\s+)?TEMPORARY\s.*",
    rf"(CREATE|ALTER|DROP)\s+(OR\s+REPLACE\s+)?{_DEFINED}{_NO_TABLE}\s.*",
)
_SETTINGS = {
    "schema.history.internal": "io.debezium.storage.file.history.FileSchemaHistory",
    # A table that the engine's parser does not understand stops the captures that read it, and no others.
    "schema.history.internal.store.only.captured.tables.ddl": "true",
    "include.schema.changes": "true",
    "bigint.unsigned.handling.mode": "precise",
    "key.converter.decimal.format": "NUMERIC",
    "value.converter.decimal.format": "NUMERIC",
    # How far the engine is, also when nothing is written; and that the server is silent is known after a second.
    "heartbeat.interval.ms": "1000",
    "connect.keep.alive.interval.ms": "1000",
    # An engine that loses its connection ends: what comes again is told apart when it starts, and never within.
    "connect.keep.alive": "false",
    "errors.max.retries": "0",
}


@dataclass(frozen=True)
class Flavour:
    """What MariaDB and MySQL do differently.

    Attributes:
        kind: As `connections:` has it.
        title: As people write it.
        connector: Debezium's class.
        jars: What it needs.
        oldest: Version that is old enough.
        tls: `tls` of a connection → what the connector calls it.
        settings: Others of the connector.
    """

    kind: str
    title: str
    connector: str
    jars: tuple[Jar, ...]
    oldest: tuple[int, int]
    tls: Mapping[str, str]
    settings: Mapping[str, str]


MARIADB = Flavour(
    "mariadb",
    "MariaDB",
    "io.debezium.connector.mariadb.MariaDbConnector",
    MARIADB_CAPTURE_JARS,
    (10, 5),
    {"disable": "disable", "require": "trust", "verify-ca": "verify-ca", "verify-full": "verify-full"},
    {},
)
MYSQL = Flavour(
    "mysql",
    "MySQL",
    "io.debezium.connector.mysql.MySqlConnector",
    MYSQL_CAPTURE_JARS,
    (8, 0),
    {"disable": "disabled", "require": "required", "verify-ca": "verify_ca", "verify-full": "verify_identity"},
    {"driver.allowPublicKeyRetrieval": "true"},
)


class CapturedBinlog:
    """See `CapturedDatabase`.

    Args:
        name: Of the connection.
        connection: Where the database is.
        password: Of its user.
        flavour: Which of both it is.
    """

    def __init__(self, name: str, connection: Connection, password: str, flavour: Flavour) -> None:
        self.name = name
        self._at = connection
        self._password = password
        self._flavour = flavour
        self._recorded: dict[Path, BinlogPlace] = {}
        self._history_bytes: dict[Path, int] = {}
        self._last_places: dict[Path, tuple[int, int] | None] = {}

    @property
    def jars(self) -> tuple[Jar, ...]:
        """See `CapturedDatabase`."""
        return self._flavour.jars

    @property
    def silent_s(self) -> float | None:
        """The server says each second that it lives: an engine that hears nothing has a connection that is none."""
        return _SILENT_S

    @property
    def authorities(self) -> str | None:
        """See `CapturedDatabase`."""
        return self._at.ca

    @property
    def place(self) -> re.Pattern[bytes]:
        """Where in the binlog the rows of an event are, or its statement; all rows of one statement share it."""
        return _PLACE

    @contextmanager
    def _session(self) -> Iterator["Cursor"]:
        require_pymysql()
        import pymysql

        waits = {"read_timeout": TIMEOUT_S * 3, "write_timeout": TIMEOUT_S * 3}
        try:
            with binlog_session(self._at, self._password, autocommit=True, **waits) as session:
                yield session.cursor()
        except pymysql.MySQLError as error:
            code, said = (*error.args, "", "")[:2]
            text = self.masked(str(said or code))
            if isinstance(error, pymysql.OperationalError | pymysql.InterfaceError) and (code in AWAY or not code):
                raise DatabaseAway(text, code_of(error)) from None
            raise self._failed(*explained(text, "see what the user of the connection may do", code_of(error))) from None

    def check(self, tables: Sequence[WantedTable]) -> None:
        """See `CapturedDatabase`."""
        with self._session() as session:
            check_server(session, self._flavour.title, self._flavour.oldest, self._failed)
            for wanted in tables:
                check_table(session, wanted, self._failed)

    def tables(self, is_wanted: Callable[[str], bool]) -> list[FoundTable]:
        """See `CapturedDatabase`."""
        with self._session() as session:
            return binlog_tables(session, self._flavour.kind, self.name, is_wanted)

    def settings(self, group: Group, folder: Path, *, begun: bool) -> dict[str, str]:  # noqa: ARG002  of the protocol
        """See `CapturedDatabase`."""
        names = sorted({table.partition(".")[0] for table in group.tables})
        settings = {
            **_SETTINGS,
            **self._flavour.settings,
            "connector.class": self._flavour.connector,
            "database.hostname": self._at.host,
            "database.port": str(self._at.port_number),
            "database.user": self._at.user,
            "database.ssl.mode": self._tls(),
            "database.server.id": str(10_000 + int(group.identity[:7], 16)),  # no two of a server's readers share one
            "database.include.list": ",".join(map(table_pattern, names)),
            "table.include.list": ",".join(map(table_pattern, group.tables)),
            "schema.history.internal.file.filename": str(folder / HISTORY),
            "internal.schema.history.internal.ddl.filter": ",".join(statements_to_skip(group.tables)),
        }
        return settings | {"database.password": self._password}

    def _tls(self) -> str:
        """What the connector calls `tls`; it has no `prefer`, so the server is asked."""
        if self._at.tls != "prefer":
            return self._flavour.tls[self._at.tls]
        with self._session() as session:
            session.execute("SHOW SESSION STATUS LIKE 'Ssl_cipher'")
            found = session.fetchone()
        return self._flavour.tls["require" if found is not None and found[1] else "disable"]

    def prepare(self, group: Group, folder: Path) -> None:  # noqa: ARG002
        """See `CapturedDatabase`."""
        self._recorded.pop(folder, None)
        remove(folder)

    def resume(self, group: Group, folder: Path) -> Offset:
        """The end of the last transaction of which all is in the journal, or a place before it.

        Raises:
            SlotLostError: the server has removed what comes after the journal.
            CaptureFailedError: a file of the journal is gone.
            DatabaseAway: the server does not answer.
        """
        place = BinlogPlace.read(folder)
        history = folder / HISTORY
        if place is None or not history.is_file():
            what = HISTORY if place is not None else "place.json"
            raise self._failed(
                f"the journal has no {what} any more", f"take a new snapshot: streamhouse capture reset {self.name}"
            )
        if error := self.lost(group, self.slot(group, folder)):
            raise error
        cut_torn_file(history)
        if not place.gtids:
            cut_later(history, place)
        self._recorded[folder] = place
        return place.offset()

    def keep(self, folder: Path, offset: Callable[[], Mapping[str, Any]]) -> None:
        """See `CapturedDatabase`. The schema history is on the disk before: an engine that goes on there needs it."""
        place = BinlogPlace.of(offset())
        recorded = self._recorded.get(folder)
        # A server that is asked by GTID begins with the beginning of a file, which is before what was read.
        if place is None or (recorded is not None and place.order <= recorded.order):
            return
        history = folder / HISTORY
        size = history.stat().st_size
        if size != self._history_bytes.get(folder):
            with history.open("rb") as file:
                os.fsync(file.fileno())
            self._history_bytes[folder] = size
        place.write(folder)
        self._recorded[folder] = place

    def settled(self, group: Group, folder: Path, segments: Sequence[Path]) -> int:  # noqa: ARG002
        """See `CapturedDatabase`. It sends again what is at `place.json` or after it."""
        place = BinlogPlace.read(folder)
        if place is None:
            return 0
        for at, file in enumerate(segments[:-1]):
            if file not in self._last_places:
                self._last_places[file] = last_in_log(file, _PLACE)
            last = self._last_places[file]
            if last is not None and last >= in_log(place.file, place.pos):
                return at
        return len(segments) - 1

    def slot(self, group: Group, folder: Path) -> Slot | None:  # noqa: ARG002
        """See `CapturedDatabase`. The server keeps its log for a time, read or not."""
        place = BinlogPlace.read(folder)
        if place is None:
            return Slot("reserved", 0)
        with self._session() as session:
            session.execute("SHOW BINARY LOGS")
            sizes = {str(row[0]): int(row[1]) for row in session.fetchall()}
            if place.pos > sizes.get(place.file, -1) or not self._has(session, place):
                return Slot("lost", 0)
        at = in_log(place.file, 0)
        left = sum(size for file, size in sizes.items() if in_log(file, 0) >= at) - place.pos
        is_oldest = at == min(in_log(file, 0) for file in sizes)
        return Slot("unreserved" if is_oldest and len(sizes) > 1 else "reserved", left)

    def _has(self, session: "Cursor", place: BinlogPlace) -> bool:
        """Whether the log is the one in which a place was found: a server may have begun a new one, or be another."""
        if not place.gtids:
            return True
        if self._flavour.kind == "mysql":
            session.execute("SELECT GTID_SUBSET(%s, @@GLOBAL.gtid_executed)", (place.gtids,))
            found = session.fetchone()
            return bool(found and found[0])
        session.execute("SELECT @@GLOBAL.gtid_binlog_pos")
        found = session.fetchone()
        return found is not None and is_before(place.gtids, str(found[0] or ""))

    def lost(self, group: Group, slot: Slot | None) -> SlotLostError | None:  # noqa: ARG002
        """See `CapturedDatabase`."""
        if slot is None or slot.status != "lost":
            return None
        return SlotLostError(
            f"connection '{self.name}': the server has removed the part of its binlog that was not read yet",
            hint=f"take a new snapshot with: streamhouse capture reset {self.name}; and let the server keep its "
            "binlog for longer: binlog_expire_logs_seconds",
        )

    def warning(self, slot_name: str, slot: Slot | None, *, lives: bool, warn_at: int) -> str | None:  # noqa: ARG002
        """See `CapturedDatabase`."""
        if slot is None:
            return None
        if slot.status == "lost":
            return "the server has removed the part of its binlog that was not read yet"
        is_at_risk = not lives and slot.status == "unreserved" and slot.retained_bytes > 0
        if slot.retained_bytes <= warn_at and not is_at_risk:
            return None
        until = "" if lives else "; start the capture"
        return (
            f"{slot.retained_bytes >> 20} MiB of the binlog are not read yet, and the server removes what is older "
            f"than its binlog_expire_logs_seconds{until}"
        )

    def free(self, group: Group) -> None:
        """Nothing: the server ends the reader before when one with its number comes."""

    def drop(self, group: Group) -> None:
        """Nothing: the server has nothing for a group."""

    def push(self) -> None:
        """Nothing: the engine says each second how far it is."""

    def committed(self) -> Callable[[Path], bool]:
        """See `CapturedDatabase`."""
        with self._session() as session:
            session.execute("SELECT VERSION()")
            version = str((session.fetchone() or ("",))[0])
            is_new = self._flavour.kind == "mysql" and version_of(version) >= (8, 4)
            session.execute("SHOW BINARY LOG STATUS" if is_new else "SHOW MASTER STATUS")
            found = session.fetchone()
        assert found is not None, "the check saw that there is a binlog"
        end = in_log(str(found[0]), int(found[1]))

        def has_all(folder: Path) -> bool:
            place = BinlogPlace.read(folder)
            if place is None:
                return False
            return in_log(place.file, place.pos) >= end or self._is_last_statement(place, end)

        return has_all

    def _is_last_statement(self, place: BinlogPlace, end: tuple[int, int]) -> bool:
        """Whether nothing is between two places, but a statement that was read: the engine stays at its beginning."""
        if in_log(place.file, 0)[0] != end[0]:
            return False
        with self._session() as session:
            session.execute(f"SHOW BINLOG EVENTS IN '{place.file}' FROM {place.pos:d} LIMIT 9")
            types = [str(row[2]) for row in session.fetchall() if int(row[1]) < end[1]]
        left = [one for one in types if one not in _NO_ROWS]
        return not left or (left in _STATEMENT and place.events > 0)

    def masked(self, text: str) -> str:
        """See `CapturedDatabase`."""
        return masked(text, self._password)

    def _failed(self, cause: str, hint: str | None) -> CaptureFailedError:
        return CaptureFailedError(f"connection '{self.name}': {cause}", hint=hint)


def statements_to_skip(tables: Sequence[str]) -> list[str]:
    """Patterns of statements that the engine does not look at: those that cannot change a table of ours.

    Its parser does not understand all that a server does, and a statement that it does not understand stops a capture.

    Example:
        >>> statements_to_skip(["shop.orders"])[-1]
        '(?!.*(orders|shop)).*'
    """
    names = {name for table in tables for name in table.split(".", 1)}
    return [*_OF_NO_TABLE, f"(?!.*({'|'.join(map(table_pattern, sorted(names)))})).*"]
