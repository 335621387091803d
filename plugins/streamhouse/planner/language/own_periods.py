"""As in "desks for less than 300 EUR a month", where the only price of a desk is the one for a month."""

from streamhouse.planner.catalog import CatalogColumn, CatalogTable
from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token
from streamhouse.planner.language.units import unit_of

_PERIODS = {"day": "daily", "week": "weekly", "month": "monthly", "year": "yearly"}
_PER = frozenset({"a", "per", "each", "every"})


def without_own_period(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens without "a month" behind an amount of money, where the rows have one such amount: that for a month."""
    for at in range(2, len(tokens) - 1):
        per, period = tokens[at].word, tokens[at + 1].word
        if per not in _PER or period not in _PERIODS or not _is_money(tokens, at - 1):
            continue
        mentions = (lexicon.mention(tokens, start) for start in range(at))
        tables = [sorted(one.tables(WHOLE_NAME)) for one in mentions if one is not None and one.tables(WHOLE_NAME)]
        if not tables or len(tables[0]) != 1:
            continue
        name = _only_price(lexicon.catalog.tables[tables[0][0]], period)
        if name:
            draft.assumptions.append(f"'{per} {period}' says which price is meant: {name}")
            return (*tokens[:at], *tokens[at + 2 :])
    return tokens


def _is_money(tokens: tuple[Token, ...], at: int) -> bool:
    """Whether a token ends an amount of money: "300 EUR", "$300"."""
    token, before = tokens[at], tokens[at - 1]
    unit = unit_of(token.word) if token.kind == "word" and before.kind == "number" else None
    return bool(token.kind == "number" and token.money) or (unit is not None and unit.measures == "money")


def _only_price(table: CatalogTable, period: str) -> str:
    """The full name of the only amount of money of a table, if it is one for each such period; empty: it is not."""
    found = [one for one in table.columns if (unit := unit_of_column(one)) is not None and unit.measures == "money"]
    named = len(found) == 1 and _is_for_each(found[0], period)
    return f"{table.name}.{found[0].name}" if named else ""


def _is_for_each(column: CatalogColumn, period: str) -> bool:
    parts = column.name.lower().split("_")
    described = column.description.lower()
    return _PERIODS[period] in parts or parts[-2:] == ["per", period] or f" per {period}" in described
