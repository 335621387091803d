"""Remembers the columns of sources, so that `validate` needs to open none of them twice."""

import importlib.util
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from streamhouse.errors import MissingPackageError, StreamhouseError
from streamhouse.ingest.folders import data_folders
from streamhouse.install.whole_file import write_whole
from streamhouse.model.flow import Source
from streamhouse.model.plan import PlannedSource
from streamhouse.model.table import Column
from streamhouse.registry.problems import Problems

_COLUMNS = TypeAdapter(tuple[Column, ...])
Elsewhere = Callable[[Source], tuple[Column, ...]]
"""Finds the columns of a source; raises what opening it would raise."""

_ASKED = frozenset({"table"})  # kinds whose columns are in no file that the key could name
_FILES_MAX = 10_000  # of one option; beyond, the cache would cost more than it saves


@dataclass(frozen=True)
class ColumnCache:
    """Columns in files of `folder`, named by all that could change them.

    That is the kind, the options, the size and time of each file that an option names, and the
    version of Streamhouse. Errors are not remembered.
    """

    root: Path
    folder: Path
    elsewhere: Elsewhere | None = None  # asked where packages that read a source are not installed
    _modules: dict[str, Path | None] = field(default_factory=dict)  # text of an option → the module it names

    def of(self, sources: Mapping[str, Source]) -> dict[str, tuple[Column, ...]]:
        """The columns of each source.

        Raises:
            SourceError: a source is unknown, or what it names does not exist.
            DefinitionErrors: several are.
        """
        found: dict[str, tuple[Column, ...]] = {}
        problems = Problems()
        for name, source in sources.items():
            try:
                found[name] = self._columns(source)
            except StreamhouseError as error:
                problems.add(error)
        problems.raise_any()
        return found

    def _columns(self, source: Source) -> tuple[Column, ...]:
        if source.kind in _ASKED:
            return self._discovered(source)
        file = self.folder / f"{self.key(source)}.json"
        try:
            return _checked(file.read_bytes())
        except (OSError, ValueError):
            columns = self._discovered(source)
        try:
            text = _COLUMNS.dump_json(columns)
            write_whole(file, _sum(text) + text)
        except OSError:
            pass  # a folder that cannot be written makes the next run slower, not wrong
        return columns

    def _discovered(self, source: Source) -> tuple[Column, ...]:
        from streamhouse.ingest.kinds import open_source

        try:
            return tuple(open_source(source, self.root).columns())
        except (MissingPackageError, ModuleNotFoundError):
            if self.elsewhere is None:
                raise
            return self.elsewhere(source)

    def key(self, source: Source | PlannedSource) -> str:
        """Another one whenever the data of a source that reads files, or its options, may have changed."""
        allowed = [str(folder) for folder in data_folders(self.root)]
        facts = [_version(), source.kind, source.options, sorted(self._traces(source.options)), allowed]
        return sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()[:32]

    def size(self, source: Source | PlannedSource) -> int:
        """Bytes of the files that its options name."""
        return sum({path: size for path, size, _ in self._traces(source.options)}.values())

    def _traces(self, option: Any) -> Iterator[tuple[str, int, int]]:
        """Path, size and time in ns of whatever an option may name: a file, a folder, a pattern, a module."""
        if isinstance(option, dict):
            for value in option.values():
                yield from self._traces(value)
        elif isinstance(option, list | tuple):
            for value in option:
                yield from self._traces(value)
        elif isinstance(option, str) and option:
            for path in self._named(option):
                try:
                    status = path.stat()
                except OSError:
                    continue
                yield str(path.resolve()), status.st_size, status.st_mtime_ns  # a link may come to lead elsewhere

    def _named(self, text: str) -> list[Path]:
        if text not in self._modules:
            self._modules[text] = _module(text) if text.isidentifier() else None
        if (module := self._modules[text]) is not None:
            return [module]
        path = self.root / text
        try:
            if path.is_dir():
                return list(path.rglob("*"))[:_FILES_MAX]
            if any(mark in text for mark in "*?["):
                anchor = Path(path.anchor)
                return list(anchor.glob(str(path.relative_to(anchor))))[:_FILES_MAX]
        except (OSError, ValueError, NotImplementedError):
            return []  # no path at all: a topic, an expression
        return [path]


def _sum(text: bytes) -> bytes:
    return f"{sha256(text).hexdigest()}\n".encode()


def _checked(content: bytes) -> tuple[Column, ...]:
    """The columns of a file.

    Raises:
        ValueError: it is damaged: a flipped bit would be another column.
    """
    first, _, text = content.partition(b"\n")
    if first + b"\n" != _sum(text):
        raise ValueError("the file is not as it was written")
    return _COLUMNS.validate_json(text)


@cache
def _version() -> str:
    try:
        return version("streamhouse")
    except PackageNotFoundError:  # run from a checkout that is not installed
        return ""


def _module(name: str) -> Path | None:
    try:
        module = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    return Path(module.origin) if module is not None and module.origin is not None else None
