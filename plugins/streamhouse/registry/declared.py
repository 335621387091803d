"""What a header declares by type: columns of inputs, and parameters with their defaults."""

import re
from difflib import get_close_matches
from typing import Any

from streamhouse.errors import DefinitionError, FileFormatError, TypeMismatchError
from streamhouse.model.action import Parameter
from streamhouse.registry.yaml_nodes import Document, KeyPath
from streamhouse.sql.parameters import typed_literal
from streamhouse.sql.written_type import WrittenTypeError, written_type

SIMPLE_TYPES = (
    "bigint", "binary", "boolean", "date", "decimal(12,2)", "double", "float", "int", "smallint", "string",
    "timestamp", "timestamp_ntz", "tinyint", "array<string>", "map<string,string>", "struct<name:type>",
)  # fmt: skip

_WORDS = sorted({re.split(r"\W", name, flags=re.ASCII)[0] for name in SIMPLE_TYPES})


def declared_type(text: str, path: KeyPath, document: Document) -> tuple[str, tuple[DefinitionError, ...]]:
    """The canonical name of a type written at `path`, or the text as it is and what is wrong with it."""
    try:
        return written_type(text), ()
    except WrittenTypeError as error:
        return text, (FileFormatError(str(error), at=document.value_at(path), hint=error.hint or _remedy(text)),)


def _remedy(text: str) -> str:
    if text.count("(") != text.count(")") or text.count("<") != text.count(">"):
        return 'inside { } a comma ends the value: put the type in quotes, such as "decimal(12,2)"'
    for word in re.findall(r"[^\W\d]\w*(?!\w*\s*:)", text.lower(), re.UNICODE):  # no names of fields
        if word not in _WORDS and (close := get_close_matches(word, _WORDS, n=1)):
            meant = re.sub(rf"\b{word}\b", close[0], text.lower(), flags=re.UNICODE)
            return f"did you mean '{meant}'?"
    return f"such as {', '.join(SIMPLE_TYPES[:-3])}"


def join_cut_types(columns: Any) -> Any:
    """`columns` without the keys that YAML makes of the rest of an unquoted `decimal(12,2)`.

    Inside braces YAML ends a value at a comma, so it reads `{a: decimal(12,2)}` as `{a: 'decimal(12', '2)': null}`.
    The cut type stays, so one message names the cause.
    """
    if not isinstance(columns, dict):
        return columns
    return {k: v for k, v in columns.items() if not (v is None and re.fullmatch(r"[^(<]*[)>]+", k))}


def default_error(parameter: Parameter, path: KeyPath, document: Document) -> DefinitionError | None:
    """What is wrong with the default of a parameter; `path` is the parameter's."""
    value = parameter.default
    if value is None:
        return None
    at = document.value_at((*path, "default"))
    if parameter.required:
        return FileFormatError(
            f"'{path[-1]}' is required and has a default", at=at, hint="remove `required`, or the default"
        )
    try:
        typed_literal(str(path[-1]), parameter.type, value, at)
    except TypeMismatchError as error:
        return TypeMismatchError(error.message, at=at, hint=error.hint or f"give a default of type {parameter.type}")
    except (DefinitionError, ValueError):  # the type is none; that is reported where it is written
        return None
    return None
