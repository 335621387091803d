"""Which rows point to which: declared by `references:`, or found by names, types and lineage. Pure."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeGuard

from streamhouse.model.types import Layer
from streamhouse.planner.catalog import CatalogTable, ForeignKey

_Key = tuple[str, str]
"""(table, column)."""

_GENERAL = frozenset({"id", "code", "key", "name", "no", "number", "uuid", "guid", "ref"})
"""Names that say nothing without the name of their table."""

_WHOLE = frozenset({"tinyint", "smallint", "int", "bigint"})


def foreign_keys(tables: Mapping[str, CatalogTable]) -> tuple[ForeignKey, ...]:
    """The keys between some tables, in the order of tables and columns.

    A column has at most one table that it was declared to point to, or else one by its name and one by its lineage.
    By name it points to the single-column key of a table of ODS or DWD with that name and type: `station_id`,
    `start_station_id`, or `station_id` to the `id` of `stations`; where several tables fit, to none. By lineage it
    points to the nearest table above whose key it is copied from, or to the table of ODS or DWD whose key is copied
    from the column that it is copied from.
    """
    return _Finder(tables).found


@dataclass(frozen=True)
class _Namesakes:
    """Keys of tables that one name may stand for.

    Attributes:
        keys: The one whose table says most first.
        roots: What they are copied from → how many are.
    """

    keys: Mapping[_Key, None]
    roots: Counter[_Key]

    def besides(self, own: _Key) -> bool:
        """Whether there is another key than `own`."""
        return len(self.keys) > (own in self.keys)

    def only(self, own: _Key, root: _Key) -> _Key | None:
        """The best of several copies of one key, `own` left out; None: they are keys of different things."""
        others = len(self.roots) - (own in self.keys and self.roots[root] == 1)
        return next(key for key in self.keys if key != own) if others == 1 else None


class _Finder:
    def __init__(self, tables: Mapping[str, CatalogTable]) -> None:
        self._tables = tables
        self._chains: dict[_Key, tuple[_Key, ...]] = {}
        self._types = {
            (t.name, c.name): "whole" if c.type in _WHOLE else c.type for t in tables.values() for c in t.columns
        }
        self._origins = {(t.name, c.name): c.origin for t in tables.values() for c in t.columns}

    @property
    def found(self) -> tuple[ForeignKey, ...]:
        keys: dict[tuple[str, tuple[str, ...], str], ForeignKey] = {}
        for table in self._tables.values():
            for key in (*self._of_one_column(table), *self._of_several(table)):
                keys.setdefault((key.table, key.columns, key.to), key)
        return tuple(keys.values())

    def _of_one_column(self, table: CatalogTable) -> Iterator[ForeignKey]:
        for column in table.columns:
            own = (table.name, column.name)
            if column.references not in (None, own) and self._is_key(column.references):
                yield _single(own, column.references, declared=True)
                continue
            for to in (self._by_name(own), self._by_lineage(own)):
                if to is not None:
                    yield _single(own, to)

    def _of_several(self, table: CatalogTable) -> Iterator[ForeignKey]:
        """Keys of several columns: their names and types are the same, or they are copies of the same."""
        names = {column.name for column in table.columns}
        roots = {self._root((table.name, name)): name for name in sorted(names, reverse=True)}
        candidates = dict.fromkeys(
            other
            for name in names
            for other in (*self._composite.get(name, ()), *self._rooted.get(self._root((table.name, name)), ()))
        )
        for other in sorted(candidates):
            key = self._tables[other].primary_key
            own = [self._partner(table.name, names, roots, (other, name)) for name in key]
            columns = tuple(name for name in own if name is not None)
            if len(set(columns)) == len(key) and not self._is_same_thing(table.name, columns, other):
                yield ForeignKey(table.name, columns, other, key, self._declared(table, columns, other))

    def _partner(self, table: str, names: set[str], roots: Mapping[_Key, str], of: _Key) -> str | None:
        if table == of[0]:
            return None
        same_name = of[1] if of[1] in names and self._fits((table, of[1]), of) else None
        return roots.get(self._root(of), same_name)

    def _declared(self, table: CatalogTable, columns: tuple[str, ...], other: str) -> bool:
        to = self._tables[other].primary_key
        return all(table.column(name).references == (other, key) for name, key in zip(columns, to, strict=True))

    def _by_name(self, own: _Key) -> _Key | None:
        if own[1] in _GENERAL:
            return None
        words = own[1].split("_")
        for first in range(len(words)):
            name = "_".join(words[first:]), self._types[own]
            for namesakes in (self._called.get(name), self._named.get(name)):
                if namesakes is not None and namesakes.besides(own):
                    to = namesakes.only(own, self._root(own))
                    return to if to is not None and not self._is_same_thing(own[0], (own[1],), to[0]) else None
        return None

    def _by_lineage(self, own: _Key) -> _Key | None:
        root = self._root(own)
        candidates = [to for to in self._chain(own) if self._is_key(to)]
        if root in self._entities and self._entities[root] != own:
            candidates.append(self._entities[root])
        for to in candidates:
            if to[0] != own[0] and not self._is_same_thing(own[0], (own[1],), to[0]):
                return to
        return None

    def _rank(self, key: _Key) -> tuple[bool, int, _Key]:
        """Least for the key whose table says most."""
        table = self._tables[key[0]]
        return table.layer is not Layer.DWD, -len(table.columns), key

    def _namesakes(self, keys: Collection[_Key]) -> _Namesakes:
        return _Namesakes(dict.fromkeys(sorted(keys, key=self._rank)), Counter(map(self._root, keys)))

    def _is_same_thing(self, table: str, columns: tuple[str, ...], other: str) -> bool:
        """Whether both have the same key, and that of one is copied from the other: both are complete."""
        one, two = self._tables[table], self._tables[other]
        if set(one.primary_key) != set(columns):
            return False
        pairs = zip(columns, two.primary_key, strict=True)
        return all(
            (other, there) in self._chain((table, here)) or (table, here) in self._chain((other, there))
            for here, there in pairs
        )

    def _is_key(self, to: _Key | None) -> TypeGuard[_Key]:
        return to is not None and to[0] in self._tables and self._tables[to[0]].primary_key == (to[1],)

    def _fits(self, own: _Key, to: _Key) -> bool:
        return self._types[own] == self._types[to]

    @cached_property
    def _dimensions(self) -> tuple[_Key, ...]:
        """Keys of one column of tables that are no results."""
        return tuple(
            (table.name, table.primary_key[0])
            for table in self._tables.values()
            if len(table.primary_key) == 1 and table.layer in {Layer.ODS, Layer.DWD}
        )

    @cached_property
    def _entities(self) -> dict[_Key, _Key]:
        """What keys of one column are copied from → the one of these that stands for all."""
        found: dict[_Key, list[_Key]] = {}
        for key in self._dimensions:
            found.setdefault(self._root(key), []).append(key)
        return {root: min(keys, key=self._rank) for root, keys in found.items()}

    @cached_property
    def _named(self) -> dict[tuple[str, str], _Namesakes]:
        """What other tables may call a key, and its type → such keys."""
        found: dict[tuple[str, str], list[_Key]] = {}
        for key in self._dimensions:
            names = {_stem(key)} if key[1] in _GENERAL else {key[1], _stem(key)} if key[1].endswith(_ENDS) else {key[1]}
            for name in names if key in self._types else ():
                found.setdefault((name, self._types[key]), []).append(key)
        return {name: self._namesakes(keys) for name, keys in found.items()}

    @cached_property
    def _called(self) -> dict[tuple[str, str], _Namesakes]:
        """As `_named`, of the keys whose table has that name, too."""
        found: dict[tuple[str, str], list[_Key]] = {}
        for (name, kind), namesakes in self._named.items():
            for key in namesakes.keys:
                if _stem(key) == name:
                    found.setdefault((name, kind), []).append(key)
        return {name: self._namesakes(keys) for name, keys in found.items()}

    @cached_property
    def _composite(self) -> dict[str, list[str]]:
        """First column of a key of several → the tables of ODS and DWD that have it."""
        found: dict[str, list[str]] = {}
        for table in self._tables.values():
            if len(table.primary_key) > 1 and table.layer in {Layer.ODS, Layer.DWD}:
                found.setdefault(table.primary_key[0], []).append(table.name)
        return found

    @cached_property
    def _rooted(self) -> dict[_Key, list[str]]:
        """As `_composite`, by what that column is copied from."""
        found: dict[_Key, list[str]] = {}
        for tables in self._composite.values():
            for name in tables:
                found.setdefault(self._root((name, self._tables[name].primary_key[0])), []).append(name)
        return found

    def _root(self, key: _Key) -> _Key:
        chain = self._chain(key)
        return chain[-1] if chain else key

    def _chain(self, key: _Key) -> tuple[_Key, ...]:
        """What a column is copied from, nearest first."""
        if key not in self._chains:
            origin = self._origins.get(key)
            self._chains[key] = (origin, *self._chain(origin)) if origin is not None else ()
        return self._chains[key]


_ENDS = tuple(f"_{name}" for name in sorted(_GENERAL))


def _single(own: _Key, to: _Key, *, declared: bool = False) -> ForeignKey:
    return ForeignKey(own[0], (own[1],), to[0], (to[1],), declared)


def _stem(key: _Key) -> str:
    """What another table calls the key by the name of its table: `station_id` for `stations.id`."""
    end = key[1] if key[1] in _GENERAL else key[1].rpartition("_")[2]
    return f"{singular(key[0].partition('.')[2])}_{end}"


def singular(noun: str) -> str:
    """One of what a plural in English names, in the regular cases.

    >>> [singular(word) for word in ("stations", "categories", "branches", "status", "bus")]
    ['station', 'category', 'branch', 'status', 'bus']
    """
    if noun.endswith("ies") and len(noun) > 4:
        return f"{noun[:-3]}y"
    if noun.endswith(("ches", "shes", "sses", "xes", "zes")):
        return noun[:-2]
    return noun[:-1] if noun.endswith("s") and not noun.endswith(("ss", "us", "is")) else noun
