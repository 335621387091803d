"""An aggregate of an aggregate: what its inner groups are, and its two blocks."""

from dataclasses import replace

from streamhouse.planner.language.bench import Bench, build_block, unit_of_column
from streamhouse.planner.language.conditions import add_conditions, leftover_filters
from streamhouse.planner.language.draft import Figure, Group, Noun, Time
from streamhouse.planner.language.figures import measured
from streamhouse.planner.language.grouped import dimension_of
from streamhouse.planner.language.having import having_of, is_id, split_clauses
from streamhouse.planner.language.levels import NEARLY_NAME, WHOLE_NAME
from streamhouse.planner.language.lexicon import Sense
from streamhouse.planner.language.listing import beside
from streamhouse.planner.language.named_measures import folds_as, named_measure
from streamhouse.planner.language.nobody import leave_out_nobody
from streamhouse.planner.language.people import holds_people
from streamhouse.planner.language.place import RefusedError, UnclearError, counts
from streamhouse.planner.language.scope import is_key_like, is_number, is_quantity
from streamhouse.planner.language.tokens import singular, stem
from streamhouse.planner.language.unit_figures import has_number_in
from streamhouse.planner.language.words import ADVERB_GRAINS
from streamhouse.planner.request import Block, ColumnRef, Cut, Dimension, Measure, Ranking

_HINT_OF = {"money": "price", "mass": "weight", "time": "long", "length": "far"}


def nested_or_not(bench: Bench, figure: Figure) -> Figure:
    """Decide whether groups directly behind an aggregate are those of an inner one.

    Raises:
        UnclearError: it may be of single rows or of groups, or does not say of which groups.
    """
    if figure.inner or figure.hint:
        return figure
    counted = figure.inner_function in {"count", "count distinct", "sum"}
    if isinstance(figure.noun, Noun) and figure.function in {"avg", "max", "min", "median"}:
        if figure.inner_function == "count" and not bench.places.is_base(figure.noun.head):
            plain = bench.places.columns(figure.noun, want="number")
            if plain and not is_id(plain[0]) and plain[0].cost <= 1.0:
                _no_two_folds(bench, figure)
                _no_things(bench, figure)
                return replace(figure, inner_function="", near=_other_groups(bench, figure))
        if figure.function == "avg" and len(figure.near) == 1 and isinstance(figure.near[0], Noun):
            plain = bench.places.columns(figure.noun, want="number")
            rows = bench.places.is_base(figure.near[0].head) and not _better_column(bench, figure.near[0])
            if rows and plain and not is_id(plain[0]) and plain[0].cost <= 1.0:
                return replace(figure, near=())  # each row is one of them
        sense = named_measure(bench, figure.noun)
        _no_two_averages(bench, figure)
        if sense is None and not counted:
            _no_two_folds(bench, figure)
        numbers = bench.places.columns(figure.noun, want="number")
        folded = (
            sense is not None
            and folds_as(bench, sense) in {"sum", "count", "count distinct"}
            and (not numbers or is_id(numbers[0]) or numbers[0].cost > 0.9)
        )
        rows = bench.places.is_base(figure.noun.head) and (not numbers or is_id(numbers[0]))
        plain_rows = rows and not counted and (sense is None or counts(bench.places.scope, sense))
        sized = bool(_SIZES & set(figure.phrase.lower().split()))  # "the largest orders of each customer" count none
        single = _single(figure.noun)
        in_unit = single and sized and has_number_in(bench, figure.unit)  # "the largest order in kg"
        if plain_rows and figure.function in {"max", "min"} and (sized or single) and not in_unit:
            raise UnclearError(f"'{figure.phrase}': by which figure?", figure.phrase)  # "the largest order"
        if plain_rows and figure.unit is not None and figure.unit.measures != "fraction":
            return replace(figure, hint=_HINT_OF.get(figure.unit.measures, "long"))  # "average purchase in dollars"
        if plain_rows and figure.function in {"avg", "median"} and _single(figure.noun) and _one_amount(bench):
            if any(isinstance(group, Noun) and _are_people(bench, group) for group in figure.near):
                raise UnclearError(f"'{figure.phrase}': the average of single rows, or of the totals?", figure.phrase)
            return replace(figure, hint="price")  # "average donation", where rows have one amount of money
        if counted or folded or rows:
            if not figure.near:
                raise UnclearError(
                    f"'{figure.phrase}': of what groups? say per day, per customer or another",
                    figure.phrase,
                    (f"{figure.phrase} per day",),
                )
            if folded and figure.function == "avg":
                _no_categories(bench, figure, sense)
            return replace(figure, inner=figure.near, near=())
    return figure


def _no_categories(bench: Bench, figure: Figure, sense: Sense | None) -> None:
    """The average of a sum per kind: of the rows of each kind, or one number over all kinds; a wish may mean both.

    Raises:
        UnclearError: as for "average revenue per channel".
    """
    if sense is None or folds_as(bench, sense) != "sum":
        return
    for group in figure.near:
        found = bench.places.columns(group) if isinstance(group, Noun) else []
        if found and found[0].column.values and found[0].column.references is None:
            raise UnclearError(f"'{figure.phrase}': the average of single rows, or of the totals?", figure.phrase)


_SIZES = frozenset({"largest", "biggest", "smallest"})


def _better_column(bench: Bench, group: Noun) -> bool:
    """Whether a group names a column of the base better than its rows: "product" of rows that are called production."""
    own = [sense for sense in group.head.senses if sense.table == bench.base.name]
    column = max((sense.quality for sense in own if sense.kind == "column"), default=0.0)
    return column > max((sense.quality for sense in own if sense.kind == "table"), default=0.0)


def _no_two_folds(bench: Bench, figure: Figure) -> None:
    """The average per period of each thing: of single rows, or of each period's total; a wish may mean both.

    Raises:
        UnclearError: as for "average usage per day for each meter".
    """
    timed = len(figure.near) == 1 and isinstance(figure.near[0], Time) and not figure.near[0].grain.comes_again
    if figure.function == "avg" and timed and bench.draft.groups:
        raise UnclearError(f"'{figure.phrase}': the average of single rows, or of the totals?", figure.phrase)


def _no_things(bench: Bench, figure: Figure) -> None:
    """The average number of something per thing: of rows, or of each thing's total; a wish may mean both.

    Raises:
        UnclearError: as for "average number of units per basket".
    """
    if set(ADVERB_GRAINS) & set(bench.draft.words):
        return  # "average number of daily visits of each doctor" says of which rows
    for group in figure.near:
        if isinstance(group, Time) and group.of is None and not group.grain.comes_again:  # "crates per day"
            raise UnclearError(f"'{figure.phrase}': the average of single rows, or of the totals?", figure.phrase)
        if not isinstance(group, Noun) or bench.places.is_base(group.head):
            continue
        found = bench.places.columns(group, want="key")
        thing = group.head.of_kind("table") or (found and (found[0].column.references or is_key_like(found[0].column)))
        if thing and found and found[0].column.type != "string":
            raise UnclearError(f"'{figure.phrase}': the average of single rows, or of the totals?", figure.phrase)


def _are_people(bench: Bench, group: Noun) -> bool:
    """Whether groups are people: "average donation per donor" may be of what each gave in all."""
    lexicon = bench.places.scope.lexicon
    tables = lexicon.catalog.tables
    return any(holds_people(tables[s.table], lexicon) for s in group.head.of_kind("table") if s.quality >= NEARLY_NAME)


def _one_amount(bench: Bench) -> bool:
    """Whether the only number of a row is an amount of money."""
    numbers = [one for one in bench.base.columns if is_quantity(one)]
    unit = unit_of_column(numbers[0]) if len(numbers) == 1 else None
    return unit is not None and unit.measures == "money"


def _other_groups(bench: Bench, figure: Figure) -> tuple[Group, ...]:
    """The groups of an average that are not each row itself: "average number of guests per tour" is over all tours."""
    own = [one for one in figure.near if isinstance(one, Noun) and bench.places.is_base(one.head) and not one.around]
    if figure.function != "avg" or len(figure.near) != 1 or bench.draft.groups:
        return figure.near
    return tuple(one for one in figure.near if one not in own)


def _single(noun: Noun) -> bool:
    return bool(noun.head.words) and singular(noun.head.words[-1]) == noun.head.words[-1]


def _no_two_averages(bench: Bench, figure: Figure) -> None:
    """The average of single rows, or of the totals of groups: a wish that may mean both is asked back."""
    assert isinstance(figure.noun, Noun)
    sense = named_measure(bench, figure.noun)
    numbers = [one for one in bench.places.columns(figure.noun, want="number") if not is_id(one)]
    loose = sense is not None and sense.quality < WHOLE_NAME and _ends_in_number(bench, figure.noun)
    if loose and figure.near:  # "average invoice amount per client"
        raise UnclearError(
            f"'{figure.phrase}': the {_word(figure)} of single rows, or of the totals of the groups?", figure.phrase
        )
    if sense is None or not numbers or numbers[0].cost > 0.9 or not figure.near or figure.function != "avg":
        return
    said = " ".join(figure.noun.head.words).replace(" ", "_")
    names = {sense.measure, *(one.replace(" ", "_") for one in bench.base.measures[sense.measure].synonyms)}
    if said in names and folds_as(bench, sense) in {"sum", "count"}:
        raise UnclearError(
            f"'{figure.phrase}': the average of single rows, or of the totals of the groups?", figure.phrase
        )


def _ends_in_number(bench: Bench, noun: Noun) -> bool:
    """Whether the last word of a noun names a number of the base alone: "invoice amount"."""
    last = bench.places.scope.lexicon.meanings((stem(noun.head.words[-1]),)) if len(noun.head.words) > 1 else ()
    columns = [bench.base.column(s.column) for s in last if s.kind == "column" and s.table == bench.base.name]
    return any(is_number(one) and not one.references for one in columns)


def nested_block(bench: Bench, figures: list[Figure]) -> tuple[Block, Ranking | None]:
    """The block over groups of an inner block.

    Raises:
        RefusedError: another figure or a ranking is wanted beside.
        UnclearError: the average may be of each single thing, or of all together.
    """
    if any(isinstance(one.noun, Noun) and bench.places.is_base(one.noun.head) and not one.inner for one in figures[1:]):
        raise RefusedError("an aggregate of an aggregate beside another figure cannot be planned in one table")
    if len(figures) > 1 or bench.draft.best is not None:
        raise RefusedError("an aggregate of an aggregate beside another figure cannot be planned in one table")
    one = figures[0]
    assert one.noun is not None
    _no_row_each(bench, one)
    having, clauses = split_clauses(bench, bench.draft.filters)
    inner_names = [dimension_of(bench, group) for group in one.inner]
    further = one.near if one.near != one.inner else ()
    outer = [_outer(bench, group) for group in (*further, *bench.draft.groups)]
    inner_figure = Figure(one.inner_function, one.noun, where=one.where, unit=one.unit)
    name = measured(bench, inner_figure)
    for noun in bench.draft.nouns:
        beside(bench, noun)
    add_conditions(bench, clauses)
    for compared in having:
        bench.having.append(having_of(bench, compared))
    bench.filters += [f for f in leftover_filters(bench) if f not in bench.filters]
    leave_out_nobody(bench, ())
    unit = next(m.unit for m in bench.measures if m.name == name)
    inner = build_block(bench)
    label = _word(one)
    measure = Measure(name=f"{label}_{name}", function=one.function, of=ColumnRef(column=name), unit=unit)
    bench.places.note(one.phrase, f"{label} over {', '.join(inner_names)} of {name}")
    bench.places.assume(f"only {' and '.join(inner_names)} groups that have rows count for the {label}")
    return Block(inner=inner, dimensions=tuple(outer), measures=(measure,)), None


def _word(figure: Figure) -> str:
    words = {"avg": "average", "max": "highest", "min": "lowest", "sum": "total"}
    return words.get(figure.function, figure.function)


def _no_row_each(bench: Bench, one: Figure) -> None:
    """The average per hour of a table that has a row of each thing and hour: of single rows, or of all things together.

    Raises:
        UnclearError: as for "average hourly consumption".
    """
    key, time = bench.base.primary_key, bench.base.event_time
    if (
        one.inner_function == ""
        and isinstance(one.noun, Noun)
        and _single(one.noun)
        and bench.places.is_base(one.noun.head)
    ):
        raise UnclearError(f"'{one.phrase}': by which figure?", one.phrase)  # "average monthly bill"
    timed = all(isinstance(group, Time) for group in (*one.inner, *one.near))
    if timed and time in key and len(key) > 1 and not bench.draft.groups and one.inner_function != "count":
        raise UnclearError(f"'{one.phrase}': of each single one, or of all together?", one.phrase)


def _outer(bench: Bench, group: Group) -> Dimension:
    if isinstance(group, Time) and group.of is None:
        for dimension in bench.dimensions:
            if isinstance(dimension.of, Cut) and not dimension.of.grain.comes_again:
                if dimension.of.grain is group.grain:
                    return Dimension(name=dimension.name, of=ColumnRef(column=dimension.name))
                return Dimension(name=group.grain.value, of=Cut(of=ColumnRef(column=dimension.name), grain=group.grain))
    name = dimension_of(bench, group)
    return Dimension(name=name, of=ColumnRef(column=name))
