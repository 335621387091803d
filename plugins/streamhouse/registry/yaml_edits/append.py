"""Adds an item to a list of a YAML text. Pure."""

from collections.abc import Mapping
from typing import Any

import yaml

from streamhouse.registry.yaml_edits.places import cannot, checked, line_break, line_end, node_at, span, without_mark
from streamhouse.registry.yaml_edits.write import inline, item
from streamhouse.registry.yaml_nodes import read_yaml


def with_item(text: str, key: str, new: Mapping[str, Any], file: str) -> str:
    r"""The text with one more item behind the last one of a list.

    Args:
        text: A mapping, as its file has it.
        key: Of the list in the mapping.
        new: The item.
        file: Name for messages.

    Raises:
        FileFormatError: it is no YAML, or the list is none, is empty, or cannot be added to.

    Example:
        >>> with_item("steps:\n- {use: a}  # one\n# end\n", "steps", {"use": "b"}, "flows/a.yaml")
        'steps:\n- {use: a}  # one\n- {use: b}\n# end\n'
    """
    mark, text = without_mark(text)
    before, items = read_yaml(text, file).data, node_at(text, (key,))
    if not isinstance(items, yaml.SequenceNode) or not items.value:
        raise cannot(key, file)
    end = span(text, items.value[-1])[1]
    if items.flow_style:
        after = f"{text[:end]}, {inline(new)}{text[end:]}"
    else:
        end, cut = line_end(text, end), line_break(text)
        lines = "".join(f"{cut}{line}" for line in item(new, items.start_mark.column))
        after = f"{text[:end]}{lines}{text[end:] or cut}"
    return mark + checked(after, {**before, key: [*before[key], _plain(new)]}, key, file)


def _plain(value: Any) -> Any:
    """As it reads back."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)
