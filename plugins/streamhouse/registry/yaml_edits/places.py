"""Where the parts of a YAML text stand, as offsets of characters."""

from typing import Any

import yaml

from streamhouse.errors import DefinitionErrors, FileFormatError
from streamhouse.registry.yaml_nodes import compose, read_yaml

_MARK = "\ufeff"  # byte order mark, which editors of other systems write


def without_mark(text: str) -> tuple[str, str]:
    """The byte order mark that a text begins with, or nothing; and the rest, which offsets count in."""
    body = text.removeprefix(_MARK)
    return text[: len(text) - len(body)], body


def root_of(text: str) -> yaml.MappingNode | None:
    """The mapping that a text is; None: it is another thing. The text is one that `read_yaml` takes."""
    root = compose(text)
    return root if isinstance(root, yaml.MappingNode) else None


def node_at(text: str, path: tuple[str, ...]) -> yaml.Node | None:
    """What stands at some keys from the root; None: nothing does."""
    node: yaml.Node | None = root_of(text)
    for key in path:
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        node = next((value for name, value in pairs if name.value == key), None)
    return node


def span(text: str, node: yaml.Node) -> tuple[int, int]:
    """Where the first character of a value stands, and where the one behind its last.

    A block ends with its last value, not with the comments behind it.
    """
    first = int(node.start_mark.index)
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return first, span(text, last[1] if isinstance(node, yaml.MappingNode) else last)[1]
    # A text of several lines ends, for the parser, where the next value begins.
    return first, first + len(text[first : node.end_mark.index].rstrip())


def line_end(text: str, at: int) -> int:
    """Where the line ends that a character stands in, before its line break."""
    found = text.find("\n", at)
    end = found if found >= 0 else len(text)
    return end - 1 if text[:end].endswith("\r") else end


def line_break(text: str) -> str:
    """What ends the lines of a text."""
    return "\r\n" if "\r\n" in text else "\n"


def checked(new: str, wanted: Any, what: str, file: str) -> str:
    """The new text, which reads back as it must.

    Raises:
        FileFormatError: it does not: the layout is one that we cannot edit.
    """
    try:
        found = read_yaml(new, file).data
    except (FileFormatError, DefinitionErrors) as error:
        raise cannot(what, file) from error
    if found != wanted:
        raise cannot(what, file)
    return new


def cannot(what: str, file: str) -> FileFormatError:
    """That an edit would change something else, too."""
    return FileFormatError(
        f"{file}: '{what}' cannot be set without changing something else", hint=f"set it by hand: {what}"
    )
