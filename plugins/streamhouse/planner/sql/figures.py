"""Measures: numbers of a group of rows, as aggregates."""

from collections.abc import Mapping

from sqlglot import exp

from streamhouse.errors import Location, RequestShapeError, UnknownWordError
from streamhouse.model.meaning import MeasureMeaning
from streamhouse.planner.request import ColumnRef, Measure
from streamhouse.planner.sql.constants import number
from streamhouse.planner.sql.rows import FromClause
from streamhouse.planner.sql.scalars import call, cast, scalar
from streamhouse.planner.sql.scope import Value
from streamhouse.sql import spark_type as t
from streamhouse.sql.dialect import parse_expression
from streamhouse.sql.infer import Inference
from streamhouse.sql.scopes import is_aggregate

_PLAIN: dict[str, type[exp.Func]] = {"min": exp.Min, "max": exp.Max}


def figure(measure: Measure, source: FromClause, named: Mapping[str, MeasureMeaning]) -> Value:
    """The aggregate of one measure.

    Args:
        measure: With its filters, which become FILTER.
        source: The rows.
        named: Measures that the base table's meaning defines.

    Raises:
        UnknownWordError: it uses a column or a named measure that is not there.
        RequestShapeError: it lacks what its function needs.
    """
    where = source.conditions().all(measure.where)
    if measure.named is not None:
        return _named(measure.named, source, named, where)
    return _own(measure, source, where)


def _own(measure: Measure, source: FromClause, where: exp.Expr | None) -> Value:
    function = measure.function
    if function == "count" and measure.of is None:
        return Value(_filtered(exp.Count(this=exp.Star(), big_int=True), where), t.BIGINT)
    if measure.of is None:
        raise RequestShapeError(f"measure '{measure.name}' does not say what to take the {function} of")
    of = scalar(measure.of, source.scope)
    tree, kind = of.copy(), of.type
    if function == "count":
        return Value(_filtered(exp.Count(this=tree, big_int=True), where), t.BIGINT)
    if function == "count distinct":
        return Value(_filtered(exp.Count(this=exp.Distinct(expressions=[tree]), big_int=True), where), t.BIGINT)
    if function == "sum":
        return Value(_filtered(exp.Sum(this=tree), where), _sum_type(kind))
    if function in _PLAIN:
        return Value(_filtered(_PLAIN[function](this=tree), where), kind, of.grain)
    if function == "avg":
        plain = kind is not None and (kind.integral or kind.kind == "double")
        return Value(_filtered(exp.Avg(this=tree if plain else cast(tree, "double")), where), t.DOUBLE)
    if function == "stddev":
        return Value(_filtered(exp.StddevSamp(this=tree), where), t.DOUBLE)
    if function in ("median", "percentile"):
        fraction = number(measure.fraction) if function == "percentile" and measure.fraction is not None else None
        found = call("PERCENTILE", tree, fraction) if fraction is not None else exp.Median(this=tree)
        return Value(_filtered(found, where), t.DOUBLE)
    return _at_end(measure, source, of, where)


def _at_end(measure: Measure, source: FromClause, of: Value, where: exp.Expr | None) -> Value:
    """The value of the first or last row by `by`; of equal times the key of the rows decides, then the value."""
    if measure.by is None:
        raise RequestShapeError(f"measure '{measure.name}' does not say by what the {measure.function} row is found")
    by = scalar(measure.by, source.scope)
    ties = [source.scope.of(ColumnRef(column=name)).copy() for name in source.key]
    order = exp.Struct(expressions=[by.copy(), *ties, of.copy()])
    known = exp.Not(this=exp.Is(this=by.copy(), expression=exp.null()))
    both = exp.and_(where, known) if where is not None else known
    name = "MAX_BY" if measure.function == "last" else "MIN_BY"
    return Value(_filtered(call(name, of.copy(), order), both), of.type, of.grain)


def _named(name: str, source: FromClause, named: Mapping[str, MeasureMeaning], where: exp.Expr | None) -> Value:
    if name not in named:
        raise UnknownWordError(f"the rows have no measure '{name}'", name, list(named))
    tree = parse_expression(named[name].sql, Location(f"measure {name}"))
    for column in list(tree.find_all(exp.Column)):
        column.replace(source.scope.of(ColumnRef(column=column.name)).copy())
    kind = _type_of(tree, source)  # before conditions come in, which may be on columns of other tables
    root = exp.Paren(this=tree)
    if where is not None:
        for node in list(root.find_all(exp.Filter)):
            inside = node.expression.this
            node.expression.set("this", exp.and_(inside.copy(), where.copy()))
        for fold in [n for n in root.find_all(exp.Func) if is_aggregate(n) and not isinstance(n.parent, exp.Filter)]:
            fold.replace(_filtered(fold.copy(), where))
    return Value(root.this, kind)


def _type_of(tree: exp.Expr, source: FromClause) -> t.SparkType | None:
    """The type of a named measure, by its columns."""
    from sqlglot.optimizer.scope import build_scope

    from streamhouse.model.table import Column as TableColumn

    names = dict.fromkeys(c.name for c in tree.find_all(exp.Column))
    kinds = {n: source.scope.of(ColumnRef(column=n)).type for n in names}
    columns = {n: TableColumn(name=n, type=str(kind)) for n, kind in kinds.items() if kind is not None}
    plain = tree.copy()
    for column in plain.find_all(exp.Column):
        column.set("table", exp.to_identifier("rows"))
    scope = build_scope(exp.select(exp.alias_(plain, "measure")).from_("rows"))
    return Inference({"rows": columns}).type_of(plain, scope) if scope is not None else None


def _filtered(tree: exp.Expr, where: exp.Expr | None) -> exp.Expr:
    return tree if where is None else exp.Filter(this=tree, expression=exp.Where(this=where.copy()))


def _sum_type(kind: t.SparkType | None) -> t.SparkType | None:
    if kind is None:
        return None
    if kind.kind == "decimal":
        return t.decimal(kind.precision + 10, kind.scale)
    return t.BIGINT if kind.integral else t.DOUBLE
