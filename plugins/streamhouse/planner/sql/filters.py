"""What decides whether a row counts, as conditions of a WHERE, FILTER or HAVING."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlglot import exp

from streamhouse.errors import UnknownWordError
from streamhouse.planner.request import (
    AnyOf,
    Between,
    ColumnRef,
    Condition,
    Cut,
    During,
    Filter,
    Grain,
    Related,
    Scalar,
)
from streamhouse.planner.sql.constants import Constants, number
from streamhouse.planner.sql.scalars import call, cast, scalar, within
from streamhouse.planner.sql.scope import Scope, Value
from streamhouse.sql import spark_type as t

_COMPARED: dict[str, type[exp.Binary]] = {
    "=": exp.EQ, "<>": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE,
}  # fmt: skip
_TEXT = {"contains": "CONTAINS", "starts": "STARTSWITH", "ends": "ENDSWITH"}
_PREFIX = {"<": "max_", "<=": "max_", ">": "min_", ">=": "min_", "<>": "other_than_", "not in": "other_than_"}
_WORDS = {
    "=": "only rows whose {0} is this", "<>": "rows whose {0} is this do not count",
    "<": "only rows whose {0} is below this", "<=": "only rows whose {0} is at most this",
    ">": "only rows whose {0} is above this", ">=": "only rows whose {0} is at least this",
    "in": "only rows whose {0} is one of these", "not in": "rows whose {0} is one of these do not count",
    "contains": "only rows whose {0} contains this", "starts": "only rows whose {0} begins with this",
    "ends": "only rows whose {0} ends with this",
}  # fmt: skip

Rows = Callable[[str], tuple[exp.Expr, Scope, str]]
"""A table's name → what stands in a FROM for it, its scope, and the name it is called by there."""


@dataclass(frozen=True)
class Conditions:
    """Makes conditions over one scope.

    Attributes:
        named: Measures and derived numbers by name.
        other: Gives the rows of another table.
    """

    scope: Scope
    constants: Constants
    other: Rows
    named: Mapping[str, Value]

    def all(self, filters: tuple[Filter, ...]) -> exp.Expr | None:
        """One condition that holds where all do; None: there are none."""
        parts = [self.one(found) for found in filters]
        return exp.and_(*parts) if parts else None

    def one(self, condition: Filter) -> exp.Expr:
        """One condition.

        Raises:
            UnknownWordError: it uses a name that is not there.
        """
        if isinstance(condition, AnyOf):
            return exp.or_(*(self.one(part) for part in condition.of))
        if isinstance(condition, During):
            return self._during(condition)
        if isinstance(condition, Related):
            return self._related(condition)
        return self._condition(condition)

    def _condition(self, condition: Condition) -> exp.Expr:
        left = self._side(condition.left)
        subject = within(left.copy())
        if condition.operator in ("is null", "is not null"):
            empty = exp.Is(this=subject, expression=exp.null())
            return empty if condition.operator == "is null" else exp.Not(this=empty)
        if condition.other is not None:
            return _COMPARED[condition.operator](this=subject, expression=within(self._side(condition.other).copy()))
        name = condition.parameter or parameter_name(condition)
        words = _WORDS[condition.operator].format(subject_words(condition.left))
        if condition.operator in ("in", "not in") and len(condition.values) > 1:
            return self._one_of(condition, subject, left.type, name, words)
        value = self.constants.of(condition.values[0], left.type, name, words)
        if condition.operator in _TEXT:
            return call(_TEXT[condition.operator], left.copy(), value)
        operator = {"in": "=", "not in": "<>"}.get(condition.operator, condition.operator)
        return _COMPARED[operator](this=subject, expression=value)

    def _one_of(
        self, condition: Condition, subject: exp.Expr, type_: t.SparkType | None, name: str, words: str
    ) -> exp.Expr:
        listed = self.constants.several(condition.values, type_, name, words)
        if listed is not None:
            found: exp.Expr = call("ARRAY_CONTAINS", listed, subject)
        else:
            values = [self.constants.of(value, type_, name, words) for value in condition.values]
            found = exp.In(this=subject, expressions=values)
        return exp.Not(this=found) if condition.operator == "not in" else found

    def _side(self, side: Scalar | str) -> Value:
        if not isinstance(side, str):
            return scalar(side, self.scope)
        if side not in self.named:
            raise UnknownWordError(f"nothing of the result is called '{side}'", side, list(self.named))
        return self.named[side]

    def _during(self, time_range: During) -> exp.Expr:
        time = scalar(time_range.of, self.scope)
        parts: list[exp.Expr] = []
        for bound, name, operator in ((time_range.since, "since", exp.GTE), (time_range.until, "until", exp.LT)):
            if bound is not None:
                words = (
                    f"only rows whose {time_range.of.column} is {'not before' if name == 'since' else 'before'} this"
                )
                tree, type_ = _comparable(time, bound)
                parts.append(operator(this=tree, expression=self.constants.of(bound, type_, name, words)))
        if time_range.within is not None:
            dated = time.type is not None and time.type.kind == "date"
            tree = cast(time.copy(), "timestamp") if dated else time.copy()
            begin = exp.Sub(this=exp.CurrentTimestamp(), expression=interval(time_range.within, time_range.unit))
            parts.append(exp.GTE(this=tree, expression=begin))
            parts.append(exp.LTE(this=tree.copy(), expression=exp.CurrentTimestamp()))
        return exp.and_(*parts)

    def _related(self, condition: Related) -> exp.Expr:
        source, scope, label = self.other(condition.table)
        inner = Conditions(scope, self.constants, self.other, {})
        same = {name: scope.of(ColumnRef(column=name)) for name in condition.on.values()}
        where = inner.all(condition.filters)
        if condition.at_least > 1:
            groups = exp.select(*(exp.alias_(value.copy(), name) for name, value in same.items())).from_(source)
            groups = groups.where(where) if where is not None else groups
            groups = groups.group_by(*(value.copy() for value in same.values()))
            most = self.constants.of(
                condition.at_least, t.INT, f"min_{label}", f"so many rows of {condition.table} are needed"
            )
            groups = groups.having(exp.GTE(this=exp.Count(this=exp.Star(), big_int=True), expression=most))
            source, where = groups.subquery(f"{label}_groups"), None
            same = {name: Value(exp.column(name, f"{label}_groups"), value.type) for name, value in same.items()}
        ties = [
            exp.EQ(this=same[there].copy(), expression=self.scope.of(ColumnRef(column=here)).copy())
            for here, there in condition.on.items()
        ]
        rows = exp.select(number(1)).from_(source).where(*ties)
        rows = rows.where(where) if where is not None else rows
        found = exp.Exists(this=rows)
        return found if condition.exists else exp.Not(this=found)


def interval(count: int, unit: Grain) -> exp.Expr:
    """A length of time as Spark writes it."""
    if unit is Grain.QUARTER:
        count, unit = 3 * count, Grain.MONTH
    if unit is Grain.WEEK:
        count, unit = 7 * count, Grain.DAY
    return exp.Interval(this=exp.Literal.string(str(count)), unit=exp.Var(this=unit.value.upper()))


def _comparable(time: Value, bound: datetime) -> tuple[exp.Expr, t.SparkType | None]:
    """A date is compared with days; with a time of day it is the begin of its day."""
    if time.type is not None and time.type.kind == "date" and bound.time() != datetime.min.time():
        return cast(time.copy(), "timestamp"), t.TIMESTAMP
    return time.copy(), time.type


def parameter_name(condition: Condition) -> str:
    """What a parameter is called when nobody says: `min_amount_cents`, `city`."""
    return f"{_PREFIX.get(condition.operator, '')}{_stem(condition.left)}"


def _stem(of: Scalar | str) -> str:
    if isinstance(of, str):
        return of
    if isinstance(of, ColumnRef):
        return of.column.lower()
    if isinstance(of, Cut):
        return of.grain.value
    return f"{of.unit}s" if isinstance(of, Between) else "value"


def subject_words(of: Scalar | str) -> str:
    """What a condition is about, for a person."""
    return _stem(of).replace("_", " ")
