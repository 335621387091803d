"""From numbers that a wish asks for to measures and derived numbers of a block."""

import re
from collections.abc import Callable

from streamhouse.planner.language.bench import Bench, unit_of_column
from streamhouse.planner.language.comparisons import READINGS
from streamhouse.planner.language.conditions import filters_of, leftover_filters
from streamhouse.planner.language.conversion import in_unit, valid
from streamhouse.planner.language.draft import Figure, Lasting, Noun
from streamhouse.planner.language.hints import hinted
from streamhouse.planner.language.levels import COMMON_WORD, LAST_WORD, NEARLY_NAME, WHOLE_NAME
from streamhouse.planner.language.lexicon import Sense
from streamhouse.planner.language.mentions import mentions_of
from streamhouse.planner.language.named_measures import (
    adds_up,
    counts_things,
    folds_as,
    is_only_summed,
    is_plural_flag,
    is_price,
    is_used_up,
    named_measure,
    says_number,
    says_unit,
)
from streamhouse.planner.language.none_there import refuse_empty_parts
from streamhouse.planner.language.place import NotPlacedError, Placed, RefusedError, UnclearError, counts, is_participle
from streamhouse.planner.language.plain_folds import fold_in_units, measure_of_column
from streamhouse.planner.language.scope import (
    TIMES,
    default_time,
    is_key_like,
    is_number,
    is_quantity,
    key_column,
)
from streamhouse.planner.language.times import lasting
from streamhouse.planner.language.tokens import singular
from streamhouse.planner.language.twice_meant import refuse_done_to, refuse_twice_meant
from streamhouse.planner.language.unit_figures import implied_column, own_length
from streamhouse.planner.language.units import unit_of
from streamhouse.planner.request import Arithmetic, ColumnRef, Filter, Measure, Scalar

_NAMES = {
    "sum": "total",
    "avg": "average",
    "min": "lowest",
    "max": "highest",
    "median": "median",
    "stddev": "stddev",
    "percentile": "percentile",
}


def measured(bench: Bench, figure: Figure, *, hidden: bool = False, where: tuple[Filter, ...] = ()) -> str:
    """Add the measure that a number needs; its name.

    Raises:
        NotPlacedError, UnclearError, RefusedError: it cannot be placed, may mean several things, or cannot be.
    """
    own = [found for clause in figure.where for found in filters_of(bench, clause)]
    measure = _measure(bench, figure)
    around = leftover_filters(bench)
    if len(bench.draft.figures) > 1 and not hidden:
        own += around
    else:
        bench.filters += [one for one in around if one not in bench.filters]
    measure = measure.model_copy(update={"where": (*where, *own)})
    name = bench.measure(measure, hidden=hidden)
    if figure.phrase:
        bench.places.note(figure.phrase, _described(bench, measure))
    return name


def _described(bench: Bench, measure: Measure) -> str:
    if measure.named:
        return f"measure {measure.named} of {bench.base.name}"
    if measure.of is None:
        return f"count of rows of {bench.base.name}"
    text = measure.of.column if isinstance(measure.of, ColumnRef) else measure.name
    return f"{measure.function} of {text}"


def _measure(bench: Bench, figure: Figure) -> Measure:
    if isinstance(figure.noun, Lasting):
        if (own := own_length(bench, figure)) is not None:
            return _of_scalar(figure, own.of, own.column.name, own)
        return _of_scalar(figure, lasting(bench, figure.noun, unit=figure.unit), "duration", None)
    if figure.function == "rows":
        bench.places.assume(f"'{figure.phrase}' counts rows of {bench.base.name}")
        return Measure(name="row_count")
    if figure.function == "vague":
        raise UnclearError(f"'{figure.phrase}': by which figure?", figure.phrase, _figures(bench))
    if figure.function == "implied":
        placed = implied_column(bench, figure)
        bench.places.assume(f"'{figure.phrase}' is the sum of {placed.name}")
        return _of_scalar(Figure("sum", unit=figure.unit), placed.of, placed.column.name, placed)
    if figure.noun is None:
        raise NotPlacedError(figure.phrase)
    if figure.hint:
        return _of_hint(bench, figure, figure.noun)
    if figure.other is not None:
        return _computed(bench, figure)
    rule = _RULES.get(figure.function, _aggregated)
    found = rule(bench, figure, figure.noun)
    if figure.unit and figure.unit.measures != "fraction" and found.function.startswith("count") and not found.named:
        if figure.function == "count":
            raise UnclearError(f"'{figure.phrase}' has no {figure.unit.name}: which figure is wanted?", figure.phrase)
        placed = implied_column(bench, figure)  # "unpaid fines in euros" are no number of fines
        bench.places.assume(f"'{figure.phrase}' is the sum of {placed.name}")
        return _of_scalar(Figure("sum", unit=figure.unit), placed.of, placed.column.name, placed)
    return found


def _figures(bench: Bench) -> tuple[str, ...]:
    """What the base can be ranked by, in words that are read."""
    return tuple(f"with the highest {name}" for name in _numbers_of(bench))


def _numbers_of(bench: Bench) -> tuple[str, ...]:
    names = [*bench.base.measures, *(c.name for c in bench.base.columns if is_quantity(c) and adds_up(c))]
    return tuple(name.removesuffix("_cents").replace("_", " ") for name in names)[:4]


def _of_hint(bench: Bench, figure: Figure, noun: Noun) -> Measure:
    """The extreme of the one number of the base that a superlative is about: the price of "the cheapest stay"."""
    if not bench.places.is_base(noun.head):
        raise NotPlacedError(figure.phrase)
    bench.places.take_base(noun.head)
    bench.places.contexts(noun.around)
    placed = hinted(bench, figure.hint, figure.phrase)
    return _of_scalar(figure, placed.of, placed.column.name, placed)


# -- counts -------------------------------------------------------------------------------------------------------


def _count(bench: Bench, figure: Figure, noun: Noun) -> Measure:
    """Rows of the base where the noun names them; else how many different keys they point to."""
    places = bench.places
    direct = _counts_rows(bench, noun)
    sense = named_measure(bench, noun)
    if (
        direct is None
        and sense
        and sense.quality >= WHOLE_NAME
        and folds_as(bench, sense) in {"sum", "count", "count distinct"}
    ):
        return _named(bench, figure, noun, sense)  # "number of nights sold"
    distinct = places.columns(noun, want="key")
    if direct is not None and not (distinct and distinct[0].cost + 1.0 < direct):
        refuse_done_to(bench, noun)
        places.cost += direct
        places.contexts(noun.around)
        return Measure(name=f"{_short(noun)}_count")
    number = places.columns(noun, want="number")
    value = noun.head.best_of("value")
    if (
        number
        and not _is_key(number[0])
        and number[0].cost < 9.5 - 10 * value
        and number[0].cost <= (distinct[0].cost if distinct else 99)
    ):
        placed = places.column(noun, want="number")
        plural_name = placed.column.type in {"int", "bigint"} and singular(placed.column.name) != placed.column.name
        if plural_name and not placed.of.role:
            places.assume(f"'{noun.text}' are added up from {placed.name}")
        elif not adds_up(placed.column) or placed.of.role:
            raise UnclearError(
                f"does '{noun.text}' mean how many there are, or the sum of {placed.name}?",
                noun.text,
                (f"total {noun.text}", f"number of different {noun.text}"),
            )
        return Measure(
            name=f"total_{placed.column.name}", function="sum", of=places.use(placed), unit=placed.column.unit
        )
    times = places.columns(noun, want="time")
    if times and times[0].cost <= (distinct[0].cost if distinct else 99):
        refuse_done_to(bench, noun)
        return _times_there(bench, noun, times[0])
    if distinct and not is_plural_flag(bench, noun):
        refuse_twice_meant(bench, noun)
        _no_sorts(bench, noun, distinct[0])
        return _distinct(bench, noun)
    if all(m.of_kind("value") and places.values(m) and not places.values(m)[0].of.role for m in noun.mentions):
        return _rows_with_value(bench, noun)
    raise NotPlacedError(noun.text)


def _times_there(bench: Bench, noun: Noun, placed: Placed) -> Measure:
    """As in "Signups" where `signup_at` says when each was: rows of the base that have that time."""
    if placed.of.role:
        raise NotPlacedError(noun.text)
    for mention in noun.around:
        bench.places.context(mention)
    bench.places.cost += placed.cost + 0.3
    if default_time(bench.base) == placed.column:
        return Measure(name=f"{_short(noun)}_count")
    return Measure(name=f"{_short(noun)}_count", function="count", of=bench.places.use(placed))


_PEOPLE = re.compile(r"(ers?|ors?|ists?|men|man|people|ents?|ants?|ees?)$")


def _rows_with_value(bench: Bench, noun: Noun) -> Measure:
    """As in "Crashes" where a row of the base may be a crash."""
    places = bench.places
    things = noun.head.tables(WHOLE_NAME)
    if things and noun.head.is_plural and bench.base.name not in things:
        raise NotPlacedError(noun.text, f"they are rows of {', '.join(sorted(things))}")
    if _PEOPLE.search(noun.head.words[-1]) and default_time(bench.base) and key_column(bench.base) is None:
        raise UnclearError(f"does '{noun.text}' mean people, or rows of {bench.base.name}?", noun.text)
    places.contexts(noun.mentions)
    places.assume(f"'{noun.text}' counts rows of {bench.base.name}")
    places.cost += 1.0
    return Measure(name=f"{_short(noun)}_count")


def _counts_rows(bench: Bench, noun: Noun) -> float | None:
    best: float | None = None
    for sense in noun.head.senses:
        if sense.table != bench.base.name or not (sense.kind == "table" or counts(bench.places.scope, sense)):
            continue
        if sense.kind == "table" and sense.quality < WHOLE_NAME and not _one_key(bench, sense):
            continue
        cost = (1 - sense.quality) * 10
        best = cost if best is None else min(best, cost)
    return best


def _one_key(bench: Bench, sense: Sense) -> bool:
    """Whether one row is one of what its key names, so that counting rows counts these."""
    return len(bench.base.primary_key) <= 1 and sense.quality >= COMMON_WORD


def _is_key(placed: Placed) -> bool:
    return is_key_like(placed.column) or placed.column.name in placed.reach.table.primary_key


def _distinct(bench: Bench, noun: Noun) -> Measure:
    places = bench.places
    placed = places.column(noun, want="key")
    key = placed.reach.role == "" and key_column(bench.base) == placed.column.name
    if key:
        places.cost += 0.0 if places.is_base(noun.head) else 1.2
        return Measure(name=f"{_short(noun)}_count")
    if placed.column.type == "boolean" or (is_number(placed.column) and not _is_key(placed)):
        raise NotPlacedError(noun.text)
    if placed.column.type in TIMES and any(mention.of_kind("table") for mention in noun.around):
        raise NotPlacedError(noun.text, f"they are no different {placed.name}")  # "different songs played"
    places.cost += 1.2
    return Measure(name=f"{_short(noun)}_count", function="count distinct", of=places.use(placed))


def _no_sorts(bench: Bench, noun: Noun, placed: Placed) -> None:
    """Values of a column are no things: "visitors" by a kind of visitor, "complaints about cold food" by what was cold.

    Raises:
        UnclearError: only a part of the name of the column is said, or the wish asks for some of its values.
    """
    place = (placed.reach.table.name, placed.column.name)
    senses = [s for s in noun.head.of_kind("column") if s.column == placed.column.name]
    part = bool(senses) and max(sense.quality for sense in senses) < LAST_WORD
    asked = mentions_of([bench.draft.filters, *noun.around])
    some = any((s.table, s.column) == place for one in asked for s in one.of_kind("value"))
    if placed.column.values and not placed.column.references and (part or some):
        text = f"'{noun.text}': the rows of {bench.base.name}, or different values of {placed.name}?"
        raise UnclearError(text, noun.text, (f"number of different {noun.text}",))


def _short(noun: Noun) -> str:
    word = singular(noun.head.words[-1]) if noun.head.words else "row"
    return word if re.fullmatch(r"[a-z][a-z0-9_]*", word) else "row"


# -- sums and others ------------------------------------------------------------------------------------------------


def _named(bench: Bench, figure: Figure, noun: Noun, sense: Sense) -> Measure:
    places = bench.places
    places.cost += (1 - sense.quality) * 10 - 0.5
    places.contexts(noun.around)
    defined = bench.base.measures[sense.measure]
    unit = unit_of(defined.unit) if defined.unit else None
    if figure.unit and unit is None and folds_as(bench, sense).startswith("count"):
        raise UnclearError(
            f"'{noun.text}' in {figure.unit.name}: {sense.measure} only counts; which figure is wanted?", noun.text
        )
    if figure.unit and unit and figure.unit.name != unit.name:
        converted = (
            None if unit.measures == "money" and figure.unit.name != "cents" else _converted(bench, figure, sense)
        )
        if converted is not None:
            return converted
        raise RefusedError(f"the measure {sense.measure} is in {defined.unit}, not in {figure.unit.name}")
    return Measure(name=sense.measure, named=sense.measure, unit=defined.unit)


def _converted(bench: Bench, figure: Figure, sense: Sense) -> Measure | None:
    """A fold of one column, or of two of one unit, in another unit than the measure has."""
    fold = fold_in_units(bench.base, sense.measure)
    if fold is None or figure.unit is None:
        return None
    column = bench.base.column(fold.columns[0])
    placed = Placed(ColumnRef(column=column.name), bench.places.scope.reaches[""], column, 0.0)
    plain = len(fold.columns) == 1 and unit_of(column.name) is None
    name = column.name if plain else sense.measure.removeprefix(f"{_NAMES[fold.function]}_")
    return _of_scalar(Figure(fold.function, unit=figure.unit), fold.of(), name, placed)


def _bare(bench: Bench, figure: Figure, noun: Noun) -> Measure:
    """A noun alone: a named measure, rows, or a number that people add up."""
    sense = named_measure(bench, noun)
    numbers = [one for one in bench.places.columns(noun, want="number") if not _is_key(one)]
    direct = _counts_rows(bench, noun)
    plural = noun.head.is_plural
    closer = direct is not None and sense is not None and direct + 0.5 < (1 - sense.quality) * 10
    rows = plural and closer  # "bills per month" are not what was billed
    if sense and not rows and (not numbers or sense.quality * 10 >= 10 - numbers[0].cost - 0.5):
        return _named(bench, figure, noun, sense)
    if direct is not None and (not numbers or direct < numbers[0].cost):
        return _count(bench, figure, noun)
    if numbers:
        placed = bench.places.column(noun, want="number")
        if _is_key(placed):
            raise NotPlacedError(noun.text)
        summed = adds_up(placed.column) or is_used_up(bench, placed, figure) or says_unit(noun)
        if is_price(bench, placed) or not (summed or counts_things(bench, noun, placed)):
            defined = "" if placed.of.role else measure_of_column(bench.base, placed.column.name)
            if defined:
                bench.places.assume(f"'{noun.text}' is the measure {defined} of {bench.base.name}")
                return _named(bench, figure, noun, Sense("measure", bench.base.name, measure=defined))
            raise UnclearError(
                f"which figure of '{noun.text}' do you want?", noun.text, (f"total {noun.text}", f"average {noun.text}")
            )
        bench.places.assume(f"'{noun.text}' is the sum of {placed.name}")
        return _of_scalar(Figure("sum", noun, unit=figure.unit), bench.places.use(placed), placed.column.name, placed)
    if direct is not None:
        return _count(bench, figure, noun)
    times = bench.places.columns(noun, want="time")
    if times and not noun.head.of_kind("table"):
        return _times_there(bench, noun, times[0])
    if noun.head.of_kind("value") and bench.places.values(noun.head):
        return _count(bench, figure, noun)
    raise NotPlacedError(noun.text)


def _aggregated(bench: Bench, figure: Figure, noun: Noun) -> Measure:
    sense = named_measure(bench, noun)
    function = figure.function
    if sense:
        folds = folds_as(bench, sense)
        if function == "sum" and folds == "count" and is_participle(noun.head):
            raise UnclearError(f"'{figure.phrase}': how many there are, or which sum?", figure.phrase, _figures(bench))
        if (function == "sum" and folds in {"sum", "count"}) or function == folds == "avg":
            return _named(bench, figure, noun, sense)
    numbers = bench.places.columns(noun, want="number")
    if not numbers and function != "sum":
        reading = _measured_value(bench, noun)
        if reading is not None:
            return _of_scalar(figure, bench.places.use(reading), f"{_short(noun)}_{reading.column.name}", reading)
    if not numbers or (_is_key(numbers[0]) and not says_number(noun)):
        if function == "sum" and (_counts_rows(bench, noun) is not None):
            _no_amounts(bench, noun)
            return _count(bench, figure, noun)
        return _not_a_number(bench, figure, noun)
    placed = bench.places.column(noun, want="number")
    if function == "sum" and placed.reach.role:
        raise NotPlacedError(noun.text, "a sum over joined rows counts some of them twice")
    return _of_scalar(figure, bench.places.use(placed), placed.column.name, placed)


def _no_amounts(bench: Bench, noun: Noun) -> None:
    """The total of rows that are amounts, such as fines: how many, or how much; a wish may mean both.

    Raises:
        UnclearError: as for "total unpaid fines".
    """
    amounts = [c for c in bench.base.columns if is_number(c) and "amount" in (c.name.split("_")[0], *c.synonyms)]
    if amounts:
        raise UnclearError(
            f"'total {noun.text}': how many, or the sum of {bench.base.name}.{amounts[0].name}?",
            noun.text,
            (f"number of {noun.text}", f"total {amounts[0].name.replace('_', ' ')}"),
        )


def _measured_value(bench: Bench, noun: Noun) -> Placed | None:
    """As in "Pressure" of a table with one number for all that is measured, and a column that says which it is."""
    columns = [c for c in bench.base.columns if c.name in READINGS and is_number(c)]
    if len(columns) != 1 or not (noun.head.of_kind("value") and bench.places.values(noun.head)):
        return None
    for mention in noun.mentions:
        bench.places.context(mention)
    return Placed(ColumnRef(column=columns[0].name), bench.places.scope.reaches[""], columns[0], 0.0)


_SIZES = frozenset("biggest largest highest greatest smallest lowest maximum minimum max min top".split())


def _not_a_number(bench: Bench, figure: Figure, noun: Noun) -> Measure:
    if figure.function in {"min", "max"}:
        sized = bool(set(figure.phrase.lower().split()) & _SIZES)
        if sized and any(s.quality >= NEARLY_NAME for s in noun.head.of_kind("table")):
            choices = tuple(f"{figure.phrase} by {name}" for name in _numbers_of(bench))
            raise UnclearError(f"'{figure.phrase}': by which figure?", figure.phrase, choices)
        times = bench.places.columns(noun, want="time")
        if times:
            placed = bench.places.column(noun, want="time")
            return _of_scalar(figure, bench.places.use(placed), placed.column.name, placed)
    found = bench.places.columns(noun)
    if found and figure.function in {"sum", "avg", "median", "stddev"} and not noun.head.of_kind("table", "measure"):
        raise RefusedError(f"there is no {_NAMES[figure.function]} of {found[0].name}: it is no number")
    raise NotPlacedError(noun.text)


def _of_scalar(figure: Figure, of: Scalar, name: str, placed: Placed | None) -> Measure:
    own = unit_of_column(placed.column) if placed else None
    unit = placed.column.unit if placed else (figure.unit.name if figure.unit else None)
    if figure.unit and placed:
        of, name, unit = in_unit(of, name, own, figure.unit, placed)
    function = figure.function or "sum"
    return Measure(
        name=valid(f"{_NAMES.get(function, function)}_{name}"),
        function=function,
        of=of,
        fraction=figure.fraction,
        unit=unit,
    )


def _computed(bench: Bench, figure: Figure) -> Measure:
    """Two columns of one row combined: "total price times quantity"."""
    assert isinstance(figure.noun, Noun)
    assert figure.other is not None
    left = bench.places.column(figure.noun, want="number")
    right = bench.places.column(figure.other, want="number")
    if figure.operator in {"+", "-"}:
        refuse_empty_parts(figure.phrase, left, right)
    of = Arithmetic(left=bench.places.use(left), operator=figure.operator, right=bench.places.use(right))
    if figure.function in {"", "count"}:
        raise UnclearError(
            f"which figure of '{figure.phrase}' do you want?", figure.phrase, (f"total {figure.phrase}",)
        )
    return _of_scalar(figure, of, f"{left.column.name}_{right.column.name}", None)


def _amount(bench: Bench, figure: Figure, noun: Noun) -> Measure:
    """As in "How much …" and "amount of …": a sum."""
    sense = named_measure(bench, noun)
    if sense:
        return _named(bench, figure, noun, sense)
    return _aggregated(bench, Figure("sum", noun, unit=figure.unit, phrase=figure.phrase), noun)


def _most(bench: Bench, figure: Figure, noun: Noun) -> Measure:
    """As in "The most rides", "the highest revenue", of groups: a named measure, a count, a sum or an extreme."""
    sense = named_measure(bench, noun)
    if sense:
        return _named(bench, figure, noun, sense)
    if _counts_rows(bench, noun) is not None and figure.function == "most":
        return _count(bench, figure, noun)
    numbers = bench.places.columns(noun, want="number")
    if numbers and not _is_key(numbers[0]):
        key = key_column(bench.base)
        if not numbers[0].of.role and any(one.of == ColumnRef(column=key or "") for one in bench.dimensions):
            return _of_scalar(
                Figure("max", noun),
                bench.places.use(bench.places.column(noun, want="number")),
                numbers[0].column.name,
                numbers[0],
            )
        if adds_up(numbers[0].column) or is_used_up(bench, numbers[0], figure):
            return _bare(bench, Figure(figure.function, noun), noun)
        if figure.function == "most":
            if is_only_summed(numbers[0]):
                return _of_scalar(Figure("sum", noun), bench.places.use(numbers[0]), numbers[0].column.name, numbers[0])
            raise UnclearError(
                f"which figure of '{noun.text}' decides?", noun.text, (f"total {noun.text}", f"average {noun.text}")
            )
        raise UnclearError(
            f"which figure of '{noun.text}' decides: the total, the average or the highest single one?",
            noun.text,
            (f"total {noun.text}", f"average {noun.text}", f"maximum {noun.text}"),
        )
    return _count(bench, figure, noun)


_RULES: dict[str, Callable[[Bench, Figure, Noun], Measure]] = {
    "": _bare,
    "count": _count,
    "count distinct": lambda bench, _, noun: _distinct(bench, noun),
    "amount": _amount,
    "number": _count,
    "most": _most,
    "best": _most,
}
