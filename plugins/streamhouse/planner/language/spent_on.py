"""As in "how much did we spend on spare parts": the sum of the one amount of money that is called so."""

from dataclasses import replace

from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.origins import column_called
from streamhouse.planner.language.scope import is_quantity
from streamhouse.planner.language.tokens import Token, stem

_DOING = frozenset({"did", "do", "have"})
_WE = frozenset({"we", "they", "you"})
_SPENT = frozenset({"spend", "spent", "pay", "paid"})
_BEGIN = 6  # "how much did we spend on"


def with_sums_spent(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "total spare parts" for "how much did we spend on spare parts", where an amount is called so."""
    words = [token.word for token in tokens[:_BEGIN]]
    if len(tokens) <= _BEGIN or words[:2] != ["how", "much"] or words[2] not in _DOING or words[3] not in _WE:
        return tokens
    if words[4] not in _SPENT or words[5] not in {"on", "for"}:
        return tokens
    at = _BEGIN + (tokens[_BEGIN].word in {"the", "our", "all"})
    amount = lexicon.mention(tokens, at) if at < len(tokens) else None
    name = _amount(amount, lexicon) if amount is not None else ""
    if amount is None or not name:
        return tokens
    old = tokens[0]
    total = replace(old, text="total", word="total", stem=stem("total"))
    return (total, replace(old, text=amount.text, word=name, stem=name, kind="name"), *tokens[amount.end :])


def _amount(amount: Mention, lexicon: Lexicon) -> str:
    """The full name of the only amount of money that words name; empty: there is none, or there are several."""
    place = column_called(amount, lexicon)
    if place is None:
        return ""
    table, column = place
    unit = unit_of_column(column)
    return f"{table}.{column.name}" if is_quantity(column) and unit is not None and unit.measures == "money" else ""
