"""What there is to name: commands, options, paths, modules, settings, words of the source."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import click

from streamhouse.cli.main import streamhouse
from streamhouse.errors.explanation import explanations
from streamhouse.ingest.cdc_options import CdcOptions
from streamhouse.ingest.files import FilesOptions
from streamhouse.ingest.kafka import KafkaOptions
from streamhouse.ingest.replay import ReplayOptions
from streamhouse.ingest.tables.options import OtherTableOptions
from streamhouse.project.settings import Settings
from streamhouse.registry.schema_export import action_schema, flow_schema
from tests.parsed import tree_of

_SOURCE = ("*.py", "*.sql", "*.yaml", "*.yml", "*.sh", "*.js", "*.toml", "*.txt", "*.json", "*.html", "*.css")
_FOLDERS = ("plugins", "tests", "benchmarks", "scripts", "flows", "actions", "dags", "examples")
SOURCES = {
    "cdc": CdcOptions,
    "files": FilesOptions,
    "kafka": KafkaOptions,
    "replay": ReplayOptions,
    "table": OtherTableOptions,
}


@dataclass(frozen=True)
class Tree:
    """The checkout at `root`."""

    root: Path

    @property
    def package(self) -> Path:
        return self.root / "plugins" / "streamhouse"

    @cached_property
    def source(self) -> str:
        """Every text file of the checkout but the documents and these tests."""
        here = Path(__file__).parent
        files = [path for folder in _FOLDERS for kind in _SOURCE for path in (self.root / folder).rglob(kind)]
        files += [self.root / name for name in ("Makefile", "Dockerfile", "docker-compose.yml", "pyproject.toml")]
        return "\n".join(path.read_text(errors="replace") for path in files if here not in path.parents)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(re.findall(r"\w+", self.source))

    @cached_property
    def programs(self) -> dict[str, list[Path]]:
        """Where the programs of each name are."""
        found: dict[str, list[Path]] = {}
        for path in (*self.root.glob("[bst]*/**/*.py"), *self.package.rglob("*.py")):
            found.setdefault(path.name, []).append(path)
        return found

    @cached_property
    def codes(self) -> frozenset[str]:
        """The codes of errors."""
        return frozenset(explanations())

    @cached_property
    def targets(self) -> frozenset[str]:
        """What `make` makes."""
        return frozenset(re.findall(r"^([a-z]+):", (self.root / "Makefile").read_text(), re.MULTILINE))

    @cached_property
    def options(self) -> frozenset[str]:
        """Options of any command, and of the programs beside it."""
        programs = [
            *self.root.glob("benchmarks/**/*.py"),
            *self.root.glob("scripts/*.py"),
            self.root / "tests/golden.py",
        ]
        programs += [self.package / "orchestrator" / "local.py"]
        literal = {found for path in programs for found in re.findall(r'"(--[\w-]+)"', path.read_text())}
        return frozenset(literal | {one for command in _commands(streamhouse) for one in options_of(command)})

    @cached_property
    def file_names(self) -> frozenset[str]:
        """Names of the files and folders that are in the checkout, wherever they are."""
        found = (path for folder in (*_FOLDERS, "docs") for path in (self.root / folder).rglob("*"))
        return frozenset(path.name for path in (*found, *self.root.iterdir()) if path.name != "__pycache__")

    @cached_property
    def keys(self) -> frozenset[str]:
        """Keys of flows, of headers of actions, of `streamhouse.yaml`, and of the options of sources."""
        models = (*SOURCES.values(), Settings)
        schemas = (*self.schemas, *(model.model_json_schema() for model in models))
        return frozenset(key for schema in schemas for key in _properties(schema)) | SOURCES.keys()

    @cached_property
    def schemas(self) -> tuple[dict[str, Any], ...]:
        """Of flows, with the options of each kind of source, and of headers of actions."""
        flow = flow_schema()
        kinds = {kind: model.model_json_schema() for kind, model in SOURCES.items()}
        for kind in kinds.values():
            flow["$defs"].update(kind.pop("$defs", {}))
        flow["$defs"]["Source"].update(properties=kinds, additionalProperties=False)
        return flow, action_schema()

    def has_path(self, path: str, near: Path) -> bool:
        """Whether `path` is a file or folder, from the checkout, the package, the benchmarks or `near`."""
        starts = (self.root, self.package, self.package / "ui", self.root / "benchmarks", near)
        if path.count("/") == 0:  # a folder that a project gets
            return f'"{path}"' in self.source or any((start / path).exists() for start in starts)
        return any((start / path).exists() or (start / f"{path}.py").exists() for start in starts)

    def has_module(self, dotted: str) -> bool:
        """Whether `streamhouse.a.b` is a module, a package or a name in one."""
        place, names = self.package, dotted.split(".")[1:]
        while names and (place / names[0]).is_dir():
            place = place / names.pop(0)
        if names and (place / f"{names[0]}.py").is_file():
            place = place / f"{names.pop(0)}.py"
        if place.is_dir():
            place = place / "__init__.py"
        return not names or (len(names) == 1 and place.is_file() and names[0] in names_in(place))


def names_in(module: Path) -> set[str]:
    """What a module defines or imports at its top level."""
    found: set[str] = set()
    for node in tree_of(module.read_text()).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom | ast.Import):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def sub_command(command: click.Command, name: str) -> click.Command | None:
    """The command called `name` in a group."""
    return command.get_command(click.Context(command), name) if isinstance(command, click.Group) else None


def options_of(command: click.Command) -> set[str]:
    """Its options in every spelling, with `--help`."""
    own = {spelling for one in command.params for spelling in (*one.opts, *one.secondary_opts)}
    return {one for one in own if one.startswith("-")} | {"--help", "-h"}


def _commands(command: click.Command) -> Iterator[click.Command]:
    yield command
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            sub = sub_command(command, name)
            if sub is not None:
                yield from _commands(sub)


def _properties(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict):
            yield from schema["properties"]
        for value in schema.values():
            yield from _properties(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _properties(value)
