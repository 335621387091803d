"""How long names and paths may be, so that no store refuses one when a flow already runs."""

from collections.abc import Iterator
from typing import Any

from sqlglot import exp

from streamhouse.errors import DefinitionError, FileFormatError, Location, OutputColumnError
from streamhouse.registry.yaml_nodes import Document, KeyPath
from streamhouse.sql.dialect import place_of

NAME_LENGTH = 100
"""Letters of a name: of a flow, an action, a column, a part of a table's.

A hot table's name may have 200 letters, with its version and the name of its quarantine (Fluss). A commit to a warm
table is marked by a file that names flow, table and version, and file systems take 255 bytes for a name.
"""
PATH_LENGTH, PART_BYTES = 1_000, 255
"""Letters of a path of files, and bytes of each of its parts, as file systems take them."""
_NAMES = ("flow", "action", "use", "writes", "table")
_PATH = "path"


def length_errors(document: Document) -> Iterator[DefinitionError]:
    """Keys of a document, and values that are names or paths, that are too long."""
    for path, value in _walk(document.data, ()):
        key = path[-1] if path else ""
        if isinstance(key, str) and (error := _of_name(key, document.key_at(path))) is not None:
            yield error
        named = key in _NAMES or (len(path) > 1 and path[-2] == "reads")
        if isinstance(value, str) and named and (error := _of_name(value, document.value_at(path))) is not None:
            yield error
        if isinstance(value, str) and key == _PATH and (error := _of_path(value, document.value_at(path))) is not None:
            yield error


def long_columns(query: exp.Query, sql: str, at: Location) -> Iterator[DefinitionError]:
    """Names in a query that are too long.

    Args:
        query: As parsed from `sql`.
        sql: Text of the query; with `at` it gives the places.
        at: Where `sql` begins.
    """
    for name in query.find_all(exp.Identifier):
        if len(name.name) > NAME_LENGTH:
            cause, hint = _said(name.name)
            yield OutputColumnError(cause, at=place_of(name, sql, at), hint=hint)


def _walk(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    yield path, value
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from _walk(one, (*path, key))


def _of_name(name: str, at: Location) -> DefinitionError | None:
    longest = max(name.split("."), key=len)
    if len(longest) <= NAME_LENGTH:
        return None
    cause, hint = _said(longest)
    return FileFormatError(cause, at=at, hint=hint)


def _said(name: str) -> tuple[str, str]:
    return (
        f"'{name[:20]}…' has {len(name)} letters; a name may have {NAME_LENGTH}",
        "shorten it: stores add versions to names, and take no longer ones",
    )


def _of_path(path: str, at: Location) -> DefinitionError | None:
    if len(path) > PATH_LENGTH:
        return FileFormatError(f"the path has {len(path)} letters; it may have {PATH_LENGTH}", at=at, hint="shorten it")
    longest = max((len(part.encode()) for part in path.split("/")), default=0)
    if longest > PART_BYTES:
        cause = f"a part of the path has {longest} bytes; file systems take {PART_BYTES}"
        return FileFormatError(cause, at=at, hint="shorten it")
    return None
