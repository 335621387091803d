"""Sets a key of a YAML text and leaves every other character as it is: comments, order and layout. Pure."""

import json
from typing import Any

import yaml

from streamhouse.errors import FileFormatError
from streamhouse.registry.yaml_edits.places import cannot, checked, line_break, line_end, node_at, span, without_mark
from streamhouse.registry.yaml_nodes import read_yaml


def with_value(text: str, path: tuple[str, ...], value: str | int, file: str) -> str:
    r"""The text with another value for a key; a key that is not there is added beside the first one.

    Args:
        text: A mapping, as its file has it.
        path: The key, within at most one other: `("freshness",)`, `("autopilot", "mode")`.
        value: A word or a number.
        file: Name for messages.

    Raises:
        FileFormatError: it is no YAML, or that key cannot be set without changing another one.

    Example:
        >>> with_value("flow: a\nfreshness: 1s  # soon\n", ("freshness",), "5s", "flows/a.yaml")
        'flow: a\nfreshness: 5s  # soon\n'
    """
    mark, body = without_mark(text)
    before = read_yaml(body, file).data
    if not isinstance(before, dict):
        raise cannot(".".join(path), file)
    new = _set(body, path, _written(value))
    try:
        wanted = _with(before, path, value)
    except (AttributeError, TypeError) as error:  # what stands above the key is no mapping
        raise cannot(".".join(path), file) from error
    return mark + checked(new, wanted, ".".join(path), file)


def _set(text: str, path: tuple[str, ...], value: str) -> str:
    """The text with the value, or unchanged, where that cannot be."""
    *outer, key = path
    place = node_at(text, tuple(outer))
    if place is None and outer:
        return _set(text, tuple(outer), f"{{{key}: {value}}}")
    if not isinstance(place, yaml.MappingNode):
        return text
    known = next((one for one in place.value if one[0].value == key), None)
    if known is not None:
        return _replaced(text, known[0], known[1], value)
    if not place.value:
        return text
    if place.flow_style:
        first = place.value[0][0].start_mark.index
        return f"{text[:first]}{key}: {value}, {text[first:]}"
    return _added(text, place.value[0], f"{key}: {value}", behind=not outer)


def _added(text: str, first: tuple[yaml.Node, yaml.Node], line: str, *, behind: bool) -> str:
    """The text with a line before the first one of a block, or behind it, where that names what a file is."""
    begin, cut = first[0].start_mark.index, line_break(text)
    if behind and isinstance(first[1], yaml.ScalarNode) and first[1].value:
        at = line_end(text, span(text, first[1])[1])
        return f"{text[:at]}{cut}{line}{text[at:] or cut}"
    indent = text[text.rfind("\n", 0, begin) + 1 : begin]
    return f"{text[:begin]}{line}{cut}{indent}{text[begin:]}"


def _replaced(text: str, key: yaml.Node, node: yaml.Node, value: str) -> str:
    if not isinstance(node, yaml.ScalarNode):
        return text
    first, end = span(text, node)
    space = " " if first == key.end_mark.index + 1 or text[first - 1] == ":" else ""
    return f"{text[:first]}{space}{value}{text[end:]}"


def _with(data: Any, path: tuple[str, ...], value: str | int) -> Any:
    if len(path) == 1:
        return {**data, path[0]: value}
    return {**data, path[0]: _with(data.get(path[0]) or {}, path[1:], value)}


def _written(value: str | int) -> str:
    """As YAML; text that would be read as something else is quoted."""
    text = str(value)
    try:
        plain = isinstance(value, int) or read_yaml(f"[{text}]", "").data == [value]
    except (FileFormatError, yaml.YAMLError):
        plain = False
    return text if plain else json.dumps(value, ensure_ascii=False)
