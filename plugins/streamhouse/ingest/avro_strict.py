"""Looks whether bytes are a record of an Avro schema, where fastavro takes some that are not. Pure.

fastavro counts a negative number of a branch or of an enum's value from the end, takes any byte that is not zero for
true, takes an int of more than 32 bits, and cuts numbers of more than 64 bits. Each of these would be a row that
nobody wrote.
"""

from collections.abc import Mapping
from typing import Any

from streamhouse.ingest.unreadable import UnreadableError

_VARINT_MAX = 10
_INT_END = 1 << 31
_WIDTHS = {"null": 0, "float": 4, "double": 8}


class StrictRecord:
    """The checks of one schema.

    Args:
        schema: As fastavro has parsed it.
        named: Name → each type of it that has one.
    """

    def __init__(self, schema: Any, named: Mapping[str, Any]) -> None:
        self._schema = schema
        self._named = named

    def check(self, data: bytes, at: int) -> None:
        """Check a record that fastavro could read to its end.

        Args:
            data: Has the record.
            at: Where it begins.

        Raises:
            UnreadableError: it is none of the schema.
        """
        self._walk(self._schema, data, at)

    def _walk(self, schema: Any, data: bytes, at: int) -> int:
        """The place behind a value."""
        if isinstance(schema, list):
            branch, at = number_at(data, at)
            return self._walk(_one_of(schema, branch, "the branch of a union"), data, at)
        if isinstance(schema, str):
            return self._walk(self._named[schema], data, at) if schema in self._named else _simple(schema, data, at)
        kind = schema["type"]
        if kind in ("record", "error"):
            for one in schema["fields"]:
                at = self._walk(one["type"], data, at)
            return at
        if kind == "enum":
            value, at = number_at(data, at)
            _one_of(schema["symbols"], value, "the value of an enum")
            return at
        if kind in ("array", "map"):
            return self._blocks(schema, data, at)
        return at + schema["size"] if kind == "fixed" else self._walk(kind, data, at)

    def _blocks(self, schema: Any, data: bytes, at: int) -> int:
        is_map = schema["type"] == "map"
        while True:
            count, at = number_at(data, at)
            if count == 0:
                return at
            if count < 0:
                _, at = number_at(data, at)  # the size of the block
            for _ in range(abs(count)):
                at = _simple("string", data, at) if is_map else at
                at = self._walk(schema["values" if is_map else "items"], data, at)


def _simple(kind: str, data: bytes, at: int) -> int:
    if kind in _WIDTHS:
        return at + _WIDTHS[kind]
    if kind == "boolean":
        if data[at] > 1:
            raise _malformed(f"a boolean is {data[at]}")
        return at + 1
    number, at = number_at(data, at)
    if kind == "int" and not -_INT_END <= number < _INT_END:
        raise UnreadableError("type", f"an int is {number}, which has more than 32 bits")
    if kind in ("int", "long"):
        return at
    if number < 0:
        raise _malformed(f"a length is {number}")
    return at + number


def number_at(data: bytes, at: int) -> tuple[int, int]:
    """A zigzag number of variable length, and the place behind it.

    Raises:
        UnreadableError: it has more than 64 bits, or the data end within it.
    """
    number = 0
    for place, byte in enumerate(data[at : at + _VARINT_MAX]):
        number |= (byte & 0x7F) << (7 * place)
        if not byte & 0x80:
            if number >> 64:
                break
            return (number >> 1) ^ -(number & 1), at + place + 1
    raise _malformed("a number has more than 64 bits")


def _one_of(choices: Any, number: int, what: str) -> Any:
    if not 0 <= number < len(choices):
        raise _malformed(f"{what} is {number}, of {len(choices)}")
    return choices[number]


def _malformed(text: str) -> UnreadableError:
    return UnreadableError("malformed", f"it is no record of its schema: {text}")
