"""Which names of a document name nothing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import yaml
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from streamhouse.cli.main import streamhouse
from streamhouse.project.settings import Settings
from tests.unit.docs.mentions import Block, Mention, anchors, blocks, mentions
from tests.unit.docs.tree import Tree, options_of, sub_command

_COMMAND = re.compile(r"(?:^|(?<=[\s$(]))(?<!--engine )(?:\.venv/bin/)?streamhouse ((?:[^#;&\n])*)")
_MAKE = re.compile(r"(?:^|(?<=[\s(]))make ([a-z]+)\b")
_MODULE = re.compile(r"(?<![\w.\"/-])streamhouse(?:\.[A-Za-z_]\w*)+")
_IMPORT = re.compile(r"^from (streamhouse[\w.]*) import ([\w, ]+)$")
_PATH = re.compile(r"^[\w.-]*\w[\w.-]*(/[\w.*-]+)*/?$")
_PROGRAM = re.compile(r"^(?:python |time )?((?:benchmarks/|scripts/)?\w+\.py)((?: .*)?)$")
_SETTING = re.compile(r"^([a-z_]+):( \S.*)?$")
_SNAKE = re.compile(r"^[a-z]+(_[a-z0-9]+)+$|^[A-Z][a-z]+[A-Z]\w+$")
_VARIABLE = re.compile(r"\bSTREAMHOUSE_[A-Z0-9_]*[A-Z0-9]\b")
_CODE = re.compile(r"\bSH\d{3}\b")
_WORD = re.compile(r"^[a-z][a-z-]*$")
_BARE_OPTION = re.compile(r"^--[a-z][\w-]*")


@dataclass(frozen=True)
class Stale:
    """A name that names nothing: where it stands, the name, and what there is none of."""

    place: str
    name: str
    why: str

    def __str__(self) -> str:
        return f"{self.place}: {self.name!r}: {self.why}"


def stale(text: str, document: Path, tree: Tree) -> Iterator[Stale]:
    """Every name in the text of a document that names nothing."""
    name = document.relative_to(tree.root).as_posix()
    for one in mentions(text, name):
        if one.kind == "link":
            yield from _links(one, text, document)
            continue
        for found in (*_commands(one), *_names(one, tree)):
            yield Stale(one.place, *found)
        if one.kind == "inline":
            for found in _inline(one.text, document, tree):
                yield Stale(one.place, *found)
    for block in blocks(text, name):
        if block.language == "yaml":
            yield from _keys(block, tree)


Found = tuple[str, str]


def _commands(one: Mention) -> Iterator[Found]:
    for call in _COMMAND.findall(one.text):
        yield from _call(call, is_prose=one.kind == "line")
    first = one.text.split(" ")[0]
    if one.kind == "inline" and " " in one.text and sub_command(streamhouse, first) is not None:
        yield from _call(one.text, is_prose=False)


def _call(call: str, *, is_prose: bool) -> Iterator[Found]:
    """Follow the words of one call; options count for the command that was found so far."""
    commands: list[click.Command] = [streamhouse]
    goes_on = True
    call = re.sub(r"'[^']*'?|\"[^\"]*\"?", "TEXT", call)
    call = re.sub(r"--project[ =]\S+", "--project", call)
    for word in call.replace("[", " ").replace("]", " ").replace(",", " ").split():
        if word.startswith("--") or re.fullmatch(r"-[a-z]", word):
            option = re.split(r"[=|.)]", word)[0]
            if not any(option in options_of(each) for each in (*commands, streamhouse)):
                yield f"streamhouse {call.strip()}", f"no option {option}"
        elif goes_on:
            names = [re.sub(r"[.):`]+$", "", name) for name in word.split("|")]
            found = [(name, sub) for name in names for each in commands if (sub := sub_command(each, name)) is not None]
            groups = [each for each in commands if isinstance(each, click.Group)]
            missing = set(names) - {name for name, _ in found}
            if groups and all(_WORD.match(name) for name in names) and missing and not (is_prose and not found):
                yield f"streamhouse {call.strip()}", f"no command {sorted(missing)[0]}"
            commands = [sub for _, sub in found] or commands
            goes_on = bool(found)


def _names(one: Mention, tree: Tree) -> Iterator[Found]:
    """What is checked in spans and in blocks alike."""
    for target in _MAKE.findall(one.text):
        if target not in tree.targets and (one.kind == "inline" or one.text.startswith("make ")):
            yield f"make {target}", "no target of the Makefile"
    for variable in _VARIABLE.findall(one.text):
        if variable not in tree.words:
            yield variable, "no variable that the source reads"
    for code in _CODE.findall(one.text):
        if code not in tree.codes:
            yield code, "no error code"
    imported = _IMPORT.match(one.text)
    if imported:
        for name in imported[2].split(", "):
            if not tree.has_module(f"{imported[1]}.{name}"):
                yield f"{imported[1]}.{name}", "no such name in the package"
    for dotted in _MODULE.findall(one.text):
        known = tree.has_module(dotted) or f'"{dotted}"' in tree.source
        if not known and not dotted.endswith((".yaml", ".git")):
            yield dotted, "no module"


def _inline(text: str, document: Path, tree: Tree) -> Iterator[Found]:
    program, setting, option = _PROGRAM.match(text), _SETTING.match(text), _BARE_OPTION.match(text)
    if program:
        yield from _program(program[1], program[2], tree)
    elif text.startswith(".streamhouse/"):
        part = text.removeprefix(".streamhouse/").split("/")[0]
        if part and f'"{part}"' not in tree.source:
            yield text, "nothing in the source has this name"
    elif "/" in text and not text.startswith(".venv") and _PATH.match(text) and not _is_one_of(tree, document, text):
        yield text, "no file or folder"
    elif option and option[0] not in tree.options:
        yield option[0], "no option of any command"
    elif setting and setting[1] not in tree.keys:
        yield text, f"no key {setting[1]} of a flow, an action or the settings"
    elif _SNAKE.match(text) and text not in tree.words:
        yield text, "nothing in the source has this name"


def _program(path: str, rest: str, tree: Tree) -> Iterator[Found]:
    places = [tree.root / path] if "/" in path else list(tree.programs.get(path, ()))
    places = [place for place in places if place.is_file()]
    if not places:
        yield path, "no program"
    for option in re.findall(r"(?<=\s)--[\w-]+", rest):
        if places and f'"{option}"' not in places[0].read_text():
            yield f"{path}{rest}", f"no option {option} of {path}"


def _is_one_of(tree: Tree, document: Path, text: str) -> bool:
    return "*" in text or tree.has_path(text.rstrip("/"), document.parent)


def _links(one: Mention, text: str, document: Path) -> Iterator[Stale]:
    path, _, anchor = one.text.partition("#")
    if "://" in path:
        return
    target = document.parent / path if path else document
    if not target.exists():
        yield Stale(one.place, one.text, "no file or folder")
    elif anchor and anchor not in anchors(text if target == document else target.read_text()):
        yield Stale(one.place, one.text, "no heading of that name")


def _keys(block: Block, tree: Tree) -> Iterator[Stale]:
    """Keys of an example that none of the formats has; what an example leaves out is no fault."""
    try:
        data = yaml.load(block.text, _Plain)
    except yaml.YAMLError:
        return
    if not isinstance(data, dict):
        return
    faults = [list(_unknown(Draft202012Validator(schema), data)) for schema in tree.schemas]
    faults.append(list(_unknown_settings(data)))
    if all(faults):
        yield Stale(block.place, min(faults, key=len)[0], "no key of a flow, an action or the settings")


class _Plain(yaml.SafeLoader):
    """Takes `on` and `off` for words, as our own reader does."""


_Plain.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Plain.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), list("tf"))


def _unknown_settings(data: Any) -> Iterator[str]:
    try:
        Settings.model_validate(data)
    except ValidationError as error:
        yield from (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())


def _unknown(validator: Any, data: Any) -> Iterator[str]:
    for error in validator.iter_errors(data):
        yield from _of(error)


def _of(error: Any) -> Iterator[str]:
    if error.validator == "required":
        return
    if not error.context:
        yield error.message
        return
    branches: dict[int, list[str]] = {}
    for inner in error.context:
        branches.setdefault(inner.schema_path[0], []).extend(_of(inner))
    if all(branches.values()):
        yield min(branches.values(), key=len)[0]
