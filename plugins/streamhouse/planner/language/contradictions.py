"""Conditions that no row can meet."""

from datetime import datetime, timedelta
from decimal import Decimal

from streamhouse.planner.request import (
    Arithmetic,
    Banded,
    Between,
    Block,
    ColumnRef,
    Condition,
    Cut,
    During,
    Filter,
    Grain,
    Scalar,
)


def contradiction(block: Block) -> str:
    """Why no row, or no group, can meet all conditions of a block, in words; empty: some may."""
    if block.inner is not None:
        found = contradiction(block.inner)
        if found:
            return found
    return _of(block.filters) or _of(block.having) or _parts(block)


def _parts(block: Block) -> str:
    """A part of a share that the conditions on all rows leave out: "dogs" of "cats and rabbits"."""
    for measure in block.measures:
        found = _of((*block.filters, *measure.where)) if measure.where else ""
        if found:
            return f"a part of the share is always empty: {found}"
    return ""


def _of(filters: tuple[Filter, ...]) -> str:
    by_side: dict[str, list[Condition]] = {}
    times: dict[str, list[During]] = {}
    for one in filters:
        if isinstance(one, Condition) and one.other is None:
            by_side.setdefault(repr(one.left), []).append(one)
        elif isinstance(one, During):
            times.setdefault(repr(one.of), []).append(one)
    for conditions in by_side.values():
        found = _values(conditions) or _bounds(conditions) or _nulls(conditions)
        if found:
            return found
    found = _no_time(filters, times)
    if found:
        return found
    for spans in times.values():
        since = max((one.since for one in spans if one.since), default=datetime.min)
        until = min((one.until for one in spans if one.until), default=datetime.max)
        if since >= until:
            return f"{_name(spans[0].of)} cannot be both since {since:%Y-%m-%d} and before {until:%Y-%m-%d}"
        found = _months(filters, spans[0].of, since, until)
        if found:
            return found
    return ""


def _no_time(filters: tuple[Filter, ...], times: dict[str, list[During]]) -> str:
    """A time that is empty, and lies in a period or at a part of the calendar: "still open and cleared in May"."""
    empty = [one.left for one in filters if isinstance(one, Condition) and one.operator == "is null"]
    cut = {repr(one.left.of) for one in filters
           if isinstance(one, Condition) and isinstance(one.left, Cut) and one.operator in _WITH_VALUE}  # fmt: skip
    for left in empty:
        if repr(left) in times or repr(left) in cut:
            return f"{_name(left)} cannot be empty and have a value at once"
        for one in filters:
            if isinstance(one, Condition) and one.operator != "is null" and left in _columns(one):
                lasting = isinstance(one.left, Between)
                until = ": how long something has gone on until today cannot be planned" if lasting else ""
                return f"{_name(left)} cannot be empty and be compared at once{until}"
    return ""


def _columns(condition: Condition) -> list[Scalar]:
    """The columns that a condition computes with, or compares with each other."""
    plain = isinstance(condition.left, ColumnRef) and condition.other is None
    found: list[Scalar] = []
    pending = [] if plain else [condition.left, condition.other]
    while pending:
        part = pending.pop()
        if isinstance(part, ColumnRef):
            found.append(part)
        elif isinstance(part, Between):
            pending += [part.first, part.last]
        elif isinstance(part, Arithmetic):
            pending += [part.left, part.right]
        elif isinstance(part, Cut | Banded):
            pending.append(part.of)
    return found


_WITH_VALUE = frozenset({"=", "in", "<", "<=", ">", ">=", "is not null"})


def _months(filters: tuple[Filter, ...], of: ColumnRef, since: datetime, until: datetime) -> str:
    """Months of the year that a range of time does not have."""
    if datetime.min in (since, until) or datetime.max in (since, until) or until - since >= timedelta(days=366):
        return ""
    days = ((since + timedelta(days=number)).month for number in range((until - since).days))
    within = {*days, since.month, (until - timedelta(microseconds=1)).month}
    month = Cut(of=of, grain=Grain.MONTH_OF_YEAR)
    for one in filters:
        if isinstance(one, Condition) and one.operator in {"=", "in"} and one.left == month:
            named = {value for value in one.values if isinstance(value, int)}
            if not named & within:
                months = " or ".join(str(value) for value in sorted(named))
                return f"no row can be of month {months} and in {since:%Y-%m-%d} to {until:%Y-%m-%d}"
    return ""


def _values(conditions: list[Condition]) -> str:
    allowed = [(one, set(one.values)) for one in conditions if one.operator in {"=", "in"}]
    barred = {value for one in conditions if one.operator in {"<>", "not in"} for value in one.values}
    if not allowed:
        return ""
    left = set.intersection(*(values for _, values in allowed))
    if left - barred:
        return ""
    named = sorted({str(value) for one in conditions for value in one.values})
    return f"{_name(conditions[0].left)} cannot be {' and '.join(named)} at once" + (" and not be it" if barred else "")


def _bounds(conditions: list[Condition]) -> str:
    low: tuple[Decimal, bool] | None = None
    high: tuple[Decimal, bool] | None = None
    for one in conditions:
        if (
            len(one.values) != 1
            or isinstance(one.values[0], str | bool | datetime)
            or not isinstance(one.values[0], int | Decimal)
        ):
            continue
        value = Decimal(one.values[0])
        if one.operator in {">", ">=", "="}:
            low = max(low or (value, False), (value, one.operator == ">"))
        if one.operator in {"<", "<=", "="}:
            strict = one.operator == "<"
            high = (value, strict) if high is None or (value, not strict) < (high[0], not high[1]) else high
    if low is None or high is None or low[0] < high[0] or (low[0] == high[0] and not (low[1] or high[1])):
        return ""
    return f"no row can have {_name(conditions[0].left)} above {low[0]} and below {high[0]}"


def _nulls(conditions: list[Condition]) -> str:
    operators = {one.operator for one in conditions}
    if "is null" in operators and operators - {"is null"}:
        return f"{_name(conditions[0].left)} cannot be empty and have a value at once"
    return ""


def _name(left: Scalar | str) -> str:
    if isinstance(left, str):
        return left
    return getattr(left, "column", None) or getattr(getattr(left, "of", None), "column", None) or "a value"
