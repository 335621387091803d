"""The tables that rows of a base reach over keys, each at most one row."""

import re
from collections import Counter
from dataclasses import dataclass

from streamhouse.planner.catalog import CatalogColumn, CatalogTable, ForeignKey
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.origins import root_of
from streamhouse.planner.language.tokens import singular, stems
from streamhouse.planner.language.units import is_unit_ending
from streamhouse.planner.language.words import ROLE_WORDS, TIME_ENDINGS
from streamhouse.planner.request import ColumnRef, Join

_DEEPEST = 3
TIMES = frozenset({"timestamp", "date", "timestamp_ntz"})
_WHOLE_NUMBERS = frozenset({"tinyint", "smallint", "int", "bigint"})


def is_number(column: CatalogColumn) -> bool:
    """Whether a column has numbers."""
    return is_whole_number(column) or column.type in {"float", "double"} or column.type.startswith("decimal")


def is_whole_number(column: CatalogColumn) -> bool:
    """Whether a column has numbers without a fraction."""
    return column.type in _WHOLE_NUMBERS


def is_year(column: CatalogColumn) -> bool:
    """Whether a column has years as whole numbers, by its name, a synonym or its description."""
    called = any(_YEAR.fullmatch(text) for text in column.synonyms) and not column.unit
    described = "year of" in column.description.lower() or _YEAR_FIRST.match(column.description) is not None
    return is_whole_number(column) and ("year" in column.name or described or called)


_YEAR_FIRST = re.compile(r"(?:the )?year (?:in|when|that|since)\b", re.IGNORECASE)
_YEAR = re.compile(r"year|(?!(?:per|each|every|a|this|last)\b)[a-z]+ year|year [a-z]+")


@dataclass(frozen=True)
class Reach:
    """A table that the base's rows reach.

    Attributes:
        role: What its columns are called by; empty: the base.
        key: Over which the last step goes.
        parts: Words of the key's columns that say which of several it is: "start".
    """

    table: CatalogTable
    role: str
    left: str
    depth: int
    key: ForeignKey | None = None
    parts: tuple[str, ...] = ()

    @property
    def join(self) -> Join:
        """The step that reaches it."""
        assert self.key is not None
        on = dict(zip(self.key.columns, self.key.to_columns, strict=True))
        return Join(table=self.table.name, role=self.role, left=self.left, on=on)


class ReachableTables:
    """What one base reaches, the base first, then by distance."""

    def __init__(self, lexicon: Lexicon, base: CatalogTable) -> None:
        self.lexicon = lexicon
        self.base = base
        self.reaches: dict[str, Reach] = {"": Reach(base, "", "", 0)}
        self._grow()
        self.by_table: dict[str, list[Reach]] = {}
        for reach in self.reaches.values():
            self.by_table.setdefault(reach.table.name, []).append(reach)

    def _grow(self) -> None:
        frontier = [self.reaches[""]]
        for depth in range(1, _DEEPEST + 1):
            following: list[Reach] = []
            for left in frontier:
                keys = self.lexicon.keys.get(left.table.name, [])
                targets = Counter(key.to for key in keys)
                for key in keys:
                    if key.to == self.base.name or self._is_above(left, key.to):
                        continue
                    reach = self._reached(left, key, depth, alone=targets[key.to] == 1)
                    self.reaches[reach.role] = reach
                    following.append(reach)
            frontier = following

    def _is_above(self, reach: Reach, table: str) -> bool:
        while reach.role:
            if reach.table.name == table:
                return True
            reach = self.reaches[reach.left]
        return False

    def _reached(self, left: Reach, key: ForeignKey, depth: int, *, alone: bool) -> Reach:
        table = self.lexicon.catalog.tables[key.to]
        short = singular(table.name.split(".")[1])
        parts = tuple(part for part in key.columns[0].split("_") if part not in ROLE_WORDS)
        role = short if alone else "_".join(parts) or short
        role = role if role[:1].isalpha() else f"of_{role}"
        if role in self.reaches:
            role = f"{left.role}_{role}" if left.role else f"{role}_{table.name.split('.')[0]}"
        number = 2
        while role in self.reaches:
            role, number = f"{role}_{number}", number + 1
        own = tuple(part for part in parts if part != short)
        return Reach(table, role, left.role, depth, key, own)

    def chain(self, role: str) -> tuple[Reach, ...]:
        """The steps from the base to a role, in order."""
        steps: list[Reach] = []
        while role:
            steps.append(self.reaches[role])
            role = steps[-1].left
        return tuple(reversed(steps))

    def joins(self, roles: set[str] | dict[str, None]) -> tuple[Join, ...]:
        """The joins that some roles need, in an order in which each stands behind its left side."""
        needed = {step.role for role in roles for step in self.chain(role)}
        return tuple(reach.join for role, reach in self.reaches.items() if role in needed)

    def root(self, table: str, column: str) -> tuple[str, str]:
        """Where the values of a column come from."""
        return root_of(self.lexicon, table, column)


def default_time(table: CatalogTable) -> CatalogColumn | None:
    """The default time column of a table; None: it has none, or several and nobody says which."""
    if table.event_time:
        return next((column for column in table.columns if column.name == table.event_time), None)
    times = [column for column in table.columns if column.type in TIMES]
    if len(times) == 1:
        return times[0]
    return None


def key_column(table: CatalogTable) -> str | None:
    """The one column that is the key of a table."""
    return table.primary_key[0] if len(table.primary_key) == 1 else None


def is_key_like(column: CatalogColumn) -> bool:
    """Whether a column names things rather than measures them."""
    parts = column.name.split("_")
    return (len(parts) > 1 and parts[-1] in ROLE_WORDS) or column.references is not None or column.type == "string"


_COUNTED = re.compile(r"\b(how (many|much|often|long)|number of (?!the )|amount|hours?|minutes?|days?|sum|total)\b")


def is_quantity(column: CatalogColumn) -> bool:
    """Whether a number counts or measures something, and is no code: a number of slots, no bar code."""
    if not is_number(column) or column.references is not None or is_key_like(column):
        return False
    parts = column.name.split("_")
    plural = any(singular(part) != part for part in parts)
    fine = not is_whole_number(column)
    return bool(column.unit or plural or fine or is_unit_ending(parts[-1]) or _COUNTED.search(column.description))


def name_stems(column: CatalogColumn) -> set[str]:
    """The stems of the words in a column's name and synonyms."""
    return {part for text in (column.name, *column.synonyms) for part in stems(text)}


def spoken(column: str) -> str:
    """A column's name as words.

    >>> spoken("started_at"), spoken("start_station_id")
    ('started', 'start station')
    """
    parts = column.split("_")
    while len(parts) > 1 and (parts[-1] in ROLE_WORDS or parts[-1] in TIME_ENDINGS):
        parts.pop()
    return " ".join(parts)


__all__ = ["ColumnRef", "Reach", "ReachableTables"]
