"""Adds keys to YAML that a person wrote: comments, order and layout of what stands there stay as they are. Pure."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import yaml

from streamhouse.registry.yaml_edits.places import cannot, checked, line_break, line_end, root_of, span, without_mark
from streamhouse.registry.yaml_edits.write import inline, scalar
from streamhouse.registry.yaml_nodes import read_yaml

_WIDE = 118
_STEP = 2

Added = Mapping[str, Any]
"""Key → what to add: a value, or what to add to the mapping that stands there."""


def with_added(text: str, added: Added, after: Collection[str] = (), *, file: str = "") -> str:
    r"""The text with keys that it lacks; what is there already is left as it is.

    Args:
        text: A mapping, as its file has it.
        added: What to add.
        after: New keys of the root stand behind the last of these that is there; else at the end.
        file: Name for messages.

    Raises:
        FileFormatError: it is no YAML, or the keys cannot be added without changing something else.

    Example:
        >>> print(with_added("a: {b: 1}  # why\nc:\n  d: 2\n", {"a": {"e": [3]}, "c": {"f": "x: y"}}), end="")
        a: {b: 1, e: [3]}  # why
        c:
          d: 2
          f: "x: y"
    """
    mark, text = without_mark(text)
    before, root, what = read_yaml(text, file).data, root_of(text), ", ".join(added)
    if root is None or not root.value:
        raise cannot(what, file)
    for at, new in sorted(_insertions(text, root, added, after), reverse=True):
        text = text[:at] + new + text[at:]
    return mark + checked(text, _with(before, added), what, file)


def _with(before: Any, added: Added) -> Any:
    both = [key for key in added if isinstance(before.get(key), Mapping) and isinstance(added[key], Mapping)]
    return {**added, **before, **{key: _with(before[key], added[key]) for key in both}}


def _insertions(
    text: str, node: yaml.MappingNode, added: Added, after: Collection[str] = ()
) -> Iterator[tuple[int, str]]:
    present = {key.value: value for key, value in node.value}
    for key, value in added.items():
        below = present.get(key)
        if isinstance(below, yaml.MappingNode) and isinstance(value, Mapping):
            yield from _insertions(text, below, value)
    new = {key: value for key, value in added.items() if key not in present}
    if not new:
        return
    if node.flow_style:
        yield _intoinline(text, node, new)
    else:
        behind = [value for key, value in node.value if key.value in after] or [value for _, value in node.value]
        indent = node.value[0][0].start_mark.column
        at, cut = line_end(text, span(text, behind[-1])[1]), line_break(text)
        yield at, "".join(f"{cut}{line}" for line in _block(new, indent))


def _intoinline(text: str, node: yaml.MappingNode, new: Added) -> tuple[int, str]:
    at = node.end_mark.index - 1
    inner = text[node.start_mark.index + 1 : at]
    at -= len(inner) - len(inner.rstrip())
    comma = "," if inner.strip() and not inner.rstrip().endswith(",") else ""
    begin = text.rfind("\n", 0, at) + 1
    parts = [inline({key: value})[1:-1] for key, value in new.items()]
    if at - begin + sum(len(part) + 2 for part in parts) + 1 <= _WIDE:
        return at, f"{comma}{' ' if comma else ''}{', '.join(parts)}"
    first = text[text.rfind("\n", 0, node.start_mark.index) + 1 :]
    indent = len(first) - len(first.lstrip(" ")) + _STEP
    lines = [line for key, value in new.items() for line in _wrapped(key, value, indent)]
    return at, comma + "".join(f"{line_break(text)}{line}" for line in lines).removesuffix(",")


def _wrapped(key: str, value: Any, indent: int) -> Iterator[str]:
    """Lines of one entry of a mapping in braces, each entry of it on a line of its own where it is long."""
    line = f"{' ' * indent}{inline({key: value})[1:-1]},"
    if len(line) <= _WIDE or not isinstance(value, Mapping):
        yield line
        return
    yield f"{' ' * indent}{scalar(key)}: {{"
    for name, inner in value.items():
        yield from _wrapped(name, inner, indent + _STEP)
    yield f"{' ' * indent}}},"


def _block(new: Added, indent: int, depth: int = 0) -> Iterator[str]:
    """Lines of entries in block style; what is small and lies deep stands on one line."""
    for key, value in new.items():
        line = f"{' ' * indent}{scalar(key)}: {inline(value)}"
        nested = isinstance(value, Mapping) and any(isinstance(inner, Mapping) for inner in value.values())
        if isinstance(value, Mapping) and value and (len(line) > _WIDE or nested):
            yield f"{' ' * indent}{scalar(key)}:"
            yield from _block(value, indent + _STEP, depth + 1)
        else:
            yield line
