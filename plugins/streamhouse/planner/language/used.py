"""What a finished block reads: its tables, columns, measures, and the values that it compares with."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from streamhouse.planner.language.lexicon import Lexicon, Sense
from streamhouse.planner.language.origins import root_of
from streamhouse.planner.request import Block, ColumnRef, Condition, Related

Place = tuple[str, str]
"""A table and a column."""


@dataclass
class Used:
    """Parts of a catalog that a block reads.

    Attributes:
        columns: Where their values come from: a copy of a column counts as the column.
        values: Place → texts of the constants that it is compared with.
        related: Tables whose rows decide by being there, or not.
    """

    lexicon: Lexicon
    tables: set[str] = field(default_factory=set)
    columns: set[Place] = field(default_factory=set)
    measures: set[Place] = field(default_factory=set)
    values: dict[Place, set[str]] = field(default_factory=dict)
    related: set[str] = field(default_factory=set)

    def root(self, table: str, column: str) -> Place:
        """Where the values of a column come from."""
        return root_of(self.lexicon, table, column)

    def add_column(self, table: str, column: str) -> None:
        """Note a column that is read, and the table that it points to."""
        known = self.lexicon.catalog.tables[table]
        if not any(one.name == column for one in known.columns):
            return  # of an inner block: its own names
        self.columns.add(self.root(table, column))
        target = known.column(column).references
        if target is not None:
            self.tables.add(target[0])
            self.columns.add(self.root(*target))

    def add_measure(self, table: str, name: str) -> None:
        """Note a measure that the meaning of a table defines."""
        self.measures.add((table, name))
        sql = self.lexicon.catalog.tables[table].measures[name].sql
        for column in self.lexicon.catalog.tables[table].columns:
            if column.name in sql:
                self.add_column(table, column.name)

    def has_value(self, sense: Sense) -> bool:
        """Whether a value of a column decides which rows count."""
        texts = self.values.get(self.root(sense.table, sense.column), set())
        return sense.value.casefold() in texts


def used_by(block: Block, lexicon: Lexicon, *, joined: bool = True) -> Used:
    """What a block and its inner ones read; `joined`: also the columns by which tables are only joined."""
    used = Used(lexicon)
    base = ""
    for one in _blocks(block):
        base = one.base or base
    for one in _blocks(block):
        _of_block(used, one, base, joined=joined)
    return used


def _blocks(block: Block) -> list[Block]:
    return [block, *(_blocks(block.inner) if block.inner is not None else [])]


def _of_block(used: Used, block: Block, base: str, *, joined: bool) -> None:
    roles = {"": base} | {join.role: join.table for join in block.joins}
    used.tables |= set(roles.values())
    for join in block.joins:
        for column in join.on if joined else ():
            used.add_column(roles.get(join.left, base), column)
    for measure in block.measures:
        if measure.named is not None:
            used.add_measure(base, measure.named)
    if not (block.measures or block.dimensions or block.columns or block.inner):
        for shown in used.lexicon.catalog.tables[base].columns:  # whole rows
            used.add_column(base, shown.name)
    _of_parts(used, (block.dimensions, block.measures, block.derived, block.filters, block.having, block.columns,
                     block.pick, block.sessions), roles)  # fmt: skip


def _of_parts(used: Used, part: Any, roles: dict[str, str]) -> None:
    """Note what is in a part, whatever its depth; columns of a related table have no role of the block."""
    if isinstance(part, ColumnRef):
        used.add_column(roles.get(part.role, roles[""]), part.column)
    if isinstance(part, Condition):
        _of_condition(used, part, roles)
    if isinstance(part, Related):
        used.tables.add(part.table)
        used.related.add(part.table)
        for column in part.on.values():
            used.add_column(part.table, column)
        _of_parts(used, part.filters, {"": part.table})
    else:
        for inside in _inside(part):
            _of_parts(used, inside, roles)


def _inside(part: Any) -> Iterator[Any]:
    if isinstance(part, BaseModel):
        yield from (getattr(part, name) for name in type(part).model_fields)
    elif isinstance(part, list | tuple):
        yield from part


def _of_condition(used: Used, condition: Condition, roles: dict[str, str]) -> None:
    if isinstance(condition.left, ColumnRef):
        table = roles.get(condition.left.role, roles[""])
        column = used.lexicon.catalog.tables[table].column(condition.left.column)
        for place in filter(None, ((table, column.name), column.references)):
            texts = used.values.setdefault(used.root(*place), set())
            texts |= {str(value).casefold() for value in condition.values}
