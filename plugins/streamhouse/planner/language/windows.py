"""Shares, ratios, changes, running and moving figures: numbers made of measures."""

from dataclasses import replace

from streamhouse.planner.language.bench import Bench, unit_of_column
from streamhouse.planner.language.conditions import filters_of, leftover_filters
from streamhouse.planner.language.draft import Figure, Is, Noun, Present, Time
from streamhouse.planner.language.empty_columns import may_be_empty
from streamhouse.planner.language.figures import measured
from streamhouse.planner.language.grouped import dimension_of
from streamhouse.planner.language.levels import ANY_FORM
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.named_measures import named_measure
from streamhouse.planner.language.place import NotPlacedError, UnclearError, is_participle
from streamhouse.planner.language.quotients import check_quotient
from streamhouse.planner.language.scope import TIMES
from streamhouse.planner.language.units import Unit, unit_of
from streamhouse.planner.request import ColumnRef, Condition, Cut, Derived, Filter, Grain, Measure

_IN_ONE = {
    (Grain.MONTH, Grain.YEAR): 12,
    (Grain.QUARTER, Grain.YEAR): 4,
    (Grain.DAY, Grain.WEEK): 7,
    (Grain.HOUR, Grain.DAY): 24,
    (Grain.MONTH, Grain.QUARTER): 3,
    (Grain.MINUTE, Grain.HOUR): 60,
}


def derived_number(bench: Bench, figure: Figure, *, shown: bool) -> str:
    """Add a number made of measures, once the dimensions are there; its name.

    Where `shown`, the measure below is asked for, too.

    Raises:
        NotPlacedError: both sides of a quotient are the same figure.
        UnclearError: the length of time is missing, or differs from that of the groups.
    """
    plain = replace(
        figure,
        window="",
        where=(),
        percent=False,
        unit=None if figure.unit and figure.unit.name == "percent" else figure.unit,
    )
    if figure.window == "ratio" and figure.to is not None and figure.function != "count":
        check_quotient(bench, figure)
        below = measured(bench, replace(figure.to, phrase="", unit=_unit_below(bench, plain, figure.to)), hidden=True)
        above = measured(bench, replace(plain, to=None, phrase="", unit=_unit_like(bench, plain, below)), hidden=True)
        if above == below:
            raise NotPlacedError(figure.phrase, "both are the same figure")
        _same_units(bench, figure, above, below)
        bench.places.note(figure.phrase, f"{above} by {below}" + (" times 100" if figure.percent else ""))
        return bench.derive(Derived(name="ratio", kind="ratio", of=above, to=below, percent=figure.percent))
    if figure.window == "ratio" and figure.to is not None:
        return _counts_divided(bench, figure, figure.to)
    if figure.window == "ratio":
        return _rate(bench, figure)
    if figure.window == "share":
        return _share(bench, figure, plain, shown=shown)
    time = _time_name(bench)
    if time is None and figure.period_grain and not any(isinstance(one.of, Cut) for one in bench.dimensions):
        dimension_of(bench, Time(figure.period_grain, None, figure.period_grain.value))
        time = _time_name(bench)
    if time is None:
        raise UnclearError(
            f"'{figure.phrase}' needs a length of time: per day, per week or per month?",
            figure.phrase,
            (f"{figure.phrase} per day", f"{figure.phrase} per week", f"{figure.phrase} per month"),
        )
    name = measured(bench, plain, hidden=not shown)
    grain = _grain(bench, time)
    periods = figure.periods
    if figure.period_grain and figure.period_grain is not grain:
        if figure.window == "change" and periods == 12:
            pass
        elif (grain, figure.period_grain) in _IN_ONE:
            periods *= _IN_ONE[grain, figure.period_grain]
        else:
            raise UnclearError(
                f"'{figure.phrase}' compares {figure.period_grain.value}s, but results are per {grain.value}",
                figure.phrase,
            )
    kind = figure.window
    label = {"change": "growth" if figure.percent else "change", "running": "running", "moving": "moving"}.get(
        kind, kind
    )
    bench.places.note(
        figure.phrase, f"{label} of {name} by {grain.value}" + (f" over {periods}" if periods > 1 else "")
    )
    return bench.derive(
        Derived(
            name=f"{label}_{name}" if kind != "change" else f"{name}_{label}",
            kind=kind,
            of=name,
            periods=periods,
            percent=figure.percent,
            fold=figure.fold,
        )
    )


def _unit_like(bench: Bench, above: Figure, below: str) -> Unit | None:
    """The unit in which a figure can be divided by another of the same sort: dollars by dollars, not cents."""
    said = next((one.unit for one in bench.measures if one.name == below), None)
    unit = unit_of(said) if said else None
    if above.unit is not None or unit is None or not isinstance(above.noun, Noun):
        return above.unit
    if named_measure(bench, above.noun) is not None:
        return None
    found = bench.places.columns(above.noun, want="number")
    own = unit_of_column(found[0].column) if found else None
    return unit if own is not None and own.measures == unit.measures and own.name != unit.name else None


def _unit_below(bench: Bench, above: Figure, below: Figure) -> Unit | None:
    """The unit in which a divisor is needed: that of the measure above it, such as dollars and not cents."""
    sense = named_measure(bench, above.noun) if isinstance(above.noun, Noun) else None
    said = bench.base.measures[sense.measure].unit if sense is not None else None
    unit = unit_of(said) if said else None
    if below.unit is not None or unit is None or not isinstance(below.noun, Noun) or below.function == "count":
        return below.unit
    if named_measure(bench, below.noun) is not None:
        return None
    found = bench.places.columns(below.noun, want="number")
    own = unit_of_column(found[0].column) if found else None
    return unit if own is not None and own.measures == unit.measures and own.name != unit.name else None


def _same_units(bench: Bench, figure: Figure, above: str, below: str) -> None:
    """Figures of one sort are divided in one unit only.

    Raises:
        UnclearError: one is in dollars and the other in cents.
    """
    said = {one.name: one.unit for one in bench.measures}
    units = [unit for name in (above, below) if (unit := unit_of(said.get(name) or "")) is not None]
    if len(units) == 2 and units[0].measures == units[1].measures and units[0].name != units[1].name:
        raise UnclearError(
            f"'{figure.phrase}': {above} is in {units[0].name} and {below} in {units[1].name}", figure.phrase
        )


def _time_name(bench: Bench) -> str | None:
    times = [one.name for one in bench.dimensions if isinstance(one.of, Cut) and not one.of.grain.comes_again]
    return times[0] if len(times) == 1 else None


def _grain(bench: Bench, name: str) -> Grain:
    return next(one.of.grain for one in bench.dimensions if one.name == name and isinstance(one.of, Cut))


def _share(bench: Bench, figure: Figure, plain: Figure, *, shown: bool) -> str:
    """A share of rows with a condition; without one, of the total."""
    before = len(bench.filters)
    where: list[Filter] = [found for clause in figure.where for found in filters_of(bench, clause)]
    if where or (isinstance(figure.noun, Noun) and (_restricts(bench, figure.noun) or _some_done(bench, figure.noun))):
        total = measured(bench, plain, hidden=True)
        around = bench.filters[before:]
        if not where:
            where, bench.filters[before:] = list(around), []
        _check_part(bench, figure, where)
        return _ratio(bench, figure, total, tuple(where))
    name = measured(bench, plain, hidden=not shown)
    if not bench.dimensions:
        raise UnclearError(f"'{figure.phrase}': a share of what? name the condition or the groups", figure.phrase)
    bench.places.note(figure.phrase, f"share of {name} in the total")
    return bench.derive(Derived(name=f"{name}_share", kind="share", of=name, percent=figure.percent))


def _check_part(bench: Bench, figure: Figure, where: list[Filter]) -> None:
    """Do nothing where some rows may be no part of the share.

    Raises:
        NotPlacedError: each row has all that makes the part: "share of the checks of a building".
    """
    always = [one.left for one in where if isinstance(one, Condition) and one.operator == "is not null"
              and isinstance(one.left, ColumnRef) and not one.left.role]  # fmt: skip
    keys = [bench.base.column(one.column) for one in always]
    if len(always) == len(where) and all(key.references and not may_be_empty(key) for key in keys):
        raise NotPlacedError(figure.phrase, f"each row of {bench.base.name} has {keys[0].name}")


def _restricts(bench: Bench, noun: Noun) -> bool:
    return any(m.of_kind("value") and bench.places.values(m) for m in noun.mentions) and not (
        noun.head.of_kind("table", "measure", "column") and not noun.around
    )


def _some_done(bench: Bench, noun: Noun) -> bool:
    """Whether a word before rows says what was done to some of them, or what is open: "cancelled | bookings"."""
    return any(mention.of_kind("state") or _is_done_to_some(bench, mention) for mention in noun.around)


def _is_done_to_some(bench: Bench, mention: Mention) -> bool:
    """Whether all that a participle means are times of the base that some of its rows lack."""
    base = bench.base
    own = [sense for sense in mention.senses if sense.table == base.name and sense.quality >= ANY_FORM]
    columns = [base.column(sense.column) for sense in own if sense.kind == "column"]
    timed = all(one.type in TIMES and one.name != base.event_time and may_be_empty(one) for one in columns)
    return is_participle(mention) and bool(columns) and timed and len(columns) == len(own)


def _ratio(bench: Bench, figure: Figure, total: str, where: tuple[Filter, ...]) -> str:
    _same_rows(bench, figure, where)
    whole = next(one for one in bench.measures if one.name == total)
    if whole.named:
        part = Measure(name=f"{whole.name}_part", named=whole.named, where=where, unit=whole.unit)
    else:
        part = whole.model_copy(update={"name": f"{whole.name}_part", "where": (*whole.where, *where)})
    name = bench.measure(part, hidden=True)
    bench.places.note(figure.phrase, f"{name} by {total}" + (" times 100" if figure.percent else ""))
    return bench.derive(Derived(name="share", kind="ratio", of=name, to=total, percent=figure.percent))


def _same_rows(bench: Bench, figure: Figure, where: tuple[Filter, ...]) -> None:
    """Do nothing where the base has all rows that a condition is about.

    Raises:
        UnclearError: the base is a part of another table, and the condition may be what decides which part it is.
    """
    for one in where:
        if not isinstance(one, Condition) or not isinstance(one.left, ColumnRef) or not one.left.role:
            continue
        reach = bench.places.scope.reaches[one.left.role]
        whole, key = reach.table, reach.key
        if whole.name in bench.base.upstream and key is not None and set(key.columns) == set(bench.base.primary_key):
            text = f"'{figure.phrase}': a share of {bench.base.name}, which may lack rows of {whole.name}?"
            raise UnclearError(text, figure.phrase)


def _counts_divided(bench: Bench, figure: Figure, to: Figure) -> str:
    """Rows that are the one for each row that is the other; both are rows of the base."""
    names: list[str] = []
    for one in (figure, to):
        noun = one.noun
        if not isinstance(noun, Noun):
            raise NotPlacedError(figure.phrase)
        mentions = noun.mentions
        valued = any(m.of_kind("value") and bench.places.values(m) for m in mentions)
        if not valued and not bench.places.is_base(noun.head):
            raise NotPlacedError(noun.text, f"they are no rows of {bench.base.name}")
        if not valued:
            bench.places.take_base(noun.head)
        bench.places.contexts(mentions)
        where = tuple(leftover_filters(bench))
        names.append(bench.measure(Measure(name=f"row_count{len(names) + 1}", where=where), hidden=True))
    if names[0] == names[1]:
        raise NotPlacedError(figure.phrase, "both are the same rows")
    bench.places.note(figure.phrase, f"rows that are '{figure.noun.text}' by those that are '{to.noun.text}'")  # type: ignore[union-attr]
    return bench.derive(Derived(name="ratio", kind="ratio", of=names[0], to=names[1], percent=figure.percent,
                                per_many=figure.per_many))  # fmt: skip


def _is_said_of_rows(bench: Bench, noun: Noun) -> bool:
    """Whether a name is of a column that is yes or no, or a time that only some rows have: "drop-out rate"."""
    found = bench.places.columns(noun)
    if not found or found[0].of.role or noun.around:
        return False
    column = found[0].column
    timed = column.type in TIMES and column.name != bench.base.event_time and column.nullable
    return column.type == "boolean" or timed


def _rate(bench: Bench, figure: Figure) -> str:
    """As in "Cancellation rate": the share of rows of the base with a value."""
    assert isinstance(figure.noun, Noun)
    mention = figure.noun.head
    if mention.of_kind("value") and bench.places.values(mention):
        where = filters_of(bench, Is((mention,), phrase=figure.phrase))
    elif _is_said_of_rows(bench, figure.noun):
        where = filters_of(bench, Present(Noun(mention), True, phrase=figure.phrase))
    else:
        raise NotPlacedError(figure.phrase)
    where += leftover_filters(bench)
    total = bench.measure(Measure(name="row_count"), hidden=True)
    bench.places.assume(f"'{figure.phrase}' is the share of rows of {bench.base.name}")
    return _ratio(bench, figure, total, tuple(where))
