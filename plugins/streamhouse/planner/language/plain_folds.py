"""Measures that only fold numbers of a row: `AVG(wait_secs)`, `SUM(minutes) / 60`, `AVG(talk_secs + wrap_secs)`."""

import re
from dataclasses import dataclass
from decimal import Decimal

from streamhouse.planner.catalog import Catalog, CatalogTable
from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.lexicon import Sense
from streamhouse.planner.language.units import Unit, factor, unit_of
from streamhouse.planner.request import Arithmetic, Block, ColumnRef, Measure, Number, Scalar, Understood

_WORD = re.compile(r"[^\W\d_]+|[$€£]")
_FOLD = re.compile(r"(sum|avg|min|max)\((\w+)(?:([+-])(\w+))?\)(?:/(\d+(?:\.\d+)?))?")


@dataclass(frozen=True)
class PlainFold:
    """A function over one column of a table, or over the sum or difference of two, divided by a number."""

    function: str
    columns: tuple[str, ...]
    operator: str
    divisor: Decimal

    def unit(self, table: CatalogTable) -> Unit | None:
        """The unit that all columns have; None: they have none, or differ."""
        known = {column.name: column for column in table.columns}
        units = [unit_of_column(known[name]) if name in known else None for name in self.columns]
        return units[0] if len({unit.name if unit else "" for unit in units}) == 1 else None

    def of(self) -> Scalar:
        """What is folded, before it is divided."""
        first = ColumnRef(column=self.columns[0])
        if not self.operator:
            return first
        return Arithmetic(left=first, operator=self.operator, right=ColumnRef(column=self.columns[1]))


def plain_fold(sql: str) -> PlainFold | None:
    """The fold that a measure is; None: it is something else.

    >>> plain_fold("SUM(minutes) / 60").columns
    ('minutes',)
    """
    found = _FOLD.fullmatch(sql.lower().replace(" ", ""))
    if found is None:
        return None
    function, first, operator, second, divisor = found.groups()
    columns = (first, second) if second else (first,)
    return PlainFold(function, columns, operator or "", Decimal(divisor or 1))


def fold_in_units(table: CatalogTable, measure: str) -> PlainFold | None:
    """The fold of a measure whose divisor only turns the unit of its columns into its own; else None."""
    defined = table.measures[measure]
    fold = plain_fold(defined.sql)
    own, given = (fold.unit(table) if fold else None), unit_of(defined.unit or "")
    if fold is None or own is None or given is None:
        return None
    scale = factor(own, given)
    return fold if scale is not None and scale * fold.divisor == 1 else None


def folds_same(sense: Sense, block: Block, catalog: Catalog) -> bool:
    """Whether a block has the fold of a measure, in another unit."""
    if sense.kind != "measure" or sense.table != block.base:
        return False
    fold = fold_in_units(catalog.tables[sense.table], sense.measure)
    return fold is not None and any(
        one.named is None and one.function == fold.function and _without_factor(one.of) == fold.of()
        for one in block.measures
    )


def _without_factor(of: Scalar | None) -> Scalar | None:
    if isinstance(of, Arithmetic) and isinstance(of.right, Number):
        return of.left
    return of


def measure_of_column(table: CatalogTable, column: str) -> str:
    """The one measure that sums or averages a column alone, of all its rows; empty: none does, or several do."""
    folds = {name: plain_fold(one.sql) for name, one in table.measures.items() if column in one.sql.lower()}
    found = [n for n, fold in folds.items() if fold and fold.columns == (column,) and fold.function in {"sum", "avg"}]
    return found[0] if len(found) == 1 else ""


def in_units_of_measures(found: Understood, catalog: Catalog) -> Understood:
    """The same with the measure for a sum of one column of money in another unit, such as EUR of cents.

    A column stays in its own unit where the wish has a word for it, as in "sum of price_cents", and where another part
    of the request refers to the sum.
    """
    request = found.request
    if request is None or request.ranking is not None or request.block.base is None:
        return found
    if request.block.derived or request.block.having:
        return found
    table = catalog.tables[request.block.base]
    measures = tuple(_in_unit_of_measure(one, table, request.wish) for one in request.block.measures)
    changed = [new.name for new, old in zip(measures, request.block.measures, strict=True) if new is not old]
    if not changed or len({one.name for one in measures}) < len(measures):
        return found
    block = request.block.model_copy(update={"measures": measures})
    said = tuple(f"the sum is the measure {name} of {table.name}" for name in changed)
    update = {"request": request.model_copy(update={"block": block}), "assumptions": (*found.assumptions, *said)}
    return found.model_copy(update=update)


def _in_unit_of_measure(summed: Measure, table: CatalogTable, wish: str) -> Measure:
    column = summed.of if isinstance(summed.of, ColumnRef) else None
    own = unit_of(table.column(column.column).unit or "") if column is not None and not column.role else None
    if summed.function != "sum" or column is None or own is None or own in map(unit_of, _WORD.findall(wish)):
        return summed
    name = measure_of_column(table, column.column)
    fold = fold_in_units(table, name) if name else None
    unit = unit_of(table.measures[name].unit or "") if fold else None
    if fold is None or fold.function != "sum" or fold.divisor == 1 or unit is None or unit.measures != "money":
        return summed
    return Measure(name=name, named=name, unit=table.measures[name].unit, where=summed.where)
