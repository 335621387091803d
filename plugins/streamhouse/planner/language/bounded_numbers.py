"""As in "tips over 5 euros", "how many delays above 10 minutes": the rows whose number is so."""

from dataclasses import replace

from streamhouse.planner.catalog import CatalogColumn
from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.bounds_said import bound_at
from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.numbers import Quantity
from streamhouse.planner.language.origins import column_called
from streamhouse.planner.language.scope import is_number
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.words import COUNTING, GRAINS, is_past_form

_OPENING = frozenset({"all", "the", "our", "list", "show", "give", "find", "me", "us", "please", "which"})
_GROUPING = frozenset({"per", "each", "every", "average", "total"})
_MUCH = frozenset({"monthly", "weekly", "daily", "yearly", "annual", "hourly"})


def with_bounded_numbers(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens with "rides with a tip over 5 euros" for "tips over 5 euros", where only rides have a tip."""
    first = _begin(tokens)
    number = lexicon.mention(tokens, first) if first < len(tokens) else None
    if number is None or not number.is_plural or tokens[first].word in _MUCH:
        return tokens
    behind = number.end + (tokens[number.end : number.end + 1] != () and tokens[number.end].word == "of")
    bound = bound_at(tokens, behind)
    place = _column(number, lexicon) if bound is not None else None
    if bound is None or place is None or _is_grouped(tokens, bound[0]) or not _same_unit(place[1], bound[1]):
        return tokens
    table, column = place
    draft.assumptions.append(f"'{number.text}' are rows of {table} with their {column.name}")
    old = tokens[first]
    with_ = replace(old, text="with", word="with", stem=stem("with"), kind="word")
    rows = replace(old, text=table.split(".")[1].replace("_", " "), word=table, stem=table, kind="name")
    name = f"{table}.{column.name}"
    named = replace(old, text=number.text, word=name, stem=name, kind="name")
    return (*tokens[:first], rows, with_, named, *tokens[behind:])


def _begin(tokens: tuple[Token, ...]) -> int:
    at = 0
    while at < len(tokens) and tokens[at].word in _OPENING:
        at += 1
    return at + 2 * (tuple(token.word for token in tokens[at : at + 2]) in COUNTING)


def _column(number: Mention, lexicon: Lexicon) -> tuple[str, CatalogColumn] | None:
    """The only number that is called so, and its table; None: there is none, or several."""
    place = column_called(number, lexicon)
    return place if place is not None and is_number(place[1]) and place[1].references is None else None


def _same_unit(column: CatalogColumn, quantity: Quantity) -> bool:
    """Whether both have a unit of the same kind: "passengers over 4" may be as old as that."""
    own = unit_of_column(column)
    return own is not None and quantity.unit is not None and own.measures == quantity.unit.measures


def _is_grouped(tokens: tuple[Token, ...], at: int) -> bool:
    """Whether the figures may be those of groups: "tips over 100 euros per driver" are sums."""
    for n in range(at, len(tokens)):
        word = tokens[n].word
        if word in _GROUPING or (word == "by" and not is_past_form(tokens[n - 1].word)):
            return True
        if word in GRAINS and tokens[n - 1].word in {"a", "one", "any", "single"}:
            return True
    return False
