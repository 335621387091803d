"""Frames of windows that Spark refuses; pure.

References: `WindowSpecDefinition`, `SpecifiedWindowFrame` and `ResolveWindowFrame` of Spark 4.1.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from sqlglot import exp

from streamhouse.sql.admit import Refused
from streamhouse.sql.dialect import short
from streamhouse.sql.functions import INTERVALS
from streamhouse.sql.literals import whole_number
from streamhouse.sql.scopes import function_name
from streamhouse.sql.spark_type import SparkType
from streamhouse.sql.words import words

TypeOf = Callable[[exp.Expr], SparkType | None]

_UP_TO_ITSELF = ("-UNBOUNDED", "CURRENT ROW")
_OWN = {
    **dict.fromkeys(words("row_number rank dense_rank percent_rank ntile"), ("ROWS", *_UP_TO_ITSELF)),
    "cume_dist": ("RANGE", *_UP_TO_ITSELF),
    "lag": (),
    "lead": (),
}
"""Function → the only frame that may be written for it; empty: none may."""
_TIMES = words("timestamp timestamp_ntz")
_FROM_DATES = words("int day_interval month_interval")
_FROM_TIMES = INTERVALS | {"calendar_interval"}
_UNITS = {"WEEK": "DAY", "QUARTER": "MONTH"}
_OTHER_FRAME = "write ROWS BETWEEN, or order by one column whose type has such values"


def wrong_frame(window: exp.Window, type_of: TypeOf) -> Iterator[Refused]:
    """What is wrong with the frame of a window, or with the function over it.

    Args:
        window: With its definition, or with the name of one, whose frame is looked at there.
        type_of: The type of an expression in its scope.
    """
    frame = _frame_of(window)
    if frame is None:
        return
    kind, bounds = _kind(frame), [_bound(frame, end) for end in ("start", "end")]
    name, said = function_name(_called(window)), tuple(bound.said for bound in bounds)
    if name in _OWN and (kind, *said) != _OWN[name]:
        yield Refused(window, f"{name}() takes no frame of its own", "leave out ROWS or RANGE BETWEEN")
    elif window.args.get("spec") is frame:
        yield from _wrong_order(window, *bounds)
        yield from (_wrong_rows if kind == "ROWS" else _wrong_range)(window, bounds, type_of)


class _FrameEnd(NamedTuple):
    """One bound: `CURRENT ROW`, `-UNBOUNDED`, `+UNBOUNDED`, or a value with the sign of its side."""

    said: str
    value: exp.Expr | None

    @property
    def rows(self) -> int | None:
        """How far it is from the current row, below 0 before it; None: it is no whole number."""
        number = None if self.value is None else whole_number(self.value)
        return number if number is None or self.said.startswith("+") else -number


def _bound(frame: exp.Expr, end: str) -> _FrameEnd:
    given = frame.args.get(end)
    sign = "+" if str(frame.args.get(f"{end}_side")).upper() == "FOLLOWING" else "-"
    if isinstance(given, exp.Expr):
        return _FrameEnd(sign + given.sql("spark"), given)
    shown = str(given or "CURRENT ROW").upper()
    return _FrameEnd(shown if shown == "CURRENT ROW" else sign + shown, None)


def _kind(frame: exp.Expr) -> str:
    return str(frame.args.get("kind")).upper()


def _frame_of(window: exp.Window) -> exp.Expr | None:
    """Its own frame, or that of the named window that it stands for."""
    own: exp.Expr | None = window.args.get("spec")
    base, select = window.args.get("alias"), window.find_ancestor(exp.Select)
    if own is not None or base is None or select is None:
        return own
    named = (one for one in select.args.get("windows") or () if one.name.lower() == base.name.lower())
    return next((one.args.get("spec") for one in named), None)


def _called(window: exp.Window) -> exp.Expr:
    call = window.this
    while isinstance(call, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)):
        call = call.this
    return call if isinstance(call, exp.Expr) else window


def _wrong_order(window: exp.Window, start: _FrameEnd, end: _FrameEnd) -> Iterator[Refused]:
    first, last = start.rows, end.rows
    later = first is not None and last is not None and first > last
    if later or start.said == "+UNBOUNDED" or end.said == "-UNBOUNDED":
        yield Refused(window, "the frame of a window ends before it begins", "write the earlier bound first")


def _wrong_rows(window: exp.Window, bounds: Sequence[_FrameEnd], type_of: TypeOf) -> Iterator[Refused]:
    for value in _values(bounds):
        kind = type_of(value)
        if kind is not None and kind.kind != "int":
            message = f"ROWS takes an INT as bound, and {short(value)} is {kind}"
            yield Refused(window, message, "write a number of rows")


def _wrong_range(window: exp.Window, bounds: Sequence[_FrameEnd], type_of: TypeOf) -> Iterator[Refused]:
    order, values = window.args.get("order"), _values(bounds)
    keys = [one.this if isinstance(one, exp.Ordered) else one for one in (order.expressions if order else ())]
    if not keys and [bound.said for bound in bounds] != ["-UNBOUNDED", "+UNBOUNDED"]:
        yield Refused(window, "a frame of RANGE needs an ORDER BY in its window", _OTHER_FRAME)
    elif values and len(keys) > 1:
        yield Refused(window, "a frame of RANGE with a value as bound takes one column in its ORDER BY", _OTHER_FRAME)
    elif values and (of := type_of(keys[0])) is not None:
        for value in values:
            kind = type_of(value)
            if kind is not None and not _reaches(of, kind):
                message = f"RANGE takes no {kind} as bound where the window is ordered by {of}"
                yield Refused(window, message, _OTHER_FRAME)
        if len({_unit(value) for value in values}) > 1:
            yield Refused(window, "both bounds of RANGE are intervals of one unit", "write both in HOURS, or in DAYS")


def _values(bounds: Iterable[_FrameEnd]) -> list[exp.Expr]:
    return [bound.value for bound in bounds if bound.value is not None]


def _unit(value: exp.Expr) -> str:
    unit = value.args.get("unit") if isinstance(value, exp.Interval) else None
    name = unit.sql("spark").upper().removesuffix("S") if isinstance(unit, exp.Expr) else ""
    return _UNITS.get(name, name)


def _reaches(of: SparkType, bound: SparkType) -> bool:
    """Whether Spark finds the value that is so far from one of a type."""
    if of.kind == "date":
        return bound.kind in _FROM_DATES
    if of.kind in _TIMES:
        return bound.kind in _FROM_TIMES
    return of.numeric and (bound.numeric or bound.kind == "string" or bound.kind in INTERVALS)
