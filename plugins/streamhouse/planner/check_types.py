"""Whether the types of columns allow what a block does with them."""

from itertools import pairwise

from sqlglot import exp

from streamhouse.errors import RequestShapeError, RequestTypeError
from streamhouse.planner.catalog import Catalog
from streamhouse.planner.request import (
    AnyOf,
    Arithmetic,
    Banded,
    Between,
    Block,
    ColumnRef,
    Condition,
    Constant,
    Cut,
    During,
    Filter,
    Grain,
    Measure,
    Related,
    Scalar,
)
from streamhouse.planner.sentence import scalar_words
from streamhouse.planner.sql.constants import fitted
from streamhouse.planner.sql.rows import table_of
from streamhouse.planner.sql.scalars import scalar
from streamhouse.planner.sql.scope import Scope, Value
from streamhouse.sql.spark_type import SparkType, spark_type

_TIMES = frozenset({"date", "timestamp", "timestamp_ntz"})
_NUMERIC = frozenset({"sum", "avg", "median", "percentile", "stddev"})
_ORDERED = frozenset({"<", "<=", ">", ">="})
_TEXT = frozenset({"contains", "starts", "ends"})
_WITHOUT = frozenset({"is null", "is not null"})
_UNORDERED = frozenset({"map", "array", "struct", "variant", "binary"})


class BlockTypes:
    """Checks one block.

    Args:
        block: Inner blocks are not looked at.
        scope: What names mean in it.
        catalog: Has the tables that conditions look into.
    """

    def __init__(self, block: Block, scope: Scope, catalog: Catalog) -> None:
        self._block = block
        self._scope = scope
        self._catalog = catalog

    def check(self) -> None:
        """Do nothing when all types fit.

        Raises:
            RequestTypeError, RequestShapeError, UnknownWordError: one does not.
        """
        block = self._block
        for join in block.joins:
            for here, there in join.on.items():
                self._alike(ColumnRef(column=here, role=join.left), ColumnRef(column=there, role=join.role))
        for one in (*block.dimensions, *block.columns):
            kind = self._type(one.of)
            if kind is not None and kind.kind == "map" and one in block.dimensions:
                raise RequestTypeError(f"{scalar_words(one.of)} is {kind}, by which rows cannot be grouped")
        for condition in block.filters:
            self._filter(condition)
        for measure in block.measures:
            self._measure(measure)
        for derived in block.derived:
            if derived.per_many > 1 and (derived.kind != "ratio" or derived.percent):
                raise RequestShapeError(f"'{derived.name}': only a ratio that is not in percent is for so many")
        if block.pick is not None:
            for part in (*block.pick.per, block.pick.by):
                self._type(part)
        if block.sessions is not None:
            self._time(block.sessions.time, "cut into sessions by")
            for part in block.sessions.per:
                self._type(part)

    def _measure(self, measure: Measure) -> None:
        for condition in measure.where:
            self._filter(condition)
        if measure.of is not None:
            kind = self._type(measure.of)
            if measure.function in _NUMERIC and kind is not None and not kind.numeric:
                words = scalar_words(measure.of)
                raise RequestTypeError(
                    f"the {measure.function} of {words} asks for numbers, and it is {kind}",
                    hint=f"count it, or take the lowest or highest {words}",
                )
            if measure.function in ("min", "max") and kind is not None and kind.kind in _UNORDERED:
                raise RequestTypeError(f"values of {scalar_words(measure.of)} have no order: it is {kind}")
        if measure.by is not None:
            self._type(measure.by)
        if measure.function == "percentile" and (measure.fraction is None or not 0 <= measure.fraction <= 1):
            raise RequestShapeError(f"'{measure.name}' is a percentile and needs a fraction from 0 to 1")

    def _filter(self, condition: Filter) -> None:
        if isinstance(condition, AnyOf):
            for part in condition.of:
                self._filter(part)
        elif isinstance(condition, During):
            self._time(condition.of, "compared with a time")
            if condition.since is None and condition.until is None and condition.within is None:
                raise RequestShapeError(f"the range of {scalar_words(condition.of)} has no bounds")
            if condition.since is not None and condition.until is not None and condition.since >= condition.until:
                raise RequestShapeError(f"the range of {scalar_words(condition.of)} ends before it begins")
            if condition.unit.comes_again:
                raise RequestShapeError(f"'{condition.unit.value}' is no length of time")
        elif isinstance(condition, Related):
            self._related(condition)
        else:
            self._condition(condition)

    def _related(self, condition: Related) -> None:
        table = table_of(self._catalog, condition.table)
        other = Scope({("", c.name): Value(exp.column(c.name), spark_type(c.type)) for c in table.columns})
        for here, there in condition.on.items():
            left, right = self._scope.of(ColumnRef(column=here)).type, other.of(ColumnRef(column=there)).type
            _refuse_unlike(here, left, f"{condition.table}.{there}", right)
        inner = BlockTypes(Block(base=condition.table), other, self._catalog)
        for part in condition.filters:
            inner._filter(part)

    def _condition(self, condition: Condition) -> None:
        if isinstance(condition.left, str) or isinstance(condition.other, str):
            raise RequestShapeError(
                "a condition on rows names a measure, which only a condition on results can", hint="move it to 'having'"
            )
        check_operands(condition)
        kind = self._type(condition.left)
        words = scalar_words(condition.left)
        if condition.operator in _TEXT and kind is not None and kind.kind != "string":
            raise RequestTypeError(f"'{condition.operator}' asks for texts, and {words} is {kind}")
        if condition.operator in _ORDERED and kind is not None and kind.kind in _UNORDERED | {"boolean"}:
            raise RequestTypeError(f"values of {words} have no order: it is {kind}")
        if condition.other is not None:
            self._alike(condition.left, condition.other)
        for value in condition.values:
            refuse_unfit(value, kind, words)

    def _alike(self, left: Scalar, right: Scalar) -> None:
        _refuse_unlike(scalar_words(left), self._type(left), scalar_words(right), self._type(right))

    def _time(self, of: ColumnRef, what: str) -> None:
        kind = self._type(of)
        if kind is not None and kind.kind not in _TIMES:
            raise RequestTypeError(f"{scalar_words(of)} cannot be {what}: it is {kind}, and no time")

    def _type(self, of: Scalar) -> SparkType | None:
        if isinstance(of, Cut):
            self._time(of.of, f"cut to the {of.grain.value.replace('_', ' ')}")
            kind = self._type(of.of)
            if kind is not None and kind.kind == "date" and of.grain in (Grain.MINUTE, Grain.HOUR, Grain.HOUR_OF_DAY):
                raise RequestTypeError(f"{scalar_words(of.of)} is a date and has no {of.grain.value.replace('_', ' ')}")
        elif isinstance(of, Between):
            self._time(of.first, "the begin of a span")
            self._time(of.last, "the end of a span")
        elif isinstance(of, Arithmetic):
            for side in (of.left, of.right):
                kind = self._type(side)
                if kind is not None and not kind.numeric:
                    hint = "the time between two columns is 'between'" if kind.kind in _TIMES else None
                    raise RequestTypeError(
                        f"'{of.operator}' asks for numbers, and {scalar_words(side)} is {kind}", hint=hint
                    )
        elif isinstance(of, Banded):
            kind = self._type(of.of)
            if kind is not None and not kind.numeric:
                raise RequestTypeError(f"bands ask for numbers, and {scalar_words(of.of)} is {kind}")
            if any(low >= high for low, high in pairwise(of.bounds)):
                raise RequestShapeError(f"the bounds of the bands of {scalar_words(of.of)} do not rise")
        return scalar(of, self._scope).type


def check_operands(condition: Condition) -> None:
    """Refuse a condition with too few or too many values.

    Raises:
        RequestShapeError: see above.
    """
    count = len(condition.values) + (condition.other is not None)
    if condition.operator in _WITHOUT and count:
        raise RequestShapeError(f"'{condition.operator}' takes no value")
    if condition.operator not in _WITHOUT and not count:
        raise RequestShapeError(f"'{condition.operator}' lacks a value")
    several = condition.operator in ("in", "not in") and condition.other is None
    if count > 1 and not several:
        raise RequestShapeError(f"'{condition.operator}' takes one value", hint="several are for 'in' and 'not in'")
    if condition.other is not None and condition.operator in _TEXT | {"in", "not in"}:
        raise RequestShapeError(f"'{condition.operator}' takes constants")


def refuse_unfit(value: Constant, kind: SparkType | None, words: str) -> None:
    """Refuse a constant that a value of some type cannot be compared with.

    Raises:
        RequestTypeError: see above.
    """
    if kind is not None and fitted(value, kind) is None:
        raise RequestTypeError(f"{words} is {kind}, and {value!r} is no such value")


def _refuse_unlike(left: str, one: SparkType | None, right: str, other: SparkType | None) -> None:
    if one is None or other is None or one == other or (one.numeric and other.numeric):
        return
    if not (one.kind in _TIMES and other.kind in _TIMES):
        raise RequestTypeError(f"{left} is {one} and {right} is {other}: they cannot be compared")
