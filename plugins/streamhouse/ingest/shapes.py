"""What arrives in a source now: its columns by the newest rows, without taking any of them."""

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from streamhouse.errors import SourceError, StreamhouseError
from streamhouse.ingest.cdc_options import CdcOptions
from streamhouse.ingest.cdc_topic import journal_of
from streamhouse.ingest.columnar import is_columnar
from streamhouse.ingest.csv_header import CsvRules
from streamhouse.ingest.debezium_schema import messages_of
from streamhouse.ingest.event_files import newest_captured, newest_lines
from streamhouse.ingest.event_readers import journaled
from streamhouse.ingest.file_places import FilePlace, file_place
from streamhouse.ingest.files_options import FilesOptions
from streamhouse.ingest.formats import infer_columns
from streamhouse.ingest.kafka_options import KafkaOptions
from streamhouse.ingest.kinds import open_source
from streamhouse.ingest.registered_columns import Contract, contracts_of, newest_schema, registered_columns
from streamhouse.ingest.schema_registry import RegistryClient, registry_client
from streamhouse.ingest.stored_object import AnyFile
from streamhouse.ingest.tables.open import seen
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.model.plan import PlannedSource
from streamhouse.model.shape import SeenColumn, Shape
from streamhouse.model.table import Column

OTHERS = "table"
"""Kind of a source that is a table of others, whose columns its catalog knows."""
_SPARSE_FILES = 3
"""A row of JSON leaves out what it has no value for: a column is gone when so many of the newest files lack it."""


def source_shape(name: str, source: PlannedSource, root: Path) -> Shape | None:
    """The shape of a source by what is newest in it; None: nothing is there, or its shape is unknown.

    Files are looked at once, until they change. A schema registry and a table of others are asked at each call. Where
    a person declared the columns, others that rows have are `unknown`; without declared columns, they are columns.

    Args:
        name: What events call it.
        source: As it is opened: it may have columns under other names than those declared.
        root: The project's folder.

    Raises:
        SourceError: a schema registry or a catalog refuses us, or has nothing for the source that can be read.
        StoreUnavailableError: it does not answer.
        EnvironmentProblem: a secret for it is not where the settings say.
    """
    if source.kind == "files":
        return _files(name, FilesOptions.model_validate(source.options), root)
    if source.kind == "kafka" and is_registered(source):
        return _registered(name, source, root)
    if source.kind == "cdc":
        return _cdc(name, CdcOptions.model_validate(source.options), root, source.optional)
    if source.kind == OTHERS:
        return _of_others(name, source, root)
    try:
        found = open_source(source.model_copy(update={"columns": ()}), root).columns()
    except StreamhouseError:
        return None
    return _shape(name, tuple(_as_column(c) for c in found))


def is_registered(source: PlannedSource) -> bool:
    """Whether a schema registry says which columns a source has."""
    return source.options.get("registry") is not None


def planned_shape(name: str, source: PlannedSource) -> Shape:
    """The shape a source had when its plan was applied, as far as the plan says."""
    return _shape(name, tuple(_as_column(c) for c in source.columns), source.primary_key)


def _files(name: str, options: FilesOptions, root: Path) -> Shape | None:
    folders: dict[str, list[str]] = {}
    place = file_place(options, root)
    for file in place.names():
        folders.setdefault(file.rpartition("/")[0], []).append(file)
    if not folders:
        return None
    looked_at = _SPARSE_FILES if options.kind == "json" else 1
    try:
        shards = [_newest(files[-looked_at:], options, place) for files in folders.values()]
    except StreamhouseError:
        return None  # the reader gets the error
    columns: dict[str, Column] = {}
    types: dict[str, list[str]] = {}
    for column in (c for shard in shards for c in shard.values()):
        columns[column.name] = column
        types.setdefault(column.name, []).append(column.type)
    if options.columns:
        declared = tuple(SeenColumn(name=n, type=t) for n, t in options.columns.items() if n in columns)
        declared = (*declared, *map(_as_column, options.metadata_columns))
        others = [c for n, c in columns.items() if n not in options.columns and n not in options.metadata]
        unknown = tuple((_as_column(c), sum(c.name in shard for shard in shards)) for c in others)
        return _shape(name, declared).model_copy(update={"unknown": unknown})
    apart = tuple((n, tuple(found)) for n, found in types.items() if len(set(found)) > 1)
    all_columns = {**columns, **{column.name: column for column in options.metadata_columns}}
    found = _shape(name, tuple(_as_column(c) for c in all_columns.values()), shards=apart)
    return found.model_copy(update={"inferred": not is_columnar(options.kind)})


def _newest(files: Sequence[str], options: FilesOptions, place: FilePlace) -> dict[str, Column]:
    """Column → as in the newest of the files that have it."""
    found: dict[str, Column] = {}
    for file in reversed(files):
        path = place.file(file)
        stat = path.stat()
        for column in _columns_of(path, options.kind, file, options.csv, stat.st_size, stat.st_mtime_ns):
            found.setdefault(column.name, column)
    return found


@lru_cache(maxsize=4096)
def _columns_of(path: AnyFile, kind: Any, name: str, rules: CsvRules, *_stamp: int) -> tuple[Column, ...]:
    return infer_columns(path, kind, name, rules)


def _cdc(name: str, options: CdcOptions, root: Path, read: tuple[str, ...]) -> Shape | None:
    table = options.captured
    if table is not None:
        found = newest_captured(table.connection, table.table, root, has_schema=options.postgres is not None)
        # Lines of the journal have more around the event than messages do.
        lines = [to_json(event) for line in found if (event := journaled(line, table.table)) is not None]
    elif options.kafka is not None:
        lines = journal_of(options, root).newest()
    else:
        lines = newest_lines(options.path or "", root)
    if not lines:
        return None
    shape = _messages(name, tuple(lines), (*options.columns, *read))
    if shape is None:
        return None
    # Of a captured table any columns that tell its rows apart may be declared, and not its own key alone.
    told = shape.primary_key if table is None else ()
    if options.mode == "append":
        columns = (*shape.columns, *map(_as_column, options.metadata_columns))
        return shape.model_copy(update={"primary_key": (), "columns": columns, "truncated": ""})
    return shape.model_copy(update={"primary_key": told or options.primary_key})


@lru_cache(maxsize=64)
def _messages(name: str, lines: tuple[bytes, ...], declared: tuple[str, ...]) -> Shape | None:
    found = messages_of(lines)
    if not found.columns:
        return None
    # A declared column under its new name is no undeclared column.
    declared_columns = tuple(c for c in found.columns if c.name in declared or found.renames.get(c.name) in declared)
    unknown = tuple((c, found.counts.get(c.name, 0)) for c in found.columns if c not in declared_columns)
    shape = _shape(name, declared_columns, found.primary_key)
    return shape.model_copy(
        update={
            "unknown": unknown,
            "inferred": not found.typed,
            "renames": tuple(found.renames.items()),
            "truncated": ",".join(dict.fromkeys(found.truncated)),
        }
    )


def _registered(name: str, source: PlannedSource, root: Path) -> Shape:
    options = KafkaOptions.model_validate(source.options)
    assert options.registry is not None, "the caller looked"
    client = registry_client(options.registry, root)
    contracts = contracts_of(options)
    columns: list[SeenColumn] = []
    unknown: list[SeenColumn] = []
    for contract in contracts:
        found = _of_subject(client, contract)
        # What a flow took over of an unknown field later is a field of values.
        read = contract.columns.keys() if contract.option else {*contract.columns, *source.optional}
        columns += [column for column in found if column.name in read]
        # A field of a key that the source does not name is no news: no policy adds it.
        unknown += [] if contract.option else [column for column in found if column.name not in read]
    governed = {column for contract in contracts for column in contract.columns}
    columns += [_as_column(column) for column in options.all_columns if column.name not in governed]
    return _shape(name, columns).model_copy(update={"unknown": tuple((c, 0) for c in unknown)})


def _of_subject(client: RegistryClient, contract: Contract) -> list[SeenColumn]:
    newest = newest_schema(client, contract)
    try:
        there = registered_columns(newest.schema, contract.message)
    except UnreadableError as error:
        raise SourceError(f"{newest}: {error}", hint="a source needs messages that are records") from error
    return [_loose(column) for column in there.columns]


def _of_others(name: str, source: PlannedSource, root: Path) -> Shape:
    taken, others, key = seen(source.options, root, source.optional)
    return _shape(name, taken, key).model_copy(update={"unknown": tuple((c, 0) for c in others)})


def _loose(column: SeenColumn) -> SeenColumn:
    return column.model_copy(update={"nullable": True})  # rows of other versions may lack it


def _as_column(column: Column) -> SeenColumn:
    return SeenColumn(name=column.name, type=column.type)


def _shape(
    name: str,
    columns: Sequence[SeenColumn],
    primary_key: Iterable[str] = (),
    shards: tuple[tuple[str, tuple[str, ...]], ...] = (),
) -> Shape:
    content = json.dumps([[c.model_dump() for c in columns], list(primary_key), shards])
    return Shape(
        object=name,
        version=sha256(content.encode()).hexdigest()[:12],
        columns=tuple(columns),
        primary_key=tuple(primary_key),
        shards=shards,
    )
