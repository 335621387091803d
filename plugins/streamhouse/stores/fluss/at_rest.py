"""The tables of a tablet server that does not run, as far as its folders tell: which there are, and where each ends."""

import mmap
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from streamhouse.model.table import Column, Table
from streamhouse.model.types import Position, Tier
from streamhouse.stores.fluss.log import end_of_batches
from streamhouse.stores.ledger import Ledger, LedgerEntry, NoLedger

_Tables = dict[str, list[tuple[int, Path]]]
"""Table → the number and the folder of each that has its name."""

_SETTLED_NS = 2_000_000_000  # a folder that changed later may change again without another time
_BUCKET = re.compile(r"log-(\d+)", re.ASCII)
_PARTITION = re.compile(r"(.+)-p(\d+)", re.ASCII)
_SEGMENT = re.compile(r"(\d{20})\.log", re.ASCII)


class FlussAtRest:
    """What is looked at of a store, without a server; nothing is read but the heads of its newest segments.

    A table is known by its number alone: the coordinator knows when it was made.
    """

    tier: Tier = Tier.HOT

    def __init__(self, data: Path, ledger: Ledger, zookeeper: Path | None = None) -> None:
        """Touches nothing yet.

        Args:
            data: The server's folder: `<database>/<table>-<number>/[<partition>-p<number>/]log-<bucket>/`.
            ledger: Knows the tables that must be there.
            zookeeper: Folder of the ZooKeeper that lists the tables: while it has no file, there is no table, whatever
                the server has. None: it is not looked at.
        """
        self._data, self._zookeeper = data, zookeeper
        self._databases: dict[str, tuple[int, _Tables]] = {}  # with the time of the folder that was listed
        self.ledger: Ledger = _ByNumber(ledger)

    def identity(self, name: str) -> str | None:
        """As `Store.identity`, without the time; of several, which a drop may leave for a moment, the newest."""
        numbers = [number for number, _ in self._folders(name)]
        return str(max(numbers)) if numbers else None

    def columns(self, name: str) -> tuple[Column, ...] | None:
        """None: there is no such table; its columns are not known here."""
        return None if self.identity(name) is None else ()

    def end(self, table: Table) -> Position:
        """See `Store.end`; a bucket without a folder has no row."""
        folder = max(self._folders(table.name), default=None)
        return {} if folder is None else dict(_ends(folder[1]))

    def close(self) -> None:
        """Nothing is open."""

    def _folders(self, name: str) -> list[tuple[int, Path]]:
        if not self._is_listed:
            return []
        database, _, table = name.partition(".")
        return self._listed(database).get(table, [])

    @cached_property
    def _is_listed(self) -> bool:
        return self._zookeeper is None or any(one.is_file() for one in self._zookeeper.rglob("*"))

    def _listed(self, database: str) -> _Tables:
        """The tables of a database; its folder is listed once as long as nothing comes or goes in it."""
        folder = self._data / database
        try:
            changed_ns = folder.stat().st_mtime_ns
            if (known := self._databases.get(database)) is not None and known[0] == changed_ns:
                return known[1]
            now_ns, names = time.time_ns(), [one.name for one in folder.iterdir()]
        except (FileNotFoundError, NotADirectoryError):
            return {}
        found: _Tables = {}
        for table, number, whole in ((*one.rpartition("-")[::2], one) for one in names):
            if table and number.isdigit():
                found.setdefault(table, []).append((int(number), folder / whole))
        if now_ns - changed_ns > _SETTLED_NS:
            self._databases[database] = changed_ns, found
        return found


def _ends(folder: Path) -> Iterator[tuple[str, int]]:
    for part in folder.iterdir():
        if bucket := _BUCKET.fullmatch(part.name):
            yield bucket[1], _end(part)
        elif partition := _PARTITION.fullmatch(part.name):
            buckets = ((one, _BUCKET.fullmatch(one.name)) for one in part.iterdir())
            yield from ((f"{partition[1]}#{partition[2]}/{at[1]}", _end(one)) for one, at in buckets if at)


def _end(log: Path) -> int:
    """Where a bucket ends: behind the last whole batch of its newest segment, which is named by its first offset."""
    segments = {int(found[1]): one for one in log.iterdir() if (found := _SEGMENT.fullmatch(one.name))}
    if not segments:
        return 0
    newest = max(segments)
    with segments[newest].open("rb") as file:
        if not segments[newest].stat().st_size:
            return newest
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped, memoryview(mapped) as data:
            found_end = end_of_batches(data)
    return newest if found_end is None else found_end


class _ByNumber(NoLedger):
    """A ledger whose identities have no time."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def known(self, table: Table, tier: Tier) -> LedgerEntry | None:
        found = self._ledger.known(table, tier)
        if found is None or found.identity is None:
            return found
        return replace(found, identity=found.identity.partition("@")[0])
