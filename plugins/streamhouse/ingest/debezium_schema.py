"""What Debezium's messages tell of the table behind them: schema parts, DDL messages, fields of rows. Pure."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from pydantic_core import from_json
from sqlglot import exp, parse
from sqlglot.errors import SqlglotError

from streamhouse.model.shape import SeenColumn

_SIMPLE = {
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float": "float",
    "float32": "float",
    "double": "double",
    "float64": "double",
    "boolean": "boolean",
    "string": "string",
    "bytes": "binary",
}
_NAMED = {
    "io.debezium.time.Date": "date",
    "org.apache.kafka.connect.data.Date": "date",
    "io.debezium.time.Timestamp": "timestamp_ntz",
    "io.debezium.time.MicroTimestamp": "timestamp_ntz",
    "io.debezium.time.NanoTimestamp": "timestamp_ntz",
    "org.apache.kafka.connect.data.Timestamp": "timestamp_ntz",
    "io.debezium.time.ZonedTimestamp": "timestamp",
}
_DECIMAL = "org.apache.kafka.connect.data.Decimal"
_DIGITS = re.compile(r"-?[0-9]{1,3}", re.ASCII)
_JSON = {bool: "boolean", int: "bigint", float: "double", str: "string"}


@dataclass
class MessageSchema:
    """What some messages tell, the later ones over the earlier.

    Attributes:
        columns: Of the newest row; with types of its schema part where it has one.
        typed: Whether such a part, or a DDL message, gave the types.
        counts: Column → in how many rows it was.
        primary_key: From DDL messages; empty: unknown.
        renames: Column → the name it had, by DDL messages.
        truncated: Id of each truncation, the last one last.
    """

    columns: tuple[SeenColumn, ...] = ()
    typed: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    primary_key: tuple[str, ...] = ()
    renames: dict[str, str] = field(default_factory=dict)
    truncated: list[str] = field(default_factory=list)


def messages_of(lines: Sequence[bytes]) -> MessageSchema:
    """What lines of JSON tell, one message each; what is none is passed over."""
    message_schema = MessageSchema()
    for line in lines:
        try:
            message = from_json(line.removeprefix(b"\xef\xbb\xbf")) if line.strip() else None
        except ValueError:
            continue
        if not isinstance(message, dict):
            continue
        schema = message.get("schema") if "payload" in message and "op" not in message else None
        event = message["payload"] if "payload" in message and "op" not in message else message
        if isinstance(event, dict):
            with suppress(ValueError):
                _take(message_schema, event, schema)
    return message_schema


def is_ddl(event: Mapping[str, Any]) -> bool:
    """Whether a message describes a statement and not a row."""
    return "op" not in event and ("ddl" in event or "tableChanges" in event)


def truncation_id(event: Mapping[str, Any]) -> str:
    """Eight hex digits that identify a truncation."""
    return sha256(repr(sorted(event.items(), key=str)).encode()).hexdigest()[:8]


def _take(message_schema: MessageSchema, event: Mapping[str, Any], schema: Any) -> None:
    if is_ddl(event):
        message_schema.renames |= _renames(event.get("ddl"))
        for change in _listed(event.get("tableChanges")):
            table = change.get("table") if isinstance(change, dict) else None
            if isinstance(table, dict):
                message_schema.primary_key = tuple(map(str, _listed(table.get("primaryKeyColumnNames"))))
        return
    if event.get("op") == "t":
        message_schema.truncated.append(truncation_id(event))
    row = event.get("after")
    if event.get("op") not in ("c", "u", "r") or not isinstance(row, dict):
        return
    typed = columns_of_rows(schema)
    for name in row:
        message_schema.counts[name] = message_schema.counts.get(name, 0) + 1
    if typed:
        message_schema.columns, message_schema.typed = typed, True
    else:
        known = {c.name: c for c in message_schema.columns}
        guessed = {n: SeenColumn(name=n, type=_JSON.get(type(v), "string")) for n, v in row.items() if v is not None}
        message_schema.columns = tuple(
            guessed.get(n) or known.get(n) or SeenColumn(name=n, type="string") for n in {**known, **row}
        ) if not message_schema.typed else message_schema.columns  # fmt: skip
    present = {c.name for c in message_schema.columns}
    message_schema.renames = {
        new: old for new, old in message_schema.renames.items() if new in present or message_schema.typed
    }


def columns_of_rows(schema: Any) -> tuple[SeenColumn, ...]:
    """The columns of the rows of events, by their schema part; none: it is no part of change events.

    Raises:
        ValueError: a column is described as Kafka Connect describes none.
    """
    parts = {str(f.get("field")): f for f in _fields(schema)}
    row = parts.get("after") or parts.get("before")
    return tuple(
        SeenColumn(
            name=str(column["field"]),
            type=_type(column),
            nullable=bool(column.get("optional", False)),
            default=_literal(column.get("default")),
        )
        for column in _fields(row)
        if column.get("field")
    )


def _fields(schema: Any) -> list[dict[str, Any]]:
    fields = schema.get("fields") if isinstance(schema, dict) else None
    return [one for one in _listed(fields) if isinstance(one, dict)]


def _listed(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []


def _described(column: Mapping[str, Any], part: str) -> Mapping[str, Any]:
    found = column.get(part) or {}
    if not isinstance(found, dict):
        raise ValueError(f"'{part}' of a column is no object")
    return found


def _type(column: Mapping[str, Any]) -> str:
    name, kind = str(column.get("name") or ""), str(column.get("type") or "string")
    if name == _DECIMAL:
        parameters = _described(column, "parameters")
        digits = [str(parameters.get(one, other)) for one, other in (("connect.decimal.precision", 38), ("scale", 0))]
        if not all(map(_DIGITS.fullmatch, digits)):
            raise ValueError(f"there is no decimal({','.join(digits)})")
        return f"decimal({','.join(digits)})"
    if name in _NAMED:
        return _NAMED[name]
    if kind == "struct":
        inner = ",".join(f"{f.get('field')}:{_type(f)}" for f in _fields(column))
        return f"struct<{inner}>"
    if kind == "array":
        return f"array<{_type(_described(column, 'items'))}>"
    if kind == "map":
        return f"map<{_type(_described(column, 'keys'))},{_type(_described(column, 'values'))}>"
    return _SIMPLE.get(kind, "string")


def _literal(value: Any) -> str | None:
    return None if value is None else exp.convert(value).sql("spark")


def _renames(ddl: Any) -> dict[str, str]:
    if not isinstance(ddl, str):
        return {}
    try:
        statements = parse(ddl, dialect="mysql")
    except SqlglotError:
        return {}
    return {
        rename.args["to"].name: rename.this.name
        for statement in statements
        if statement is not None
        for rename in statement.find_all(exp.RenameColumn)
    }
