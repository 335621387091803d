"""Names that a word chose although it is a weak name, or names something else: each is asked back."""

from streamhouse.planner.catalog import CatalogColumn
from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.draft import Noun
from streamhouse.planner.language.empty_columns import may_be_empty, when_empty
from streamhouse.planner.language.levels import COMMON_WORD, LAST_WORD, NEARLY_NAME, WHOLE_NAME
from streamhouse.planner.language.people import names_people
from streamhouse.planner.language.scope import TIMES, spoken
from streamhouse.planner.language.tokens import singular, stem, stems
from streamhouse.planner.language.units import unit_of
from streamhouse.planner.language.words import ARTICLES
from streamhouse.planner.request import ColumnRef, Condition, Question

_HIGHEST = frozenset("highest lowest largest smallest biggest greatest maximum minimum top max min".split())
_RATED = frozenset({"rating", "score", "grade", "mark", "star", "price", "fee", "rate", "temperature", "age"})


def described_otherwise(wish: AnsweredWish) -> Question | None:
    """A word for other things by English alone, which a description has: "guests" for members; "empty: a guest"."""
    lexicon = wish.lexicon
    for mention in wish.mentions:
        if len(mention.words) != 1 or mention.best > COMMON_WORD or not mention.of_kind("table"):
            continue
        meant = mention.tables()
        said = [one for one in lexicon.described.get(stem(mention.words[0]), ())
                if one.kind == "column" and one.table == wish.base.name and one.table not in meant]  # fmt: skip
        if said:
            place = f"{said[0].table}.{said[0].column}"
            text = f"'{mention.text}': rows of {min(meant)}, or what the description of {place} says?"
            return Question(text=text, phrase=mention.text)
    return None


def count_as_sum(wish: AnsweredWish) -> Question | None:
    """As in "number of ratings per site", by the sum of the stars, and "number of unpaid rents", by their money."""
    summed = {one.of.column for one in wish.block.measures
              if one.function == "sum" and one.named is None and isinstance(one.of, ColumnRef)}  # fmt: skip
    ones = {one.left.column for one in wish.block.filters if isinstance(one, Condition)
            and isinstance(one.left, ColumnRef) and one.operator == "=" and one.values == (1,)}  # fmt: skip
    for figure in wish.draft.figures if summed - ones else ():  # the total of ones is their number
        noun = figure.noun if figure.function == "count" and isinstance(figure.noun, Noun) else None
        if noun is None or not noun.head.words:
            continue
        taken = [one.column for one in noun.head.of_kind("column") if one.table == wish.base.name]
        word = singular(noun.head.words[-1])
        rated = word in _RATED or (unit_of(word) is None and any(_is_money(wish.base.column(one)) for one in taken))
        if rated and summed & set(taken):
            text = f"'{figure.phrase}': how many rows have one, or the total of {wish.base.name}.{taken[0]}?"
            choices = (f"number of {spoken(wish.base.name.split('.')[1])} with a {singular(noun.text)}",)
            return Question(text=text, phrase=figure.phrase, choices=choices)
    return None


def count_as_money(wish: AnsweredWish) -> Question | None:
    """As in "number of deposits per house", by a measure that adds up their money."""
    base = wish.base
    named = {one.named for one in wish.block.measures if one.named is not None and wish.block.inner is None}
    money = {name for name in named if (unit := unit_of(base.measures[name].unit or "")) and unit.measures == "money"}
    for figure in wish.draft.figures if money else ():
        noun = figure.noun if figure.function == "count" and isinstance(figure.noun, Noun) else None
        senses = noun.head.of_kind("measure") if noun is not None else ()
        if noun is None or unit_of(noun.head.words[-1]) is not None or base.name in noun.head.tables(WHOLE_NAME):
            continue
        if any(one.table == base.name and one.measure in money for one in senses):
            rows = spoken(base.name.split(".")[1])
            text = f"'{figure.phrase}': how many rows of {base.name} have one, or the total of their money?"
            choices = (f"number of {rows} with a {singular(noun.text)}", f"total {noun.text}")
            return Question(text=text, phrase=figure.phrase, choices=choices)
    return None


def _is_money(column: CatalogColumn) -> bool:
    unit = unit_of_column(column)
    return unit is not None and unit.measures == "money"


def highest_time(wish: AnsweredWish) -> Question | None:
    """As in "highest paid job per company", by the last day on which something was paid."""
    said = next((token.text for token in wish.tokens if token.word in _HIGHEST), "")
    for one in wish.block.measures if said and wish.block.inner is None else ():
        if one.function in {"max", "min"} and isinstance(one.of, ColumnRef) and one.of.role in wish.scope.reaches:
            table = wish.scope.reaches[one.of.role].table
            if table.column(one.of.column).type in TIMES:
                text = f"'{said}': {table.name}.{one.of.column} is a time; which number is meant?"
                return Question(text=text, phrase=said)
    return None


def lines_counted(wish: AnsweredWish) -> Question | None:
    """As in "orders and bottles per month", where a row is a line of an order: the lines would be counted."""
    base = wish.base
    rows = [one for one in wish.block.measures if one.counts_rows]
    if not rows or wish.block.inner is not None or len(base.primary_key) < _PARTS:
        return None
    figures = [one.noun for one in wish.draft.figures if one.function == "count" and isinstance(one.noun, Noun)]
    for noun in (*figures, *(one for one in wish.draft.nouns if one.listed and not one.predicate)):
        keys = [one.column for one in noun.head.of_kind("column") if one.table == base.name
                and one.column in base.primary_key and one.quality >= NEARLY_NAME]  # fmt: skip
        shown = {one.of.column for one in wish.block.dimensions if isinstance(one.of, ColumnRef) and not one.of.role}
        if keys and not set(keys) & shown and base.name not in noun.head.tables(WHOLE_NAME):
            text = f"'{noun.text}': rows of {base.name}, or different values of {keys[0]}?"
            return Question(text=text, phrase=noun.text, choices=(f"number of different {noun.text}",))
    return None


_PARTS = 2


def done_by_people(wish: AnsweredWish) -> Question | None:
    """As in "washes by members per site": washes of members, or a group for each member?"""
    if wish.block.inner is not None or len(wish.block.dimensions) < _PARTS:
        return None
    words = wish.words
    keys = {target[0] for one in wish.block.dimensions if isinstance(one.of, ColumnRef) and not one.of.role
            and (target := wish.base.column(one.of.column).references) is not None}  # fmt: skip
    for mention in wish.mentions:
        before = wish.word(mention.start - 1)
        word = mention.words[-1] if mention.words else ""
        people = mention.is_plural and names_people(word)
        if before == "by" and people and keys & mention.tables(WHOLE_NAME) and "per" in words[mention.end :]:
            text = f"'by {mention.text}': only what they did, or a group for each of them?"
            return Question(text=text, phrase=f"by {mention.text}", choices=(f"per {singular(mention.text)}",))
    return None


def value_for_things(wish: AnsweredWish) -> Question | None:
    """As in "patients per hospital" by the bills that patients pay, where another table says something of patients."""
    base = wish.base
    values = {str(value) for one in wish.block.filters if isinstance(one, Condition) for value in one.values}
    if not any(one.function == "count" for one in wish.block.measures) or not values:
        return None
    senses = [sense for one in wish.mentions for sense in one.senses if sense.table == base.name]
    named = any(sense.kind != "value" and sense.quality >= LAST_WORD for sense in senses)
    for mention in wish.mentions if not named else ():
        own = [one for one in mention.of_kind("value") if one.table == base.name and one.value in values]
        word = stem(mention.words[-1]) if len(mention.words) == 1 else ""
        others = [f"{table.name}.{column.name}" for table in wish.lexicon.catalog.tables.values()
                  for column in table.columns
                  if table.name != base.name and word in stems(column.name.replace("_", " "))]  # fmt: skip
        if own and others and mention.is_plural:
            text = (
                f"'{mention.text}': rows of {base.name} with {own[0].column} '{own[0].value}'? {others[0]} says it, too"
            )
            return Question(text=text, phrase=mention.text)
    return None


_STATES = frozenset({"in", "on", "at", "under", "still"})


def state_when_empty(wish: AnsweredWish) -> Question | None:
    """Words that no rule read, and that say when a time is empty: "ambulances in use", which are not retired."""
    read = {at for one in wish.mentions for at in range(one.start, one.end)}
    left = {token.stem: token.text for at, token in enumerate(wish.tokens)
            if at not in read and token.kind == "word" and wish.word(at - 1) in _STATES
            and token.word not in ARTICLES}  # fmt: skip
    text = wish.block.model_copy(update={"columns": ()}).model_dump_json()
    for column in wish.base.columns:
        if column.type not in TIMES or not may_be_empty(column) or f'"column":"{column.name}"' in text:
            continue
        said = set(stems(when_empty(column))) & set(left)
        if said:
            word = left[min(said)]
            place = f"{wish.base.name}.{column.name}"
            return Question(text=f"'{word}': only rows where {place} is empty, or all of them?", phrase=word)
    return None


SOFT_CHOICES = (described_otherwise, count_as_sum, count_as_money, highest_time, lines_counted, done_by_people,
                value_for_things, state_when_empty)  # fmt: skip
"""The checks, in the order in which they ask."""
