"""How a table of a plan stands in Paimon, and whether one that stands there is the same."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from streamhouse.errors import SchemaConflictError
from streamhouse.model.shape import SeenColumn, Shape
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Tier
from streamhouse.stores.arrow import arrow_schema, spark_type
from streamhouse.stores.data_check import CHECKED_COMPRESSION

KIND = "_rk"
"""Hidden column of keyed tables: pypaimon takes the kind of a row ('+U', '-D') from a stored column only."""

_KIND_DESCRIPTION = "no part of the row: how Streamhouse wrote it; leave it out"
_BUCKETS = "streamhouse.buckets"
_LEGACY_NAMES = "partition.legacy-name"
_ENGINE, _VERSION = "streamhouse.merge-engine", "streamhouse.version-column"


def has_kind(table: Table) -> bool:
    """Whether the table stores `KIND`: it has a key and can delete."""
    return bool(table.primary_key) and not table.merge


def paimon_schema(table: Table) -> Any:
    """The pypaimon `Schema` of `table`.

    Raises:
        SchemaConflictError: a column has the name of the hidden one.
    """
    from pypaimon import Schema

    _refuse_kind(table)
    schema = arrow_schema(table.columns)
    if has_kind(table):
        kind = arrow_schema([Column(name=KIND, type="string")]).field(0)
        schema = schema.append(kind.with_metadata({"description": _KIND_DESCRIPTION}))
    return Schema.from_pyarrow_schema(
        schema,
        partition_keys=list(table.partition_by),
        primary_keys=list(table.primary_key),
        options=table_options(table),
    )


def additions(table: Table, columns: Sequence[Column]) -> list[Any]:
    """The pypaimon `SchemaChange`s that add `columns` of `table`, all nullable.

    Raises:
        SchemaConflictError: a column has the name of the hidden one.
    """
    from pypaimon.schema.data_types import PyarrowFieldParser
    from pypaimon.schema.schema_change import SchemaChange

    _refuse_kind(table)
    fields = PyarrowFieldParser.to_paimon_schema(arrow_schema(columns))
    options = table_options(table)
    functions = [f"fields.{column.name}.aggregate-function" for column in columns if column.name in table.merge]
    return [
        *(SchemaChange.set_option(key, options[key]) for key in functions),
        *(SchemaChange.add_column(field.name, field.type) for field in fields),
    ]


def table_options(table: Table) -> dict[str, str]:
    """The options Paimon stores with the table; they decide where and how rows are kept."""
    options = {"write-only": "true", _BUCKETS: str(table.buckets)}  # upkeep compacts and expires, writers do not
    options["file.compression"] = CHECKED_COMPRESSION
    key = table.hashed
    if key:
        options |= {"bucket": str(table.buckets), "bucket-key": ",".join(key)}
    else:
        # Fluss spreads such rows by chance, so no bucket of Paimon could mirror one of Fluss.
        options["bucket"] = "-1"
    if table.partition_by:
        options[_LEGACY_NAMES] = "false"  # else the folder of a date is its number of days since 1970
    if table.merge:
        options["merge-engine"] = "aggregation"
        options |= {f"fields.{name}.aggregate-function": how.value for name, how in table.merge.items()}
    elif table.primary_key:
        # Paimon's own first-row shows no row before it is compacted, and with its sequence.field a snapshot shows rows
        # that lost as changes. So the store compares rows before it writes, and what it writes has won.
        options |= {"merge-engine": "deduplicate", "rowkind.field": KIND}
        if table.selects:
            options |= {_ENGINE: table.merge_engine.value}
        if table.version_column is not None:
            options |= {_VERSION: table.version_column}
    return options


def stored_columns(handle: Any) -> tuple[Column, ...]:
    """The columns of a pypaimon table, without the hidden one."""
    from pypaimon.schema.data_types import PyarrowFieldParser

    fields = PyarrowFieldParser.from_paimon_schema(handle.table_schema.fields)
    return tuple(
        Column(name=field.name, type=spark_type(field.type), nullable=field.nullable)
        for field in fields
        if field.name != KIND
    )


def creation_time(handle: Any) -> str:
    """When the first schema of a table was made; a table that lost it is none that anybody knows."""
    first = handle.schema_manager.get_schema(0)
    return "without its first schema" if first is None else str(first.time_millis)


def shape_of(name: str, handle: Any) -> Shape:
    """A pypaimon table as the trigger looks at it; Paimon numbers its columns for good."""
    schema = handle.table_schema
    columns = {column.name: column for column in stored_columns(handle)}
    first = handle.schema_manager.get_schema(0) or schema
    options = schema.options
    return Shape(
        object=name,
        tier=Tier.WARM,
        identity=str(first.time_millis),  # Paimon has no other name for a table than its path
        version=f"{first.time_millis}.{schema.id}",
        columns=tuple(_observed_column(field, columns[field.name]) for field in schema.fields if field.name in columns),
        primary_key=tuple(handle.primary_keys),
        layout=f"{options.get('bucket', '-1')} buckets by ({options.get('bucket-key', '')})"
        + (f", partitions by ({', '.join(handle.partition_keys)})" if handle.partition_keys else ""),
    )


def as_stored(handle: Any, rows: pa.Table) -> pa.Table:
    """`rows` in the order of the stored columns; those a newer plan added are null."""
    from pypaimon.schema.data_types import PyarrowFieldParser

    schema = PyarrowFieldParser.from_paimon_schema(handle.table_schema.fields)
    have = set(rows.column_names)
    return pa.table(
        {f.name: rows.column(f.name) if f.name in have else pa.nulls(rows.num_rows, f.type) for f in schema}
    )


def refuse_difference(table: Table, handle: Any) -> None:
    """Do nothing when the stored table is `table`.

    Raises:
        SchemaConflictError: it has other columns, key, buckets or merge functions.
    """
    wanted: dict[str, Any] = {"columns": [(c.name, c.type) for c in table.columns]}
    stored: dict[str, Any] = {"columns": [(c.name, c.type) for c in stored_columns(handle)]}
    wanted["primary key"], stored["primary key"] = list(table.primary_key), list(handle.primary_keys)
    wanted["partitions by"], stored["partitions by"] = list(table.partition_by), list(handle.partition_keys)
    options = {key: value for key, value in handle.table_schema.options.items() if key != "write-only"}
    prefixes = ("bucket", "merge-engine", "fields.", "rowkind.", _BUCKETS, _ENGINE, _VERSION)
    wanted |= {key: value for key, value in table_options(table).items() if key.startswith(prefixes)}
    stored |= {key: value for key, value in options.items() if key.startswith(prefixes)}
    if table.merge:  # what folds a column that the plan gave up does not matter
        stored = {key: value for key, value in stored.items() if key in wanted or not key.startswith("fields.")}
    for what in dict.fromkeys([*wanted, *stored]):
        if wanted.get(what) != stored.get(what):
            raise SchemaConflictError(
                f"Paimon holds {table.name} with {what} {_text(stored.get(what))}, "
                f"the plan has {_text(wanted.get(what))}",
                hint="drop the table and fill it again, or give the new one another name",
            )


def _refuse_kind(table: Table) -> None:
    if KIND in table.column_names:
        raise SchemaConflictError(
            f"{table.name} has a column {KIND}, a name the warm tier needs for itself", hint="rename the column"
        )


def _text(value: Any) -> str:
    if value is None:
        return "unset"
    if isinstance(value, list):
        return ", ".join(v if isinstance(v, str) else " ".join(v) for v in value) or "none"
    return str(value)


def _observed_column(field: Any, column: Column) -> SeenColumn:
    return SeenColumn(
        name=field.name,
        type=column.type,
        nullable=column.nullable,
        id=str(field.id),
        default=field.default_value,
        comment=field.description or "",
    )
