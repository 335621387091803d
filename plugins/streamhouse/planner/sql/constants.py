"""What becomes of a constant that a wish names: a literal of the query, or a parameter of an action."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from sqlglot import exp

from streamhouse.errors import Location
from streamhouse.model.action import Parameter
from streamhouse.model.types import DECIMAL_DIGITS
from streamhouse.planner.request import Constant
from streamhouse.sql.parameters import typed_literal
from streamhouse.sql.spark_type import SparkType

_TIMES = frozenset({"date", "timestamp", "timestamp_ntz"})
_INT = SparkType("int")
_INT_BITS = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}


@dataclass
class Constants:
    """Turns constants into parts of a tree, and remembers the parameters where there are to be some.

    Attributes:
        parametrise: Whether constants become parameters; else literals.
        params: Name → parameter, in the order in which they were met.
    """

    parametrise: bool = False
    params: dict[str, Parameter] = field(default_factory=dict)

    def of(self, value: Constant, type_: SparkType | None, name: str, description: str) -> exp.Expr:
        """One value.

        Args:
            value: As the Request has it.
            type_: Of what it is compared with; None: it is unknown.
            name: What a parameter would be called.
            description: Of the parameter.
        """
        value = _as_compared(value, type_)
        if not self.parametrise or isinstance(value, bool):
            return literal(value, type_)
        kind = _type_of(value, type_)
        if kind is None:
            return literal(value, type_)
        return self._parameter(name, kind, _yaml(value, kind), description)

    def several(self, values: tuple[Constant, ...], type_: SparkType | None, name: str, words: str) -> exp.Expr | None:
        """A list of values as one parameter; None: they are to be literals."""
        values = tuple(_as_compared(value, type_) for value in values)
        kinds = {_type_of(value, type_) for value in values}
        kind = next(iter(kinds)) if len(kinds) == 1 else None
        if not self.parametrise or kind is None or any(isinstance(value, bool) for value in values):
            return None
        return self._parameter(name, f"array<{kind}>", [_yaml(value, kind) for value in values], words)

    def _parameter(self, name: str, kind: str, default: Any, description: str) -> exp.Expr:
        wanted = Parameter(type=kind, default=default, description=description)
        free, number = name, 2
        while free in self.params and self.params[free] != wanted:
            free, number = f"{name}_{number}", number + 1
        self.params[free] = wanted
        return exp.Placeholder(this=free)


def fitted(value: Constant, type_: SparkType) -> Constant | None:
    """The value as one that is compared with values of a type; None: it is none of that kind.

    A Request that was stored as JSON has numbers and times as text.
    """
    if type_.kind == "boolean":
        return value if isinstance(value, bool) else {"true": True, "false": False}.get(str(value).lower())
    if isinstance(value, bool):
        return None
    if type_.kind == "string":
        return value
    if type_.numeric:
        return _as_number(value) if isinstance(value, str) else None if isinstance(value, date) else value
    if type_.kind in _TIMES:
        return _as_time(value) if isinstance(value, str) else value if isinstance(value, date) else None
    return None


def _as_compared(value: Constant, type_: SparkType | None) -> Constant:
    found = fitted(value, type_) if type_ is not None else None
    return value if found is None else found


def _as_number(text: str) -> Decimal | None:
    try:
        found = Decimal(text)
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def _as_time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def literal(value: Constant, type_: SparkType | None) -> exp.Expr:
    """The shortest literal that Spark compares with a value of `type_` as people mean it."""
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, datetime | date) or (isinstance(value, str) and type_ is not None and type_.kind in _TIMES):
        kind = type_.kind if type_ is not None and type_.kind in _TIMES else _time_type(value)
        if kind == "date" and isinstance(value, datetime) and value.time() != datetime.min.time():
            kind = "timestamp"
        return typed_literal("value", kind, value, Location(""))
    if isinstance(value, int | Decimal):
        if type_ is not None and type_.kind == "string":
            return exp.Literal.string(_number_text(value))
        return number(value)
    return exp.Literal.string(value)


def number(value: int | Decimal) -> exp.Expr:
    """A number as Spark writes it: exact, without an exponent."""
    text = _number_text(value)
    found = exp.Literal.number(text.removeprefix("-"))
    return exp.Neg(this=found) if text.startswith("-") else found


def number_type(value: int | Decimal) -> SparkType:
    """The type that Spark gives such a number."""
    text = _number_text(value).removeprefix("-")
    whole, _, fraction = text.partition(".")
    if fraction:
        digits = len(whole.lstrip("0")) + len(fraction)
        return SparkType("decimal", max(digits, len(fraction)), len(fraction))
    return _INT if int(whole) < 2**31 else SparkType("bigint")


def _number_text(value: int | Decimal) -> str:
    if isinstance(value, int):
        return str(value)
    return format(value.quantize(Decimal(1)) if value == value.to_integral_value() else value.normalize(), "f")


def _type_of(value: Constant, type_: SparkType | None) -> str | None:
    if isinstance(value, datetime | date):
        if type_ is not None and type_.kind in {"timestamp", "timestamp_ntz"}:
            return type_.kind
        whole = not isinstance(value, datetime) or value.time() == datetime.min.time()
        return "date" if type_ is not None and type_.kind == "date" and whole else _time_type(value)
    if isinstance(value, str):
        return type_.kind if type_ is not None and type_.kind in {"string", *_TIMES} else "string"
    if type_ is not None and type_.kind in {"float", "double"}:
        return "double"
    if type_ is not None and type_.kind == "string":
        return "string"
    whole_number = value == int(value)
    if whole_number and (type_ is None or type_.integral):
        kind = type_.kind if type_ is not None else "bigint"
        return kind if abs(int(value)) < 2 ** _INT_BITS[kind] else "bigint"
    scale = max(_scale(value), type_.scale if type_ is not None and type_.kind == "decimal" else 0)
    digits = max(len(str(abs(int(value)))) + scale, 18)
    return f"decimal({min(digits, DECIMAL_DIGITS)},{scale})"


def _scale(value: int | Decimal) -> int:
    return len(_number_text(value).partition(".")[2])


def _time_type(value: Constant) -> str:
    return "timestamp" if isinstance(value, datetime | str) else "date"


def _yaml(value: Constant, kind: str) -> Any:
    """The value as a header has it."""
    if isinstance(value, datetime):
        text = (value.astimezone(UTC) if value.tzinfo else value).replace(tzinfo=None).isoformat(sep=" ")
        return text.partition(" ")[0] if kind == "date" else text
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal | int) and not isinstance(value, bool):
        if kind == "string":
            return _number_text(value)
        if kind == "double":
            return float(value)
        return int(value) if value == int(value) else _number_text(Decimal(value))
    return value
