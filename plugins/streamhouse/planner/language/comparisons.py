"""From comparisons of a wish to conditions on rows."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import cast

from streamhouse.planner.catalog import CatalogColumn
from streamhouse.planner.language.bench import Bench, unit_of_column
from streamhouse.planner.language.draft import Compared, Figure, Lasting, Noun
from streamhouse.planner.language.hints import is_of_part
from streamhouse.planner.language.levels import COMMON_WORD
from streamhouse.planner.language.numbers import Quantity
from streamhouse.planner.language.place import NotPlacedError, Placed, RefusedError, UnclearError
from streamhouse.planner.language.scope import is_number, spoken
from streamhouse.planner.language.times import lasting, place_at, whole_time
from streamhouse.planner.language.tokens import stem, stems
from streamhouse.planner.language.units import Unit, factor, unit_of
from streamhouse.planner.language.words import HINTS
from streamhouse.planner.request import (
    AnyOf,
    Between,
    Comparator,
    Condition,
    Constant,
    Cut,
    Filter,
    Grain,
    Scalar,
)


def compared(bench: Bench, clause: Compared) -> list[Filter]:
    """Conditions of a comparison of one row's value.

    Raises:
        NotPlacedError: a side is not placed in the tables.
        RefusedError: the two values cannot be compared.
    """
    if isinstance(clause.left, Lasting):
        return _bounded(lasting(bench, clause.left, clause.low), clause, None)
    if clause.left is None:
        return _implied(bench, clause)
    if isinstance(clause.left, Figure) and clause.left.function == "number" and isinstance(clause.left.noun, Noun):
        return compared(bench, replace(clause, left=clause.left.noun))
    if not isinstance(clause.left, Noun):
        raise NotPlacedError(clause.phrase)
    if isinstance(clause.right, Noun):
        want = "time" if bench.places.columns(clause.left, want="time") else "any"
        left, right = bench.places.column(clause.left, want=want), bench.places.column(clause.right, want=want)
        if is_number(left.column) != is_number(right.column) or _names_rows(left) != _names_rows(right):
            raise RefusedError(f"{left.name} and {right.name} cannot be compared")
        if clause.operator in {"=", "<>"} and {left.column.type, right.column.type} == {"date", "timestamp"}:
            raise RefusedError(f"{left.name} and {right.name}: a day and a moment are not equal")
        one, other = unit_of_column(left.column), unit_of_column(right.column)
        if one and other and factor(one, other) != 1:
            raise RefusedError(f"{left.name} is in {one.name} and {right.name} in {other.name}")
        bench.places.note(clause.phrase, f"{left.name} {clause.operator} {right.name}")
        return [_of_columns(bench, clause, left, right)]
    numbers = [one for one in bench.places.columns(clause.left, want="number") if not _names_rows(one)]
    if bench.places.is_base(clause.left.head) and (not numbers or numbers[0].cost > 0.5):
        numbers = []
    if not numbers:
        return _implied(bench, replace(clause, left=None, subject=clause.left))
    placed = bench.places.column(clause.left, want="number")
    if _names_rows(placed):
        raise NotPlacedError(clause.phrase, f"{placed.name} is a key")
    bench.places.note(clause.phrase, f"{placed.name} {clause.operator}")
    return _bounded(bench.places.use(placed), clause, placed)


def _of_columns(bench: Bench, clause: Compared, left: Placed, right: Placed) -> Condition:
    """A comparison of two columns; a moment beside a day is taken as its day, for the day itself is not over then."""
    one, other = (bench.places.use(placed) for placed in (left, right))
    operator = cast("Comparator", clause.operator)
    if left.column.type == "date" and right.column.type in _MOMENTS:
        return Condition(left=one, operator=operator, other=Cut(of=other, grain=Grain.DAY))
    if left.column.type in _MOMENTS and right.column.type == "date":
        return Condition(left=other, operator=_TURNED[operator], other=Cut(of=one, grain=Grain.DAY))
    return Condition(left=one, operator=operator, other=other)


_MOMENTS = frozenset({"timestamp", "timestamp_ntz"})
_TURNED: dict[Comparator, Comparator] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}


def _names_rows(placed: Placed) -> bool:
    return (
        placed.column.references is not None
        or placed.column.name in placed.reach.table.primary_key
        or (placed.column.name.endswith(("_id", "_key", "_no", "_code")))
    )


def _implied(bench: Bench, clause: Compared) -> list[Filter]:
    """The number that a unit or a comparative means, of the table of the subject."""
    unit = clause.low.unit if clause.low else None
    measures, words = HINTS.get(clause.hint, ((), ()))
    wanted = (unit.measures,) if unit else measures
    reading = _reading(bench) if not words and (unit is None) else None
    if reading is not None:
        if clause.subject is not None:
            bench.places.contexts(clause.subject.mentions)
        bench.places.note(clause.phrase, f"{reading.name} {clause.operator} {clause.low.value if clause.low else ''}")
        return _bounded(bench.places.use(reading), clause, reading)
    if not wanted and not words:
        raise NotPlacedError(clause.phrase, "it does not say what is compared")
    if clause.hint == "age" and unit is not None:
        raise UnclearError(f"'{clause.phrase}' depends on the day it is asked: since which date?", clause.phrase)
    subject = _subject_role(bench, clause.subject)
    table = bench.places.scope.reaches[subject].table
    found = []
    for column in table.columns:
        if not is_number(column) or column.references:
            continue
        own = unit_of_column(column)
        if (unit and own and factor(unit, own) is not None) or (not unit and own and own.measures in wanted):
            found.append(column)
    named = next((one for word in words if len(one := _said(found, (word,))) == 1), [])
    if len(found) > 1 and len(named) != 1 and unit and unit.measures == "money":
        named = _summed(bench, found) or _said(found, ("amount", "total", "price", "value", "revenue"))
    if not found and words and not unit:
        named = [c for c in table.columns if is_number(c) and any(stems(w)[0] in stems(c.name) for w in words)]
    found = named if len(named) == 1 else found or named
    if not found and unit and unit.measures == "time":
        between = whole_time(bench, subject, unit)
        if between:
            bench.places.note(clause.phrase, f"time from {between.first.column} to {between.last.column}")
            return _bounded(between, clause, None)
    if not found:
        raise NotPlacedError(clause.phrase, f"{table.name} has no such number")
    if len(found) > 1:
        found = _main(bench, subject, found) or found
    if len(found) > 1:
        choices = [f"{spoken(column.name)} {clause.phrase}" for column in found]
        raise UnclearError(
            f"'{clause.phrase}' may be about {' or '.join(c.name for c in found)}", clause.phrase, choices
        )
    if clause.hint == "long" and is_of_part(table, found[0]):
        said = spoken(found[0].name)
        raise UnclearError(f"'{clause.phrase}': {said}, or the time from begin to end?", clause.phrase, (said,))
    placed = place_at(bench.places, subject, found[0])
    bounded = _bounded(bench.places.use(placed), clause, placed)
    bench.places.note(clause.phrase, " and ".join(f"{placed.name} {said}" for said in _bounds_said(bounded)))
    return bounded


READINGS = frozenset({"value", "reading", "measurement", "measured_value", "reading_value", "val"})


def _reading(bench: Bench) -> Placed | None:
    """The one number of a table whose rows are readings."""
    columns = [c for c in bench.base.columns if c.name in READINGS and is_number(c)]
    return place_at(bench.places, "", columns[0]) if len(columns) == 1 else None


def _said(found: list[CatalogColumn], words: tuple[str, ...]) -> list[CatalogColumn]:
    """Columns whose name, or else a synonym, has one of some words."""
    wanted = {stem(word) for word in words}
    named = [column for column in found if wanted & set(stems(column.name))]
    return named or [c for c in found if any(wanted & set(stems(synonym)) for synonym in c.synonyms)]


def _summed(bench: Bench, found: list[CatalogColumn]) -> list[CatalogColumn]:
    """Columns that the figures of the wish add up."""
    texts = [bench.base.measures[m.named].sql if m.named else repr(m.of) for m in bench.measures]
    summed = [c for c in found if any(c.name.upper() in text.upper() for text in texts)]
    return summed if len(summed) == 1 else []


def _main(bench: Bench, role: str, found: list[CatalogColumn]) -> list[CatalogColumn]:
    """Of several sums of money, the one that the only measure of money sums, when a wish says nothing else."""
    table = bench.places.scope.reaches[role].table
    sums = [m.sql.replace(" ", "").upper() for m in table.measures.values()]
    summed_columns = [c for c in found if any(f"SUM({c.name.upper()})" in sql for sql in sums)]
    return summed_columns if len(summed_columns) == 1 else []


def _subject_role(bench: Bench, subject: Noun | None) -> str:
    if subject is None:
        return ""
    for mention in subject.mentions:
        if bench.places.is_base(mention):
            return ""
        for sense in mention.senses:
            reaches = bench.places.scope.by_table.get(sense.table, []) if sense.kind == "table" else []
            if len(reaches) == 1 and sense.quality >= COMMON_WORD:
                return reaches[0].role
    raise NotPlacedError(subject.text)


def _bound(left: Scalar, operator: Comparator, value: Constant) -> Condition:
    return Condition(left=left, operator=operator, values=(value,))


def _bounded(left: Scalar, clause: Compared, placed: Placed | None) -> list[Filter]:
    assert clause.low is not None
    own = unit_of_column(placed.column) if placed else None
    if isinstance(left, Between):
        own = unit_of(left.unit)
    low = scaled(clause.low, own, clause.phrase, placed.name if placed else "")
    if clause.operator in {"between", "not between"}:
        assert clause.high is not None
        high = scaled(clause.high, own, clause.phrase, placed.name if placed else "")
        if low > high:
            raise RefusedError(f"'{clause.phrase}' is empty: {clause.low.value} is more than {clause.high.value}")
        if clause.operator == "between":
            return [_bound(left, ">=", low), _bound(left, "<=", high)]
        return [AnyOf(of=(_bound(left, "<", low), _bound(left, ">", high)))]
    return [Condition(left=left, operator=clause.operator, values=(low,))]


def _bounds_said(bounds: list[Filter]) -> Iterator[str]:
    """Bounds as a person writes them, without what they are of."""
    for bound in bounds:
        if isinstance(bound, Condition):
            yield f"{bound.operator} {', '.join(map(str, bound.values))}"
        elif isinstance(bound, AnyOf):
            yield " or ".join(_bounds_said(list(bound.of)))


def scaled(quantity: Quantity, own: Unit | None, phrase: str, name: str) -> int | Decimal:
    """A number of a wish in the unit of what it is compared with.

    Raises:
        RefusedError: the units measure different things.
        UnclearError: the wish names no unit and the column has cents.
    """
    value = quantity.value
    if quantity.unit:
        if own is None:
            if quantity.unit.measures not in {"money", "fraction"}:
                raise UnclearError(f"in which unit is {name}?", phrase)
        else:
            scale = factor(quantity.unit, own)
            if scale is None:
                raise RefusedError(f"'{phrase}' cannot be compared with {name}, which is in {own.name}")
            value *= scale
    elif own and own.name == "cents" and not quantity.unit and value:
        raise UnclearError(
            f"'{phrase}': {name} is in cents; is {value} dollars or cents meant?",
            phrase,
            (f"{phrase} dollars", f"{phrase} cents"),
        )
    return int(value) if value == value.to_integral_value() else value.normalize()
