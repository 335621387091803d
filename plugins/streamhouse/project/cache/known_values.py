"""The texts that columns of few values have, read once from files and replays, without Spark."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from streamhouse.errors import StreamhouseError
from streamhouse.ingest.base import RowSource
from streamhouse.ingest.kinds import open_source
from streamhouse.install.whole_file import write_whole
from streamhouse.model.plan import FlowPlan, PlannedSource
from streamhouse.model.types import Position
from streamhouse.project.cache.source_columns import ColumnCache
from streamhouse.project.project import Project

if TYPE_CHECKING:
    import pyarrow as pa

MOST_VALUES = 200
"""A column with more is a name or a text, which nobody asks for by its value."""

_MOST_ROWS = 2_000_000  # of a source; one that has more may have values that nobody saw
_ROWS_AT_ONCE = 250_000
_MOST_BYTES = 256 << 20  # of its files: those of text are read whole to count their rows
_KINDS = frozenset({"files", "replay"})  # what can be read on this machine, and again
_FOUND = TypeAdapter(dict[str, tuple[str, ...]])


def known_values(
    project: Project, plans: Mapping[str, FlowPlan], unread: Callable[[str], None]
) -> dict[tuple[str, str], tuple[str, ...]]:
    """(table, column) → all its texts in order, of each column of text that has at most `MOST_VALUES`.

    These are columns whose values come from files and replays, or texts in the SQL: copies, and what COALESCE, CASE,
    MIN and MAX choose among such. Other columns, and sources that are too large or cannot be read, are absent. What a
    source has is remembered until its files or options change.

    Args:
        project: Its cache is used and filled.
        plans: Flow → its plan, each after the flows it reads from.
        unread: Is called with each source that should have been read and could not be, and why.
    """
    remembered = _SourceTexts(project, unread)
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for plan in plans.values():
        sources = {source.name: source for source in plan.sources}
        for step in plan.steps:
            for column, (origins, texts) in step.texts.items():
                every: set[str] | None = set(texts)
                for origin, name in origins:
                    source = sources.get(origin)
                    known = found.get((origin, name)) if source is None else remembered.texts(source).get(name)
                    every = every | set(known) if every is not None and known is not None else None
                if every is not None and len(every) <= MOST_VALUES:
                    found[step.writes.name, column] = tuple(sorted(every))
    return found


class _SourceTexts:
    """The texts of sources, in files of the project's cache."""

    def __init__(self, project: Project, unread: Callable[[str], None]) -> None:
        self._project, self._unread = project, unread
        self._columns: ColumnCache = project.column_cache()
        self._folder = project.state_dir / "cache" / "values"
        self._texts: dict[str, Mapping[str, tuple[str, ...]]] = {}
        self._keys: dict[str, str | None] = {}  # by kind and options: many flows read the same files

    def texts(self, source: PlannedSource) -> Mapping[str, tuple[str, ...]]:
        """Column → its texts; empty when the source is not one that can be read here."""
        if source.kind not in _KINDS or "connection" in source.options:  # a wish downloads no objects
            return {}
        same = f"{source.kind} {source.options!r}"
        if same not in self._keys:
            is_small = self._columns.size(source) <= _MOST_BYTES
            self._keys[same] = self._columns.key(source) if is_small else None
        key = self._keys[same]
        if key is None:
            return {}
        if key not in self._texts:
            self._texts[key] = self._read(source, key)
        return self._texts[key]

    def _read(self, source: PlannedSource, key: str) -> Mapping[str, tuple[str, ...]]:
        file = self._folder / f"{key}.json"
        with suppress(OSError, ValidationError):
            return _FOUND.validate_json(file.read_bytes())
        try:
            found = _texts(source, self._project)
        except (StreamhouseError, OSError, ImportError) as error:  # a wish is understood without values, only worse
            self._unread(f"the values of source '{source.name}' are not known, for it cannot be read: {error}")
            return {}
        if self._project.state_dir.exists():  # a look at a project leaves nothing behind in it
            with suppress(OSError):
                write_whole(file, json.dumps(found))
        return found


def _texts(source: PlannedSource, project: Project) -> dict[str, tuple[str, ...]]:
    names = [column.name for column in source.columns if column.type == "string"]
    if not names:
        return {}
    opened, end = _opened(source, project)
    if opened.rows_between({}, end) > _MOST_ROWS:
        return {}
    texts_by_column: dict[str, set[str]] = {name: set() for name in names}
    for rows in _rows(opened, end, tuple(names)):
        for name in list(texts_by_column):
            texts_by_column[name] |= set(rows[name].unique().drop_null().to_pylist())
            if len(texts_by_column[name]) > MOST_VALUES:
                del texts_by_column[name]
        if not texts_by_column:
            break
    return {name: tuple(sorted(texts)) for name, texts in texts_by_column.items()}


def _opened(source: PlannedSource, project: Project) -> tuple[RowSource, Position]:
    """A source, and how far it reaches."""
    options: dict[str, Any] = dict(source.options)
    if source.kind == "replay":
        options.pop("speed", None)  # all rows are there at once
    opened = open_source(source.model_copy(update={"options": options}), project.root)
    return opened, opened.available()


def _rows(opened: RowSource, end: Position, names: tuple[str, ...]) -> "Iterator[pa.Table]":
    """All rows of a source, in parts."""
    at: Position = {}
    while opened.rows_between(at, end):
        following = opened.advance(at, _ROWS_AT_ONCE)
        if following == at:
            break
        yield opened.read(at, following, names)
        at = following
