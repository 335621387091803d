"""Schemas of JSON: which Spark SQL type each property has. Pure."""

import json
from collections.abc import Mapping
from typing import Any

from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.model.shape import SeenColumn

_SIMPLE = {"integer": "bigint", "number": "double", "boolean": "boolean", "string": "string"}
_FORMATS = {"date-time": "timestamp", "date": "date"}
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "date", "timestamp")
_TEXTS = ("string", "date", "timestamp", "decimal", "binary")
_DEPTH_MAX = 32


class _Definitions:
    """The schema, and those that it refers to, where a `$ref` may lead."""

    def __init__(self, schema: Any, references: Mapping[str, str]) -> None:
        self._schema = schema
        self._others = {name: json.loads(text) for name, text in references.items()}

    def follow(self, reference: str) -> Any:
        """What a `$ref` means; `{}` where it leads nowhere that is known: anything."""
        file, _, path = reference.partition("#")
        found = self._others.get(file) if file else self._schema
        for part in path.strip("/").split("/") if path.strip("/") else ():
            found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
        return found if isinstance(found, dict) else {}


def json_columns(text: str, references: Mapping[str, str]) -> tuple[tuple[SeenColumn, ...], bool]:
    """The columns of a schema, and whether objects may have others. A property of several types is no column.

    Raises:
        UnreadableError: it is no JSON, or a schema of something that is no object.
    """
    try:
        schema = json.loads(text)
        definitions = _Definitions(schema, references)
    except ValueError as error:
        raise UnreadableError("schema", f"the schema is no JSON: {error}") from error
    if isinstance(schema, bool):
        return (), schema
    if not isinstance(schema, dict):
        raise UnreadableError("schema", "the schema is no object")
    schema, _ = _resolved(schema, definitions)
    if schema.get("type", "object") != "object":
        raise UnreadableError("schema", f"the schema is of type {schema['type']}, and a row needs an object")
    required = schema.get("required") or ()
    columns = []
    for name, one in (schema.get("properties") or {}).items():
        found = _type(one, definitions, 0)
        if found is not None:
            columns.append(SeenColumn(name=name, type=found[0], nullable=found[1] or name not in required))
    all_read = len(columns) == len(schema.get("properties") or {})
    return tuple(columns), not all_read or schema.get("additionalProperties", True) is not False


def fits_json(natural: str, declared: str) -> bool:
    """Whether some values of a property can be read as a declared type."""
    if natural in ("bigint", "double"):
        return declared.startswith(_NUMBERS)
    if natural in ("string", "timestamp", "date"):
        return declared.startswith(_TEXTS)
    if natural == "boolean":
        return declared == "boolean"
    outer = natural.partition("<")[0]
    return declared.startswith(("struct<", "map<") if outer in ("struct", "map") else f"{outer}<")


def _resolved(schema: Any, definitions: _Definitions) -> tuple[dict[str, Any], bool]:
    """A schema behind its references and choices with null; whether null is among its values."""
    nullable = False
    for _ in range(_DEPTH_MAX):
        if not isinstance(schema, dict):
            return {}, nullable
        if "$ref" in schema:
            schema = definitions.follow(str(schema["$ref"]))
            continue
        choices = schema.get("oneOf") or schema.get("anyOf")
        others = [one for one in choices or () if not (isinstance(one, dict) and one.get("type") == "null")]
        nullable = nullable or len(others) < len(choices or ())
        if choices and len(others) == 1:
            schema = others[0]
            continue
        types = schema.get("type")
        if isinstance(types, list):
            nullable = nullable or "null" in types
            kinds = [one for one in types if one != "null"]
            return {**schema, "type": kinds[0] if len(kinds) == 1 else None}, nullable
        return ({} if choices else schema), nullable
    return {}, nullable


def _type(schema: Any, definitions: _Definitions, depth: int) -> tuple[str, bool] | None:
    """Type, and whether null is among its values; None: it has no one type."""
    schema, nullable = _resolved(schema, definitions)
    kind = schema.get("type")
    if kind == "string":
        return _FORMATS.get(schema.get("format", ""), "string"), nullable
    if kind in _SIMPLE:
        return _SIMPLE[kind], nullable
    if depth >= _DEPTH_MAX:
        return None
    if kind == "array":
        item = _type(schema.get("items"), definitions, depth + 1)
        return None if item is None else (f"array<{item[0]}>", nullable)
    if kind != "object":
        return None
    if schema.get("properties"):
        fields = {name: _type(one, definitions, depth + 1) for name, one in schema["properties"].items()}
        texts = [f"{name}:{found[0]}" for name, found in fields.items() if found is not None]
        return (f"struct<{','.join(texts)}>", nullable) if texts else None
    value = _type(schema.get("additionalProperties"), definitions, depth + 1)
    return None if value is None else (f"map<string,{value[0]}>", nullable)
