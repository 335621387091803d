"""As in "products that cost more than 80 euros a pack", where products have one price, and other rows have a cost."""

from dataclasses import replace

from streamhouse.planner.catalog import CatalogColumn
from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.bounds_said import bound_at
from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.levels import LAST_WORD, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.scope import is_number, name_stems
from streamhouse.planner.language.tokens import Token, stem, stems

_COSTS = frozenset({"cost", "costs", "costing"})
_WHICH = frozenset({"that", "which"})
_PRICES = frozenset(stem(word) for word in ("price", "fee", "fare", "rent"))
_EACH = frozenset({"a", "an", "per", "each"})


def with_prices_of_things(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens with the price of the things in place of the verb "cost" before a sum of money."""
    for at in range(1, len(tokens) - 2):
        if tokens[at].word not in _COSTS:
            continue
        first = at - (tokens[at - 1].word in _WHICH)
        table = _things(tokens, first, lexicon, adjacent=first == at)
        end = _sum_behind(tokens, at + 1) if table else None
        price = _price(table, lexicon) if end is not None else None
        cost = lexicon.mention(tokens, at, 1)
        own = cost is not None and any(one.table == table and one.quality >= LAST_WORD for one in cost.senses)
        if end is None or price is None or own:
            continue
        words = stems(price.description)
        each = end + 1 < len(tokens) and tokens[end].word in _EACH and tokens[end + 1].stem in words
        with_ = replace(tokens[at], text="with", word="with", stem=stem("with"), kind="word")
        name = f"{table}.{price.name}"
        said = " ".join(token.text for token in (tokens[at], *tokens[end : end + 2 * each]))
        draft.assumptions.append(f"'{said}' is {name}")
        named = replace(tokens[at], text=price.name, word=name, stem=name, kind="name")
        return (*tokens[:first], with_, named, *tokens[at + 1 : end], *tokens[end + 2 * each :])
    return tokens


def _things(tokens: tuple[Token, ...], end: int, lexicon: Lexicon, *, adjacent: bool) -> str:
    """The table of the last things before a place; empty: they may be rows of several, or stand apart from a verb."""
    for at in range(end - 1, -1, -1):
        found = lexicon.mention(tokens, at)
        tables = found.tables(WHOLE_NAME) if found is not None else set()
        if found is not None and tables:
            return min(tables) if len(tables) == 1 and (found.end == end or not adjacent) else ""
    return ""


def _sum_behind(tokens: tuple[Token, ...], at: int) -> int | None:
    """Where a comparison with a sum of money that begins at a token ends; None: none begins there."""
    bound = bound_at(tokens, at)
    unit = bound[1].unit if bound is not None else None
    return bound[0] if bound is not None and unit is not None and unit.measures == "money" else None


def _price(table: str, lexicon: Lexicon) -> CatalogColumn | None:
    """The only price that things have; None: they have none, or several."""
    known = lexicon.catalog.tables[table]
    columns = [one for one in known.columns if is_number(one)]
    money = [one for one in columns if (unit := unit_of_column(one)) is not None and unit.measures == "money"]
    if len(money) != 1 or not name_stems(money[0]) & _PRICES:
        return None
    times = any(money[0].name in one.sql and "*" in one.sql for one in known.measures.values())
    if times or "unit" in money[0].name.split("_"):
        return None  # a row may be of several pieces
    again = [one for one in lexicon.catalog.tables.values() if any(c.name == money[0].name for c in one.columns)]
    return money[0] if len(again) == 1 else None  # of several tables another rule chooses
