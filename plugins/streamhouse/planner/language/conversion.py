"""Numbers of columns in the unit that a wish names."""

import re
from decimal import Decimal

from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.place import Placed, RefusedError, UnclearError
from streamhouse.planner.language.units import Unit, factor
from streamhouse.planner.request import Arithmetic, ColumnRef, Number, Scalar


def valid(name: str) -> str:
    """A text as a name of a column."""
    return re.sub(r"[^a-z0-9_]", "_", name.lower())


def in_unit(of: Scalar, name: str, own: Unit | None, wanted: Unit, placed: Placed) -> tuple[Scalar, str, str]:
    """A column's scalar in another unit, with the name and the unit of the result.

    Raises:
        RefusedError: its unit measures something else.
        UnclearError: nobody says its unit.
    """
    if own is None:
        if wanted.measures == "money":
            return of, name, wanted.name
        raise UnclearError(f"in which unit is {placed.name}?", placed.name)
    scale = factor(own, wanted)
    if scale is None:
        raise RefusedError(f"{placed.name} is in {own.name} and cannot be given in {wanted.name}")
    if scale == 1:
        return of, name, wanted.name
    short = name.rsplit("_", 1)[0] if name.count("_") else name
    changed: Scalar
    if scale < 1:
        changed = Arithmetic(left=of, operator="/", right=Number(value=_plain(wanted.scale / own.scale)))
    else:
        changed = Arithmetic(left=of, operator="*", right=Number(value=_plain(scale)))
    return changed, f"{short}_{valid(wanted.name)}", wanted.name


def shown_in(of: ColumnRef, placed: Placed, unit: Unit | None) -> Scalar:
    """A column of listed rows in the unit that a wish names."""
    return in_unit(of, placed.column.name, unit_of_column(placed.column), unit, placed)[0] if unit else of


def _plain(value: Decimal) -> Decimal:
    return Decimal(int(value)) if value == value.to_integral_value() else value
