"""Whether two results are equal for a person: columns matched by their values, rows as a multiset, numbers by value."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from itertools import combinations
from math import inf, isnan
from typing import Any

CLOSE = 1e-6  # relative
NOTHING = 1e-9  # a difference that small is rounding, whatever the numbers
_SHOWN = 5
Value = Any
Row = tuple[Value, ...]


@dataclass(frozen=True)
class Rows:
    """A result: names of columns, and rows in the order in which they came."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def column(self, place: int) -> list[Value]:
        """All values of one column."""
        return [row[place] for row in self.rows]


@dataclass(frozen=True)
class Rules:
    """What may differ; see `wish.Wish`.

    Attributes:
        labels: Names of columns that say which group a row is, and may come in addition.
        further: Any further column may come.
    """

    one_of: tuple[tuple[str, ...], ...] = ()
    optional: tuple[str, ...] = ()
    or_times: Mapping[str, float] = field(default_factory=dict)
    ordered: bool = False
    labels: Collection[str] = ()
    further: bool = False


def difference(reference: Rows, result: Rows, rules: Rules) -> str | None:
    """None when the result is right, else what differs first, in words.

    A column of the reference is looked for among the result's by its values alone, so names and order do not count.
    """
    if len(reference.rows) != len(result.rows):
        return (
            f"{len(result.rows)} rows instead of {len(reference.rows)}; {_rows_that_differ(reference, result, rules)}"
        )
    for wanted in _choices(reference.columns, rules):
        for places in _matches(reference, result, wanted, rules):
            further = [n for n in range(len(result.columns)) if n not in places]
            if rules.further or all(_is_label(result, n, rules) for n in further):
                return None
    lacking = [
        name
        for n, name in enumerate(reference.columns)
        if not any(_same_column(reference, n, result, m, rules) for m in range(len(result.columns)))
    ]
    if lacking:
        return f"no column has the values of {', '.join(lacking)}; {_rows_that_differ(reference, result, rules)}"
    return f"rows or further columns differ; {_rows_that_differ(reference, result, rules)}"


def _choices(columns: Sequence[str], rules: Rules) -> Iterator[tuple[int, ...]]:
    """Places of the reference's columns that a result must have, the most first."""
    grouped = {name for group in rules.one_of for name in group}
    droppable = [n for n, name in enumerate(columns) if name in rules.optional or name in grouped]
    for count in range(len(droppable) + 1):
        for dropped in combinations(droppable, count):
            left = {name for n, name in enumerate(columns) if n not in dropped}
            if all(left.intersection(group) for group in rules.one_of) and left:
                yield tuple(n for n in range(len(columns)) if n not in dropped)


def _matches(reference: Rows, result: Rows, wanted: Sequence[int], rules: Rules) -> Iterator[tuple[int, ...]]:
    """Ways to find the wanted columns in the result so that the rows are equal; places in the order of `wanted`."""
    candidates = [
        [m for m in range(len(result.columns)) if _same_column(reference, n, result, m, rules)] for n in wanted
    ]
    for places in _distinct(candidates):
        left, right = [], []
        for n, m in zip(wanted, places, strict=True):
            factor = _factor(reference, n, result, m, rules)
            ours = [_scaled(value, factor) for value in reference.column(n)]
            one, other = _comparable(ours, result.column(m))
            left.append(one)
            right.append(other)
        rows, found = list(zip(*left, strict=True)), list(zip(*right, strict=True))
        if rows == found if rules.ordered else Counter(rows) == Counter(found):
            yield places


def _distinct(candidates: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    if not candidates:
        yield ()
        return
    for place in candidates[0]:
        for rest in _distinct([[n for n in others if n != place] for others in candidates[1:]]):
            yield (place, *rest)


def _same_column(reference: Rows, n: int, result: Rows, m: int, rules: Rules) -> bool:
    return _factor(reference, n, result, m, rules) is not None


def _factor(reference: Rows, n: int, result: Rows, m: int, rules: Rules) -> float | None:
    """By what the reference's values are to be multiplied to give the result's; None: they are others."""
    ours, theirs = reference.column(n), result.column(m)
    more = rules.or_times.get(reference.columns[n])
    for factor in (1.0, *([more] if more else [])):
        one, other = _comparable([_scaled(value, factor) for value in ours], theirs)
        if Counter(one) == Counter(other):
            return factor
    return None


def _scaled(value: Value, factor: float | None) -> Value:
    return float(value) * factor if factor not in {None, 1.0} and _is_number(value) else value


def _is_label(result: Rows, place: int, rules: Rules) -> bool:
    """Whether a column only says again which group a row is: a text, or a column that is a key somewhere."""
    values = [value for value in result.column(place) if value is not None]
    return result.columns[place] in rules.labels or bool(values and all(isinstance(value, str) for value in values))


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _comparable(one: Sequence[Value], other: Sequence[Value]) -> tuple[list[Value], list[Value]]:
    """Both lists with values that can be hashed; numbers that are close have become the same one."""
    numbers = sorted({_number(value) for value in (*one, *other) if _is_number(value)})
    same: dict[float, float] = {}
    previous = first = None
    for number in numbers:
        near = previous is not None and number - previous <= max(NOTHING, CLOSE * max(abs(number), abs(previous)))
        first = first if near else number
        same[number] = first if first is not None else number
        previous = number
    return [_plain(value, same) for value in one], [_plain(value, same) for value in other]


def _number(value: Value) -> float:
    number = float(value)
    return inf if isnan(number) else number  # NaN would not equal itself


def _plain(value: Value, same: Mapping[float, float]) -> Value:
    if _is_number(value):
        return "number", same[_number(value)]
    if isinstance(value, datetime):
        return "time", value.replace(tzinfo=None)
    if isinstance(value, date):  # the begin of that day
        return "time", datetime.combine(value, time())
    return repr(value) if isinstance(value, list | dict) else value


def _rows_that_differ(reference: Rows, result: Rows, rules: Rules) -> str:
    """The first rows of each that the other lacks, in the columns that both seem to have; for a person."""
    pairs: list[tuple[int, int]] = []
    for n, name in enumerate(reference.columns):
        free = [m for m in range(len(result.columns)) if m not in {taken for _, taken in pairs}]
        same = [m for m in free if _same_column(reference, n, result, m, rules)]
        named = [m for m in free if result.columns[m] == name]
        pairs += [(n, m) for m in (same or named)[:1]]
    if pairs:
        columns = [_comparable(reference.column(n), result.column(m)) for n, m in pairs]
        ours = Counter(zip(*(one for one, _ in columns), strict=True))
        theirs = Counter(zip(*(other for _, other in columns), strict=True))
        left = _lacking(reference, [n for n, _ in pairs], columns, 0, ours - theirs)
        right = _lacking(result, [m for _, m in pairs], columns, 1, theirs - ours)
        if left.rows or right.rows:
            return f"only the reference has {_head(left)}; only the result has {_head(right)}"
    return f"reference {_head(reference)}; result {_head(result)}"


def _lacking(
    rows: Rows,
    places: Sequence[int],
    columns: Sequence[tuple[list[Value], list[Value]]],
    side: int,
    lacking: Counter[tuple[Value, ...]],
) -> Rows:
    keys = zip(*(pair[side] for pair in columns), strict=True)
    found = [tuple(row[n] for n in places) for key, row in zip(keys, rows.rows, strict=True) if lacking[key] > 0]
    return Rows(tuple(rows.columns[n] for n in places), tuple(found))


def _head(rows: Rows) -> str:
    shown = sorted((tuple(map(_shown, row)) for row in rows.rows), key=repr)[:_SHOWN]
    return f"({', '.join(rows.columns)}): {'; '.join(', '.join(row) for row in shown) or 'none'}"


def _shown(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:.10g}"
    return str(value)
