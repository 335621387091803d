"""Aggregates that follow from totals: sums and counts, from which a row is taken away as it was added.

Totals are whole numbers or DECIMAL(38), so no rounding depends on their order. `SUM` of floats, whose rounding does, is
no total. `AVG` of whole numbers is what Spark makes of it: a double by a double.
"""

from dataclasses import dataclass, field

from sqlglot import exp

from streamhouse.model.delta_plan import ROWS, WEIGHT
from streamhouse.model.table import Column
from streamhouse.model.types import DECIMAL_DIGITS
from streamhouse.sql.delta.cut import QueryCut
from streamhouse.sql.scopes import function_name, is_aggregate
from streamhouse.sql.traces import text_of

_NOTHING = exp.Literal.number(0)


class NoTotalError(Exception):
    """An aggregate does not follow from totals."""


@dataclass
class Totals:
    """What is added up for the aggregates of one SELECT.

    Attributes:
        values: Column of the rows → what it has.
        sums: Column of the totals → the value it adds up, and its scale.
        counts: Column of the totals → the value of which it counts those that are not NULL.
    """

    cut: QueryCut
    values: dict[str, exp.Expr] = field(default_factory=dict)
    sums: dict[str, tuple[str, int]] = field(default_factory=dict)
    counts: dict[str, str] = field(default_factory=dict)
    _known: dict[str, str] = field(default_factory=dict)

    def shown(self, node: exp.Expr) -> exp.Expr:
        """A part of the SELECT, over totals in place of rows.

        Raises:
            NoTotalError: it does not follow from them.
        """
        group = self.cut.group_of(node)
        if group is not None:
            return exp.column(group, ROWS)
        if isinstance(node, exp.Filter):
            return self._aggregate(node.this, node.expression.this)
        if is_aggregate(node):
            return self._aggregate(node, None)
        if isinstance(node, exp.Column):
            raise NoTotalError
        return node

    @property
    def columns(self) -> tuple[Column, ...]:
        """Of the totals, without groups and weight."""
        sums = (Column(name=name, type=f"decimal({DECIMAL_DIGITS},{scale})") for name, (_, scale) in self.sums.items())
        return (*sums, *(Column(name=name, type="bigint") for name in self.counts))

    def query(self, groups: list[str]) -> exp.Select:
        """Adds up rows that have the groups, the values, and `WEIGHT`: 1 or -1."""
        weight = exp.column(WEIGHT, ROWS)
        sums = [exp.alias_(_sum(exp.column(of, ROWS), scale), name) for name, (of, scale) in self.sums.items()]
        counts = [exp.alias_(_count(exp.column(of, ROWS)), name) for name, of in self.counts.items()]
        keys = [exp.column(name, ROWS) for name in groups]
        total = exp.alias_(exp.Sum(this=weight), WEIGHT)
        return (
            exp.select(*(exp.alias_(key.copy(), key.name) for key in keys), *sums, *counts, total)
            .from_(ROWS)
            .group_by(*keys)
        )

    def _aggregate(self, call: exp.Expr, condition: exp.Expr | None) -> exp.Expr:
        name = function_name(call)
        if any(isinstance(part, exp.Distinct) for part in call.iter_expressions()) or call.args.get("expression"):
            raise NoTotalError
        if name == "count":
            return self._counted(call, condition)
        if name == "count_if" and isinstance(call.this, exp.Expr):
            both = call.this if condition is None else exp.and_(condition, call.this)
            return exp.cast(self._count_of(_when(both, exp.Literal.number(1))), "bigint")
        if name in {"sum", "avg"}:
            return self._added(call, name, condition)
        raise NoTotalError

    def _counted(self, call: exp.Expr, condition: exp.Expr | None) -> exp.Expr:
        arguments = [part for part in (call.this, *call.expressions) if isinstance(part, exp.Expr)]
        there = [exp.Not(this=exp.Is(this=p.copy(), expression=exp.null())) for p in arguments if not _is_all(p)]
        if condition is None and not there:
            return exp.column(WEIGHT, ROWS)
        both = exp.and_(*([condition.copy()] if condition is not None else []), *there)
        return self._count_of(_when(both, exp.Literal.number(1)))

    def _added(self, call: exp.Expr, name: str, condition: exp.Expr | None) -> exp.Expr:
        kind, result = (self.cut.inference.type_of(node, self.cut.scope) for node in (call.this, call))
        if kind is None or result is None or not (kind.integral or (kind.kind == "decimal" and name == "sum")):
            raise NoTotalError
        value = self._value(call.this if condition is None else _when(condition, call.this))
        total = self._total(f"s_{value}", value, scale=kind.scale if kind.kind == "decimal" else 0)
        some = exp.GT(this=self._count(value), expression=_NOTHING.copy())
        if name == "sum":
            return _when(some, exp.cast(total, str(result), dialect="spark"))
        parts = (exp.cast(part, "double", dialect="spark") for part in (total, self._count(value)))
        return _when(some, exp.Div(this=next(parts), expression=next(parts)))

    def _count_of(self, value: exp.Expr) -> exp.Expr:
        return self._count(self._value(value))

    def _count(self, value: str) -> exp.Expr:
        self.counts[f"n_{value}"] = value
        return exp.column(f"n_{value}", ROWS)

    def _total(self, name: str, value: str, scale: int) -> exp.Expr:
        self.sums[name] = (value, scale)
        return exp.column(name, ROWS)

    def _value(self, node: exp.Expr) -> str:
        text = text_of(node)
        name = self._known.setdefault(text, f"v{len(self._known)}")
        self.values.setdefault(name, node)
        return name


def _is_all(node: exp.Expr) -> bool:
    """Whether a call counts rows: `count(*)`, `count(1)`."""
    return isinstance(node, (exp.Star, exp.Literal))


def _when(condition: exp.Expr, value: exp.Expr) -> exp.Case:
    return exp.case().when(condition.copy(), value.copy())


def _sum(value: exp.Expr, scale: int) -> exp.Expr:
    wide = exp.cast(value, f"decimal({DECIMAL_DIGITS},{scale})", dialect="spark")
    less = exp.LT(this=exp.column(WEIGHT, ROWS), expression=_NOTHING.copy())
    signed = _when(less, exp.Neg(this=wide.copy())).else_(wide)
    return exp.Coalesce(this=exp.Sum(this=signed), expressions=[exp.cast(_NOTHING.copy(), wide.to.copy())])


def _count(value: exp.Expr) -> exp.Expr:
    missing = exp.Is(this=value, expression=exp.null())
    return exp.Sum(this=_when(missing, _NOTHING).else_(exp.column(WEIGHT, ROWS)))
