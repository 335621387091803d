"""Results of pure work, kept from call to call under a hash of everything they follow from."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import date
from hashlib import blake2b
from pathlib import Path
from threading import RLock
from typing import Self

from streamhouse.project.cache.code import code_identity

_FORMAT = b"1"
_RETENTION_DAYS = 14  # after the last use
_BYTES_MAX = 512 << 20
_BUSY_SECONDS = 2.0
_PASSING = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_NOMEM,
}
_CREATE = "CREATE TABLE IF NOT EXISTS entry (key TEXT PRIMARY KEY, value BLOB, proof BLOB, day INTEGER)"
_SELECT = "SELECT key, value, proof, day FROM entry WHERE key IN (SELECT value FROM json_each(?))"
_INSERT = "INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?)"
_TOUCH = "UPDATE entry SET day = ? WHERE key IN (SELECT value FROM json_each(?))"
_PRUNE = "DELETE FROM entry WHERE day < ?"


class Cache:
    """Values by key in one SQLite file, used by several processes and threads at once.

    To lose it, or to have a damaged one, costs time and nothing else: each value stands beside a hash of
    it and its key, and a file that is no database, or cannot be written, is done without.
    """

    def __init__(self, file: Path, code: bytes | None) -> None:
        """Open nothing yet.

        Args:
            file: Need not exist; nor its folder.
            code: Stands for the code whose results are kept; None: nothing is kept or found.
        """
        self._file = file
        self._code = code
        self._new: dict[str, bytes] = {}
        self._used: set[str] = set()
        self._connection: sqlite3.Connection | None = None
        self._lock = RLock()  # of the connection: what is read late, is read by any thread of a server
        self._today = date.today().toordinal()

    @classmethod
    @contextmanager
    def at(cls, folder: Path) -> Iterator[Self]:
        """The cache in `folder`; what was put is stored at the end."""
        cache = cls(folder / "plan.db", code_identity())
        try:
            yield cache
        finally:
            cache.close()

    def key(self, kind: str, *facts: bytes) -> str:
        """The key of what follows from `facts`, all of them, by the code that runs now."""
        hasher = blake2b(self._code or b"", digest_size=20)
        for fact in (_FORMAT, kind.encode(), *facts):
            hasher.update(len(fact).to_bytes(8, "big"))  # so that no two lists of facts run together
            hasher.update(fact)
        return hasher.hexdigest()

    def get(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Those of `keys` that are there, with their values."""
        wanted = list(keys)
        found = {key: self._new[key] for key in wanted if key in self._new}
        if self._code is None or (self._connection is None and not self._file.exists()):
            return found
        with self._lock:
            try:
                rows = self._connected().execute(_SELECT, (json.dumps(wanted),)).fetchall()
            except sqlite3.Error as error:
                self._forget(error)
                return found
        for key, value, proof, day in rows:
            if isinstance(value, bytes) and proof == _proof(key, value):
                found[key] = value
                if day != self._today:
                    self._used.add(key)
        return found

    def put(self, key: str, value: bytes | None) -> None:
        """Keep a value, if there is one; it is stored at the end."""
        if value is not None:
            self._new[key] = value

    def apart(self) -> "Cache":
        """Another cache of the same file, for work whose results are put here by `take` and `put`."""
        return Cache(self._file, self._code)

    def take(self) -> dict[str, bytes]:
        """What was put and not stored, which it is then no more."""
        with self._lock:
            self._disconnect()
        taken, self._new = self._new, {}
        return taken

    def close(self) -> None:
        """Store what was put, and forget what nobody asked for in a fortnight."""
        with self._lock:
            if (self._new or self._used) and self._code is not None and self._code == code_identity(refresh=True):
                try:
                    self._make_room()
                    self._store(self._connected())
                except sqlite3.Error as error:
                    self._forget(error)
                except OSError:
                    pass  # a folder that cannot be written makes the next call slower, not wrong
            self._disconnect()
            self._new, self._used = {}, set()

    def _make_room(self) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        if self._file.exists() and self._file.stat().st_size > _BYTES_MAX:
            self._remove()

    def _store(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA synchronous = OFF")  # what a crash of the machine tears, its proof finds out
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_CREATE)
        rows = ((key, value, _proof(key, value), self._today) for key, value in self._new.items())
        connection.executemany(_INSERT, rows)
        connection.execute(_TOUCH, (self._today, json.dumps(list(self._used))))
        connection.execute(_PRUNE, (self._today - _RETENTION_DAYS,))
        connection.execute("COMMIT")

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = sqlite3.connect(
                self._file, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _forget(self, error: sqlite3.Error) -> None:
        """Do without the file; one that is damaged, and not only in use by another process, is removed."""
        self._disconnect()
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF not in _PASSING:
            self._remove()

    def _remove(self) -> None:
        self._disconnect()
        for file in (self._file, self._file.with_name(f"{self._file.name}-journal")):
            with suppress(OSError):
                file.unlink()


def _proof(key: str, value: bytes) -> bytes:
    hasher = blake2b(key.encode(), digest_size=16)
    hasher.update(value)
    return hasher.digest()
