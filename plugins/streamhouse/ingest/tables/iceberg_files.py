"""Data files of an Iceberg table, and the rows that its delete files leave of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from streamhouse.errors import Location, RowsLostError, SourceError
from streamhouse.ingest.tables.failures import Failures
from streamhouse.ingest.tables.iceberg_columns import field_named, field_numbered, shown_schema
from streamhouse.model.place import is_local, local_path
from streamhouse.stores.keyed import without_keys

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile, ManifestEntry
    from pyiceberg.schema import Schema
    from pyiceberg.table import FileScanTask, StaticTable
    from pyiceberg.table.snapshots import Snapshot
    from pyiceberg.types import NestedField


@dataclass(frozen=True)
class FilePart:
    """One data file.

    Attributes:
        task: The file, and the delete files that name places in it.
        equality: Delete files that name values: a row that has them is deleted.
        rows: Which of the rows that the places leave, by their numbers from 0; None: all.
    """

    task: "FileScanTask"
    equality: "tuple[DataFile, ...]" = ()
    rows: range | None = None

    @property
    def most_rows(self) -> int:
        """How many it has, if no row of it is deleted."""
        count = int(self.task.file.record_count)
        return count if self.rows is None else len(self.rows)

    @property
    def facts(self) -> tuple[str, ...]:
        """Equal for equal rows."""
        return (self.task.file.file_path, *sorted(one.file_path for one in (*self.task.delete_files, *self.equality)))

    @property
    def files(self) -> "tuple[DataFile, ...]":
        """All of them."""
        return (self.task.file, *self.task.delete_files, *self.equality)


@dataclass(frozen=True)
class IcebergSeen:
    """A table as it was at one look.

    Attributes:
        name: Of the table.
        stored: The table.
        failures: Says what went wrong.
        within: The only folder of this machine whose files may be read; None: no file of this machine may be.
        at: Where the source is defined.
    """

    name: str
    stored: "StaticTable"
    failures: Failures
    within: Path | None
    at: Location | None


class IcebergFiles:
    """Reads the files of a table as it was at one look.

    Args:
        seen: The table.
    """

    def __init__(self, seen: IcebergSeen) -> None:
        self._name = seen.name
        self._stored = seen.stored
        self._failures = seen.failures
        self._within = seen.within
        self._at = seen.at

    def at(self, snapshot: "Snapshot") -> list[FilePart]:
        """The data files of a snapshot, in the order of their names.

        Raises:
            RowsLostError: a manifest is gone.
            SourceError: one cannot be read.
        """
        from pyiceberg.manifest import DataFileContent
        from pyiceberg.table import FileScanTask
        from pyiceberg.table.delete_file_index import DeleteFileIndex

        files = self._stored.io
        data: list[ManifestEntry] = []
        by_value: list[ManifestEntry] = []
        by_place = DeleteFileIndex()
        with self._failures.translated():
            for manifest in snapshot.manifests(files):
                for entry in manifest.fetch_manifest_entry(files):
                    if entry.data_file.content is DataFileContent.DATA:
                        data.append(entry)
                    elif entry.data_file.content is DataFileContent.POSITION_DELETES:
                        by_place.add_delete_file(entry, partition_key=entry.data_file.partition)
                    else:
                        by_value.append(entry)
            found = []
            for entry in data:
                file, number = entry.data_file, entry.sequence_number or 0
                places = by_place.for_data_file(number, file, partition_key=file.partition)
                found.append(FilePart(FileScanTask(file, places), self._of_values(entry, by_value)))
        return sorted(found, key=lambda part: part.task.file.file_path)

    def read(self, parts: Sequence[FilePart], columns: Sequence[str]) -> pa.Table:
        """The rows of data files, with columns by the names that they have or had; one that never was is left out.

        Raises:
            RowsLostError: a file is gone, or has fewer rows than the manifests say.
            SourceError: one cannot be read, or is outside of the warehouse.
        """
        self._refuse_strangers(parts)
        groups: dict[tuple[str, ...], list[FilePart]] = {(): []}
        for part in parts:
            groups.setdefault(tuple(sorted(one.file_path for one in part.equality)), []).append(part)
        plain = self._rows(groups.pop(()), columns, {})
        parted = [self._left(group, columns) for group in groups.values()]
        return pa.concat_tables([plain, *parted], promote_options="permissive")  # one without files has large texts

    def _left(self, parts: Sequence[FilePart], columns: Sequence[str]) -> pa.Table:
        """The rows of data files that have the same deletes by value, without the deleted ones."""
        from pyiceberg.table import FileScanTask

        by_ids: dict[tuple[int, ...], list[FilePart]] = {}
        for one in parts[0].equality:
            by_ids.setdefault(tuple(sorted(one.equality_ids or ())), []).append(FilePart(FileScanTask(one)))
        hidden = {
            f"__equal_{number}": field_numbered(self._stored.metadata, number) for ids in by_ids for number in ids
        }
        rows = self._rows(parts, columns, hidden)
        for ids, deletes in by_ids.items():
            names = {name: hidden[name] for name in (f"__equal_{number}" for number in ids)}
            deleted = self._rows(deletes, (), names).select(list(names))
            rows = without_keys(rows, deleted.cast(rows.select(list(names)).schema))  # one may have large texts
        return rows.drop_columns(list(hidden))

    def _rows(self, parts: Sequence[FilePart], columns: Sequence[str], hidden: "dict[str, NestedField]") -> pa.Table:
        metadata = self._stored.metadata
        named = {name: field for name in columns if (field := field_named(metadata, name)) is not None}
        wanted = {**named, **hidden}
        schema = shown_schema(wanted or {"": metadata.schema().fields[0]})  # without any, rows are not counted
        with self._failures.translated():
            found = self._scanned(parts, schema)
        listed = sum(part.most_rows for part in parts)
        has_deletes = any(part.task.delete_files for part in parts)
        if found.num_rows > listed or (found.num_rows < listed and not has_deletes):
            raise RowsLostError(
                f"the files of {self._name} gave {found.num_rows:,} rows, and its manifests list {listed:,}",
                hint="a file is damaged: let its owner restore it",
            )
        return found.select(list(wanted)) if wanted else pa.table({"": pa.nulls(found.num_rows)})

    def _scanned(self, parts: Sequence[FilePart], schema: "Schema") -> pa.Table:
        from pyiceberg.expressions import AlwaysTrue
        from pyiceberg.io.pyarrow import ArrowScan

        def scan(limit: int | None) -> ArrowScan:
            return ArrowScan(self._stored.metadata, self._stored.io, schema, AlwaysTrue(), limit=limit)

        alike = scan(None).to_table([part.task for part in parts if part.rows is None])
        # A file gives its rows in their order.
        cut = [
            scan(part.rows.stop).to_table([part.task]).slice(part.rows.start) for part in parts if part.rows is not None
        ]
        return pa.concat_tables([alike, *cut], promote_options="permissive")

    def _of_values(self, data: "ManifestEntry", deletes: "Iterable[ManifestEntry]") -> "tuple[DataFile, ...]":
        """Those that delete rows of a data file: later ones of its partition, or of no partition."""
        own = data.data_file
        found = []
        for entry in deletes:
            file = entry.data_file
            everywhere = not self._stored.specs()[file.spec_id].fields
            same = file.spec_id == own.spec_id and file.partition == own.partition
            if (entry.sequence_number or 0) > (data.sequence_number or 0) and (everywhere or same):
                found.append(file)
        return tuple(found)

    def _refuse_strangers(self, parts: Iterable[FilePart]) -> None:
        """Who writes a table says where its files are; those of this machine must lie in the warehouse."""
        for place in (file.file_path for part in parts for file in part.files):
            if not is_local(place):
                continue
            if self._within is None or not local_path(place).resolve().is_relative_to(self._within):
                raise SourceError(
                    f"{self._name} has a file outside of its warehouse: {place}",
                    at=self._at,
                    hint="name the folder with all its files as the connection's warehouse",
                )
