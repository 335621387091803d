"""Blocks of a shape of their own: the first or last row of each key, and sessions."""

from streamhouse.planner.catalog import CatalogColumn
from streamhouse.planner.language.bench import Bench, build_block
from streamhouse.planner.language.conditions import add_conditions, leftover_filters
from streamhouse.planner.language.draft import Noun
from streamhouse.planner.language.grouped import dimension_name
from streamhouse.planner.language.having import split_clauses
from streamhouse.planner.language.listing import beside, unique_name
from streamhouse.planner.language.nobody import leave_out_empty
from streamhouse.planner.language.place import NotPlacedError, RefusedError, UnclearError
from streamhouse.planner.language.scope import TIMES, default_time, is_year
from streamhouse.planner.request import (
    Block,
    ColumnRef,
    Dimension,
    Measure,
    Pick,
    Sessions,
)

_AGES = frozenset({"oldest", "newest"})  # said of things themselves
_EXTREMES = frozenset({"last", "latest", "recent", "newest", "first", "earliest"})


def picked(bench: Bench) -> Block:
    """The first or the last row of each key.

    Raises:
        NotPlacedError: what is picked, or its key, is not in the table.
        RefusedError: other figures are wanted beside.
        UnclearError: several times could order the rows.
    """
    pick = bench.draft.pick
    assert pick is not None
    places = bench.places
    if bench.draft.figures or bench.draft.groups or bench.draft.best:
        raise RefusedError("the first or last row of each key beside other figures cannot be planned in one table")
    if places.is_base(pick.noun.head):
        places.take_base(pick.noun.head)
    if not places.is_base(pick.noun.head):
        if not any(s.kind == "column" and s.table == bench.base.name for s in pick.noun.head.senses):
            raise NotPlacedError(pick.noun.text)
        if _AGES & set(bench.draft.words) and pick.noun.head.of_kind("table"):
            raise NotPlacedError(
                pick.noun.text, f"the oldest of them is not that of the oldest row of {bench.base.name}"
            )
        places.cost += 1.0
        listed = [pick.noun]
    else:
        listed = []
        places.contexts(pick.noun.around)
    time = _ordering(bench)
    if time is None:
        # The name of a column instead of the rows would ask for that column: no choice says rows and their order.
        times = " or ".join(c.name for c in bench.base.columns if c.type in TIMES)
        text = f"which time orders the rows of {bench.base.name}: {times}? `event_time` of the table says it"
        raise UnclearError(text, pick.noun.text)
    per = []
    for group in pick.per:
        assert isinstance(group, Noun)
        placed = places.column(group)
        if placed.column.type in TIMES:
            raise NotPlacedError(group.text, f"{placed.name} is a time: rows of each of its values are no things")
        per.append(places.use(placed))
        places.note(group.text, placed.name)
    places.note(pick.noun.text, f"the {'last' if pick.last else 'first'} row by {time.name}")
    having, clauses = split_clauses(bench, bench.draft.filters)
    if having:
        raise NotPlacedError(having[0].phrase)
    add_conditions(bench, clauses)
    asked = bool({"if", "whether"} & set(bench.draft.words))  # "and if it was passed" shows it
    nouns = [noun for noun in bench.draft.nouns if asked or not noun.predicate]
    shown = [*listed, *nouns, *(Noun(one) for one in bench.draft.shown)]
    bench.shows = all(any(s.table == bench.base.name for s in one.senses) for one in bench.draft.shown)
    for noun in bench.draft.nouns:
        if noun.predicate and not asked:  # "that was delivered"
            places.contexts(noun.mentions)
    columns = _columns(bench, shown, per, time) if shown or _asks_when(bench.draft.words) else ()
    bench.filters += leftover_filters(bench)
    for scalar in per:
        leave_out_empty(bench, scalar)
    block = build_block(bench, columns)
    return block.model_copy(update={"pick": Pick(per=tuple(per), by=ColumnRef(column=time.name), last=pick.last)})


def _asks_when(words: list[str]) -> bool:
    """Whether only the time of each row is asked for: "when was the last bill of each family"."""
    return "when" in words and bool(_EXTREMES & set(words[words.index("when") : words.index("when") + 5]))


def _columns(bench: Bench, shown: list[Noun], per: list[ColumnRef], time: CatalogColumn) -> tuple[Dimension, ...]:
    """What is shown of each row: its key, the nouns, and the time that it is picked by."""
    found = [Dimension(name=scalar.column, of=scalar) for scalar in per]
    for noun in shown:
        placed = bench.places.column(noun)
        found.append(Dimension(name=unique_name(dimension_name(placed), found), of=bench.places.use(placed)))
    if all(one.of != ColumnRef(column=time.name) for one in found):
        found.append(Dimension(name=unique_name(time.name, found), of=ColumnRef(column=time.name)))
    return tuple(found)


def _ordering(bench: Bench) -> CatalogColumn | None:
    """The column that says which row of each thing is wanted: one that the wish names, else their time."""
    pick = bench.draft.pick
    assert pick is not None
    if pick.by is None:
        years = [one for one in bench.base.columns if is_year(one) or one.type in TIMES]
        return default_time(bench.base) or (years[0] if len(years) == 1 and _AGES & set(bench.draft.words) else None)
    want = "time" if bench.places.columns(pick.by, want="time") else "number"
    placed = bench.places.column(pick.by, want=want)
    if placed.of.role:
        raise NotPlacedError(pick.by.text, f"it is no column of {bench.base.name}")
    bench.places.note(pick.by.text, placed.name)
    return placed.column


def sessions(bench: Bench) -> Block:
    """How many sessions each thing has.

    Raises:
        NotPlacedError: there is no time, or nothing that has sessions.
    """
    draft = bench.draft
    assert draft.sessions is not None
    time = default_time(bench.base)
    if time is None or not draft.groups:
        raise NotPlacedError("sessions", "sessions need a time and a thing that has them: 'sessions per user'")
    per: list[ColumnRef] = []
    for group in draft.groups:
        if isinstance(group, Noun):
            placed = bench.places.column(group, want="key")
            if placed.of.role:
                raise NotPlacedError(group.text)
            per.append(placed.of)
    if len(per) != 1 or len(per) != len(draft.groups):
        raise NotPlacedError("sessions", "say whose sessions: 'sessions per user'")
    add_conditions(bench, draft.filters)
    for noun in draft.nouns:
        beside(bench, noun)
    bench.places.assume(f"sessions are made of rows of {bench.base.name}")
    inner = build_block(bench).model_copy(
        update={"sessions": Sessions(per=tuple(per), time=ColumnRef(column=time.name), gap=draft.sessions)}
    )
    bench.places.note("sessions", f"rows of {bench.base.name} by {per[0].column}, cut where {time.name} jumps")
    name = per[0].column
    return Block(
        inner=inner, dimensions=(Dimension(name=name, of=ColumnRef(column=name)),), measures=(Measure(name="sessions"),)
    )
