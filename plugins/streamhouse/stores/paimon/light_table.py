"""The metadata of a Paimon table, with the names of pypaimon's own classes, whose module imports very much."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_SCHEMA = re.compile(r"schema-(\d+)", re.ASCII)


@dataclass(frozen=True)
class LightTable:
    """The main branch of a table in a folder.

    Attributes:
        name: `layer.name`.
        path: Where it stands.
        file_io: pypaimon's way to its files.
        options: Of the file system, for Rust.
        table_schema: pypaimon's; the newest.
    """

    name: str
    path: str
    file_io: Any
    options: Mapping[str, str]
    table_schema: Any

    def snapshot_manager(self) -> "LightSnapshots":
        """Its snapshots."""
        return LightSnapshots(self)

    @property
    def schema_manager(self) -> "LightSchemas":
        """Its schemas."""
        return LightSchemas(self)

    def tag_manager(self) -> Any:
        """See pypaimon."""
        from pypaimon.tag.tag_manager import TagManager

        return TagManager(self.file_io, self.path)

    def by_rust(self, schema: Any, options: Mapping[str, str]) -> Any:
        """Rust's table with one of the schemas, and options beside those that are stored."""
        from pypaimon.common.json_util import JSON
        from pypaimon_rust.datafusion import Table

        database, name = self.name.split(".")
        resolved = schema.copy(new_options={**self.table_schema.options, **options})
        return Table.from_resolved_schema(
            self.path, JSON.to_json(resolved), database=database, table=name, options=dict(self.options)
        )


@dataclass(frozen=True)
class LightSchemas:
    """As pypaimon's `SchemaManager`."""

    table: LightTable

    def get_schema(self, number: int) -> Any | None:
        """One schema; None: there is none of that number."""
        from pypaimon.schema.table_schema import TableSchema

        file_io, path = self.table.file_io, f"{self.table.path}/schema/schema-{number}"
        return TableSchema.from_path(file_io, path) if file_io.exists(path) else None


@dataclass(frozen=True)
class LightSnapshots:
    """As pypaimon's `SnapshotManager`, which imports every catalog to know that this is the main branch."""

    table: LightTable

    def get_latest_snapshot(self) -> Any | None:
        """The newest snapshot; None: there is none yet."""
        newest = self.table.by_rust(self.table.table_schema, {}).latest_snapshot()
        return None if newest is None else self.get_snapshot_by_id(newest.id())

    def try_get_earliest_snapshot(self) -> Any | None:
        """The oldest one that still exists; None: there is none yet."""
        listed = self.table.by_rust(self.table.table_schema, {}).list_snapshots()  # newest first
        snapshots = (self.get_snapshot_by_id(one.id()) for one in reversed(listed))
        return next((one for one in snapshots if one is not None), None)

    def get_snapshot_by_id(self, number: int) -> Any | None:
        """A snapshot as pypaimon reads it; None: it was expired, or never was."""
        from pypaimon.common.json_util import JSON
        from pypaimon.snapshot.snapshot import Snapshot

        file_io, path = self.table.file_io, f"{self.table.path}/snapshot/snapshot-{number}"
        return JSON.from_json(file_io.read_file_utf8(path), Snapshot) if file_io.exists(path) else None


def light_table(name: str, options: Mapping[str, str], file_io: Any) -> LightTable:
    """A table of a warehouse.

    Args:
        name: `layer.name`.
        options: Of the catalog.
        file_io: pypaimon's, of the warehouse.

    Raises:
        TableNotExistException: pypaimon's.
    """
    from pypaimon.catalog.catalog_exception import TableNotExistException
    from pypaimon.common.identifier import Identifier

    database, table = name.split(".")
    path = f"{options['warehouse'].rstrip('/')}/{database}.db/{table}"
    numbers = _schemas(file_io, path)
    if not numbers:
        raise TableNotExistException(Identifier.create(database, table))
    return LightTable(name, path, file_io, options, schema_of(path, file_io, max(numbers)))


def schema_of(path: str, file_io: Any, number: int) -> Any:
    """A schema of the table at a path, as pypaimon reads it.

    Raises:
        RuntimeError: there is none of that number.
    """
    from pypaimon.schema.table_schema import TableSchema

    return TableSchema.from_path(file_io, f"{path}/schema/schema-{number}")


def row_json(fields: Sequence[Any]) -> str:
    """Columns of pypaimon's schemas as the structure of rows that Rust is to give."""
    from pypaimon.schema.data_types import RowType

    return json.dumps(RowType(True, list(fields)).to_dict())


def _schemas(file_io: Any, path: str) -> list[int]:
    folder = f"{path}/schema"
    if not file_io.exists(folder):
        return []
    names = (status.path.rpartition("/")[2] for status in file_io.list_status(folder))
    return [int(found[1]) for name in names if (found := _SCHEMA.fullmatch(name))]
