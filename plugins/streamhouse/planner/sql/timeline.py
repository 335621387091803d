"""Which dimension orders the groups of a result in time, and how long its periods are."""

from collections.abc import Mapping

from streamhouse.planner.request import Dimension, Grain
from streamhouse.planner.sql.scope import Value
from streamhouse.planner.sql.windows import Timeline

_FINE = tuple(Grain)
_TIMES = frozenset({"date", "timestamp", "timestamp_ntz"})


def timeline_of(dimensions: tuple[Dimension, ...], values: Mapping[str, Value]) -> Timeline | None:
    """The time among dimensions: cuts before plain columns, periods before parts of the calendar, fine before coarse.

    Args:
        dimensions: Of the block.
        values: What stands for them, by name.
    """
    found: list[tuple[int, int, Timeline]] = []
    for dimension in dimensions:
        value = values[dimension.name]
        grain = value.grain or _grain_by_name(dimension.name, value)
        if grain is not None:
            place = (1 if grain.comes_again else 0, _FINE.index(grain))
            found.append((*place, Timeline(dimension.name, value, grain)))
    return min(found, key=lambda one: one[:2])[2] if found else None


def _grain_by_name(name: str, value: Value) -> Grain | None:
    """Of a column that no cut made: a date has days; of others a word of the name decides."""
    timed = value.type is not None and value.type.kind in _TIMES
    whole = value.type is not None and value.type.integral
    words = name.lower().split("_")
    named = [grain for grain in Grain if not grain.comes_again and grain.value in words]
    if timed or (whole and named):
        kind = value.type.kind if value.type is not None else ""
        return named[0] if named else (Grain.DAY if kind == "date" else None)
    return None
