"""Iceberg tables of others, read by PyIceberg. Snapshots are numbered by their sequence numbers, which only rise."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pyarrow as pa

from streamhouse.errors import Location, RowsLostError, SourceError
from streamhouse.ingest.secret_place import secret_at
from streamhouse.ingest.tables.base import SnapshotPart, TableCommit, TwoStates, joined, pieces
from streamhouse.ingest.tables.failures import Failures
from streamhouse.ingest.tables.iceberg_columns import columns_of, field_named
from streamhouse.ingest.tables.iceberg_files import FilePart, IcebergFiles, IcebergSeen
from streamhouse.model.lake_connection import IcebergConnection
from streamhouse.model.place import is_local, local_path
from streamhouse.model.shape import SeenColumn
from streamhouse.stores.iceberg.tables import Tables, tables_of
from streamhouse.stores.object_store import ObjectStore

if TYPE_CHECKING:
    from pyiceberg.table.snapshots import Snapshot

_WITHOUT_NUMBERS = 1
"""A format in which nothing says which of two snapshots is newer but their times."""
_SAME = frozenset({"replace"})  # files were written again, with the same rows
_RETENTION = "let its owner keep snapshots (history.expire.max-snapshot-age-ms) for longer than the flow may rest"


class IcebergTable:
    """One table of a catalog.

    Args:
        name: `namespace.table`.
        tables: Of the catalog.
        connection: Its name, for messages.
        within: The only folder of this machine whose files may be read; None: the catalog has files elsewhere.
        at: Where the source is defined.
    """

    def __init__(
        self, name: str, tables: Tables, connection: str, within: Path | None = None, at: Location | None = None
    ) -> None:
        self.name = name
        self._tables = tables
        self._within = within
        self._at = at
        self._failures = Failures(name, connection, tables.secrets, at)

    def look(self) -> "IcebergLook":
        """See `OtherTable.look`.

        Raises:
            SourceError: there is no such table, or it cannot be read so.
            StoreUnavailableError: the catalog or the object store does not answer.
        """
        with self._failures.translated():
            found = self._tables.table(self.name)
        if found is None:
            raise self._failures.missing()
        if found.metadata.format_version == _WITHOUT_NUMBERS:
            raise SourceError(
                f"{self.name} is of Iceberg's format 1, whose snapshots have no numbers; 2 and 3 are read",
                at=self._at,
                hint="let its owner set format-version=2, which changes no data file: "
                f"ALTER TABLE {self.name} SET TBLPROPERTIES ('format-version' = '2')",
            )
        current = found.metadata.current_snapshot()
        if current is not None and not current.sequence_number:
            raise SourceError(
                f"the newest snapshot of {self.name} is from before format 2, and has no number",
                at=self._at,
                hint="it is read after the next commit to it",
            )
        return IcebergLook(IcebergSeen(self.name, found, self._failures, self._within, self._at))

    def names(self) -> list[str]:
        """The names of all tables of the catalog.

        Raises:
            StoreUnavailableError: the catalog does not answer.
            SourceError: it refuses us.
        """
        with self._failures.translated():
            return self._tables.names()


class IcebergLook:
    """See `TableLook`.

    Args:
        seen: The table.
    """

    def __init__(self, seen: IcebergSeen) -> None:
        self._name = seen.name
        self._stored = seen.stored
        self._failures = seen.failures
        self._files = IcebergFiles(seen)
        self._at = seen.at

    @property
    def identity(self) -> str:
        """See `TableLook`."""
        return str(self._stored.metadata.table_uuid)

    @cached_property
    def columns(self) -> tuple[SeenColumn, ...]:
        """See `TableLook`."""
        return columns_of(self._stored.schema(), self._name, self._at)

    def name_now(self, name: str) -> str | None:
        """See `TableLook`."""
        found = field_named(self._stored.metadata, name)
        names = {field.field_id: field.name for field in self._stored.schema().fields}
        return None if found is None else names.get(found.field_id)

    @property
    def primary_key(self) -> tuple[str, ...]:
        """None: Iceberg proves no key."""
        return ()

    @property
    def named_key(self) -> tuple[str, ...]:
        """The columns that the owner says to identify a row; nothing proves it."""
        schema = self._stored.schema()
        return tuple(schema.find_field(number).name for number in schema.identifier_field_ids)

    @cached_property
    def newest(self) -> int:
        """See `TableLook`."""
        current = self._stored.metadata.current_snapshot()
        return 0 if current is None else int(current.sequence_number or 0)

    @cached_property
    def oldest(self) -> int:
        """See `TableLook`."""
        line = self._line(self.newest)
        return int(line[-1].sequence_number or 0) - 1 if line else 0

    def has(self, number: int) -> bool:
        """See `TableLook`."""
        return number == 0 or number in self._by_number

    def commits(self, start: int, end: int) -> list[TableCommit]:
        """See `TableLook`."""
        if start >= end:
            return []
        if start == 0:
            return [TableCommit(end, _count(self._snapshot(end), "total-records"), added=True, what="all rows")]
        return [self._commit(one) for one in self._between(start, end)]

    def added(self, start: int, end: int, columns: Sequence[str]) -> pa.Table:
        """See `TableLook`."""
        from pyiceberg.table import IncrementalAppendScan

        parts: list[FilePart] = []
        with self._failures.translated():
            for one in self._between(start, end):
                if _operation(one) in _SAME:
                    continue
                scan = IncrementalAppendScan(
                    self._stored.metadata,
                    self._stored.io,
                    from_snapshot_id=one.parent_snapshot_id,
                    to_snapshot_id=one.snapshot_id,
                )
                parts += sorted((FilePart(task) for task in scan.plan_files()), key=lambda part: part.facts)
        return self._files.read(parts, columns)

    def state(self, at: int, columns: Sequence[str]) -> pa.Table:
        """See `TableLook`."""
        return self._files.read(self._parts(at), columns)

    def parts(self, at: int) -> list[SnapshotPart]:
        """See `TableLook`: pieces of each data file."""
        return [piece for part in self._parts(at) for piece in pieces(part, part.most_rows)]

    def rows_of(self, at: int, parts: Sequence[SnapshotPart], columns: Sequence[str]) -> pa.Table:
        """See `TableLook`."""
        self._snapshot(at)
        found = [
            piece.whole if piece.is_whole else replace(piece.whole, rows=range(piece.first, piece.end))
            for piece in joined(parts)
        ]
        return self._files.read(found, columns)

    def apart(self, start: int, end: int, columns: Sequence[str], key: Sequence[str]) -> TwoStates:
        """See `TableLook`: a data file that both have, with the same deletes, has the same rows in both."""
        old, new = ({part.facts: part for part in self._parts(number)} for number in (start, end))
        shared = [part for facts, part in new.items() if facts in old]
        gone = [part for facts, part in old.items() if facts not in new]
        came = [part for facts, part in new.items() if facts not in old]
        keys = self._files.read(shared, key) if shared and came else None
        return TwoStates(self._files.read(gone, columns), self._files.read(came, columns), keys)

    def _parts(self, number: int) -> list[FilePart]:
        return self._files.at(self._snapshot(number)) if number else []

    def _commit(self, snapshot: "Snapshot") -> TableCommit:
        operation, number = _operation(snapshot), int(snapshot.sequence_number or 0)
        if operation in _SAME:
            return TableCommit(number, 0, added=True, what=operation)
        rows = _count(snapshot, "added-records")
        if operation == "append":
            return TableCommit(number, rows, added=True, what=operation)
        more = ("deleted-records", "added-position-deletes", "added-equality-deletes")
        touched = rows + sum(_count(snapshot, one) for one in more)
        return TableCommit(number, max(1, touched), added=False, what=operation)

    def _between(self, start: int, end: int) -> "list[Snapshot]":
        found: list[Snapshot] = []
        for one in self._line(end):
            number = int(one.sequence_number or 0)
            if number == start:
                return found[::-1]
            if number < start:
                raise RowsLostError(
                    f"{self._name} has another history now: snapshot {start} is none of those before {end}",
                    hint="its owner rolled it back; give the source another name in the flow's file: then all rows "
                    "that are there now are read",
                )
            found.append(one)
            expired = one.parent_snapshot_id not in self._by_id and not self.has(start)
            if number == start + 1 and expired:  # numbers have no gaps, so this one followed `start`
                return found[::-1]
        raise RowsLostError(
            f"{self._name} no longer has each snapshot after {start}, and those were not read",
            hint=f"{_RETENTION}; see docs/restore.md for what was not read",
        )

    def _line(self, number: int) -> "list[Snapshot]":
        """A snapshot and those before it, as far as they exist; the newest first."""
        by_id = self._by_id
        found: list[Snapshot] = []
        one = self._snapshot(number) if number else None
        while one is not None:
            found.append(one)
            one = by_id.get(one.parent_snapshot_id) if one.parent_snapshot_id is not None else None
        return found

    def _snapshot(self, number: int) -> "Snapshot":
        found = self._by_number.get(number)
        if found is None:
            raise RowsLostError(f"{self._name} no longer has snapshot {number}", hint=_RETENTION)
        return found

    @cached_property
    def _by_number(self) -> "Mapping[int, Snapshot]":
        return {int(one.sequence_number or 0): one for one in self._stored.metadata.snapshots[::-1]}

    @cached_property
    def _by_id(self) -> "Mapping[int, Snapshot]":
        return {one.snapshot_id: one for one in self._stored.metadata.snapshots}


def iceberg_table(
    name: str, connection: str, place: IcebergConnection, root: Path, at: Location | None = None
) -> IcebergTable:
    """A table of a connection; nothing is asked yet.

    Raises:
        EnvironmentProblem: a secret is not where the settings say.
        SourceError: PyIceberg cannot reach the place.
    """
    tables = tables_of(_options(place, connection, root), place.name)
    if tables is None:
        raise SourceError(f"PyIceberg cannot read the catalog of connection '{connection}'", at=at)
    folder = place.warehouse is not None and is_local(place.warehouse)
    within = (root / local_path(place.warehouse or "")).resolve() if folder else None
    return IcebergTable(name, tables, connection, within, at)


def _options(place: IcebergConnection, connection: str, root: Path) -> dict[str, str]:
    """As options of a Spark catalog have it."""
    objects = ObjectStore(endpoint=place.endpoint, region=place.region, path_style=place.path_style)
    what = f"of connection '{connection}'"
    if place.catalog is None:
        return {"type": "hadoop", "warehouse": str((root / local_path(place.warehouse or "")).resolve())}
    options = {"uri": place.catalog, "warehouse": place.warehouse or "", **objects.iceberg_client()}
    if not place.is_rest:
        login = {"user": place.user or ""}
        if place.password is not None:
            login["password"] = secret_at(place.password, f"the password {what}", root)
        parameters = "&".join(f"{key}={quote(value, safe='')}" for key, value in login.items() if value)
        options |= {"type": "jdbc", "uri": f"{place.catalog}?{parameters}" if parameters else place.catalog}
    else:
        options |= {"type": "rest", "scope": place.scope or ""}
        for key, where in (("credential", place.credential), ("token", place.token)):
            if where is not None:
                options[key] = secret_at(where, f"the {key} {what}", root)
    return {key: value for key, value in options.items() if value}


def _operation(snapshot: "Snapshot") -> str:
    return "" if snapshot.summary is None else str(snapshot.summary.operation.value)


def _count(snapshot: "Snapshot", key: str) -> int:
    found = None if snapshot.summary is None else snapshot.summary.additional_properties.get(key)
    return int(found) if found is not None and str(found).isdigit() else 0
