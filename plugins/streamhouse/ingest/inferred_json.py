"""Which type all values of a field of JSON have, at any depth. Pure."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from streamhouse.ingest.inferred_texts import TextFacts
from streamhouse.ingest.json_text import TEXT, Cursor, decoded
from streamhouse.ingest.unreadable import UnreadableError
from streamhouse.sql.types import canonical_type
from streamhouse.stores.arrow import arrow_type, spark_type

_AT_ONCE = 10_000
_MOST_LEVELS = 200
_WORDS = {"null": None, "true": True, "false": False}
_ENDLESS = frozenset({"NaN", "Infinity", "+Infinity", "-Infinity", "+INF", "-INF"})
_PLAIN_NAME = re.compile(r"\w+", re.UNICODE)
_HALF = re.compile(r"\\u[dD][89a-fA-F]")  # of which the library makes text that no file can have
_NAMES = {"boolean": "true or false", "number": "numbers", "text": "texts", "list": "lists", "object": "objects"}


class _Number(str):
    """A number of JSON, as it is written."""

    __slots__ = ()


class FieldFacts:
    """What is true of all values of one field; grows."""

    def __init__(self) -> None:
        self._kinds: set[str] = set()
        self._texts = TextFacts()
        self._is_endless = False
        self._waiting: list[str] = []
        self._items: FieldFacts | None = None
        self.fields: dict[str, FieldFacts] = {}

    def add(self, value: Any) -> None:
        """Take one value into account."""
        if value is None:
            return
        kind = _kind(value)
        self._kinds.add(kind)
        if kind == "number" and value in _ENDLESS:
            self._is_endless = True
        elif kind in ("number", "text"):
            self._waiting.append(str(value))
            if len(self._waiting) >= _AT_ONCE:
                self._look()
        elif kind == "list":
            self._items = self._items or FieldFacts()
            for item in value:
                self._items.add(item)
        elif kind == "object":
            for name, inner in value.items():
                self.fields.setdefault(name, FieldFacts()).add(inner)

    def _look(self) -> None:
        self._texts += TextFacts.of(pa.array(self._waiting, pa.string()))
        self._waiting = []

    def types(self, *, inner: bool = False) -> tuple[Sequence[str], str]:
        """Types that the values may have, the best first, and what a person should know; empty: no type fits.

        Args:
            inner: Whether the field is within another one, where days and times stay texts.
        """
        self._look()
        if not self._kinds:
            return ("string",), "no row has a value"
        if len(self._kinds) > 1:
            return (), f"some values are {' and others '.join(_NAMES[kind] for kind in sorted(self._kinds))}"
        (kind,) = self._kinds
        if kind == "boolean":
            return ("boolean",), ""
        if kind == "number":
            numbers = replace(self._texts, has_codes=False)
            found, note = numbers.doubles() if self._is_endless else numbers.types()
            return tuple(one for one in found if one != "string"), note
        if kind == "text":
            is_time = not inner and self._texts.forms & {"day", "time", "odd day"}
            return self._texts.types() if is_time else (("string",), "")
        return self._nested(kind)

    def _nested(self, kind: str) -> tuple[Sequence[str], str]:
        try:
            if kind == "list":
                assert self._items is not None, "a list was added"
                return (canonical_type(spark_type(pa.list_(_inner(self._items)))),), ""
            if odd := next((name for name in self.fields if not _PLAIN_NAME.fullmatch(name)), None):
                return self._map(odd)
            inner = pa.struct([(name, _inner(field)) for name, field in self.fields.items()])
            return (canonical_type(spark_type(inner)),), ""
        except ValueError as error:
            return (), str(error)

    def _map(self, odd: str) -> tuple[Sequence[str], str]:
        """Of an object whose names are no names of fields, such as `addr:street`."""
        types = {spark_type(_inner(field)) for field in self.fields.values()}
        if len(types) > 1:
            return (), f"within it, '{odd}' is no name of a field, and its values are of several types: declare string"
        return (canonical_type(f"map<string,{types.pop()}>"),), ""


def _inner(field: FieldFacts) -> pa.DataType:
    found, why = field.types(inner=True)
    if not found:
        raise ValueError(f"within it, {why}")
    return arrow_type(found[0])


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, _Number):
        return "number"
    return "text" if isinstance(value, str) else "list" if isinstance(value, list) else "object"


def json_object(record: bytes) -> dict[str, Any]:
    """A line of JSON, whose numbers are as they are written; what Spark takes beyond the standard is taken.

    Raises:
        UnreadableError: it is no object.
    """
    text = decoded(record)
    value = None if _HALF.search(text) else _by_library(text)
    if value is None:
        cursor = Cursor(text)
        value = _value(cursor) if cursor.peek() else None
        cursor.end()
    if not isinstance(value, dict):
        is_list = isinstance(value, list)
        raise UnreadableError("malformed", f"it is no JSON object{', but an array; each row is one object' * is_list}")
    return value


def _by_library(text: str) -> Any:
    """The value; None: it is null, or the library does not read it."""
    try:
        return json.loads(text, parse_int=_Number, parse_float=_Number, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return None


def _no_number(constant: str) -> None:
    raise ValueError(constant)


def _value(cursor: Cursor, level: int = 0) -> Any:
    if level > _MOST_LEVELS:
        raise UnreadableError("malformed", f"it has more than {_MOST_LEVELS} levels")
    first = cursor.peek()
    if first == "{":
        return {name: _value(cursor, level + 1) for name in cursor.names()}
    if first == "[":
        return [_value(cursor, level + 1) for _ in cursor.items()]
    kind, text = cursor.scalar()
    if kind == TEXT:
        return text
    return _WORDS[text] if text in _WORDS else _Number(text)
