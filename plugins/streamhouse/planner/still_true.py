"""What was said of a Request, after parts of it were replaced: texts about parts that are gone are left out. Pure."""

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from streamhouse.planner.request import Request

_WORD = re.compile(r"\d{4}-\d\d-\d\d|\d+(?:\.\d+)?[a-z]*|[a-z_][a-z0-9_]*|[<>=!]+", re.IGNORECASE)
_MIDNIGHT = re.compile(r"T00:00:00(?:\.0+)?(?:Z|\+00:00)?$")
_LISTS = ("filters", "dimensions", "measures", "derived", "columns", "joins")

_Said = TypeVar("_Said")


def still_true(
    said: tuple[_Said, ...], text: Callable[[_Said], str], before: Request, after: Request
) -> tuple[_Said, ...]:
    """Those texts about a Request that hold for another one, too.

    A text belongs to the part that shares most words with it. It is left out if the other Request lacks this part.

    Args:
        said: Readings or assumptions of the first Request.
        text: What one of them says of the Request.
        before: The first Request.
        after: The other one.
    """
    parts, kept = list(_parts(before)), list(_parts(after))
    same_base = before.block.base == after.block.base
    return tuple(one for one in said if _holds(text(one), parts, kept, same_base=same_base))


_Part = tuple[str, frozenset[str]]


def _holds(text: str, parts: list[_Part], kept: list[_Part], *, same_base: bool) -> bool:
    words = _words(text)
    likeness = [(_likeness(words, part), part) for part in parts]
    best = max((like for like, _ in likeness), default=0.0)
    if not best:
        return same_base  # it is about the tables, or about the wish
    return all(part in kept for like, part in likeness if like == best)


def _likeness(words: frozenset[str], part: _Part) -> float:
    both = words & part[1]
    return len(both) / len(words | part[1]) if both else 0.0


def _parts(request: Request) -> Iterator[_Part]:
    """Each part as data, with the words in it."""
    data = request.model_dump(mode="json", exclude_none=True)
    block = data.pop("block")
    yield from _parts_of_block(block, "")
    for name in ("ranking", "freshness", "layer", "name"):
        if name in data:
            yield _part(name, data[name])


def _parts_of_block(block: dict[str, Any], path: str) -> Iterator[_Part]:
    for name in _LISTS:
        for one in block.get(name, ()):
            yield _part(f"{path}{name}", one)
    for name in ("sessions", "pick"):
        if block.get(name):
            yield _part(f"{path}{name}", block[name])
    if block.get("inner"):
        yield from _parts_of_block(block["inner"], f"{path}inner.")


def _part(name: str, data: Any) -> _Part:
    return f"{name} {data}", frozenset(word for value in _values(data) for word in _words(value))


def _values(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        for value in data.values():
            yield from _values(value)
    elif isinstance(data, list):
        for value in data:
            yield from _values(value)
    elif isinstance(data, str):
        yield _MIDNIGHT.sub("", data)
    elif not isinstance(data, bool):
        yield str(data)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))
