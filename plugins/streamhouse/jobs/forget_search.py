"""Searches the tiers of a table for rows of persons: in its rows, in its history, and in the files on the disk."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from streamhouse.model.forgetting import KeyPart
from streamhouse.model.table import NULL_BITS, Table
from streamhouse.model.types import Tier
from streamhouse.model.version import table_name
from streamhouse.project.project import Project
from streamhouse.runtime.left_out import key_columns, matching
from streamhouse.runtime.open import Open
from streamhouse.runtime.serving import serving
from streamhouse.spark.frame import arrow_frame
from streamhouse.spark.results import collected_rows
from streamhouse.sql.values import typed_value
from streamhouse.stores.base import LakeMetadata, LoggedStore, Store
from streamhouse.stores.mark import SNAPSHOT
from streamhouse.stores.null_keys import decoded
from streamhouse.tiering.union import state_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class TierRows:
    """What one tier of one version of a table has of some persons.

    Attributes:
        table: As the store calls it.
        tier: Which tier.
        rows: Rows that a query would find now.
        older: Rows of earlier states: entries of the change log in hot, the most of any older snapshot in a lake.
        files: Rows in data files of a lake that is a folder, whether a snapshot has the file or not; None: no folder.
    """

    table: str
    tier: Tier
    rows: int
    older: int
    files: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found anywhere."""
        return not (self.rows or self.older or self.files)


def search(open_: Open, table: Table, parts: Sequence[KeyPart]) -> list[TierRows]:
    """Search every tier of one version of a table; a tier without the table is left out.

    Args:
        open_: Everything connected; only read.
        table: As the flow writes it, under the name that stores have.
        parts: Of the key.
    """
    found = []
    for tier in table.tiers.present:
        stored = table if tier is table.tiers.target else table.replica
        store = open_.stores[tier]
        if store.columns(stored.name) is None:
            continue
        count = _Counting(open_, parts, stored)
        rows = count.rows(store)
        older = count.changes(store) if isinstance(store, LoggedStore) else count.snapshots(store)
        found.append(TierRows(stored.name, tier, rows, older, _in_files(open_.project, tier, stored, parts)))
    return found


@dataclass(frozen=True)
class _Counting:
    open: Open
    parts: Sequence[KeyPart]
    table: Table

    @property
    def _names(self) -> tuple[str, ...]:
        return key_columns(self.parts)

    def rows(self, store: Store, number: int | None = None) -> int:
        at = None if number is None else {SNAPSHOT: number}
        return self._matching(state_frame(self.open.spark, store, self.table, at, self._names))

    def changes(self, store: LoggedStore) -> int:
        """Entries of a change log; the log of a table without a key is its rows."""
        if not self.table.primary_key:
            return 0
        log = store.read_log(self.table, store.start(self.table), store.end(self.table), self._names)
        return self._matching(arrow_frame(self.open.spark, log.select(list(self._names))))

    def snapshots(self, store: Store) -> int:
        if not isinstance(store, LakeMetadata):
            return 0
        newest = store.end(self.table).get(SNAPSHOT)
        numbers = [one.number for one in store.list_snapshots(self.table) if one.number != newest]
        return max((self.rows(store, number) for number in numbers), default=0)

    def _matching(self, frame: "DataFrame") -> int:
        from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

        [(count,)] = collected_rows(frame.where(matching(self.parts, self.table.columns)).agg(F.count("*")))
        return int(count)


def folders(project: Project, tier: Tier, name: str) -> list[Path]:
    """The folders of a table in a lake that is a folder: of every version, and of their quarantines."""
    links = serving(project, tier)
    if links is None:
        return []
    wanted = links.place(name)
    pattern = re.compile(rf"{re.escape(wanted.name)}(__v\d+)?(__quarantine)?", re.ASCII)
    there = wanted.parent.iterdir() if wanted.parent.is_dir() else ()
    return sorted(path for path in there if path.is_dir() and pattern.fullmatch(path.name))


def _in_files(project: Project, tier: Tier, table: Table, parts: Sequence[KeyPart]) -> int | None:
    """Rows in the data files of one version."""
    place = next((one for one in folders(project, tier, table_name(table.name)) if _is_of(one, table)), None)
    if place is None:
        return None
    return sum(rows_in_file(file, table, parts) for file in place.rglob("*.parquet"))


def _is_of(folder: Path, table: Table) -> bool:
    return folder.name == table.name.partition(".")[2]


def rows_in_file(file: Path, table: Table, parts: Sequence[KeyPart]) -> int:
    """The rows of a data file that are of some persons; what a store has for NULL in a key belongs to no person."""
    names = pq.read_schema(file).names
    if any(not set(part.columns) & set(names) for part in parts):
        return 0  # no data: a file of deletes says places only
    wanted = [name for name in (*key_columns(parts), NULL_BITS) if name in names]
    rows = decoded(table, pq.read_table(file, columns=wanted, partitioning=None))
    found: pa.ChunkedArray | None = None
    for part in parts:
        matches = _of_part(rows, table, part)
        found = matches if found is None else pc.and_(found, matches)
    return int(pc.sum(found).as_py() or 0)


def _of_part(rows: pa.Table, table: Table, part: KeyPart) -> pa.ChunkedArray:
    columns = list(_matches(rows, table, part))
    found = columns[0]
    for further in columns[1:]:
        found = pc.or_(found, further)
    return found


def _matches(rows: pa.Table, table: Table, part: KeyPart) -> Iterator[pa.ChunkedArray]:
    for name in part.columns:
        if name in rows.column_names:
            values = [typed_value(value, table.column(name).type) for value in part.values]
            kind = rows.column(name).type
            yield pc.fill_null(pc.is_in(rows.column(name), value_set=pa.array(values).cast(kind)), False)
