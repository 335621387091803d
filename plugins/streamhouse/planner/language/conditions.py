"""From clauses of a wish to conditions on rows."""

import re
from dataclasses import replace
from decimal import Decimal

from streamhouse.planner.catalog import CatalogColumn, ForeignKey
from streamhouse.planner.language.above_nothing import above_nothing
from streamhouse.planner.language.bench import Bench
from streamhouse.planner.language.codes import names_own_key, without_codes
from streamhouse.planner.language.comparisons import compared
from streamhouse.planner.language.draft import Clause, Either, Is, Noun, Present, State, When
from streamhouse.planner.language.empty_columns import when_empty
from streamhouse.planner.language.levels import LAST_WORD, NEARLY_NAME
from streamhouse.planner.language.lexicon import Mention, Sense
from streamhouse.planner.language.mentions import mentions_of
from streamhouse.planner.language.never_of_others import said_of_others
from streamhouse.planner.language.none_there import (
    check_there_or_shown,
    is_empty_without,
    is_time_of_some,
    may_be_zero,
    refuse_text_of_none,
)
from streamhouse.planner.language.owners import one_meant
from streamhouse.planner.language.place import (
    NotPlacedError,
    Placed,
    PlaceFinder,
    RefusedError,
    UnclearError,
    counts,
)
from streamhouse.planner.language.present_time import filters_of_state
from streamhouse.planner.language.scope import (
    TIMES,
    ReachableTables,
    is_number,
    is_quantity,
    key_column,
    spoken,
)
from streamhouse.planner.language.times import when
from streamhouse.planner.language.tokens import stem, stems
from streamhouse.planner.language.words import NEGATED, STATES, VERB_NOUNS
from streamhouse.planner.request import (
    AnyOf,
    ColumnRef,
    Comparator,
    Condition,
    Constant,
    Filter,
    Related,
)


def filters_of(bench: Bench, clause: Clause) -> list[Filter]:
    """The conditions that a clause puts on rows.

    Raises:
        NotPlacedError, UnclearError, RefusedError: it cannot be placed, may mean several things, or cannot be.
    """
    if isinstance(clause, Is):
        return _is(bench, clause)
    if isinstance(clause, When):
        return when(bench, clause)
    if isinstance(clause, Present):
        return _present(bench, clause)
    if isinstance(clause, State):
        return filters_of_state(bench, clause)
    if isinstance(clause, Either):
        return [AnyOf(of=tuple(_only(filters_of(bench, part)) for part in clause.of))]
    return compared(bench, clause)


def _only(filters: list[Filter]) -> Filter:
    if len(filters) != 1:
        raise RefusedError("one side of an 'or' is more than one condition")
    return filters[0]


def leftover_filters(bench: Bench) -> list[Filter]:
    """Conditions of the values that stood around nouns."""
    found: list[Filter] = []
    while bench.places.leftover:
        mention = bench.places.leftover.pop(0)
        if mention.of_kind("state"):
            _said_of_base(bench, mention)
            found += filters_of_state(bench, State(mention.words[0], phrase=mention.text))
        elif mention.of_kind("value"):
            found += _is(bench, Is((mention,), phrase=mention.text))
        else:
            found += _present(bench, Present(Noun(mention), True, phrase=mention.text))
    return found


def _said_of_base(bench: Bench, state: Mention) -> None:
    """As in "current" of "sessions of current subscribers", which says nothing of the sessions.

    Raises:
        NotPlacedError: the state is said of a thing that is no row of the base.
    """
    thing = next((one for one in mentions_of(bench.draft) if one.start == state.end), None)
    if thing is not None and thing.of_kind("table") and not bench.places.is_base(thing):
        raise NotPlacedError(state.text, f"it is said of {thing.text}, and not of rows of {bench.base.name}")


def _is(bench: Bench, clause: Is) -> list[Filter]:
    places = bench.places
    of = places.column(clause.of) if clause.of is not None and not _designates(bench, clause) else None
    chosen = [_value(bench, value, of, clause.cues) for value in clause.values]
    columns: dict[ColumnRef, list[Placed]] = {}
    for placed in chosen:
        columns.setdefault(placed.of, []).append(placed)
    _no_two_values(bench, clause, chosen)
    if len(columns) > 1:
        parts = [_equal(bench, found, negated=clause.negated) for found in columns.values()]
        result: list[Filter] = list(parts) if clause.negated or _one_noun(clause) else [AnyOf(of=tuple(parts))]
    else:
        result = [_equal(bench, chosen, negated=clause.negated)]
    for placed in chosen:
        places.use(placed)
    places.note(
        clause.phrase, " or ".join(f"{p.name} {'is not' if clause.negated else 'is'} '{p.value}'" for p in chosen)
    )
    return result


def _one_noun(clause: Is) -> bool:
    """Whether no word joins the values, so that a row has all of them: "cancelled by phone"."""
    return not set(re.findall(r"[a-z]+|[,/&+]", clause.phrase.lower())) & {"or", "and", "nor", ",", "/", "&", "+"}


def _no_two_values(bench: Bench, clause: Is, chosen: list[Placed]) -> None:
    """What "and" joins is said of one row, which has one of the values.

    Raises:
        UnclearError: as for "lessons that were cancelled and missed".
    """
    both = clause.said or (clause.both and not _about_base(bench))
    if both and len(chosen) > 1 and not clause.negated:
        raise UnclearError(
            f"'{clause.phrase}': either of them, or both? {chosen[0].name} of one row has one value",
            clause.phrase,
            (clause.phrase.removeprefix("both ").replace(" and ", " or "),),
        )


def _designates(bench: Bench, clause: Is) -> bool:
    """Whether the noun of a value only says which rows it is about: "Private products", "users from Germany"."""
    of = clause.of
    if of is None or not isinstance(clause.values[0], Mention):
        return False
    try:
        found = bench.places.columns(of)
    except NotPlacedError:
        return False
    wanted = {
        placed.of for value in clause.values if isinstance(value, Mention) for placed in bench.places.values(value)
    }
    if any(one.of in wanted for one in found):
        return False
    bench.places.context(of.head)
    for mention in of.around:
        bench.places.context(mention)
    return True


def _value(bench: Bench, value: Mention | str | Decimal, of: Placed | None, cues: tuple[str, ...] = ()) -> Placed:
    if isinstance(value, Mention):
        found = without_codes(bench.places.values(value, of), value.text)
        if not found and of is not None:
            raise NotPlacedError(value.text, f"{of.name} has no such value")
        if not found:
            raise NotPlacedError(value.text)
        near = [one for one in found if one.cost - found[0].cost < 0.75]
        if len(near) > 1:
            found = [one_meant(bench.places, bench.draft, value, near, cues)]
        if found[0].of.role and value.words[-1] in STATES and _has_state(bench, value.words[-1]):
            raise UnclearError(
                f"'{value.text}': said of {bench.base.name}, or {found[0].name} = '{found[0].value}'?", value.text,
                (f"{found[0].column.name.replace('_', ' ')} '{found[0].value}'",),
            )  # fmt: skip
        bench.places.cost += found[0].cost
        return found[0]
    text = str(value)
    if of is None:
        raise NotPlacedError(text, "no column is known to have this value")
    known = _known(of.column, text)
    if known is None:
        nearest = ", ".join(list(of.column.values)[:5])
        raise RefusedError(
            f"{of.name} has no value '{text}'; it has {nearest}" if nearest else f"{of.name} cannot be '{text}'"
        )
    return Placed(of.of, of.reach, of.column, of.cost, known)


def _has_state(bench: Bench, word: str) -> bool:
    """Whether rows of the base have a state of that name of their own: "empty while it is open"."""
    return any(column.type in TIMES and stem(word) in stems(when_empty(column)) for column in bench.base.columns)


def _known(column: CatalogColumn, text: str) -> str | None:
    for value, words in column.values.items():
        if text.casefold() in {value.casefold(), *(word.casefold() for word in words)}:
            return value
    if column.values and not column.open_values:
        return None
    if is_number(column):
        try:
            Decimal(text)
        except ArithmeticError:
            return None
    elif column.type in TIMES or column.type == "boolean":
        return None
    return text


def _equal(bench: Bench, chosen: list[Placed], *, negated: bool) -> Condition:
    del bench
    values = tuple(dict.fromkeys(constant(placed.value, placed.column) for placed in chosen))
    operator: Comparator = "=" if len(values) == 1 else "in"
    if negated:
        operator = "<>" if len(values) == 1 else "not in"
    return Condition(left=chosen[0].of, operator=operator, values=values)


def constant(text: str, column: CatalogColumn) -> Constant:
    """A value's text as a constant of a column's type."""
    if column.type == "boolean":
        return text.lower() == "true"
    if is_number(column):
        number = Decimal(text)
        return int(number) if number == number.to_integral_value() else number
    return text


def _present(bench: Bench, clause: Present) -> list[Filter]:
    places = bench.places
    noun = clause.noun
    related = _related(bench, clause)
    if related:
        if (not clause.present and _others_listed(bench)) or (clause.never and said_of_others(bench, clause)):
            raise NotPlacedError(clause.phrase, f"it is said of each row of {bench.base.name}, not of what is listed")
        return related
    if clause.present and _said_whole(noun):
        places.contexts(noun.around)  # "with double rooms", where that is a value
        return [*leftover_filters(bench), *(one for part in clause.filters for one in filters_of(bench, part))]
    described = noun.around[0] if len(noun.around) == 1 else None
    if not clause.present and described is not None and places.is_base(noun.head) and not clause.filters:
        places.take_base(noun.head)  # "without cancelled orders" of orders
        said = Noun(described)
        return _present(bench, Present(said, False, phrase=clause.phrase)) if not described.of_kind("value") else _is(
            bench, Is((described,), None, True, clause.phrase))  # fmt: skip
    if places.is_base(noun.head) or clause.filters:
        raise NotPlacedError(noun.text)
    values = places.values(noun.head)
    columns = places.columns(noun)
    if clause.never and values and not _about_base(bench):
        raise NotPlacedError(noun.text)
    if values and (not columns or values[0].cost <= columns[0].cost + 0.6):
        _not_a_thing(clause, values[0])
        return _is(bench, Is((noun.head,), None, not clause.present, clause.phrase))
    if not columns:
        raise NotPlacedError(noun.text)
    left = len(places.leftover)
    placed = places.column(noun)
    if not clause.present and len(places.leftover) > left:
        raise NotPlacedError(clause.phrase, "it is not clear what is not there")
    _there_for_sure(clause, placed)
    if placed.column.name in {*placed.reach.table.primary_key, placed.reach.table.event_time}:
        raise NotPlacedError(noun.text, f"every row has {placed.name}")
    _no_part_of_a_key(clause, placed)
    _not_over_today(clause, placed)
    of = places.use(placed)
    if placed.column.type == "boolean":
        return [Condition(left=of, operator="=", values=(clause.present,))]
    _denial_of_base(bench, clause, placed)
    if clause.never and is_number(placed.column):
        raise NotPlacedError(noun.text, f"{placed.name} of a row does not say that it never was")
    only_empty = not clause.present and is_empty_without(placed.column)
    unsaid = not placed.column.unit or is_time_of_some(placed.column)
    if is_quantity(placed.column) and not clause.present and unsaid and not only_empty:
        raise UnclearError(
            f"'{clause.phrase}': is {placed.name} 0 then, or empty?", clause.phrase, (f"with {placed.name} = 0",)
        )
    if is_number(placed.column) and may_be_zero(placed.column) and not only_empty:
        places.note(clause.phrase, f"{placed.name} {'> 0' if clause.present else '= 0 or empty'}")
        positive = Condition(left=of, operator=">", values=(0,))
        empty = AnyOf(of=(Condition(left=of, operator="=", values=(0,)), Condition(left=of, operator="is null")))
        return [positive if clause.present else empty]
    if clause.present and is_number(placed.column) and any(one in clause.phrase.lower() for one in _ONE):
        places.note(clause.phrase, f"{placed.name} is at least 1")
        return [Condition(left=of, operator=">=", values=(1,))]
    refuse_text_of_none(clause, placed)
    check_there_or_shown(clause, placed)
    places.note(clause.phrase, f"{placed.name} is {'not ' if clause.present else ''}empty")
    return [Condition(left=of, operator="is not null" if clause.present else "is null")]


_ONE = ("at least one", "one or more")


def _there_for_sure(clause: Present, placed: Placed) -> None:
    """Do nothing where a number that is there is meant, whatever it is.

    Raises:
        NotPlacedError: it is the key of another table.
        UnclearError: a number above 0 may be meant.
    """
    if not above_nothing(clause, placed):
        return
    if placed.column.references is not None:
        raise NotPlacedError(clause.phrase, f"{placed.name} only says which one it is")
    raise UnclearError(
        f"'{clause.phrase}': does it mean that {placed.name} is there, or more than 0?",
        clause.phrase,
        (f"with {placed.name} > 0",),
    )


def _denial_of_base(bench: Bench, clause: Present, placed: Placed) -> None:
    """Do nothing where a denial is of rows of the base.

    Raises:
        NotPlacedError: it is a number of a joined table: "unpaid lessons" by the pay of their teachers.
    """
    if not clause.present and clause.phrase.startswith("un") and placed.of.role and is_number(placed.column):
        raise NotPlacedError(clause.phrase, f"{placed.name} does not say it of rows of {bench.base.name}")


def _not_a_thing(clause: Present, value: Placed) -> None:
    """Do nothing where what is not there can only be a value.

    Raises:
        UnclearError: it is a value of another table, and things are called so, too: "spend without coupons".
    """
    head = clause.noun.head
    things = [s for s in head.senses if s.kind in {"table", "column"} and s.quality >= NEARLY_NAME]
    if not clause.present and value.of.role and value.column.type != "boolean" and things:
        text = f"'{clause.phrase}': is {value.name} not '{value.value}', or are there no {head.text}?"
        raise UnclearError(text, clause.phrase, (f"{spoken(value.column.name)} is not '{value.value}'",))


def _about_base(bench: Bench) -> bool:
    """Whether the wish lists or counts rows of the base, and not things that they point to."""
    nouns = [*bench.draft.nouns, *(one.noun for one in bench.draft.figures if isinstance(one.noun, Noun))]
    return any(bench.places.is_base(noun.head) for noun in nouns if not noun.predicate)


def _said_whole(noun: Noun) -> bool:
    """Whether a value ends with the thing that it is said of: "double rooms"."""
    return any(one.of_kind("value") and one.start < noun.head.start < one.end for one in noun.around)


def _not_over_today(clause: Present, placed: Placed) -> None:
    """As in "not yet expired": an end that is known may lie in the future, so it depends on the day.

    Raises:
        UnclearError: the time of an end is said not to be over.
    """
    if not clause.present and placed.column.type in TIMES and stem(clause.noun.head.words[0]) == stem("expired"):
        text = f"'{clause.phrase}' depends on the day it is asked: does it mean that {placed.name} is empty?"
        raise UnclearError(text, clause.phrase, (f"without {spoken(placed.column.name)}",))


def _no_part_of_a_key(clause: Present, placed: Placed) -> None:
    """As in "holds with no pickup", where `pickup_branch` says which branch, and not whether somebody came.

    Raises:
        UnclearError: only a part of the name of a key is said.
    """
    senses = [s for s in clause.noun.head.of_kind("column") if s.column == placed.column.name]
    quality = max((sense.quality for sense in senses), default=1.0)
    if placed.column.references is not None and quality < LAST_WORD:
        said = spoken(placed.column.name)
        raise UnclearError(f"'{clause.phrase}': does it mean that {placed.name} is empty?", clause.noun.text, (said,))


def _others_listed(bench: Bench) -> bool:
    """Whether the wish lists things that rows of the base point to, so that a row's partners do not tell of them."""
    nouns = [noun for noun in bench.draft.nouns if not noun.predicate]
    said = [m for noun in nouns for m in noun.mentions if m.of_kind("table")]
    return bool(said) and not bench.draft.figures and not any(bench.places.is_base(mention) for mention in said)


def _related(bench: Bench, clause: Present) -> list[Filter]:
    """Rows of another table that point to those of the base."""
    places, lexicon = bench.places, bench.places.scope.lexicon
    head = clause.noun.head
    named = _tables_named(places, head)
    found = [key for key in lexicon.children.get(bench.base.name, []) if named.get(key.table, 0) >= 0.7]
    if found and clause.present and names_own_key(bench.base, head):
        raise NotPlacedError(clause.noun.text, f"every row of {bench.base.name} has it")
    if not found:
        return _related_by_two(bench, clause, named)
    tables = list(dict.fromkeys(key.table for key in found))
    table = min(tables, key=lambda name: ((1 - named[name]) * 10 + layer_cost(name), name))
    keys = [key for key in found if key.table == table]
    if len(keys) > 1:
        choices = [spoken(key.columns[0]) for key in keys]
        raise UnclearError(
            f"'{clause.noun.text}' point to {bench.base.name} by {' or by '.join(choices)}: which?",
            clause.noun.text,
            choices,
        )
    return [_related_by(bench, clause, keys[0])]


def _related_by_two(bench: Bench, clause: Present, named: dict[str, float]) -> list[Filter]:
    """Rows that point to rows that point to those of the base: "books that were never borrowed", by their copies."""
    children = bench.places.scope.lexicon.children
    paths = [
        (near, far)
        for near in children.get(bench.base.name, [])
        for far in children.get(near.table, [])
        if named.get(far.table, 0) >= NEARLY_NAME and far.table != bench.base.name
    ]
    if not paths or clause.at_least > 1:
        return []
    best = min(paths, key=lambda path: (1 - named[path[1].table], layer_cost(path[1].table), path[1].table))
    paths = [path for path in paths if path[1].table == best[1].table]
    if len(paths) > 1:
        choices = [spoken(near.table.partition(".")[2]) for near, _ in paths]
        raise UnclearError(
            f"'{clause.noun.text}' point to {bench.base.name} by {' or by '.join(choices)}: which?", clause.noun.text
        )
    near, far = paths[0]
    inner = _related_by(bench, replace(clause, present=True), far)
    on = dict(zip(near.to_columns, near.columns, strict=True))
    bench.places.assume(f"{far.table} belong to {bench.base.name} by {near.table}")
    bench.places.cost += 0.5
    return [Related(table=near.table, exists=clause.present, on=on, filters=(inner,))]


def _tables_named(places: PlaceFinder, head: Mention) -> dict[str, float]:
    """Tables that a thing, or a verb for what is done to it, names, with how well."""
    meanings = places.scope.lexicon.meanings
    also = [s for w in head.words for noun in VERB_NOUNS.get(stem(w), ()) for s in meanings(stems(noun))]
    named: dict[str, float] = {}
    for sense in (*also, *head.senses):
        if sense.kind == "table" or _counts(places, sense):
            named[sense.table] = max(named.get(sense.table, 0.0), sense.quality)
    return named


def _counts(places: PlaceFinder, sense: Sense) -> bool:
    return counts(places.scope, sense)


def _related_by(bench: Bench, clause: Present, key: ForeignKey) -> Filter:
    lexicon = bench.places.scope.lexicon
    inside = Bench(
        bench.draft, PlaceFinder(ReachableTables(lexicon, lexicon.catalog.tables[key.table]), bench.places.cues)
    )
    filters: list[Filter] = []
    inside.places.contexts(clause.noun.around)
    filters += leftover_filters(inside)
    for part in clause.filters:
        filters += filters_of(inside, part)
    if inside.places.used:
        raise RefusedError(f"'{clause.phrase}' needs a table behind {key.table}, which cannot be looked at from here")
    on = dict(zip(key.to_columns, key.columns, strict=True))
    bench.places.note(clause.phrase, f"rows of {key.table} {'are' if clause.present else 'are not'} there")
    bench.places.readings += [r for r in inside.places.readings if r not in bench.places.readings]
    return Related(table=key.table, exists=clause.present, on=on, filters=tuple(filters), at_least=clause.at_least)


def layer_cost(table: str) -> float:
    """How much dearer a table is for being less detailed, or less clean, than one of DWD."""
    return {"dwd": 0.0, "ods": 0.5, "dws": 0.8, "ads": 4.0}[table.split(".", maxsplit=1)[0]]


__all__ = ["NEGATED", "key_column"]


def add_conditions(bench: Bench, clauses: list[Clause]) -> None:
    """Add the conditions that clauses put on rows.

    Raises:
        RefusedError: two times need two sets of rows.
    """
    times = [clause for clause in clauses if isinstance(clause, When)]
    if len(times) > 1 and any(clause.negated for clause in times):
        raise RefusedError(
            f"'{times[0].phrase}' and not '{times[-1].phrase}' needs two sets of rows, which one table cannot give"
        )
    for clause in clauses:
        bench.filters += [one for one in filters_of(bench, clause) if one not in bench.filters]
