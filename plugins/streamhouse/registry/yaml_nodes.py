"""YAML as plain data that still knows where each key and value stands.

A flow is written by people, so YAML's surprises are switched off: only `true` and `false` are
booleans (`on`, `off`, `yes`, `no` stay text), dates and `1:30` stay text, a number with a leading
zero stays text, a key stands once, and tags such as `!!python/object` are refused.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import yaml

from streamhouse.errors import FileFormatError, Location, StreamhouseError
from streamhouse.model.characters import NO_TEXT, not_allowed
from streamhouse.registry.problems import Problems

KeyPath = tuple[str | int, ...]
"""Keys and list indexes from the root of a document, such as `("steps", 0, "reads", "lines")`."""

_DEPTH_MAX = 100
_OPENINGS_SAFE = 2_000  # PyYAML's composer recurses in C and would end the process some ten thousand levels down
_NODES_MAX = 100_000  # far above any real file; stops aliases that multiply
_TAG = "tag:yaml.org,2002:"
_PLAIN_WORDS = {
    "could not find expected ':'": "a key lacks its ':'",
    "did not find expected key": "a key was expected here; mind indentation and quotes",
    "did not find expected ',' or '}'": "expected ',' or '}'",
    "did not find expected ',' or ']'": "expected ',' or ']'",
    "did not find expected node content": "a value is missing",
    "mapping values are not allowed in this context": "a second ':' on the line",
    "found character that cannot start any token": "this character cannot begin a value",
    "found a tab character that violates indentation": "a tab indents this line",
    "found unexpected end of stream": "a quote does not end",
    "did not find expected <document start>": "text after the end of the document",
    "but found another document": "a second document begins here",
    "did not find expected '-' indicator": "a list item '- ...' was expected here",
}
_GLUED = ("a second ':' on the line", "a key lacks its ':'")  # what libyaml says of the line after `key:value`
_YAML_HINTS = {
    "a second ':' on the line": "put text that holds ': ' in quotes",
    "a space is missing after this ':'": "write 'key: value'",
    "a key was expected here; mind indentation and quotes": "indent the keys of one mapping alike",
    "a list item '- ...' was expected here": "indent the items of one list alike",
    "expected ',' or '}'": "close the { above, or write a comma",
    "expected ',' or ']'": "close the [ above, or write a comma",
    "a value is missing": "write one, or remove the comma or the key",
    "this character cannot begin a value": "indent with spaces, and quote text that begins with @, % or `",
    "a tab indents this line": "indent with spaces",
    "a second document begins here": "one file holds one document; remove the line '---'",
    "a key lacks its ':'": "write 'key: value', with a space after the colon",
}


class _Loader(yaml.CSafeLoader):
    yaml_implicit_resolvers = {}  # noqa: RUF012  PyYAML's own class attribute, emptied


for _name, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(0|[1-9][0-9]*)", list("-+0123456789")),
    ("float", r"[-+]?((0|[1-9][0-9]*)?\.[0-9]+|(0|[1-9][0-9]*)\.?(?=[eE.]))([eE][-+]?[0-9]+)?", list("-+.0123456789")),
):
    _Loader.add_implicit_resolver(_TAG + _name, re.compile(rf"^(?:{_pattern})$"), _first)


@dataclass(frozen=True)
class Document:
    """Plain data, and the place of each part of it."""

    file: str
    data: Any
    keys: dict[KeyPath, Location]
    values: dict[KeyPath, Location]

    def value_at(self, path: KeyPath) -> Location:
        """Where the value at `path` begins; of its nearest parent when nothing is written there."""
        while path not in self.values and path:
            path = path[:-1]
        return self.values.get(path, Location(self.file))

    def key_at(self, path: KeyPath) -> Location:
        """Where the last key of `path` stands; for a list item, where the item begins."""
        return self.keys.get(path) or self.value_at(path)

    def best_at(self, path: KeyPath) -> Location:
        """The key of a mapping, else the value: where a message about `path` helps most."""
        value: Any = self.data
        for part in path:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return self.value_at(path)
        return self.key_at(path) if isinstance(value, dict) else self.value_at(path)

    def places_below(self, *keys: str) -> dict[str, Location]:
        """As `places_in` of the whole document, of what stands at and below some of its keys."""
        wanted = set(keys)
        return self._named(path for path in self.values if path and path[0] in wanted)

    def places_in(self, root: KeyPath) -> dict[str, Location]:
        """Places of all that is written below `root`, by their paths from there joined by dots.

        A mapping's place is that of its key; `key:` before a path always gives the key.
        """
        depth = len(root)
        return self._named((path for path in self.values if len(path) > depth and path[:depth] == root), depth)

    def _named(self, paths: Iterable[KeyPath], depth: int = 0) -> dict[str, Location]:
        found: dict[str, Location] = {}
        for path in paths:
            name = ".".join(str(part) for part in path[depth:])
            found[name] = self.best_at(path)
            if path in self.keys:
                found[f"key:{name}"] = self.keys[path]
        return found


def read_yaml(text: str, file: str, *, first_line: int = 1, problems: Problems | None = None) -> Document:
    """Read one YAML document.

    Args:
        text: The YAML.
        file: Name for messages.
        first_line: Line of the file that `text` begins with.
        problems: Gets an error for each text with a character that no path, name or table can have; the text goes on
            without it, so that whatever else is wrong is found too. None: that is raised as well.

    Raises:
        FileFormatError: it is no YAML, or uses what the module docstring excludes.
        DefinitionErrors: several such places.
    """
    shift = first_line - 1
    try:
        if sum(text.count(opening) for opening in ("[", "{", "- ", "? ", ":")) > _OPENINGS_SAFE:
            _refuse_depth(text, file, shift)
        root = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        raise _translated(error, text, file, shift) from error
    except yaml.reader.ReaderError as error:
        raise _strange_character(error, text, file, shift) from error
    if root is None:
        raise FileFormatError("nothing is written here", at=Location(file, first_line), hint="write 'key: value' lines")
    walk = _NodeReader(file, shift)
    data = walk.value(root, ())
    if problems is None:
        walk.problems.add(*walk.odd.errors)
    else:
        problems.add(*walk.odd.errors)
    walk.problems.raise_any()
    return Document(file, data, walk.keys, walk.values)


def compose(text: str) -> Any:
    """The nodes of a document that `read_yaml` has read without an error."""
    return yaml.compose(text, Loader=_Loader)


class _NodeReader:
    """Turns nodes into data once, noting places and problems on the way."""

    def __init__(self, file: str, shift: int) -> None:
        self.file = file
        self.shift = shift
        self.keys: dict[KeyPath, Location] = {}
        self.values: dict[KeyPath, Location] = {}
        self.problems = Problems()
        self.odd = Problems()
        self._open: set[int] = set()

    def place(self, mark: Any) -> Location:
        return Location(self.file, mark.line + 1 + self.shift, mark.column + 1)

    def value(self, node: yaml.Node, path: KeyPath) -> Any:
        at = self.place(node.start_mark)
        self.values[path] = at
        if id(node) in self._open:
            raise FileFormatError("aliases (*name) repeat without end", at=at, hint="write the values out")
        if len(self.values) > _NODES_MAX:
            cause = f"the file has more than {_NODES_MAX:,} values, each counted where an alias (*name) repeats it"
            raise FileFormatError(cause, at=at, hint="divide it into several files, or use no aliases")
        if len(path) > _DEPTH_MAX:
            raise _too_deep(at)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, at)
        if node.tag not in (_TAG + "map", _TAG + "seq"):
            self._refuse_tag(node, at)
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.MappingNode):
                return self._mapping(node, path)
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        finally:
            self._open.discard(id(node))

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key_node, value_node in node.value:
            at = self.place(key_node.start_mark)
            key = self._text(key_node.value, at) if isinstance(key_node.value, str) else key_node.value
            if key_node.tag != _TAG + "str":
                shown = f"the key {key}" if isinstance(key, str) and key else "this key"
                self.problems.add(FileFormatError(f"{shown} is no text", at=at, hint="put it in quotes"))
                continue
            inner = (*path, key)
            if key in data:
                self.problems.add(
                    FileFormatError(
                        f"'{key}' stands here twice", at=at, hint=f"it stands first at {self.keys[inner]}; keep one"
                    )
                )
                continue
            self.keys[inner] = at
            data[key] = self.value(value_node, inner)
        return data

    def _scalar(self, node: yaml.ScalarNode, at: Location) -> Any:
        text = self._text(node.value, at)
        match node.tag.removeprefix(_TAG):
            case "str":
                return text
            case "null":
                return None
            case "bool":
                return text.lower() == "true"
            case "int" | "float" as kind:
                return self._number(text, kind, at)
        self._refuse_tag(node, at)
        return None

    def _text(self, text: str, at: Location) -> str:
        if (found := NO_TEXT.search(text)) is None:  # only an escape such as "\0" brings one here
            return text
        self.odd.add(
            FileFormatError(not_allowed(found), at=at, hint="remove it: no file, table or message can have it")
        )
        return NO_TEXT.sub("\ufffd", text)

    def _number(self, text: str, kind: str, at: Location) -> int | float | None:
        try:
            return int(text) if kind == "int" else float(text)
        except ValueError:  # a tag said that it is one, or it has thousands of digits
            self.problems.add(FileFormatError(f"'{text[:40]}' is no number", at=at, hint="put it in quotes"))
            return None

    def _refuse_tag(self, node: yaml.Node, at: Location) -> None:
        shown = node.tag.replace(_TAG, "!!")
        self.problems.add(FileFormatError(f"the tag {shown} is not used here", at=at, hint="remove it"))


def _refuse_depth(text: str, file: str, shift: int) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEPTH_MAX:
            mark = event.start_mark
            raise _too_deep(Location(file, mark.line + 1 + shift, mark.column + 1) if mark else Location(file))


def _too_deep(at: Location) -> FileFormatError:
    return FileFormatError("the file nests too deep", at=at, hint="write it flatter")


def _strange_character(error: yaml.reader.ReaderError, text: str, file: str, shift: int) -> StreamhouseError:
    before = text.encode()[: error.position].decode(errors="ignore")  # libyaml counts bytes
    return FileFormatError(
        f"the character U+{ord(text[len(before)]):04X} is not allowed",
        at=Location(file, before.count("\n") + 1 + shift, len(before) - before.rfind("\n")),
        hint="remove it; it may have come with a copy and paste",
    )


def _within(text: str, mark: yaml.Mark, shift: int) -> tuple[int, int]:
    """Line and column of a mark; where libyaml looked for more behind the text, of the end of its last line."""
    lines = text.splitlines() or [""]
    if mark.line < len(lines):
        return mark.line + 1 + shift, mark.column + 1
    return len(lines) + shift, max(1, len(lines[-1]))


def _translated(error: yaml.MarkedYAMLError, text: str, file: str, shift: int) -> StreamhouseError:
    problem = (error.problem or error.context or "it cannot be read").strip()
    mark = error.problem_mark or error.context_mark
    begin = error.context_mark
    if mark is not None and begin is not None and mark.line > text.count("\n"):
        mark = begin  # libyaml looked for more behind the last line
    open_ended = begin is not None and begin.index < len(text) and text[begin.index] in "[{\"'"
    if begin is not None and open_ended and (mark is None or mark.index >= len(text.rstrip())):
        opening = text[begin.index]
        at = Location(file, begin.line + 1 + shift, begin.column + 1)
        closing = {"[": "]", "{": "}"}.get(opening, opening)
        return FileFormatError(f"not valid YAML: this {opening} does not end", at=at, hint=f"close it with {closing}")
    at = Location(file, *_within(text, mark, shift)) if mark else Location(file, shift + 1)
    if problem.startswith("found undefined alias"):
        return FileFormatError("this alias (*name) is not defined", at=at, hint="quote text that begins with *")
    plain = _PLAIN_WORDS.get(problem, problem)
    lines = text.split("\n")
    if mark and mark.line < len(lines) and lines[mark.line][mark.column : mark.column + 1] == "\t":
        plain = "a tab indents this line"
    elif (
        mark
        and mark.line
        and (glued := re.match(r"\s*[\w-]+:(?=\S)", lines[mark.line - 1], re.UNICODE))
        and plain in _GLUED
    ):
        plain, at = "a space is missing after this ':'", Location(file, mark.line + shift, glued.end())
    return FileFormatError(
        f"not valid YAML: {plain}", at=at, hint=_YAML_HINTS.get(plain, "compare it with the lines around")
    )
