"""What arrives in a source now: its columns by the newest rows, without taking any of them."""

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from streamhouse.errors import StreamhouseError
from streamhouse.ingest.cdc import CdcOptions, newest_lines
from streamhouse.ingest.debezium_schema import messages_of
from streamhouse.ingest.files import FilesOptions
from streamhouse.ingest.formats import infer_columns
from streamhouse.ingest.kinds import open_source
from streamhouse.ingest.listing import list_files
from streamhouse.model.plan import PlannedSource
from streamhouse.model.shape import SeenColumn, Shape
from streamhouse.model.table import Column

_SPARSE_FILES = 3
"""A row of JSON leaves out what it has no value for: a column is gone when so many of the newest files lack it."""


def source_shape(name: str, source: PlannedSource, root: Path) -> Shape | None:
    """The shape of a source by what is newest in it; None: nothing is there, or it cannot be told.

    Files are looked at once, until they change. Where a person declared the columns, others that rows have are
    `unknown`; where nobody did, they are columns.

    Args:
        name: What events call it.
        source: As it is opened: it may have columns under other names than those declared.
        root: The project's folder.
    """
    if source.kind == "files":
        return _files(name, FilesOptions.model_validate(source.options), root)
    if source.kind == "cdc":
        return _cdc(name, CdcOptions.model_validate(source.options), root, source.optional)
    try:
        found = open_source(source.model_copy(update={"columns": ()}), root).columns()
    except StreamhouseError:
        return None
    return _shape(name, tuple(_seen(c) for c in found))


def planned_shape(name: str, source: PlannedSource) -> Shape:
    """The shape a source had when its plan was applied, as far as the plan tells."""
    return _shape(name, tuple(_seen(c) for c in source.columns), source.primary_key)


def _files(name: str, options: FilesOptions, root: Path) -> Shape | None:
    folders: dict[str, list[str]] = {}
    for file in list_files(options.path, root):
        folders.setdefault(str(Path(file).parent), []).append(file)
    if not folders:
        return None
    looked_at = _SPARSE_FILES if options.kind == "json" else 1
    try:
        shards = [_newest(files[-looked_at:], options, root) for files in folders.values()]
    except StreamhouseError:
        return None  # whoever reads it is told
    columns: dict[str, Column] = {}
    types: dict[str, list[str]] = {}
    for column in (c for shard in shards for c in shard.values()):
        columns[column.name] = column
        types.setdefault(column.name, []).append(column.type)
    if options.columns:
        declared = tuple(SeenColumn(name=n, type=t) for n, t in options.columns.items() if n in columns)
        others = [c for n, c in columns.items() if n not in options.columns]
        unknown = tuple((_seen(c), sum(c.name in shard for shard in shards)) for c in others)
        return _shape(name, declared).model_copy(update={"unknown": unknown})
    apart = tuple((n, tuple(found)) for n, found in types.items() if len(set(found)) > 1)
    found = _shape(name, tuple(_seen(c) for c in columns.values()), shards=apart)
    return found.model_copy(update={"inferred": options.kind != "parquet"})


def _newest(files: Sequence[str], options: FilesOptions, root: Path) -> dict[str, Column]:
    """Column → as the newest of some files that has it tells."""
    found: dict[str, Column] = {}
    for file in reversed(files):
        path = root / file
        stat = path.stat()
        for column in _columns_of(path, options.kind, file, stat.st_size, stat.st_mtime_ns):
            found.setdefault(column.name, column)
    return found


@lru_cache(maxsize=4096)
def _columns_of(path: Path, kind: Any, name: str, *_stamp: int) -> tuple[Column, ...]:
    return infer_columns(path, kind, name)


def _cdc(name: str, options: CdcOptions, root: Path, read: tuple[str, ...]) -> Shape | None:
    lines = newest_lines(options.path, root)
    if not lines:
        return None
    told = _messages(name, tuple(lines), (*options.columns, *read))
    return told.model_copy(update={"primary_key": told.primary_key or options.primary_key}) if told else None


@lru_cache(maxsize=64)
def _messages(name: str, lines: tuple[bytes, ...], declared: tuple[str, ...]) -> Shape | None:
    found = messages_of(lines)
    if not found.columns:
        return None
    # A declared column under its new name is no column that nobody declared.
    held = tuple(c for c in found.columns if c.name in declared or found.renames.get(c.name) in declared)
    unknown = tuple((c, found.counts.get(c.name, 0)) for c in found.columns if c not in held)
    shape = _shape(name, held, found.primary_key)
    return shape.model_copy(
        update={
            "unknown": unknown,
            "inferred": not found.typed,
            "renames": tuple(found.renames.items()),
            "truncated": ",".join(dict.fromkeys(found.truncated)),
        }
    )


def _seen(column: Column) -> SeenColumn:
    return SeenColumn(name=column.name, type=column.type)


def _shape(
    name: str,
    columns: Sequence[SeenColumn],
    primary_key: Iterable[str] = (),
    shards: tuple[tuple[str, tuple[str, ...]], ...] = (),
) -> Shape:
    told = json.dumps([[c.model_dump() for c in columns], list(primary_key), shards])
    return Shape(
        object=name,
        version=sha256(told.encode()).hexdigest()[:12],
        columns=tuple(columns),
        primary_key=tuple(primary_key),
        shards=shards,
    )
