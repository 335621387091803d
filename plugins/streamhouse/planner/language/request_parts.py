"""A Request and what it reads, as the traces of words look at it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from streamhouse.planner.language.units import unit_of
from streamhouse.planner.language.used import Used
from streamhouse.planner.request import AnyOf, Block, ColumnRef, Condition, Cut, Filter, Grain, Related, Request, Scalar


@dataclass(frozen=True)
class RequestParts:
    """A Request and what it reads, for the traces of words; each part is computed once."""

    request: Request
    used: Used

    @cached_property
    def blocks(self) -> list[Block]:
        """Its block, and the inner ones."""
        found = [self.request.block]
        while found[-1].inner is not None:
            found.append(found[-1].inner)
        return found

    @cached_property
    def functions(self) -> set[str]:
        """What is computed of rows; of a named measure the words of its SQL."""
        found: set[str] = set()
        for block in self.blocks:
            for one in block.measures:
                if one.named is None:
                    found.add(one.function)
                else:
                    measure = self.used.lexicon.catalog.tables[block.base or ""].measures[one.named]
                    found |= set(measure.sql.lower().replace("(", " ").replace(")", " ").split())
        return found

    @cached_property
    def keys(self) -> set[str]:
        """Columns by which other tables are reached."""
        return {column for block in self.blocks for join in block.joins for column in join.on}

    @cached_property
    def derived(self) -> set[str]:
        """Kinds of the numbers that are made of measures."""
        return {one.kind for block in self.blocks for one in block.derived}

    @cached_property
    def filters(self) -> list[Filter]:
        """All conditions, whatever their depth."""
        pending = [one for block in self.blocks for one in (*block.filters, *block.having)]
        pending += [one for block in self.blocks for measure in block.measures for one in measure.where]
        found: list[Filter] = []
        while pending:
            one = pending.pop()
            found.append(one)
            pending += one.of if isinstance(one, AnyOf) else one.filters if isinstance(one, Related) else ()
        return found

    @cached_property
    def cuts(self) -> set[Grain]:
        """Periods of time that results are grouped by."""
        dimensions = [one for block in self.blocks for one in block.dimensions]
        return {one.of.grain for one in dimensions if isinstance(one.of, Cut)}

    @cached_property
    def groups(self) -> int:
        """How many things and periods there is a row or a number for."""
        found = sum(len(block.dimensions) for block in self.blocks)
        found += sum(len(block.pick.per) for block in self.blocks if block.pick is not None)
        found += sum(one.kind == "ratio" for block in self.blocks for one in block.derived)
        return found + (len(self.request.ranking.per) if self.request.ranking is not None else 0)

    @cached_property
    def columns(self) -> set[tuple[str, str]]:
        """Columns that decide which rows count, and that are grouped by or computed with."""
        bare = [block.model_copy(update={"columns": ()}) for block in self.blocks]
        grouped = [one for one in bare if one.dimensions or one.measures]
        found = set(self.used.columns) if grouped else set()
        for one in self.filters:
            if isinstance(one, Condition) and isinstance(one.left, ColumnRef):
                found |= {place for place in self.used.columns if place[1] == one.left.column}
        return found

    @cached_property
    def units(self) -> set[str]:
        """Units of all numbers that are read or computed."""
        tables = self.used.lexicon.catalog.tables
        said = {one.unit for block in self.blocks for one in block.measures}
        said |= {tables[table].measures[name].unit for table, name in self.used.measures}
        said |= {tables[table].column(column).unit for table, column in self.used.columns if table in tables}
        said |= {one.unit for block in self.blocks for of in _scalars(block) for one in [of] if one.kind == "between"}
        return {unit.name for text in said if text for unit in [unit_of(text)] if unit is not None}

    @cached_property
    def numbers(self) -> set[Decimal]:
        """All numbers of the Request: of conditions, of the parts of dates, of its ranking and its freshness."""
        parts = (self.request.block, self.request.ranking)
        text = " ".join(part.model_dump_json() for part in parts if part is not None)
        found = {Decimal(part) for part in re.findall(r"(?<![A-Za-z_])\d+(?:\.\d+)?", text)}
        fresh = self.request.freshness
        return found if fresh is None else {*found, Decimal(int(fresh.total_seconds()))}


def _scalars(block: Block) -> Iterator[Scalar]:
    yield from (one.of for one in (*block.dimensions, *block.columns))
    yield from (one.of for one in block.measures if one.of is not None)
