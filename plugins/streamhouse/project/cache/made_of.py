"""What the columns of steps are made of, from the cache where it is there, and into it where it is not."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from streamhouse.model.table import Column
from streamhouse.model.types import Frozen
from streamhouse.project.cache.models import facts, packed, unpacked
from streamhouse.project.cache.results import Cache
from streamhouse.project.project import Project

if TYPE_CHECKING:
    from streamhouse.sql.made_of import Ports
    from streamhouse.sql.origins import Origins, Traced


class KeptOrigins(Frozen):
    """A `Traced`, each of its sets in order."""

    values: dict[str, tuple[tuple[str, str], ...]]
    decides: tuple[tuple[str, str], ...]


class CachedMadeOf:
    """As `sql.made_of.MadeOfMemory` has it, under the text of a query and all that its ports read."""

    def __init__(self, cache: Cache) -> None:
        """Look at nothing yet."""
        self._cache = cache
        self._found: dict[str, Traced] = {}  # by key
        self._columns: dict[int, tuple[tuple[Column, ...], bytes]] = {}  # by id; a reference is kept, so that it stays

    @classmethod
    @contextmanager
    def at(cls, project: Project) -> Iterator[Self]:
        """In the cache of a project; what was kept is stored at the end."""
        with Cache.at(project.state_dir / "cache" / "plan") as cache:
            yield cls(cache)

    def made_of(self, sql: str, ports: "Ports") -> "Traced | None":
        """As `MadeOfMemory` has it."""
        key = self._key(sql, ports)
        if key not in self._found:
            data = self._cache.get([key]).get(key)
            kept = unpacked(KeptOrigins, data) if data is not None else None
            if kept is None:
                return None
            self._found[key] = _traced(kept)
        return self._found[key]

    def keep_made_of(self, sql: str, ports: "Ports", found: "Traced") -> None:
        """As `MadeOfMemory` has it."""
        key = self._key(sql, ports)
        if self._found.get(key) != found:
            self._found[key] = found
            values = {name: tuple(sorted(origins)) for name, origins in found.values.items()}
            kept = KeptOrigins(values=values, decides=tuple(sorted(found.decides)))
            self._cache.put(key, packed(kept))

    def _key(self, sql: str, ports: "Ports") -> str:
        read = (part for port, columns, mode in ports for part in (port.encode(), mode.encode(), self._facts(columns)))
        return self._cache.key("made of", sql.encode(), *read)

    def _facts(self, columns: tuple[Column, ...]) -> bytes:
        entry = self._columns.get(id(columns))
        if entry is None:
            entry = self._columns[id(columns)] = (columns, facts(columns))
        return entry[1]


def _traced(kept: KeptOrigins) -> "Traced":
    from streamhouse.sql.origins import Traced

    return Traced({name: _origins(pairs) for name, pairs in kept.values.items()}, _origins(kept.decides))


def _origins(pairs: Iterable[tuple[str, str]]) -> "Origins":
    return frozenset(pairs)
