"""Numbers, flags and rows of which a wish does not say enough: money that no word names, percents of a count, days."""

from decimal import Decimal
from itertools import pairwise

from streamhouse.planner.catalog import CatalogColumn, CatalogTable
from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.scope import is_quantity
from streamhouse.planner.language.shape import Shaped
from streamhouse.planner.language.tokens import stem, stems
from streamhouse.planner.request import ColumnRef, Condition, Question

_PARTS = frozenset(map(stem, """freight shipping transport delivery postage tip tax vat discount rebate deposit
                       insurance surcharge penalty charge""".split()))  # fmt: skip
_PERCENTS = frozenset({"percent", "%", "pct"})
_OF_ALL = frozenset(map(stem, ("percent", "pct", "rate", "share", "ratio", "fraction")))
_OPENING = frozenset(
    {"list", "show", "display", "give", "find", "which", "get", "the", "all", "our", "me", "us", "what", "are"}
)


def unnamed_money(wish: AnsweredWish) -> Question | None:
    """As in "average order value", where the only money of an order is its freight, and its lines have prices."""
    base, lexicon = wish.base, wish.lexicon
    named = {sense.column for one in wish.mentions for sense in one.of_kind("column") if sense.table == base.name}
    said = {stem(word) for word in wish.draft.words}
    for name in dict.fromkeys(_own_columns(wish.found)):
        column = base.column(name)
        if name in named or not _is_money(column) or said & set(_words(column)):
            continue
        others = [] if not base.primary_key else [one for one in _children(base, lexicon) if _has_money(one)]
        if others or _PARTS & set(stems(column.name)):
            what = f", or money of {others[0].name}" if others else ", or another amount"
            text = f"which amount: {base.name}.{name}{what}?"
            return Question(text=text, phrase="", choices=(name.replace("_", " "),))
    return None


def _own_columns(found: Shaped) -> list[str]:
    """Columns of the base that are folded, or compared with a number."""
    if found.block.inner is not None:
        return []
    refs: list[object] = [one.of for one in found.block.measures]
    refs += [one.left for one in found.block.filters if isinstance(one, Condition) and _numbers(one)]
    return [ref.column for ref in refs if isinstance(ref, ColumnRef) and not ref.role]


def _numbers(one: Condition) -> list[Decimal]:
    return [Decimal(v) for v in one.values if isinstance(v, int | Decimal) and not isinstance(v, bool)]


def _is_money(column: CatalogColumn) -> bool:
    unit = unit_of_column(column)
    return unit is not None and unit.measures == "money"


def _words(column: CatalogColumn) -> set[str]:
    texts = (column.name, *column.synonyms)
    return {word for text in texts for word in stems(text)} - _VAGUE


_VAGUE = frozenset(map(stem, ("cents", "eur", "usd", "amount", "price", "value", "total", "cost", "income", "money")))


def _children(base: CatalogTable, lexicon: Lexicon) -> list[CatalogTable]:
    """Tables whose rows are parts of one row of the base: their own key begins with that of the base."""
    tables = [lexicon.catalog.tables[key.table] for key in lexicon.children.get(base.name, [])]
    return [one for one in tables if set(base.primary_key) < set(one.primary_key)]


def _has_money(table: CatalogTable) -> bool:
    return any(is_quantity(one) and _is_money(one) for one in table.columns)


def percent_of_count(wish: AnsweredWish) -> Question | None:
    """As in "sowings that came up by more than 80 percent", where the catalog says how many came up."""
    percents = {one.value: (one.text, after.text) for one, after in pairwise(wish.tokens)
                if after.word in _PERCENTS and isinstance(one.value, Decimal)}  # fmt: skip
    for one in wish.block.filters if percents and wish.block.inner is None else ():
        if not isinstance(one, Condition) or not isinstance(one.left, ColumnRef) or one.left.role:
            continue
        column = wish.base.column(one.left.column)
        text = " ".join((*column.name.split("_"), *column.description.split())).lower()
        counts = column.type in {"int", "bigint"} and not column.unit and not _OF_ALL & set(stems(text))
        value = next((value for value in _numbers(one) if value in percents), None)
        if counts and value is not None:
            said = " ".join(percents[value])
            return Question(text=f"'{said}': {wish.base.name}.{column.name} is a number, of what is it a part?",
                            phrase=said)  # fmt: skip
    return None


def days_of_things(wish: AnsweredWish) -> Question | None:
    """As in "days with more than 10 hours of downtime", where a row is a day of one turbine."""
    base, block = wish.base, wish.block
    shown = {one.of.column for one in block.columns if isinstance(one.of, ColumnRef) and not one.of.role}
    others = set(base.primary_key) - {base.event_time}
    if block.measures or block.dimensions or shown != {base.event_time} or not others or base.event_time is None:
        return None
    if base.event_time not in base.primary_key:
        return None
    said = next((token.text for token in wish.tokens if token.word not in _OPENING), "")
    things = " and ".join(sorted(others))
    return Question(text=f"'{said}': of each {things}, or of all of them together?", phrase=said)


def flag_first(wish: AnsweredWish) -> Question | None:
    """As in "native and shade plants", where one of two things that are so is shown, and the other is required."""
    base = wish.base
    flags = {
        one.of.column
        for one in wish.block.columns
        if isinstance(one.of, ColumnRef) and not one.of.role and base.column(one.of.column).type == "boolean"
    }
    for mention in wish.mentions if flags else ():
        first = all(token.word in _OPENING for token in wish.tokens[: mention.start])
        joined = mention.end < len(wish.tokens) and wish.tokens[mention.end].word in {"and", "or", "&"}
        if first and joined and any(sense.column in flags for sense in mention.of_kind("column")):
            text = f"'{mention.text}': must both that '{wish.tokens[mention.end].word}' joins be so, or is one enough?"
            return Question(text=text, phrase=mention.text)
    return None
