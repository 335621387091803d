"""Rewrites the absolute paths in Iceberg tables of a local folder that was moved or copied.

Iceberg names every file by its absolute path: in `*.metadata.json`, in manifest lists, in manifests, and in files of
deleted positions (Iceberg table spec, "Manifests" and "Position Delete Files"). A file that names another one also
has its size, so files are rewritten before those that name them. Each file is replaced in one step, and one that
names no old path is left alone: after a kill the work is repeated and comes to the same end.
"""

import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from streamhouse.install.whole_file import write_whole
from streamhouse.stores.iceberg.checksums import prove, record
from streamhouse.stores.iceberg.data_files import POSITIONS
from streamhouse.stores.relocation import Relocation

_POSITION_DELETES = 1  # `content` of a data file in a manifest
_PATHS = ("file_path", "referenced_data_file", "manifest_path")
_BOUNDS = ("lower_bounds", "upper_bounds")
_SIZE_OF_DELETES = ("file_path", "file_size_in_bytes")
_SIZE_OF_MANIFEST = ("manifest_path", "manifest_length")


def relocate(warehouse: Path, to: Relocation) -> int:
    """Rewrite the paths of all tables below a warehouse; nothing may read or write it meanwhile.

    Args:
        warehouse: Folder of the tables, where it is now.
        to: From where a folder above it was to where that is.

    Returns:
        How many files were rewritten.

    Raises:
        StoreError: one of them is damaged.
    """
    rewritten = 0
    for metadata in sorted(warehouse.rglob("metadata")):
        if metadata.is_dir() and any(metadata.glob("*.metadata.json")):
            rewritten += _table(metadata, to)
    return rewritten


def _table(metadata: Path, to: Relocation) -> int:
    changed: set[str] = set()  # paths as they are now
    manifests = sorted(file for file in metadata.glob("*.avro") if not file.name.startswith("snap-"))
    for file in manifests:
        for path in _named_deletes(file):
            if _deletes(Path(_plain(to.path(path))), to):
                changed.add(_plain(to.path(path)))
    for file in (*manifests, *sorted(metadata.glob("snap-*.avro"))):
        if _avro(file, to):
            changed.add(str(file))
    for file in sorted(metadata.glob("*.metadata.json")):
        if _json(file, to):
            changed.add(str(file))
    return len(changed)


def _plain(path: str) -> str:
    return path.removeprefix("file://").removeprefix("file:")


def _named_deletes(manifest: Path) -> Iterator[str]:
    import fastavro

    prove(manifest)
    with manifest.open("rb") as opened:
        for entry in fastavro.reader(opened):
            found = entry.get("data_file") if isinstance(entry, dict) else None
            if isinstance(found, dict) and found.get("content") == _POSITION_DELETES:
                yield str(found["file_path"])


def _deletes(file: Path, to: Relocation) -> bool:
    """Rewrite the paths in a file of deleted positions; whether it named an old one."""
    import pyarrow as pa
    from pyarrow import parquet

    if not file.exists():
        return False  # a snapshot that was expired named it
    prove(file)
    rows = parquet.read_table(file)
    at = rows.schema.get_field_index("file_path")
    before = rows.column(at).to_pylist()
    after = [to.path(path) for path in before]
    if after == before:
        return False
    field = rows.schema.field(at)
    codec = parquet.ParquetFile(file).metadata.row_group(0).column(0).compression
    new = rows.set_column(at, field, pa.array(after, field.type))
    content = BytesIO()
    parquet.write_table(new.replace_schema_metadata(rows.schema.metadata), content, compression=codec)
    _replace(file, content.getvalue())
    return True


def _avro(file: Path, to: Relocation) -> bool:
    import fastavro

    prove(file)
    with file.open("rb") as opened:
        reader = fastavro.reader(opened)
        schema, codec = reader.writer_schema, reader.codec
        header = {key: value for key, value in reader.metadata.items() if not key.startswith("avro.")}
        before: list[Any] = list(reader)
    after = [_sized(record, _moved(record, to)) for record in before]
    if after == before:
        return False
    content = BytesIO()
    fastavro.writer(content, schema, after, codec=codec, metadata=header)
    _replace(file, content.getvalue())
    return True


def _moved(record: dict[str, Any], to: Relocation) -> dict[str, Any]:
    """An entry of a manifest, or of a list of manifests, with the paths of files as they are now.

    Values of rows stay as they are, whatever they begin with: partitions, and bounds of columns.
    """
    after = record | {name: to.value(record[name]) for name in _PATHS if name in record}
    file = record.get("data_file")
    if isinstance(file, dict):
        after["data_file"] = file | {name: to.value(file[name]) for name in _PATHS if name in file}
        if file.get("content") == _POSITION_DELETES:
            after["data_file"] |= {name: _moved_bounds(file[name], to) for name in _BOUNDS if file.get(name)}
    return after


def _moved_bounds(bounds: list[dict[str, Any]], to: Relocation) -> list[dict[str, Any]]:
    """Bounds of a file of deleted positions: those of the paths in it are as they are now."""
    return [one | {"value": to.value(one["value"])} if one["key"] == POSITIONS[0] else one for one in bounds]


def _sized(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """A record with the size that a manifest or delete file has now, where the record named its old path.

    The file may have been rewritten before a kill. A data file is never rewritten: its size stays.
    """
    deletes = after.get("data_file")
    if isinstance(deletes, dict) and deletes.get("content") == _POSITION_DELETES:
        _set_size(before["data_file"], deletes, *_SIZE_OF_DELETES)
    elif _SIZE_OF_MANIFEST[0] in after:
        _set_size(before, after, *_SIZE_OF_MANIFEST)
    return after


def _set_size(before: dict[str, Any], after: dict[str, Any], path: str, size: str) -> None:
    file = Path(_plain(after[path]))
    if after[path] != before[path] and file.exists():
        after[size] = file.stat().st_size


def _json(file: Path, to: Relocation) -> bool:
    prove(file)
    before = json.loads(file.read_text(encoding="utf-8"))
    after = to.value(before)
    if after == before:
        return False
    _replace(file, json.dumps(after).encode())
    return True


def _replace(file: Path, content: bytes) -> None:
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)  # Hadoop's checksums of the file as it was
    write_whole(file, content)
    record(file)
