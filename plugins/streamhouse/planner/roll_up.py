"""Aggregates that there are already, folded further: sums of sums, sums of counts, the least of the least."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sqlglot import exp

from streamhouse.errors import Location, StreamhouseError
from streamhouse.model.meaning import MeasureMeaning
from streamhouse.model.plan import FlowPlan
from streamhouse.planner.catalog import Catalog, CatalogTable
from streamhouse.planner.compose import compose
from streamhouse.planner.likeness import Likeness
from streamhouse.planner.meaning_of import meaning_of, meaning_of_step, without_null_keys
from streamhouse.planner.naming import innermost
from streamhouse.planner.request import (
    AnyOf,
    Arithmetic,
    Banded,
    Between,
    Block,
    ColumnRef,
    Condition,
    Cut,
    Dimension,
    During,
    Filter,
    Grain,
    Measure,
    Related,
    Request,
    Scalar,
)
from streamhouse.planner.sql.scope import columns_in
from streamhouse.sql.canonical import Canonical
from streamhouse.sql.dialect import parse_expression, render
from streamhouse.sql.scopes import is_aggregate

_AT = Location("a measure")
_ROLLED = "rolled_up_"
_WITHIN: Mapping[Grain, tuple[Grain, ...]] = {
    Grain.MINUTE: (),
    Grain.HOUR: (Grain.MINUTE,),
    Grain.DAY: (Grain.HOUR, Grain.MINUTE),
    Grain.WEEK: (Grain.DAY, Grain.HOUR, Grain.MINUTE),
    Grain.MONTH: (Grain.DAY, Grain.HOUR, Grain.MINUTE),
    Grain.QUARTER: (Grain.MONTH, Grain.DAY, Grain.HOUR, Grain.MINUTE),
    Grain.YEAR: (Grain.QUARTER, Grain.MONTH, Grain.DAY, Grain.HOUR, Grain.MINUTE),
    Grain.HOUR_OF_DAY: (Grain.HOUR, Grain.MINUTE),
    Grain.DAY_OF_WEEK: (Grain.DAY, Grain.HOUR, Grain.MINUTE),
    Grain.DAY_OF_MONTH: (Grain.DAY, Grain.HOUR, Grain.MINUTE),
    Grain.MONTH_OF_YEAR: (Grain.MONTH, Grain.DAY, Grain.HOUR, Grain.MINUTE),
}
"""Grain → the finer ones whose periods lie within its periods, coarse first."""


_BOUNDS = (Grain.MINUTE, Grain.HOUR, Grain.DAY, Grain.WEEK, Grain.MONTH, Grain.YEAR)


def _begins(bound: datetime, grain: Grain) -> bool:
    """Whether a period begins at a time."""
    at = bound.astimezone(UTC) if bound.tzinfo else bound
    fine = (at.month, at.day, at.hour, at.minute, at.second, at.microsecond)
    least = (1, 1, 0, 0, 0, 0)
    if grain is Grain.WEEK:
        return at.isoweekday() == 1 and fine[2:] == least[2:]
    first = {Grain.MINUTE: 4, Grain.HOUR: 3, Grain.DAY: 2, Grain.MONTH: 1, Grain.YEAR: 0}[grain]
    return fine[first:] == least[first:]


@dataclass(frozen=True)
class RolledUp:
    """The same Request over an aggregate.

    Attributes:
        catalog: In which the aggregate has the measures that the Request needs.
    """

    request: Request
    catalog: Catalog
    table: str
    why: str


class _DoesNotFold(Exception):  # noqa: N818  it ends one try, and nobody else sees it
    pass


def rolled_up(request: Request, catalog: Catalog, plans: Mapping[str, FlowPlan]) -> list[RolledUp]:
    """The Request over each aggregate that its groups and numbers can be folded from, the smallest first."""
    block = innermost(request.block)
    if block.pick or block.sessions or not (block.measures or block.dimensions) or block.base is None:
        return []
    found: list[tuple[int, str, Block, CatalogTable]] = []
    needed = _needed(block)
    for plan in plans.values():
        for step in plan.steps:
            name = step.writes.name
            if [one.table for one in step.reads] != [block.base] or name not in catalog.tables:
                continue
            if without_null_keys(step) or not needed <= {one for read in step.reads for one in read.columns}:
                continue
            if not _may_fold(Likeness.of(step.sql), block):
                continue
            meaning = meaning_of_step(step, plan)
            if meaning is None or not _is_aggregate(meaning):
                continue
            try:
                folder = _Folder(block, catalog, catalog.tables[name], meaning)
                found.append((len(step.writes.primary_key), name, folder.block(), folder.table()))
            except (_DoesNotFold, StreamhouseError):
                continue
    every = sorted(found, key=lambda one: one[:2])
    return [_over(request, block.base, rewritten, catalog, table) for _, _, rewritten, table in every]


def _over(request: Request, base: str, rewritten: Block, catalog: Catalog, table: CatalogTable) -> RolledUp:
    why = f"it has {base} folded by {', '.join(table.primary_key)}; its rows are folded further"
    return RolledUp(
        request.model_copy(update={"block": _in_place(request.block, rewritten)}),
        replace(catalog, tables={**catalog.tables, table.name: table}),
        table.name,
        why,
    )


def _needed(block: Block) -> set[str]:
    """Columns of the base that an aggregate must have looked at to be folded further."""
    joined = {here for join in block.joins if not join.left for here in join.on}
    used = columns_in((block.dimensions, block.filters, block.measures))
    return joined | {column.column for column in used if not column.role}


def _may_fold(like: Likeness, block: Block) -> bool:
    """A look at words: its groups have the columns that the block groups and joins by, and it filters no more."""
    if not like.simple:
        return True
    joined = {here for join in block.joins if not join.left for here in join.on}
    grouped = joined | {column.column for column in columns_in(block.dimensions) if not column.role}
    return bool(like.groups) and grouped <= like.groups and (bool(block.filters) or not like.filters)


def _is_aggregate(meaning: Canonical) -> bool:
    rows = meaning.rows
    if rows is None or not rows.group or rows.having or rows.generators or rows.cut or rows.operator:
        return False
    return len(rows.sources) == 1 and rows.distinct is None and not any(one.looks for one in meaning.outputs.values())


def _in_place(block: Block, innermost_: Block) -> Block:
    if block.inner is None:
        return innermost_
    return block.model_copy(update={"inner": _in_place(block.inner, innermost_)})


class _Folder:
    """Rewrites one block over one aggregate."""

    def __init__(self, block: Block, catalog: Catalog, table: CatalogTable, meaning: Canonical) -> None:
        self._block = block
        self._catalog = catalog
        self._table = table
        assert meaning.rows is not None
        self._where = frozenset(one.text for one in meaning.rows.where)
        own = {column.name for column in table.columns}
        self._groups = {
            o.text: n for n, o in meaning.outputs.items() if o.text in (meaning.rows.group or ()) and n in own
        }
        self._folds = {o.text: n for n, o in meaning.outputs.items() if o.folds and n in own}
        self._measures: dict[str, MeasureMeaning] = {}
        self._base = catalog.tables[block.base or ""]

    def block(self) -> Block:
        """The block over the aggregate.

        Raises:
            _DoesNotFold: it needs what the aggregate lacks.
        """
        one = self._block
        filters, applied = [], set[str]()
        for condition in one.filters:
            texts = self._conditions(condition)
            applied |= texts
            if not texts <= self._where:
                filters.append(self._filter(condition))
        if not self._where <= applied:
            raise _DoesNotFold  # it lacks rows that are asked for
        measures = tuple(self._measure(each) for each in one.measures)
        joins = tuple(
            join
            if join.left
            else join.model_copy(update={"on": {self._plain(here): there for here, there in join.on.items()}})
            for join in one.joins
        )
        dimensions = tuple(Dimension(name=each.name, of=self._scalar(each.of)) for each in one.dimensions)
        changed = {"base": self._table.name, "filters": tuple(filters), "measures": measures, "joins": joins}
        return one.model_copy(update={**changed, "dimensions": dimensions})

    def table(self) -> CatalogTable:
        """The aggregate with the measures that `block` uses."""
        return replace(self._table, measures={**self._table.measures, **self._measures})

    def _plain(self, column: str) -> str:
        name = self._groups.get(self._text(ColumnRef(column=column)))
        if name is None:
            raise _DoesNotFold
        return name

    def _scalar(self, of: Scalar) -> Scalar:
        if isinstance(of, ColumnRef):
            return of if of.role else ColumnRef(column=self._plain(of.column))
        if isinstance(of, Cut):
            return self._cut(of)
        if isinstance(of, Between):
            return of.model_copy(update={"first": self._column(of.first), "last": self._column(of.last)})
        if isinstance(of, Arithmetic):
            return of.model_copy(update={"left": self._scalar(of.left), "right": self._scalar(of.right)})
        return of.model_copy(update={"of": self._scalar(of.of)}) if isinstance(of, Banded) else of

    def _column(self, column: ColumnRef) -> ColumnRef:
        return column if column.role else ColumnRef(column=self._plain(column.column))

    def _cut(self, of: Cut) -> Scalar:
        if of.of.role:
            return of
        same = self._groups.get(self._text(of))
        if same is not None:
            return ColumnRef(column=same) if of.grain.comes_again else Cut(of=ColumnRef(column=same), grain=of.grain)
        for grain in _WITHIN[of.grain]:
            finer = self._groups.get(self._text(Cut(of=of.of, grain=grain)))
            if finer is not None:
                return Cut(of=ColumnRef(column=finer), grain=of.grain)
        return Cut(of=ColumnRef(column=self._plain(of.of.column)), grain=of.grain)

    def _filter(self, condition: Filter) -> Filter:
        if isinstance(condition, AnyOf):
            return AnyOf(of=tuple(self._filter(part) for part in condition.of))
        if isinstance(condition, During):
            return self._during(condition)
        if isinstance(condition, Related):
            return condition.model_copy(
                update={"on": {self._plain(here): there for here, there in condition.on.items()}}
            )
        sides = {"left": condition.left, "other": condition.other}
        moved = {
            k: self._scalar(side) if side is not None and not isinstance(side, str) else side
            for k, side in sides.items()
        }
        return condition.model_copy(update=moved)

    def _during(self, time_range: During) -> During:
        """A range over a column, or over begins of periods where no period lies on both sides of a bound."""
        if time_range.of.role or self._text(time_range.of) in self._groups:
            return time_range.model_copy(update={"of": self._column(time_range.of)})
        for grain in _BOUNDS:
            begins = self._groups.get(self._text(Cut(of=time_range.of, grain=grain)))
            bounds = [bound for bound in (time_range.since, time_range.until) if bound is not None]
            if begins is not None and time_range.within is None and all(_begins(bound, grain) for bound in bounds):
                return time_range.model_copy(update={"of": ColumnRef(column=begins)})
        raise _DoesNotFold

    def _measure(self, measure: Measure) -> Measure:
        name = f"{_ROLLED}{len(self._measures)}"
        tree = self._rolled(measure)
        self._measures[name] = MeasureMeaning(sql=render(tree), unit=measure.unit)
        return Measure(name=measure.name, named=name, unit=measure.unit)

    def _rolled(self, measure: Measure) -> exp.Expr:
        if measure.named is not None:
            return self._rolled_named(measure)
        if measure.function == "avg" and measure.of is not None:
            total = self._folded("sum", measure.model_copy(update={"function": "sum"}))
            count = self._folded("count", measure.model_copy(update={"function": "count"}))
            double = exp.Cast(this=total, to=exp.DataType.build("double"))
            return exp.Div(this=double, expression=exp.Nullif(this=count, expression=exp.Literal.number(0)))
        return self._folded(measure.function, measure)

    def _folded(self, function: str, measure: Measure) -> exp.Expr:
        column_name = self._folds.get(self._aggregate(measure))
        if column_name is None and function == "count" and measure.of is not None and not self._may_be_null(measure.of):
            column_name = self._folds.get(self._aggregate(measure.model_copy(update={"of": None})))
        if column_name is None:
            raise _DoesNotFold
        return self._again(function, column_name)

    def _again(self, function: str, column_name: str) -> exp.Expr:
        column = exp.column(column_name)
        if function == "count":
            total: exp.Expr = exp.Sum(this=column)
            return total if self._block.dimensions else exp.Coalesce(this=total, expressions=[exp.Literal.number(0)])
        kinds: dict[str, type[exp.Func]] = {"sum": exp.Sum, "min": exp.Min, "max": exp.Max}
        if function not in kinds:
            raise _DoesNotFold
        return kinds[function](this=column)

    def _rolled_named(self, measure: Measure) -> exp.Expr:
        known = self._base.measures.get(measure.named or "")
        if known is None or measure.where:
            raise _DoesNotFold
        root = exp.Paren(this=parse_expression(known.sql, _AT))
        for node in [n for n in root.find_all(exp.Func) if is_aggregate(n)]:
            if isinstance(node.parent, exp.Filter):
                raise _DoesNotFold
            column_name = self._folds.get(self._text_of(node))
            if column_name is None:
                raise _DoesNotFold
            node.replace(self._again(node.key, column_name))
        rolled: exp.Expr = root.this
        return rolled

    def _may_be_null(self, of: Scalar) -> bool:
        return any(self._base.column(column.column).nullable for column in columns_in(of) if not column.role)

    def _text(self, of: Scalar) -> str:
        """The canonical text of a value of a row of the base."""
        probe = Block(base=self._base.name, columns=(Dimension(name="probe", of=of),))
        return self._probe(probe).outputs["probe"].text

    def _aggregate(self, measure: Measure) -> str:
        if any(column.role for column in columns_in(measure)):
            raise _DoesNotFold
        probe = Block(base=self._base.name, measures=(measure.model_copy(update={"name": "probe"}),))
        return self._probe(probe).outputs["probe"].text

    def _text_of(self, node: exp.Expr) -> str:
        known = MeasureMeaning(sql=render(node))
        tables = {**self._catalog.tables, self._base.name: replace(self._base, measures={"probe": known})}
        probe = Block(base=self._base.name, measures=(Measure(name="probe", named="probe"),))
        return self._probe(probe, replace(self._catalog, tables=tables)).outputs["probe"].text

    def _conditions(self, condition: Filter) -> set[str]:
        """Canonical texts of what a filter asks for; of one on joined tables or on other rows: one that nothing has."""
        if isinstance(condition, Related) or any(column.role for column in columns_in(condition)):
            return {f"on other rows: {condition!r}"}
        if isinstance(condition, Condition) and isinstance(condition.left, str):
            raise _DoesNotFold
        first = self._base.columns[0].name
        columns = (Dimension(name="probe", of=ColumnRef(column=first)),)
        rows = self._probe(Block(base=self._base.name, filters=(condition,), columns=columns)).rows
        return {one.text for one in rows.where} if rows is not None else {f"not followed: {condition!r}"}

    def _probe(self, block: Block, catalog: Catalog | None = None) -> Canonical:
        known = catalog or self._catalog
        found = meaning_of(compose(Request(wish="", block=block), known), known)
        if found is None:
            raise _DoesNotFold
        return found
