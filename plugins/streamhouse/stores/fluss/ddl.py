"""Tables as Fluss describes them (JSON) and as the plan does; pure."""

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlglot import exp

from streamhouse.model.table import Column, Table
from streamhouse.model.types import MergeFunction
from streamhouse.sql.types import parse_type, type_name

SAFE_LOG_TTL = timedelta(days=7)
"""Fluss deletes older rows whether a tiering task took them or not, and a table's TTL cannot change."""

DELETES, DELETES_ALLOWED = "table.delete.behavior", "allow"
"""Without this property, a table that merges ignores deletes without a word. One that selects cannot allow them."""

_TTL = "table.log.ttl"
_ENGINE, _VERSION = "table.merge-engine", "table.merge-engine.versioned.ver-column"

_T = exp.DataType.Type
_SIMPLE = {
    "boolean": "BOOLEAN",
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "STRING",
    "binary": "BYTES",
    "date": "DATE",
}
_LOCAL = "local time, kept as the instant of UTC with its digits: "
"""Begins the comment of a column that holds a time without zone; the Spark type follows."""

_TIMES = {"timestamp": "TIMESTAMP_WITH_LOCAL_TIME_ZONE", "timestamp_ntz": "TIMESTAMP_WITHOUT_TIME_ZONE"}
_SPARK = {fluss: spark for spark, fluss in (_SIMPLE | _TIMES).items()} | {"CHAR": "string", "BINARY": "binary"}

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_ORDERED = (*_NUMBERS, "string", "date", "timestamp", "timestamp_ntz")
_MERGES = {
    MergeFunction.SUM: _NUMBERS,
    MergeFunction.MIN: _ORDERED,
    MergeFunction.MAX: _ORDERED,
    MergeFunction.BOOL_AND: ("boolean",),
    MergeFunction.BOOL_OR: ("boolean",),
}  # first_value and last_value take any type


@dataclass(frozen=True)
class StoredTable:
    """A table as Fluss holds it.

    Attributes:
        table_id: Another number after the table was dropped and created again.
        schema_id: Rises with each added column, from 1.
        columns: Key columns are not nullable.
        merge: Column → function, of a table with the aggregation merge engine.
        created_ms: When it was created; 0: unknown.
        local: Columns that hold times without a zone as instants.
    """

    table_id: int
    schema_id: int
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...]
    bucket_key: tuple[str, ...]
    buckets: int
    merge: dict[str, str]
    properties: dict[str, str]
    partition_key: tuple[str, ...] = ()
    created_ms: int = 0
    local: frozenset[str] = frozenset()

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names in the order of the stored columns."""
        return tuple(column.name for column in self.columns)


def unmergeable(table: Table) -> list[str]:
    """What hinders Fluss from folding the columns of `table`, one text per column."""
    return [
        f"{name} is {table.column(name).type}, which {function.value} cannot fold"
        for name, function in table.merge.items()
        if function in _MERGES and table.column(name).type.split("(")[0] not in _MERGES[function]
    ]


def log_ttl(table: Table, min_log_ttl: timedelta = SAFE_LOG_TTL) -> timedelta:
    """How long the change log of a table is kept: as long as `tiers.hot` says, but at least `min_log_ttl`."""
    return max(table.tiers.hot or min_log_ttl, min_log_ttl)


def stored_ttl(stored: StoredTable, table: Table, min_log_ttl: timedelta = SAFE_LOG_TTL) -> timedelta:
    """How long the change log of a stored table is kept: as it was made with, whatever its flow says since."""
    ttl_text = stored.properties.get(_TTL, "")
    if ttl_text.endswith("s") and ttl_text[:-1].isdigit():
        return timedelta(seconds=int(ttl_text[:-1]))
    return log_ttl(table, min_log_ttl)


def describe(table: Table, min_log_ttl: timedelta = SAFE_LOG_TTL) -> bytes:
    """The JSON that creates `table`.

    Columns outside the key are nullable whatever the plan says: Fluss can never lift NOT NULL. Times without a zone are
    instants in a table with a key, and their columns say so: Fluss's client sends every instant, but not every time
    without a zone to such a table.

    Args:
        table: Its columns, keys, buckets, merge functions, and `tiers.hot`.
        min_log_ttl: The change log is kept as long as `tiers.hot` says, but at least so long.
    """
    columns = _columns(table)
    numbered = [column | {"id": index} for index, column in enumerate(columns)]
    highest = len(columns) - 1
    for column in columns:
        highest = _number_fields(column["data_type"], highest)
    return json.dumps(
        {
            "version": 1,
            "schema": {"version": 1, "columns": numbered, "highest_field_id": highest}
            | ({"primary_key": list(table.primary_key)} if table.primary_key else {}),  # Fluss refuses an empty one
            "partition_key": list(table.partition_by),
            "bucket_key": list(table.hashed),
            "bucket_count": table.buckets,
            "properties": _properties(table, min_log_ttl),
            "custom_properties": {},
        }
    ).encode()


def describe_type(table: Table, column: Column) -> bytes:
    """The JSON of the type of a column to add, nullable; Fluss numbers nested fields itself."""
    return json.dumps(_column_type(table, column)).encode()


def comment(table: Table, column: Column) -> str | None:
    """What the comment of a column says: its type where Fluss has another one; None: there is none."""
    plain = _fluss_type(parse_type(column.type))
    return f"{_LOCAL}{column.type}" if table.primary_key and _of_instants(plain) != plain else None


def stored(description: bytes, table_id: int, schema_id: int, created_ms: int = 0) -> StoredTable:
    """What the JSON of an existing table says.

    Raises:
        ValueError: a column has a type Spark lacks.
    """
    found = json.loads(description)
    schema = found["schema"]
    key = tuple(schema.get("primary_key", ()))
    return StoredTable(
        table_id=table_id,
        schema_id=schema_id,
        columns=columns_of(schema),
        primary_key=key,
        bucket_key=tuple(found.get("bucket_key", ())),
        buckets=found["bucket_count"],
        merge={
            column["name"]: column["agg_function"]["type"] for column in schema["columns"] if "agg_function" in column
        },
        properties=found.get("properties", {}),
        partition_key=tuple(found.get("partition_key", ())),
        created_ms=created_ms,
        local=frozenset(column["name"] for column in schema["columns"] if _is_local(column)),
    )


def columns_of(schema: dict[str, Any]) -> tuple[Column, ...]:
    """The columns of a schema's JSON.

    Raises:
        ValueError: a column has a type Spark lacks.
    """
    return tuple(
        Column(
            name=column["name"],
            type=column["comment"].removeprefix(_LOCAL) if _is_local(column) else _spark_type(column["data_type"]),
            nullable=column["data_type"].get("nullable", True),
        )
        for column in schema["columns"]
    )


def _planned(table: Table) -> dict[str, list[str]]:
    return {
        "columns": [f"{column.name} {column.type}" for column in table.columns],
        "primary key": list(table.primary_key),
        "bucket key": list(table.hashed),
        "bucket count": [str(table.buckets)],
        "partitions": list(table.partition_by),
        "merge functions": sorted(f"{name}: {function.value}" for name, function in table.merge.items()),
        "merge engine": [table.merge_engine.value] if table.merge or table.selects else [],
        "version column": [table.version_column] if table.version_column is not None else [],
    }


def _stored(table: Table, found: StoredTable) -> dict[str, list[str]]:
    return {
        "columns": [f"{column.name} {column.type}" for column in found.columns],
        "primary key": list(found.primary_key),
        "bucket key": list(found.bucket_key),
        "bucket count": [str(found.buckets)],
        "partitions": list(found.partition_key),
        # What folds a column that the plan gave up does not matter.
        "merge functions": sorted(
            f"{name}: {function}" for name, function in found.merge.items() if name in table.merge or not table.merge
        ),
        "merge engine": [found.properties[_ENGINE]] if _ENGINE in found.properties else [],
        "version column": [found.properties[_VERSION]] if _VERSION in found.properties else [],
    }


def differences(table: Table, found: StoredTable) -> list[str]:
    """What the stored table has otherwise than the plan, one text each; empty: they agree."""
    wanted, has = _planned(table), _stored(table, found)
    return [
        f"{what}: stored {', '.join(has[what]) or 'none'}; planned {', '.join(wanted[what]) or 'none'}"
        for what in wanted
        if has[what] != wanted[what]
    ]


def _is_local(column: dict[str, Any]) -> bool:
    return str(column.get("comment") or "").startswith(_LOCAL)


def _column_type(table: Table, column: Column, nullable: bool = True) -> dict[str, Any]:
    described = _fluss_type(parse_type(column.type), nullable)
    return described if comment(table, column) is None else _of_instants(described)


def _of_instants(described: dict[str, Any]) -> dict[str, Any]:
    """A type with instants in place of times without a zone, at any depth."""
    if described.get("type") == _TIMES["timestamp_ntz"]:
        return described | {"type": _TIMES["timestamp"]}
    inner = {
        part: [_of_instants(field) for field in of] if isinstance(of, list) else _of_instants(of)
        for part, of in described.items()
        if isinstance(of, list | dict)
    }
    return described | inner


def _fluss_type(data_type: exp.DataType, nullable: bool = True) -> dict[str, Any]:
    described = _nullable_type(data_type)
    return described if nullable else described | {"nullable": False}


def _nullable_type(data_type: exp.DataType) -> dict[str, Any]:
    name = type_name(data_type)
    if name in _SIMPLE:
        return {"type": _SIMPLE[name]}
    if name in _TIMES:
        return {"type": _TIMES[name], "precision": 6}
    if name.startswith("decimal("):
        precision, scale = (int(part) for part in name[8:-1].split(","))
        return {"type": "DECIMAL", "precision": precision, "scale": scale}
    if data_type.this == _T.ARRAY:
        return {"type": "ARRAY", "element_type": _fluss_type(data_type.expressions[0])}
    if data_type.this == _T.MAP:
        key, value = data_type.expressions
        return {"type": "MAP", "key_type": _fluss_type(key, nullable=False), "value_type": _fluss_type(value)}
    if data_type.this == _T.STRUCT:
        fields = [{"name": f.name, "field_type": _fluss_type(f.args["kind"])} for f in data_type.expressions]
        return {"type": "ROW", "fields": fields}
    raise ValueError(f"type {name} cannot be stored in Fluss")


def _number_fields(data_type: dict[str, Any], highest: int) -> int:
    """Give every nested field an id of its own, above `highest`; the highest one given is returned."""
    for part in ("element_type", "key_type", "value_type"):
        if part in data_type:
            highest = _number_fields(data_type[part], highest)
    for field in data_type.get("fields", ()):
        highest += 1
        field["field_id"] = highest
        highest = _number_fields(field["field_type"], highest)
    return highest


def _spark_type(data_type: dict[str, Any]) -> str:
    kind = data_type["type"]
    if kind in _SPARK:
        return _SPARK[kind]
    if kind == "DECIMAL":
        return f"decimal({data_type['precision']},{data_type['scale']})"
    if kind == "ARRAY":
        return f"array<{_spark_type(data_type['element_type'])}>"
    if kind == "MAP":
        return f"map<{_spark_type(data_type['key_type'])},{_spark_type(data_type['value_type'])}>"
    if kind == "ROW":
        fields = ",".join(f"{field['name']}:{_spark_type(field['field_type'])}" for field in data_type["fields"])
        return f"struct<{fields}>"
    raise ValueError(f"Fluss type {kind} has no Spark SQL type")


def _columns(table: Table) -> list[dict[str, Any]]:
    return [
        {"name": column.name, "data_type": _column_type(table, column, column.name not in table.primary_key)}
        | ({"comment": note} if (note := comment(table, column)) else {})
        | ({"agg_function": {"type": table.merge[column.name].value}} if column.name in table.merge else {})
        for column in table.columns
    ]


def _properties(table: Table, min_log_ttl: timedelta) -> dict[str, str]:
    ttl = log_ttl(table, min_log_ttl)
    properties = {
        # The lake itself is off: the property makes Fluss hash keys as Paimon does.
        "table.datalake.format": "paimon",
        _TTL: f"{int(ttl.total_seconds())}s",
    }
    if table.merge:
        properties |= {_ENGINE: table.merge_engine.value, DELETES: DELETES_ALLOWED}
    if table.selects:
        properties |= {_ENGINE: table.merge_engine.value, DELETES: "disable"}
    if table.version_column is not None:
        properties |= {_VERSION: table.version_column}
    return properties
