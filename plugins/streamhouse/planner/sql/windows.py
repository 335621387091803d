"""Derived numbers: of measures of one group, and of one measure over other groups."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from streamhouse.errors import RequestShapeError, UnknownWordError
from streamhouse.planner.request import Derived, Grain
from streamhouse.planner.sql.constants import number
from streamhouse.planner.sql.filters import interval
from streamhouse.planner.sql.scalars import arithmetic, double, quotient, within
from streamhouse.planner.sql.scope import Value
from streamhouse.sql import spark_type as t

OF_ONE_GROUP = frozenset({"ratio", "difference"})
OVER_TIME = frozenset({"change", "previous", "running", "moving"})
_TIMES = frozenset({"date", "timestamp", "timestamp_ntz"})
_HUNDRED = 100


@dataclass(frozen=True)
class Timeline:
    """The dimension that orders groups in time.

    Attributes:
        name: Of the dimension.
        value: It, over the rows of groups.
        grain: Of its periods.
    """

    name: str
    value: Value
    grain: Grain


def of_one_group(derived: Derived, values: Mapping[str, Value]) -> Value:
    """A ratio or a difference of two measures; `values` are those there are, by name."""
    left, right = _known(derived.of, values), _known(derived.to or "", values)
    if derived.kind == "difference":
        return arithmetic("-", left, right)
    return _times(quotient(left, right), _HUNDRED if derived.percent else derived.per_many)


def over_groups(
    derived: Derived, values: Mapping[str, Value], dimensions: tuple[str, ...], timeline: Timeline | None
) -> Value:
    """A number that looks at other groups.

    Args:
        derived: What is asked.
        values: Columns of the rows of groups: dimensions, measures and derived numbers.
        dimensions: Names of them that are dimensions.
        timeline: What orders groups in time; None: nothing does.

    Raises:
        RequestShapeError: it needs a time, and there is none.
    """
    of = _known(derived.of, values)
    if derived.kind in OVER_TIME:
        if timeline is None:
            raise RequestShapeError(
                f"'{derived.name}' compares periods, and no dimension of the result is a time",
                hint="group by a time as well: per day, per month",
            )
        per = derived.per or tuple(name for name in dimensions if name != timeline.name)
        return _over_time(derived, of, [values[name].copy() for name in per if name != timeline.name], timeline)
    return _among_groups(derived, of, [_known(name, values).copy() for name in derived.per])


def _among_groups(derived: Derived, of: Value, per_trees: list[exp.Expr]) -> Value:
    """A rank, a share of the total, or a difference to the average, of groups that agree in `per`."""
    if derived.kind == "rank":
        order = exp.Order(expressions=[exp.Ordered(this=of.copy(), desc=True, nulls_first=False)])
        return Value(exp.Window(this=exp.Rank(), partition_by=per_trees, order=order), t.INT)
    if derived.kind == "share":
        total = Value(exp.Window(this=exp.Sum(this=of.copy()), partition_by=per_trees), _total(of))
        share = quotient(of, total)
        return _times(share, _HUNDRED if derived.percent else 1)
    mean = exp.Window(this=exp.Avg(this=double(of)), partition_by=per_trees)
    return Value(exp.Sub(this=within(of.copy()), expression=mean), t.DOUBLE)


def _over_time(derived: Derived, of: Value, per: list[exp.Expr], timeline: Timeline) -> Value:
    if derived.kind == "running":
        return Value(_framed(exp.Sum(this=of.copy()), per, timeline, None), _total(of))
    if derived.kind == "moving":
        span = exp.WindowSpec(
            kind="RANGE", start=_back(timeline, derived.periods - 1), start_side="PRECEDING", end="CURRENT ROW"
        )
        total = derived.fold == "sum"
        fold = exp.Sum(this=of.copy()) if total else exp.Avg(this=double(of))
        return Value(_framed(fold, per, timeline, span), _total(of) if total else t.DOUBLE)
    span = exp.WindowSpec(
        kind="RANGE",
        start=_back(timeline, derived.periods),
        start_side="PRECEDING",
        end=_back(timeline, derived.periods),
        end_side="PRECEDING",
    )
    # The frame has the one group of that period, or none: a period without rows gives NULL.
    framed = _framed(exp.Max(this=of.copy()), per, timeline, span)
    # Groups without a time are each other's peers in any frame, and have no period before them.
    timed = exp.Not(this=exp.Is(this=timeline.value.copy(), expression=exp.null()))
    before = Value(exp.Case().when(timed, framed), of.type)
    if derived.kind == "previous":
        return before
    if not derived.percent:
        return arithmetic("-", of, before)
    rise = arithmetic("-", of, before)
    return _times(quotient(rise, before), _HUNDRED)


def _back(timeline: Timeline, periods: int) -> exp.Expr:
    timed = timeline.value.type is not None and timeline.value.type.kind in _TIMES
    return interval(periods, timeline.grain) if timed else number(periods)


def _framed(fold: exp.Expr, per: list[exp.Expr], timeline: Timeline, span: exp.WindowSpec | None) -> exp.Expr:
    order = exp.Order(expressions=[exp.Ordered(this=timeline.value.copy(), nulls_first=True)])
    return exp.Window(this=fold, partition_by=[part.copy() for part in per], order=order, spec=span)


def _times(value: Value, factor: int) -> Value:
    if factor == 1:
        return value
    return Value(exp.Mul(this=value.tree, expression=number(factor)), t.DOUBLE)


def _total(of: Value) -> t.SparkType | None:
    if of.type is None:
        return None
    if of.type.kind == "decimal":
        return t.decimal(of.type.precision + 10, of.type.scale)
    return t.BIGINT if of.type.integral else t.DOUBLE


def _known(name: str, values: Mapping[str, Value]) -> Value:
    if name not in values:
        raise UnknownWordError(f"nothing of the result is called '{name}'", name, list(values))
    return values[name]
