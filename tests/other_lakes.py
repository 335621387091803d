"""Lakes of others for tests, written by the libraries of their owners."""

import hashlib
from pathlib import Path
from typing import Any

import pyarrow as pa


class IcebergLake:
    """A folder of Iceberg tables as a Hadoop catalog has it, written by PyIceberg."""

    def __init__(self, folder: Path) -> None:
        from pyiceberg.catalog.sql import SqlCatalog

        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._catalog = SqlCatalog("test", uri="sqlite:///:memory:", warehouse=f"file://{folder}")
        self._versions: dict[str, int] = {}

    def create(self, name: str, schema: pa.Schema, version: int = 2) -> None:
        self._catalog.create_namespace_if_not_exists(name.partition(".")[0])
        place = self.folder / name.replace(".", "/")
        self._catalog.create_table(
            name, schema, location=f"file://{place}", properties={"format-version": str(version)}
        )
        self.publish(name)

    def table(self, name: str) -> Any:
        return self._catalog.load_table(name)

    def append(self, name: str, rows: pa.Table) -> None:
        self.table(name).append(rows)
        self.publish(name)

    def delete(self, name: str, where: str) -> None:
        self.table(name).delete(where)
        self.publish(name)

    def overwrite(self, name: str, rows: pa.Table) -> None:
        self.table(name).overwrite(rows)
        self.publish(name)

    def upsert(self, name: str, rows: pa.Table, key: list[str]) -> None:
        self.table(name).upsert(rows, join_cols=key)
        self.publish(name)

    def expire(self, name: str, numbers: list[int]) -> None:
        table = self.table(name)
        ids = [one.snapshot_id for one in table.metadata.snapshots if one.sequence_number in numbers]
        table.maintenance.expire_snapshots().by_ids(ids).commit()
        self.publish(name)

    def publish(self, name: str) -> None:
        """Put the newest metadata where a Hadoop catalog has it."""
        folder = self.folder / name.replace(".", "/") / "metadata"
        written = Path(self.table(name).metadata_location.removeprefix("file://"))
        version = self._versions[name] = self._versions.get(name, 0) + 1
        (folder / f"v{version}.metadata.json").write_bytes(written.read_bytes())
        (folder / "version-hint.text").write_text(str(version))


def contents(folder: Path) -> dict[str, str]:
    """Every file below a folder → the hash of its bytes."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


class PaimonLake:
    """A Paimon warehouse in a folder, written by pypaimon."""

    def __init__(self, folder: Path) -> None:
        from pypaimon import CatalogFactory

        self.folder = folder
        self._catalog = CatalogFactory.create({"warehouse": str(folder)})

    def create(self, name: str, schema: pa.Schema, key: tuple[str, ...] = (), **options: str) -> None:
        from pypaimon import Schema

        self._catalog.create_database(name.partition(".")[0], True)
        known = {"bucket": "1", "file.format": "parquet"} if key else {}
        stored = {**known, **{option.replace("_", "-"): value for option, value in options.items()}}
        made = Schema.from_pyarrow_schema(schema, primary_keys=list(key) or None, options=stored)
        self._catalog.create_table(name, made, False)

    def write(self, name: str, rows: pa.Table, *, overwrite: bool = False) -> None:
        builder = self._catalog.get_table(name).new_batch_write_builder()
        builder = builder.overwrite() if overwrite else builder
        write, commit = builder.new_write(), builder.new_commit()
        write.write_arrow(rows)
        commit.commit(write.prepare_commit())
        write.close()
        commit.close()

    def alter(self, name: str, *changes: Any) -> None:
        self._catalog.alter_table(name, list(changes), False)

    def expire(self, name: str, numbers: list[int]) -> None:
        """Remove snapshots, as Paimon's Java does; their files stay."""
        database, table = name.split(".")
        for number in numbers:
            (self.folder / f"{database}.db" / table / "snapshot" / f"snapshot-{number}").unlink()
        (self.folder / f"{database}.db" / table / "snapshot" / "EARLIEST").write_text(str(max(numbers) + 1))
