"""A Request as one Spark query over the project's tables."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from streamhouse.errors import Location, RequestShapeError, UnknownWordError
from streamhouse.model.action import Parameter
from streamhouse.planner.catalog import Catalog
from streamhouse.planner.request import Block, ColumnRef, Condition, Derived, Dimension, Filter, Ranking, Request
from streamhouse.planner.sql.constants import Constants
from streamhouse.planner.sql.figures import figure
from streamhouse.planner.sql.rows import SESSION, FromClause, Inner, rows_of, table_of
from streamhouse.planner.sql.scalars import scalar
from streamhouse.planner.sql.scope import Value
from streamhouse.planner.sql.timeline import timeline_of
from streamhouse.planner.sql.windows import OF_ONE_GROUP, OVER_TIME, Timeline, of_one_group, over_groups
from streamhouse.sql import spark_type as t
from streamhouse.sql.dialect import parse_query, quote_names, render
from streamhouse.sql.spark_type import SparkType

_AT = Location("the proposed query")


@dataclass(frozen=True)
class Composed:
    """A query and what is known of its rows.

    Attributes:
        query: Over `layer.table` names, with `:name` where there are parameters.
        columns: Name → type, in order; None: nobody knows the type.
        key: Columns that tell rows apart; empty: the result is one row (`single`), or nothing does.
        single: Whether there is exactly one row, or none.
        params: Of the query.
        timeline: The dimension that orders groups in time, if any.
        compares: Whether a number looks at other periods.
    """

    query: exp.Query
    columns: Mapping[str, SparkType | None]
    key: tuple[str, ...]
    single: bool
    params: Mapping[str, Parameter]
    timeline: Timeline | None = None
    compares: bool = False


def compose(request: Request, catalog: Catalog) -> exp.Query:
    """The answer's rows as one plain SELECT over `layer.table` names, constants filled in.

    Columns stand in the order dimensions, measures, derived numbers. Equal Requests give equal trees.

    Raises:
        UnknownWordError: the Request names what is not there.
        RequestShapeError: its parts do not fit together.
    """
    return composed(request, catalog).query


def composed(request: Request, catalog: Catalog, *, parametrise: bool = False, places: bool = False) -> Composed:
    """As `compose`, with what is known of the rows.

    Args:
        request: Checked by `check_request`.
        catalog: Has its tables.
        parametrise: Whether constants become parameters.
        places: Whether the rows of a ranking have their place as a column, which is a key where they have no other.

    Raises:
        UnknownWordError, RequestShapeError: as `compose`.
    """
    constants = Constants(parametrise=parametrise)
    level = _block(request.block, catalog, constants)
    if request.ranking is not None:
        level = _ranked(level, request.ranking, constants, places=places)
    query = _plain(level.query())
    shown = {name: level.values[name].type for name in level.shown}
    return Composed(query, shown, level.key, level.single, constants.params, level.timeline, level.compares)


@dataclass(frozen=True)
class _Level:
    """A select with what it gives.

    Attributes:
        select: A FROM, WHERE and GROUP BY, without columns.
        values: Name → the expression of it.
        shown: Names that the result has, in order.
        key: Names that tell rows apart.
        single: Whether it has at most one row.
        folds: Whether rows are folded here, so that conditions on values belong into HAVING.
        source: The rows that it was made of.
    """

    select: exp.Select
    values: Mapping[str, Value]
    shown: tuple[str, ...]
    key: tuple[str, ...]
    single: bool
    folds: bool
    source: FromClause
    timeline: Timeline | None = None
    compares: bool = False

    def query(self, extra: Mapping[str, Value] | None = None) -> exp.Select:
        """The select with its columns."""
        columns = {name: self.values[name] for name in self.shown} | dict(extra or {})
        return self.select.select(*(exp.alias_(value.copy(), name) for name, value in columns.items()), append=False)

    def over(self, label: str, extra: Mapping[str, Value] | None = None) -> "_Level":
        """A level that reads the rows of this one, with further columns."""
        inner = self.query(extra)
        columns = {name: self.values[name] for name in self.shown} | dict(extra or {})
        values = {name: replace(value, tree=exp.column(name, label)) for name, value in columns.items()}
        line = self.timeline
        line = replace(line, value=values[line.name]) if line is not None and line.name in values else None
        select = exp.select().from_(inner.subquery(label))
        return replace(self, select=select, values=values, folds=False, timeline=line)


def _block(block: Block, catalog: Catalog, constants: Constants) -> _Level:
    inner = None
    if block.inner is not None:
        level = _block(block.inner, catalog, constants)
        values = {name: level.values[name] for name in level.shown}
        inner = Inner(level.query(), values, level.key)
    source = rows_of(block, inner, catalog, constants)
    grouped = bool(block.dimensions or block.measures or block.sessions)
    level = _groups(block, source, catalog) if grouped else _rows(block, source)
    order = (*level.shown, *(derived.name for derived in block.derived))
    twice = sorted({name for name in order if order.count(name) > 1})
    if twice:
        raise RequestShapeError(f"two columns of the result are called '{twice[0]}'", hint="rename one of them")
    level = _with_derived(level, block.derived, tuple(d.name for d in block.dimensions))
    level = _having(level, block.having)
    return replace(level, shown=tuple(name for name in order if name not in block.hidden))


def _groups(block: Block, source: FromClause, catalog: Catalog) -> _Level:
    dimensions = _dimensions(block)
    values = {one.name: scalar(one.of, source.scope) for one in dimensions}
    named = table_of(catalog, block.base).measures if block.base is not None else {}
    figures = {one.name: figure(one, source, named) for one in block.measures}
    keys = [value.copy() for value in values.values()]
    select = source.tree.group_by(*keys) if keys else source.tree
    names = tuple(values)
    shown = (*names, *(one.name for one in block.measures))
    everything = {**values, **figures}
    return _Level(
        select, everything, shown, names, not names, folds=True, source=source,
        timeline=timeline_of(dimensions, everything),
    )  # fmt: skip


def _dimensions(block: Block) -> tuple[Dimension, ...]:
    if block.sessions is None:
        return block.dimensions
    own = [Dimension(name=part.column.lower(), of=part) for part in block.sessions.per]
    own.append(Dimension(name=SESSION, of=ColumnRef(column=SESSION)))
    grouped_columns = {dimension.of for dimension in block.dimensions}
    return (
        (*block.dimensions, *(one for one in own if one.of not in grouped_columns)) if grouped_columns else tuple(own)
    )


def _rows(block: Block, source: FromClause) -> _Level:
    columns = block.columns or tuple(Dimension(name=n, of=ColumnRef(column=n)) for n in _base_columns(source))
    values = {one.name: scalar(one.of, source.scope) for one in columns}
    shown = {one.of: one.name for one in reversed(columns)}
    parts = [shown.get(ColumnRef(column=name)) for name in source.key]
    key = tuple(name for name in parts if name is not None) if all(parts) else ()
    return _Level(source.tree, values, tuple(values), key, single=False, folds=False, source=source)


def _base_columns(source: FromClause) -> tuple[str, ...]:
    return tuple(name for name in source.scope.names() if name != SESSION)


def _with_derived(level: _Level, derived: tuple[Derived, ...], dimensions: tuple[str, ...]) -> _Level:
    """Add derived numbers: those of one group at once, windows over the rows of groups."""
    pending = list(derived)
    while pending:
        ready = [one for one in pending if one.kind in OF_ONE_GROUP and _operands(one) <= level.values.keys()]
        if ready:
            more = {one.name: of_one_group(one, level.values) for one in ready}
            level = _extended(level, more)
        else:
            ready = [one for one in pending if _operands(one) <= level.values.keys()] or pending[:1]
            if level.folds or any(_looks(value) for value in level.values.values()):
                level = level.over("figures")
            line = level.timeline
            more = {one.name: over_groups(one, level.values, dimensions, line) for one in ready}
            level = _extended(level, more)
            level = replace(level, compares=level.compares or any(one.kind in OVER_TIME for one in ready))
            level = level.over("compared")
        pending = [one for one in pending if one not in ready]
    return level


def _extended(level: _Level, more: Mapping[str, Value]) -> _Level:
    return replace(level, values={**level.values, **more}, shown=(*level.shown, *more))


def _operands(derived: Derived) -> set[str]:
    return {derived.of, *([derived.to] if derived.to else [])}


def _looks(value: Value) -> bool:
    return value.tree.find(exp.Window) is not None


def _having(level: _Level, filters: tuple[Filter, ...]) -> _Level:
    if not filters:
        return level
    conditions = level.source.conditions(level.values)
    found = conditions.all(tuple(_by_name(one, level.values) for one in filters))
    assert found is not None
    return replace(level, select=level.select.having(found) if level.folds else level.select.where(found))


def _by_name(condition: Filter, values: Mapping[str, Value]) -> Filter:
    """A condition on a column without role means what the result calls so."""
    if not isinstance(condition, Condition) or not isinstance(condition.left, ColumnRef) or condition.left.role:
        return condition
    named = condition.left.column in values
    return condition.model_copy(update={"left": condition.left.column}) if named else condition


def _ranked(level: _Level, ranking: Ranking, constants: Constants, *, places: bool) -> _Level:
    """Only the best rows; what is equal is told apart by the key, so that equal rows give equal answers."""
    if level.single:
        return level
    for name in (ranking.by, *ranking.per):
        if name not in level.shown:
            raise UnknownWordError(f"nothing of the result is called '{name}'", name, list(level.shown))
    if level.folds or any(_looks(value) for value in level.values.values()):
        level = level.over("figures")
    order = [exp.Ordered(this=level.values[ranking.by].copy(), desc=ranking.descending, nulls_first=False)]
    if not ranking.ties:
        tie_breakers = level.key or level.shown
        order += [
            exp.Ordered(this=level.values[name].copy(), nulls_first=True)
            for name in tie_breakers
            if name != ranking.by and name not in ranking.per and _ordered(level.values[name].type)
        ]
    per = [level.values[name].copy() for name in ranking.per]
    function = exp.Rank() if ranking.ties else exp.RowNumber()
    place = exp.Window(this=function, partition_by=per, order=exp.Order(expressions=order))
    shown = level.shown
    level = level.over("placed", {"place": Value(place, t.INT)})
    most = constants.of(ranking.count, t.INT, "places", "how many are shown" + (" of each group" if per else ""))
    where = exp.LTE(this=exp.column("place", "placed"), expression=most)
    if places and not level.key and not ranking.ties:
        return replace(level, select=level.select.where(where), shown=("place", *shown), key=(*ranking.per, "place"))
    return replace(level, select=level.select.where(where), shown=shown)


def _ordered(type_: SparkType | None) -> bool:
    return type_ is None or type_.kind not in {"map", "variant"}


def _plain(query: exp.Query) -> exp.Query:
    """The tree that its text is read as, with names in backticks only where they need them."""
    quote_names(query)
    found = parse_query(render(query), _AT)
    quote_names(found)
    return found
