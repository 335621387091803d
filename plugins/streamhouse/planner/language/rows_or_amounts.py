"""Words that name rows, where an amount, another number or other rows may be meant: "output per turbine", "lost books".

Each answer counts or lists rows that happen to be called so, or computes with a number of other rows.
"""

from collections.abc import Iterator

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.draft import Lasting, Noun
from streamhouse.planner.language.levels import LAST_WORD, SAME_FORM, WHOLE_NAME
from streamhouse.planner.language.named_measures import adds_up
from streamhouse.planner.language.named_sums import counts
from streamhouse.planner.language.people import holds_people
from streamhouse.planner.language.scope import TIMES, is_quantity, spoken
from streamhouse.planner.language.tokens import singular, stem
from streamhouse.planner.request import Between, ColumnRef, Condition, Question

_COUNTING = frozenset("number many count counts often times frequency total no".split())


def amount_of_rows(wish: AnsweredWish) -> Question | None:
    """Rows counted that are named like a mass: "output per turbine", by how many days have an output."""
    base, block = wish.base, wish.block
    counted = any(one.counts_rows for one in block.measures)
    if not counted or _COUNTING & set(wish.words) or holds_people(base, wish.lexicon):
        return None
    amounts = [name for name, one in base.measures.items() if not counts(one)]
    amounts = amounts or [one.name for one in base.columns if is_quantity(one) and adds_up(one)]
    for noun in _figures(wish) if amounts else ():
        word = noun.head.words[-1] if noun.head.words else ""
        named = any(one.table == base.name and one.quality >= LAST_WORD for one in noun.head.of_kind("table"))
        if named and word and singular(word) == word and not noun.head.of_kind("value"):
            text = f"'{noun.text}': the number of rows of {base.name}, or which figure?"
            choices = (*(spoken(name) for name in amounts[:3]), f"number of {base.name}")
            return Question(text=text, phrase=noun.text, choices=choices)
    return None


def _figures(wish: AnsweredWish) -> Iterator[Noun]:
    """The nouns that are read as numbers without a word for a function."""
    nouns = [one.noun for one in wish.draft.figures if not one.function]
    by = wish.draft.best.by if wish.draft.best is not None else None
    nouns += [by.noun] if by is not None and not by.function else []
    yield from (one for one in nouns if isinstance(one, Noun))
    yield from (one for one in wish.draft.nouns if wish.draft.groups and not one.predicate)


def state_as_measure(wish: AnsweredWish) -> Question | None:
    """An adjective before rows that only resembles a number of them: "late sailings" by their average delay."""
    base = wish.base
    measures = {one.named for one in wish.block.measures if one.named}
    summed = {one.of.column for one in wish.block.measures if isinstance(one.of, ColumnRef) and not one.of.role}
    summed |= {name for name in measures if name for name in _columns_in(wish, name)}
    for mention in wish.mentions:
        rows = next((one for one in wish.mentions if one.start == mention.end and one.tables(WHOLE_NAME)), None)
        own = [s for s in mention.senses if s.table == base.name and (s.column in summed or s.measure in measures)]
        weak = bool(own) and mention.best < SAME_FORM and len(mention.words) == 1
        if weak and rows is not None and rows.is_plural and not mention.of_kind("value", "table"):
            said = f"{mention.text} {rows.text}"
            name = own[0].measure or own[0].column
            text = f"'{said}': how many there are, or {spoken(name)} of {base.name}?"
            return Question(text=text, phrase=said, choices=(f"number of {said}", spoken(name)))
    return None


def _columns_in(wish: AnsweredWish, measure: str) -> list[str]:
    sql = wish.base.measures[measure].sql
    return [one.name for one in wish.base.columns if one.name in sql]


def lasting_of_other_rows(wish: AnsweredWish) -> Question | None:
    """As in "average loan length", between two times of fines, where loans have times of their own."""
    lasting = any(isinstance(one.noun, Lasting) for one in wish.draft.figures)
    between = any(isinstance(one.of, Between) for one in wish.block.measures)
    if not lasting or not between or wish.base.name in wish.things:
        return None
    tables = wish.lexicon.catalog.tables
    upstream = set(wish.base.upstream)
    for mention in wish.mentions:
        for name in sorted(mention.tables(WHOLE_NAME) - upstream):
            times = [one.name for one in tables[name].columns if one.type in TIMES]
            if len(times) > 1:
                text = f"'{mention.text}': from which time to which of {name} ({', '.join(times)})?"
                return Question(text=text, phrase=mention.text)
    return None


def value_or_things(wish: AnsweredWish) -> Question | None:
    """A value that ends like the name of other rows: "lost books" as the fines for them."""
    base, block = wish.base, wish.block
    summed = any(one.function not in {"count", "count distinct"} or one.named for one in block.measures)
    values = {str(value) for one in block.filters if isinstance(one, Condition) for value in one.values}
    senses = [sense for one in wish.mentions for sense in one.senses if sense.table == base.name]
    if summed or block.derived or any(one.kind != "value" and one.quality >= LAST_WORD for one in senses):
        return None
    for mention in wish.mentions:
        own = [one for one in mention.of_kind("value") if one.table == base.name and one.value in values]
        if not own or len(mention.words) == 1 or not mention.is_plural:
            continue
        named = [s.table for s in wish.lexicon.meanings((stem(mention.words[-1]),)) if s.kind == "table"
                 and s.quality >= WHOLE_NAME and s.table != base.name]  # fmt: skip
        if named:
            said = f"rows of {base.name} with {own[0].column} '{own[0].value}'"
            text = f"'{mention.text}': {said}, or rows of {named[0]}?"
            rows = spoken(base.name.rsplit(".", 1)[-1])
            choice = f"{rows} with {spoken(own[0].column)} '{own[0].value}'"
            return Question(text=text, phrase=mention.text, choices=(choice,))
    return None


ROWS_OR_AMOUNTS = (amount_of_rows, state_as_measure, lasting_of_other_rows, value_or_things)
"""The checks, in the order in which they ask."""
