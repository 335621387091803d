"""What of a project a language model or an agent may know: the one place that decides it, for every door. Pure.

A table decides for itself (`ai: {schema: …, rows: …}`): its schema may be shared unless it says otherwise, its rows
only where it says so. An action goes with the tables that it makes or reads. What a table that may be shared
inherited from one that may not stays back, and so does every text that names such a table.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, TypeVar

from streamhouse.model.action import Action
from streamhouse.model.flow import Flow
from streamhouse.model.meaning import DimensionMeaning, MeasureMeaning
from streamhouse.planner.catalog import Catalog, CatalogColumn, CatalogTable, ForeignKey
from streamhouse.planner.foreign_keys import foreign_keys

WITHHELD = "(withheld)"
"""Stands where a text names a table that may not be shared."""

_Named = TypeVar("_Named", MeasureMeaning, DimensionMeaning)


def hidden_tables(catalog: Catalog) -> frozenset[str]:
    """Tables whose schema may not be shared."""
    return frozenset(name for name, table in catalog.tables.items() if not table.sharing.of_schema)


def shared_catalog(catalog: Catalog, flows: Iterable[Flow] = ()) -> Catalog:
    """The part of a catalog that may be shared.

    Args:
        catalog: All tables and actions.
        flows: Say which actions make or read a table.

    Returns:
        The tables whose schema may be shared. Values that only rows have are left out where rows may not be shared.
        Nothing is left that a hidden table said: neither keys and lineage that lead to it, nor what its columns handed
        on, nor its name in a text of another table.
    """
    hidden = hidden_tables(catalog)
    telling = _Telling(catalog, hidden, Names.of(catalog))
    tables = {name: telling.table(table) for name, table in catalog.tables.items() if name not in hidden}
    return Catalog(tables, _keys(catalog, tables), _actions(catalog, flows, hidden))


@dataclass(frozen=True)
class Names:
    """The names that no text may carry.

    Attributes:
        tables: `layer.name` of the tables that may not be shared.
        sure: Names of these tables without the layer, of their actions, columns and measures, as far as nothing that
            may be shared has them; of columns and measures those that are no words of English.
        words: The other names of columns and measures, which count only where a text writes them as names.
    """

    tables: frozenset[str] = frozenset()
    sure: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()

    @classmethod
    def of(cls, catalog: Catalog, public: Iterable[str] = (), withheld: Iterable[str] = ()) -> Self:
        """Of the tables of a catalog that may not be shared.

        Args:
            catalog: All tables.
            public: Further names that may be shared with anybody.
            withheld: Names of actions that may not be shared, unless they make a table that may.
        """
        hidden = hidden_tables(catalog)
        own, parts = set(withheld), set[str]()
        if not hidden and not own:
            return cls()
        known = {name.lower() for name in public}
        for name, table in catalog.tables.items():
            titles, inner = {name.partition(".")[2], table.action}, _parts(table)
            if name in hidden:
                own, parts = own | titles, parts | inner
            else:
                known |= {one.lower() for one in (*titles, *inner, table.flow)}
        own, parts = ({one for one in some if one and one.lower() not in known} for some in (own, parts))
        sure = own | {one for one in parts if "_" in one}
        return cls(hidden, frozenset(sure), frozenset(parts - sure))

    def in_text(self, text: str) -> bool:
        """Whether prose carries such a name."""
        return self._prose is not None and bool(self._prose.search(text))

    def in_message(self, text: str) -> bool:
        """Whether an error, a hint or a finding carries such a name; these name columns as they are spelt."""
        return self.in_text(text) or (self._code is not None and bool(self._code.search(text)))

    def masked(self, text: str) -> str:
        """Prose without such names."""
        return self._prose.sub(WITHHELD, text) if self._prose is not None else text

    def masked_message(self, text: str) -> str:
        """An error, a hint or a finding without such names."""
        text = self.masked(text)
        return self._code.sub(WITHHELD, text) if self._code is not None else text

    def without_tables(self, text: str) -> str:
        """A text of somebody who may know more, without the full names of tables."""
        return self._full.sub(WITHHELD, text) if self._full is not None else text

    @cached_property
    def _full(self) -> re.Pattern[str] | None:
        return _pattern(self.tables)

    @cached_property
    def _prose(self) -> re.Pattern[str] | None:
        return _pattern(self.tables | self.sure)

    @cached_property
    def _code(self) -> re.Pattern[str] | None:
        # Written as a name: quoted, qualified, or in a list.
        return _pattern(self.words, before=r"(?:^|(?<=['\"`.(])|(?<=[:,(] )|(?<=or )|(?<=and ))")


def _pattern(names: Collection[str], before: str = r"(?<!\w)") -> re.Pattern[str] | None:
    longest_first = sorted(names, key=lambda name: (-len(name), name))  # one may be a part of another
    return re.compile(rf"(?i){before}(?:{'|'.join(map(re.escape, longest_first))})(?!\w)") if names else None


def _parts(table: CatalogTable) -> set[str]:
    return {*(column.name for column in table.columns), *table.measures, *table.dimensions}


class _Telling:
    """Makes tables as they may be shared; each column once."""

    def __init__(self, catalog: Catalog, hidden: Collection[str], names: Names) -> None:
        self._catalog, self._hidden, self._names = catalog, hidden, names
        self._columns: dict[tuple[str, str], CatalogColumn] = {}
        self._texts: dict[str, frozenset[str]] = {}

    def table(self, table: CatalogTable) -> CatalogTable:
        names = self._names
        return replace(
            table,
            description=names.masked(table.description),
            synonyms=self._words(table.synonyms),
            columns=tuple(self.column(table, column) for column in table.columns),
            upstream=tuple(name for name in table.upstream if name not in self._hidden),
            measures=self._named(
                {name: one for name, one in table.measures.items() if not names.in_text(f"{one.sql} {one.unit}")}
            ),
            dimensions=self._named(table.dimensions),
        )

    def column(self, table: CatalogTable, column: CatalogColumn) -> CatalogColumn:
        key = (table.name, column.name)
        if key not in self._columns:
            self._columns[key] = self._cleaned(table, self._own(table, column))
        return self._columns[key]

    def _own(self, table: CatalogTable, column: CatalogColumn) -> CatalogColumn:
        """A column without what it has from columns that may not be shared."""
        above = list(self._above(table, column))
        visible_columns = [self.column(upper, one) for upper, one in above if upper.name not in self._hidden]
        for upper, one in above:
            if upper.name in self._hidden:
                column = _without(column, one, visible_columns)
        from_rows = self._hidden_texts(table)
        if not from_rows:
            return column
        known = {value for one in visible_columns for value in one.values}
        values = {
            value: words
            for value, words in column.values.items()
            if len(words) > 1 or value not in from_rows or value in known
        }
        return _with_values(column, values)

    def _cleaned(self, table: CatalogTable, column: CatalogColumn) -> CatalogColumn:
        names, values = self._names, dict(column.values)
        if not table.sharing.of_rows:  # what somebody wrote a word for is part of a description
            values = {value: words for value, words in values.items() if len(words) > 1}
        values = {names.masked(value): self._words(words) for value, words in values.items()}
        return replace(
            _with_values(column, values),
            description=names.masked(column.description),
            synonyms=self._words(column.synonyms),
            unit=column.unit and names.masked(column.unit),
            origin=column.origin if column.origin and column.origin[0] not in self._hidden else None,
            references=column.references if column.references and column.references[0] not in self._hidden else None,
        )

    def _above(self, table: CatalogTable, column: CatalogColumn) -> Iterator[tuple[CatalogTable, CatalogColumn]]:
        """The columns that one is copied from, nearest first; of plans of different times some may be gone."""
        met = {(table.name, column.name)}
        while column.origin is not None and column.origin not in met:
            met.add(column.origin)
            upper = self._catalog.tables.get(column.origin[0])
            found = next((one for one in upper.columns if one.name == column.origin[1]), None) if upper else None
            if upper is None or found is None:
                return
            yield upper, found
            column = found

    def _hidden_texts(self, table: CatalogTable) -> frozenset[str]:
        """Values of every hidden table that the rows of one come from: an expression may hand them on, too."""
        if table.name not in self._texts:
            self._texts[table.name] = frozenset(self._texts_above(table))
        return self._texts[table.name]

    def _texts_above(self, table: CatalogTable) -> Iterator[str]:
        met, pending = {table.name}, list(table.upstream)
        while pending and self._hidden:
            name = pending.pop()
            upper = self._catalog.tables.get(name)
            if upper is None or name in met:
                continue
            met.add(name)
            pending += upper.upstream
            if name in self._hidden:
                yield from (value for column in upper.columns for value in column.values)

    def _named(self, meanings: Mapping[str, _Named]) -> dict[str, _Named]:
        return {
            name: one.model_copy(
                update={"description": self._names.masked(one.description), "synonyms": self._words(one.synonyms)}
            )
            for name, one in meanings.items()
        }

    def _words(self, words: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self._names.masked, words))


def _without(column: CatalogColumn, hidden: CatalogColumn, visible_columns: Iterable[CatalogColumn]) -> CatalogColumn:
    """A column without what it has from one that may not be shared, unless one that may be shared has it, too."""
    visible_columns = list(visible_columns)
    values = {value for one in visible_columns for value in one.values}

    def inherited(name: str) -> bool:
        own = getattr(column, name)
        return bool(own == getattr(hidden, name)) and all(own != getattr(one, name) for one in visible_columns)

    return replace(
        column,
        description="" if inherited("description") else column.description,
        synonyms=() if inherited("synonyms") else column.synonyms,
        unit=None if inherited("unit") else column.unit,
        references=None if inherited("references") else column.references,
        values={value: of for value, of in column.values.items() if value not in hidden.values or value in values},
        open_values=True,
    )


def _with_values(column: CatalogColumn, values: Mapping[str, tuple[str, ...]]) -> CatalogColumn:
    return replace(column, values=values, open_values=column.open_values or len(values) < len(column.values))


def _keys(catalog: Catalog, tables: Mapping[str, CatalogTable]) -> tuple[ForeignKey, ...]:
    """The keys between tables that may be shared, as far as these alone show them."""
    both = tuple(key for key in catalog.keys if key.table in tables and key.to in tables)
    if len(tables) == len(catalog.tables):
        return both
    shown = {(key.table, key.columns, key.to) for key in foreign_keys(tables)}
    return tuple(key for key in both if (key.table, key.columns, key.to) in shown)


def _actions(catalog: Catalog, flows: Iterable[Flow], hidden: frozenset[str]) -> dict[str, Action]:
    """Actions that neither make nor read a table whose schema may not be shared."""
    touched = {t.action for name, t in catalog.tables.items() if name in hidden or not hidden.isdisjoint(t.upstream)}
    for step in (step for flow in flows for step in flow.steps):
        if not hidden.isdisjoint({step.writes, *(read.table for read in step.reads.values())}):
            touched.add(step.use.partition("@")[0])
    return {
        name: action
        for name, action in catalog.actions.items()
        if action.action not in touched and action.ai.decided.of_schema
    }
