"""Numbers and lists of which a wish says two, and the answer has one: "rides and cash rides per driver"."""

import re

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.draft import Clause, Compared
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.named_sums import factors, is_count
from streamhouse.planner.language.words import COUNTING
from streamhouse.planner.request import ColumnRef, Condition, Measure, Question

_JOINING = frozenset({"and", "plus", ",", "&"})
_NEVER = re.compile(r"\b(never|did not|didn't|do not|don't|does not|doesn't|have not|haven't|has not|hasn't)\b")
_BETWEEN = 5  # tokens from rows to those of them that are counted, too


def part_and_whole(wish: AnsweredWish) -> Question | None:
    """As in "rides and cash rides per driver", where only the second ones would be counted."""
    block, base = wish.block, wish.base
    counts = [one for one in block.measures if _counts(wish, one) and not one.where]
    if len(counts) != 1 or len(block.measures) != 1 or block.derived or not block.filters:
        return None
    rows = [one for one in wish.mentions if base.name in one.tables(WHOLE_NAME)]
    for first in rows:
        second = next((one for one in rows if 1 <= one.start - first.end < _BETWEEN), None)
        plain = first.start == 0 or not any(one.end == first.start for one in wish.mentions)
        if second is None or wish.word(first.end) not in _JOINING or not plain:
            continue
        one, other = first.text, " ".join(token.text for token in wish.tokens[first.end + 1 : second.end])
        begin = first.start - 2 * (tuple(wish.words[max(first.start - 2, 0) : first.start]) in COUNTING)
        said = " ".join(token.text for token in wish.tokens[begin : second.end])
        if said.lower() not in wish.text.lower():  # as "orders and unpaid orders", which were turned before
            text = f"'{one} and …': the number of each? Only some of the {one} would be counted"
            return Question(text=text, phrase=one)
        text = f"'{said}': the number of each? Only the {other} would be counted"
        return Question(text=text, phrase=said, choices=(f"number of {one} and number of {other}",))
    return None


def _counts(wish: AnsweredWish, measure: Measure) -> bool:
    """Whether a figure is a number of rows or values of the base itself."""
    return (measure.named is None or wish.block.inner is None) and is_count(measure, wish.base)


def never_of_values(wish: AnsweredWish) -> Question | None:
    """As in "clubs that never cancelled": those with a booking that was not cancelled, or with no cancelled one?"""
    block = wish.block
    said = _NEVER.search(wish.text.lower())
    if said is None or block.measures or block.inner is not None or len(block.dimensions) != 1:
        return None
    of = block.dimensions[0].of
    if not isinstance(of, ColumnRef) or (not of.role and (of.column,) == wish.base.primary_key):
        return None
    for one in block.filters:
        if isinstance(one, Condition) and (one.operator in {"is null", "<>", "not in"} or one.values == (False,)):
            name = block.dimensions[0].name.replace("_", " ")
            text = f"'{said.group()}': each {name} with a row of {wish.base.name} that is so, or with such rows alone?"
            return Question(text=text, phrase=said.group())
    return None


def price_or_amount(wish: AnsweredWish) -> Question | None:
    """As in "sales over 10 euros", where a row has the price of one piece, and a measure multiplies it."""
    base = wish.base
    if _is_thing(wish):
        return None
    named = {sense.column for one in wish.mentions for sense in one.of_kind("column") if sense.table == base.name}
    for one in wish.block.filters if wish.block.inner is None else ():
        left = one.left if isinstance(one, Condition) and one.operator in {">", ">=", "<", "<="} else None
        if not isinstance(left, ColumnRef) or left.role or left.column not in factors(base) - named:
            continue
        unit = unit_of_column(base.column(left.column))
        if unit is not None and unit.measures == "money":
            clause = next((c for c in wish.draft.filters if getattr(c, "operator", "") in {">", ">=", "<", "<="}), None)
            phrase = _bound_alone(clause)
            price = left.column.replace("_", " ")
            text = f"'{phrase}': {base.name}.{left.column} of one piece, or the amount of the row?"
            return Question(text=text, phrase=phrase, choices=(f"with a {price} {phrase}",))
    return None


def _is_thing(wish: AnsweredWish) -> bool:
    """Whether rows of the base are things that other tables point to, and no parts of deeds: each has one price."""
    keys, tables = wish.lexicon.keys, wish.lexicon.catalog.tables
    pointed = any(key.to == wish.base.name for found in keys.values() for key in found)
    timed = [wish.base, *(tables[key.to] for key in keys.get(wish.base.name, ()))]
    return pointed and all(table.event_time is None for table in timed)


def _bound_alone(clause: Clause | None) -> str:
    """A comparison in the words of the wish, without what it is about: "under 12 euros" of "wines under 12 euros"."""
    if not isinstance(clause, Compared):
        return ""
    about = clause.subject.text if clause.subject is not None else ""
    return clause.phrase.removeprefix(about).strip() or clause.phrase


COUNTS_OF_PARTS = (part_and_whole, never_of_values, price_or_amount)
"""The checks, in the order in which they ask."""
