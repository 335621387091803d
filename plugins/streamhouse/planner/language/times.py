"""Which time a wish means, and conditions on it."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Literal

from streamhouse.planner.catalog import CatalogColumn
from streamhouse.planner.language.bench import Bench
from streamhouse.planner.language.draft import Lasting, Noun, When
from streamhouse.planner.language.empty_columns import may_be_empty
from streamhouse.planner.language.numbers import Quantity
from streamhouse.planner.language.offered_times import condition_choices
from streamhouse.planner.language.place import NotPlacedError, Placed, PlaceFinder, RefusedError, UnclearError
from streamhouse.planner.language.scope import TIMES, default_time, is_year
from streamhouse.planner.language.tokens import stem, stems
from streamhouse.planner.language.units import Unit
from streamhouse.planner.language.words import LIGHT_STEMS, NEGATED
from streamhouse.planner.request import (
    AnyOf,
    Between,
    ColumnRef,
    Comparator,
    Condition,
    Cut,
    During,
    Filter,
)


def time_column(
    bench: Bench, noun: Noun | None, phrase: str, choices: Callable[[Iterable[str]], tuple[str, ...]] = tuple
) -> Placed:
    """The time column that a noun names; without one, the default of the base or of the nearest table it reaches.

    Of several tables at the same distance only those count whose rows are events: the day on which an article left the
    catalogue is no time of an order line.

    Args:
        bench: With the base.
        noun: Names the column; None: no word does.
        phrase: What the time is of, in the words of the wish.
        choices: Columns → what may take the place of the phrase, if there are several.

    Raises:
        NotPlacedError: there is none.
        UnclearError: there are several.
    """
    places = bench.places
    if noun is not None:
        if places.columns(noun, want="time"):
            return places.column(noun, want="time")
        for reach in places.scope.reaches.values():
            named = any(s.kind == "table" and s.table == reach.table.name for s in noun.head.senses)
            column = default_time(reach.table) if named else None
            if column:
                return place_at(places, reach.role, column)
        raise NotPlacedError(noun.text, "it is no time")
    if places.time is not None:
        return places.time
    for depth in range(4):
        found_here = []
        for reach in places.scope.reaches.values():
            if reach.depth == depth and any(column.type in TIMES for column in reach.table.columns):
                column = default_time(reach.table)
                if column is None:
                    times_here = [c for c in reach.table.columns if c.type in TIMES]
                    begins = [c for c in times_here if not _ends(c)]
                    if len(begins) == 1:
                        column = begins[0]
                        places.assume(f"the time of a row of {reach.table.name} is {column.name}")
                if column is None:
                    if depth == 0:
                        names = [f"{reach.table.name}.{c.name}" for c in times_here]
                        text = f"which time counts for '{phrase}': {' or '.join(names)}?"
                        raise UnclearError(text, phrase, choices(names))
                    continue
                found_here.append((reach.role, column))
        if len(found_here) > 1:
            found_here = [one for one in found_here if places.scope.reaches[one[0]].table.event_time] or found_here
        if found_here:
            role, column = found_here[0]
            if len(found_here) > 1:
                names = [f"{places.scope.reaches[r].table.name}.{c.name}" for r, c in found_here]
                raise UnclearError(f"which time counts for '{phrase}'?", phrase, choices(names))
            places.cost += 0.8 * depth
            if depth:
                places.assume(f"the time of a row is {places.scope.reaches[role].table.name}.{column.name}")
            return place_at(places, role, column)
    raise NotPlacedError(phrase, f"{bench.base.name} has no time")


_ENDING = """end close finish solve resolve complete return pay done cancel update delete leave left restore stop
    arrive until expire expiry"""
_ENDS = frozenset(stem(word) for word in _ENDING.split())


def _ends(column: CatalogColumn) -> bool:
    """Whether a time says when something was over."""
    return bool(_ENDS & set(stems(column.name))) or may_be_empty(column)


def place_at(places: PlaceFinder, role: str, column: CatalogColumn) -> Placed:
    """A column of a role as a place."""
    return Placed(ColumnRef(column=column.name, role=role), places.scope.reaches[role], column, 0.0)


def when(bench: Bench, clause: When) -> list[Filter]:
    """The conditions that a time puts on rows.

    Raises:
        RefusedError: the column has no such time, or the condition cannot be denied.
        UnclearError: the words may mean several periods.
    """
    period = clause.period
    if period.unclear:
        raise UnclearError(period.unclear, clause.phrase, period.choices)
    noun = Noun(clause.of) if clause.of is not None else None
    if noun is not None and _light(noun) and all(one.of.role for one in bench.places.columns(noun, want="time")):
        noun = None  # "payments made on Mondays": the time of the payment, though a booking may be "made", too
    if noun is not None:
        years = [one for one in bench.places.columns(noun) if is_year(one.column)]
        if years and not bench.places.columns(noun, want="time"):
            return _in_years(bench, clause, years[0])
    placed = time_column(bench, noun, clause.phrase, lambda names: condition_choices(clause.phrase, names))
    of = bench.places.use(placed)
    bench.places.note(clause.phrase, f"{placed.name} {_clause_text(clause)}")
    if period.assumption:
        bench.places.assume(period.assumption)
    if period.calendar:
        if period.grain.value == "hour_of_day" and placed.column.type == "date":
            raise RefusedError(f"{placed.name} is a date: it has no time of day")
        values = tuple(period.calendar)
        operator: Comparator = "in" if len(values) > 1 else "="
        if clause.negated:
            operator = "not in" if len(values) > 1 else "<>"
        return [Condition(left=Cut(of=of, grain=period.grain), operator=operator, values=values)]
    if period.within is not None:
        if clause.negated:
            raise RefusedError(f"'{clause.phrase}' with 'not' cannot be read")
        return [During(of=of, within=period.within, unit=period.grain)]
    if not clause.negated:
        return [During(of=of, since=period.since, until=period.until)]
    parts: list[Filter] = []
    if period.since:
        parts.append(During(of=of, until=period.since))
    if period.until:
        parts.append(During(of=of, since=period.until))
    if noun is not None and placed.column.nullable and placed.column.name != placed.reach.table.event_time:
        parts.append(Condition(left=of, operator="is null"))  # what was never renovated was not renovated in 2020
    return [AnyOf(of=tuple(parts))] if len(parts) > 1 else parts


def _light(noun: Noun) -> bool:
    return len(noun.head.words) == 1 and stem(noun.head.words[0]) in LIGHT_STEMS


def _clause_text(clause: When) -> str:
    period = clause.period
    if period.calendar:
        return f"has {period.grain.value.replace('_', ' ')} {', '.join(map(str, period.calendar))}"
    if period.within:
        return f"within the last {period.within} {period.grain.value}s"
    parts = [
        f"from {_date(period.since)}" if period.since else "",
        f"before {_date(period.until)}" if period.until else "",
    ]
    return ("not " if clause.negated else "") + " ".join(part for part in parts if part)


def _date(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d") if moment.time() == datetime.min.time() else moment.isoformat(" ")


def _in_years(bench: Bench, clause: When, placed: Placed) -> list[Filter]:
    of = bench.places.use(placed)
    period, found = clause.period, []
    for moment, operator in ((period.since, ">="), (period.until, "<")):
        if moment is not None:
            if (moment.month, moment.day) != (1, 1):
                raise RefusedError(f"{placed.name} is a year: it cannot be compared with '{clause.phrase}'")
            found.append(Condition(left=of, operator=operator, values=(moment.year,)))
    if not found:
        raise RefusedError(f"{placed.name} is a year: it cannot be compared with '{clause.phrase}'")
    bench.places.note(clause.phrase, f"{placed.name} {_clause_text(clause)}")
    if not clause.negated:
        return list(found)
    denied = [one.model_copy(update={"operator": NEGATED[one.operator]}) for one in found]
    return [AnyOf(of=tuple(denied))] if len(denied) > 1 else list(denied)


def whole_time(bench: Bench, role: str, unit: Unit) -> Between | None:
    """From the begin of a row to its end, where there is one of each."""
    table = bench.places.scope.reaches[role].table
    begin = default_time(table)
    ends = [c for c in table.columns if c.type in TIMES and c is not begin and _ends(c)]
    if begin is None or len(ends) != 1 or unit.measures != "time":
        return None
    return Between(
        first=ColumnRef(column=begin.name, role=role),
        last=ColumnRef(column=ends[0].name, role=role),
        unit=_counted_in(unit),
    )


def _counted_in(unit: Unit) -> Literal["second", "minute", "hour", "day"]:
    """The unit that a time is counted in, of which another one is a multiple: days of weeks."""
    found = _COUNTED.get(unit.name)
    if found is None:
        raise RefusedError(f"a time cannot be counted in {unit.name}")
    return found


_COUNTED: dict[str, Literal["second", "minute", "hour", "day"]] = {
    "milliseconds": "second", "seconds": "second", "minutes": "minute", "hours": "hour", "days": "day", "weeks": "day",
}  # fmt: skip


def lasting(bench: Bench, of: Lasting, low: Quantity | None = None, unit: Unit | None = None) -> Between:
    """The time between two columns of a row.

    Raises:
        NotPlacedError: one of them is no time.
        RefusedError: the unit is none that times are counted or shown in.
        UnclearError: a number has no unit.
    """
    if unit is not None and unit.name not in {"seconds", "minutes", "hours", "days"}:
        raise RefusedError(f"a time is shown in seconds, minutes, hours or days, not in {unit.name}")
    if low is not None and low.unit is None:
        raise UnclearError(f"'{low.value}': in which unit of time?", str(low.value), (f"{low.value} days",))
    unit = unit or (low.unit if low else None)
    first = time_column(bench, of.first, "begin")
    last = _end_of(bench, first) if of.last is None else time_column(bench, of.last, "end")
    if first.of == last.of:
        raise NotPlacedError(last.name, "a time from a moment to itself is always 0")
    counted = _counted_in(unit) if unit else "hour"
    if _is_day_alone(first) != _is_day_alone(last) and counted != "day" and low is None:
        day = first if _is_day_alone(first) else last
        if unit:
            raise RefusedError(f"{day.name} has no time of day: the time from {first.name} to {last.name} is in days")
        counted = "day"
    return Between(first=bench.places.use(first), last=bench.places.use(last), unit=counted)


def _is_day_alone(placed: Placed) -> bool:
    return placed.column.type == "date"


def _end_of(bench: Bench, first: Placed) -> Placed:
    """The one time column that says when a row was over."""
    times = [c for c in first.reach.table.columns if c.type in TIMES and c.name != first.column.name]
    ends = [c for c in times if _ends(c)] or times
    if len(ends) != 1:
        raise NotPlacedError("duration", f"{first.reach.table.name} has no single end")
    bench.places.assume(f"it lasts from {first.name} to {ends[0].name}")
    return place_at(bench.places, first.of.role, ends[0])
