"""Figures that a wish names by a part of their name, averages that leave rows out, and rates that are read as hours.

Each answer is a likely one, and each wish may mean another: "lanes per pool" of pools that have lanes, by the hours
that lanes were booked.
"""

import re
from itertools import pairwise

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.draft import Time
from streamhouse.planner.language.empty_columns import may_be_empty
from streamhouse.planner.language.levels import NAME, WHOLE_NAME
from streamhouse.planner.language.offered_times import group_choices
from streamhouse.planner.language.scope import is_key_like, is_number, spoken
from streamhouse.planner.language.tokens import stem, tokenize
from streamhouse.planner.language.units import Unit, unit_of
from streamhouse.planner.language.words import HINTS
from streamhouse.planner.request import ColumnRef, Condition, Grain, Measure, Question

_WORD = re.compile(r"[a-z_]\w*")


def part_of_measure(wish: AnsweredWish) -> Question | None:
    """A measure of whose name a wish says a part, where a number of another table is called exactly so."""
    tables = wish.lexicon.catalog.tables
    measures = {one.named for one in wish.block.measures if one.named}
    for mention in wish.mentions if measures else ():
        taken = [s for s in mention.of_kind("measure") if s.table == wish.base.name and s.measure in measures]
        exact = [s for s in mention.of_kind("column") if s.quality >= NAME and s.table != wish.base.name]
        columns = [(s, tables[s.table].column(s.column)) for s in exact]
        numbers = [s for s, column in columns if is_number(column) and not is_key_like(column)]
        if not taken or taken[0].quality >= NAME or not numbers or mention.tables(WHOLE_NAME):
            continue
        other = f"{numbers[0].table}.{numbers[0].column}"
        text = f"'{mention.text}': the measure {taken[0].measure} of {wish.base.name}, or {other}?"
        return Question(text=text, phrase=mention.text, choices=(spoken(taken[0].measure), other))
    return None


def average_of_given(wish: AnsweredWish) -> Question | None:
    """As in "average takings per visit", where the amount of some visits is empty: of these alone, or of all?"""
    inner, base = wish.block.inner, wish.base
    averages = [one for one in wish.block.measures if one.function == "avg"]
    if inner is None or len(inner.measures) != 1 or not averages:
        return None
    own = {one.of.column for one in inner.dimensions if isinstance(one.of, ColumnRef) and not one.of.role}
    if not base.primary_key or not set(base.primary_key) <= own:
        return None
    empty = [name for name in _columns(wish, inner.measures[0]) if may_be_empty(base.column(name))]
    if not empty:
        return None
    figure = next((one for one in wish.draft.figures if one.function == "avg"), None)
    phrase = figure.phrase if figure is not None else ""
    text = f"'{phrase}': of all rows of {base.name}, or only of those with {base.name}.{empty[0]}?"
    return Question(text=text, phrase=phrase, choices=(f"average {base.name}.{empty[0]}",))


def _columns(wish: AnsweredWish, measure: Measure) -> list[str]:
    """The columns of the base that a sum adds up."""
    known = {one.name for one in wish.base.columns}
    if measure.named:
        sql = wish.base.measures[measure.named].sql.lower()
        return [name for name in dict.fromkeys(_WORD.findall(sql)) if name in known and sql.startswith("sum(")]
    own = isinstance(measure.of, ColumnRef) and not measure.of.role and measure.function == "sum"
    return [measure.of.column] if own and isinstance(measure.of, ColumnRef) else []


def rate_or_hours(wish: AnsweredWish) -> Question | None:
    """As in "average fee per hour", where each row says how long it lasts: by the clock, or for an hour of these?"""
    group = next((one for one in wish.draft.groups if isinstance(one, Time) and one.grain is Grain.HOUR), None)
    money = any(_is_money(wish, one) for one in wish.block.measures)
    lasting = [one for one in wish.base.columns if is_number(one) and (own := unit_of_column(one))
               and own.measures == "time"]  # fmt: skip
    if group is None or group.of is not None or not money or len(lasting) != 1 or wish.base.event_time is None:
        return None
    text = f"'per {group.phrase}': hours of the clock, or an hour of {wish.base.name}.{lasting[0].name}?"
    choices = group_choices(group, (f"{wish.base.name}.{wish.base.event_time}",))
    return Question(text=text, phrase=group.phrase, choices=choices)


def _is_money(wish: AnsweredWish, measure: Measure) -> bool:
    unit = unit_of(measure.unit or "") or _own_unit(wish, measure)
    return unit is not None and unit.measures == "money"


def _own_unit(wish: AnsweredWish, measure: Measure) -> Unit | None:
    """The unit of the column of the base that a measure is computed of."""
    of = measure.of
    own = isinstance(of, ColumnRef) and not of.role and wish.block.inner is None
    return unit_of_column(wish.base.column(of.column)) if own and isinstance(of, ColumnRef) else None


def ordered_by_what(wish: AnsweredWish) -> Question | None:
    """As in "repairs per tool, most expensive first", where only the number of repairs would be shown."""
    said = _FIRST.search(wish.text.lower())
    if said is None or not wish.block.measures or not wish.block.dimensions:
        return None
    kinds, words = HINTS[_HINT_OF[said.group(1)]]
    units = [unit_of(one.unit or "") or _own_unit(wish, one) for one in wish.block.measures]
    named = {part for one in wish.block.measures for part in one.name.split("_")}
    if any(unit is not None and unit.measures in kinds for unit in units) or named & set(words):
        return None
    phrase = said.group()
    text = f"'{phrase}': by which figure? Only {', '.join(one.name for one in wish.block.measures)} would be shown"
    return Question(text=text, phrase=phrase)


_HINT_OF = {
    "most expensive": "price", "least expensive": "price", "cheapest": "price", "priciest": "price",
    "costliest": "price", "longest": "long", "shortest": "long", "heaviest": "weight", "lightest": "weight",
    "farthest": "far", "furthest": "far",
}  # fmt: skip
_FIRST = re.compile(rf"\b({'|'.join(_HINT_OF)}) first\b")


def value_in_name(wish: AnsweredWish) -> Question | None:
    """As in "what does the snack bar take", where rows are receipts "of the snack bar", and "snacks" one product."""
    base = wish.base
    told = [tokenize(text) for text in (base.description, *(one.description for one in base.measures.values()))]
    pairs = {(one.stem, two.stem) for tokens in told for one, two in pairwise(tokens)}
    taken = {(one.left.column, str(value)) for one in wish.block.filters
             if isinstance(one, Condition) and isinstance(one.left, ColumnRef) and not one.left.role
             for value in one.values}  # fmt: skip
    for mention in wish.mentions if taken and pairs else ():
        values = [
            one for one in mention.of_kind("value") if one.table == base.name and (one.column, one.value) in taken
        ]
        if not values or len(mention.words) > 1 or mention.end >= len(wish.tokens):
            continue
        behind = wish.lexicon.mention(wish.tokens, mention.end, 1)
        if behind is not None and behind.tables(WHOLE_NAME):
            continue  # "express parcels" are parcels
        if (stem(mention.words[0]), wish.tokens[mention.end].stem) in pairs:
            said = f"{mention.text} {wish.tokens[mention.end].text}"
            text = f"'{said}': all rows of {base.name}, or those with {values[0].column} '{values[0].value}'?"
            return Question(text=text, phrase=said)
    return None


NAMED_BY_PART = (part_of_measure, average_of_given, rate_or_hours, ordered_by_what, value_in_name)
"""The checks, in the order in which they ask."""
