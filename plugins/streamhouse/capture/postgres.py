"""PostgreSQL, as a capture asks it; its changes themselves are the engine's."""

import re
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from streamhouse.capture.database import DatabaseAway, Offset, Slot, first_line, masked, table_pattern
from streamhouse.capture.postgres_catalog import postgres_tables
from streamhouse.capture.postgres_commits import Commits
from streamhouse.capture.wanted import WantedTable
from streamhouse.errors import CaptureFailedError, SlotLostError, did_you_mean
from streamhouse.ingest.journal import Group, segments
from streamhouse.ingest.tables.database_troubles import code_of
from streamhouse.ingest.tables.postgres_types import declarable, fits
from streamhouse.ingest.tables.sessions import TIMEOUT_S, postgres_session, require_psycopg
from streamhouse.install.jars import POSTGRES_CAPTURE_JARS, Jar
from streamhouse.model.connection import Connection
from streamhouse.planner.found_tables import FoundTable

if TYPE_CHECKING:
    import psycopg

MESSAGES = "streamhouse"
"""Prefix of the messages that we write into the database's log."""

_OLDEST = 140000
_PLACE = re.compile(rb'"txId":\d+,"lsn":\d+,')
_SETTINGS = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "plugin.name": "pgoutput",
    "publication.autocreate.mode": "filtered",
    "slot.max.retries": "60",
    "slot.retry.delay.ms": "1000",
}

_COLUMNS = """
SELECT a.attname, t.typname, t.typcategory, t.typtype, a.attgenerated::text <> ''
FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_KEY = """
SELECT a.attname FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
WHERE i.indrelid = %s AND i.indisprimary
"""
_SLOT = """
SELECT wal_status, pg_current_wal_lsn() - restart_lsn AS kept,
  confirmed_flush_lsn - '0/0'::pg_lsn AS confirmed FROM pg_replication_slots WHERE slot_name = %s
"""

_END_READER = """
SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = %s AND active_pid IS NOT NULL
"""


class CapturedPostgres:
    """See `CapturedDatabase`.

    Args:
        name: Of the connection.
        connection: Where the database is.
        password: Of its user.
    """

    def __init__(self, name: str, connection: Connection, password: str) -> None:
        self.name = name
        self._at = connection
        self._password = password
        self._commits = Commits()

    @contextmanager
    def _session(self) -> Iterator["psycopg.Connection"]:
        require_psycopg()
        import psycopg

        try:
            with postgres_session(self._at, self._password, autocommit=True) as session:
                yield session
        except psycopg.OperationalError as error:
            raise DatabaseAway(
                self.masked(first_line(error)), code_of(error)
            ) from None  # what is behind it may have the password
        except psycopg.Error as error:
            raise self._failed(first_line(error), "see what the user of the connection may do") from None

    def check(self, tables: Sequence[WantedTable]) -> None:
        """Check that the database lets its changes be read, and that tables are as they were declared.

        Raises:
            CaptureFailedError: something cannot be captured.
            DatabaseAway: it does not answer.
        """
        with self._session() as session:
            if session.info.server_version < _OLDEST:
                version = session.info.server_version // 10000
                raise self._failed(f"the server is PostgreSQL {version}", "PostgreSQL 14 or later is needed")
            level = _only(session, "SELECT current_setting('wal_level')")
            if level != "logical":
                hint = "ALTER SYSTEM SET wal_level = logical, then restart the server"
                raise self._failed(f"the database has wal_level={level}, so its changes cannot be read", hint)
            for wanted in tables:
                self._check_table(session, wanted)

    def tables(self, is_wanted: Callable[[str], bool]) -> list[FoundTable]:
        """See `CapturedDatabase`."""
        with self._session() as session:
            return postgres_tables(session, self.name, is_wanted)

    def _check_table(self, session: "psycopg.Connection", wanted: WantedTable) -> None:
        schema, _, name = wanted.table.partition(".")
        found = session.execute(
            "SELECT c.oid, c.relkind::text, c.relreplident::text FROM pg_class AS c JOIN pg_namespace AS n "
            "ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = %s",
            (schema, name),
        ).fetchone()
        if found is None:
            raise self._failed(f"there is no table {wanted.table}", self._like(session, wanted.table))
        oid, kind, identity = found
        if kind != "r":
            raise self._failed(f"{wanted.table} is no plain table", "of a partitioned table, name its partitions")
        columns = {row[0]: row[1:] for row in session.execute(_COLUMNS, (oid,))}
        self._check_columns(wanted, columns)
        key = {row[0] for row in session.execute(_KEY, (oid,))}
        sent = key if identity == "d" else set(columns) if identity == "f" else set()
        if not set(wanted.primary_key) <= sent:
            raise self._failed(
                f"{wanted.table}: of a deleted row the database sends {', '.join(sorted(sent)) or 'nothing'}, and not "
                f"all of primary_key: {', '.join(wanted.primary_key)}",
                "declare the table's primary key, or ALTER TABLE … REPLICA IDENTITY FULL",
            )

    def _check_columns(self, wanted: WantedTable, columns: dict[str, tuple[str, str, str, bool]]) -> None:
        for name, declared in wanted.columns.items():
            if name not in columns:
                hint = did_you_mean(name, tuple(columns), f"it has: {', '.join(columns)}")
                raise self._failed(f"{wanted.table} has no column '{name}'", hint)
            type_, category, kind, is_generated = columns[name]
            if is_generated:
                cause = f"{wanted.table}: '{name}' is a generated column, which the log of the database does not have"
                raise self._failed(cause, "leave it out of 'columns', and compute it in an action")
            allowed = declarable(type_, category) if kind in ("b", "e", "r") else ()
            shown = f"{type_.removeprefix('_')}[]" if type_.startswith("_") else type_
            if not allowed:
                hint = "leave it out of 'columns', or add a column of another type that a trigger fills"
                raise self._failed(f"{wanted.table}: '{name}' is {shown}, which cannot be captured", hint)
            if not fits(declared, allowed):
                hint = f"declare it as {' or '.join(allowed)}"
                raise self._failed(f"{wanted.table}: '{name}' is {shown}, and cannot be read as {declared}", hint)

    def _like(self, session: "psycopg.Connection", table: str) -> str | None:
        known = [row[0] for row in session.execute("SELECT schemaname || '.' || tablename FROM pg_tables")]
        return did_you_mean(table, known, "write it as schema.table")

    def settings(self, group: Group, folder: Path, *, begun: bool) -> dict[str, str]:  # noqa: ARG002  of the protocol
        """See `CapturedDatabase`."""
        at = self._at
        settings = _SETTINGS | {
            "database.hostname": at.host,
            "database.port": str(at.port_number),
            "database.dbname": at.database or "",
            "database.user": at.user,
            "database.sslmode": at.tls,
            **({"database.sslrootcert": at.ca} if at.ca else {}),
            "slot.name": group.slot,
            "publication.name": group.slot,
            "table.include.list": ",".join(map(table_pattern, group.tables)),
        }
        return settings | ({"database.password": self._password} if self._password else {})

    def prepare(self, group: Group, folder: Path) -> None:  # noqa: ARG002
        """See `CapturedDatabase`."""
        self.drop(group)

    def resume(self, group: Group, folder: Path) -> Offset:  # noqa: ARG002
        """What the slot has confirmed, without the place of the last commit: so the engine skips nothing.

        Raises:
            SlotLostError: the slot is gone, or lost changes.
            DatabaseAway: the database does not answer.
        """
        found = self._slot(group.slot)
        if error := self.lost(group, found[0] if found else None):
            raise error
        assert found is not None
        return {"lsn_proc": found[1], "lsn": found[1]}

    def keep(self, folder: Path, offset: Callable[[], Mapping[str, Any]]) -> None:
        """Nothing: the slot knows it."""

    def settled(self, group: Group, folder: Path, segments: Sequence[Path]) -> int:  # noqa: ARG002
        """See `CapturedDatabase`."""
        found = self._slot(group.slot)
        return 0 if found is None else self._commits.settled(segments, found[1])

    def slot(self, group: Group, folder: Path) -> Slot | None:  # noqa: ARG002
        """See `CapturedDatabase`."""
        found = self._slot(group.slot)
        return found[0] if found else None

    def _slot(self, name: str) -> tuple[Slot, int] | None:
        """What the database says of a slot, and what it has confirmed."""
        with self._session() as session:
            found = session.execute(_SLOT, (name,)).fetchone()
        return None if found is None else (Slot(found[0] or "lost", int(found[1] or 0)), int(found[2] or 0))

    def lost(self, group: Group, slot: Slot | None) -> SlotLostError | None:
        """See `CapturedDatabase`."""
        if slot is not None and slot.status != "lost":
            return None
        what = "is gone" if slot is None else "lost the changes that were not read yet"
        return SlotLostError(
            f"connection '{self.name}': the replication slot {group.slot} {what}",
            hint=f"take a new snapshot with: streamhouse capture reset {self.name}",
        )

    def warning(self, slot_name: str, slot: Slot | None, *, lives: bool, warn_at: int) -> str | None:
        """See `CapturedDatabase`."""
        if slot is None or slot.status == "lost":
            return f"the replication slot {slot_name} is {'gone' if slot is None else 'lost'}"
        if slot.retained_bytes <= warn_at and slot.status != "unreserved":
            return None
        until = "" if lives else "; no capture reads it: start the capture or drop the slot"
        return f"the database keeps {slot.retained_bytes >> 20} MiB of its log for the slot {slot_name}{until}"

    def free(self, group: Group) -> None:
        """See `CapturedDatabase`."""
        with self._session() as session:
            until = time.monotonic() + TIMEOUT_S
            while session.execute(_END_READER, (group.slot,)).fetchall() and time.monotonic() < until:
                time.sleep(0.1)

    def drop(self, group: Group) -> None:
        """Drop the slot of a group and its publication, where they are there."""
        from psycopg.sql import SQL, Identifier

        with self._session() as session:
            session.execute(
                "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s",
                (group.slot,),
            )
            session.execute(SQL("DROP PUBLICATION IF EXISTS {}").format(Identifier(group.slot)))

    def push(self) -> None:
        """See `CapturedDatabase`."""
        self._say("")

    def committed(self) -> Callable[[Path], bool]:
        """See `CapturedDatabase`."""
        mark = token_hex(16)
        self._say(mark)
        text = b64encode(mark.encode())
        return lambda folder: any(text in file.read_bytes() for file in segments(folder)[-2:])

    def _say(self, text: str) -> None:
        """Write a message into the database's log, which the engine sends on: so a quiet slot moves."""
        with self._session() as session:
            session.execute("SELECT pg_logical_emit_message(true, %s, %s)", (MESSAGES, text))

    @property
    def jars(self) -> tuple[Jar, ...]:
        """See `CapturedDatabase`."""
        return POSTGRES_CAPTURE_JARS

    @property
    def silent_s(self) -> float | None:
        """It says nothing while nothing is written."""
        return None

    @property
    def authorities(self) -> str | None:
        """None: the engine's settings name the file."""
        return None

    @property
    def place(self) -> re.Pattern[bytes]:
        """An event's transaction, and its place in the log."""
        return _PLACE

    def masked(self, text: str) -> str:
        """See `CapturedDatabase`."""
        return masked(text, self._password)

    def _failed(self, cause: str, hint: str | None) -> CaptureFailedError:
        return CaptureFailedError(f"connection '{self.name}': {cause}", hint=hint)


def _only(session: "psycopg.Connection", query: str) -> str:
    found = session.execute(query.encode()).fetchone()
    return str(found[0]) if found else ""
