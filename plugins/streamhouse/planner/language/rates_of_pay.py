"""As in "who earn more than 30 euros an hour": a bound on a price of something, where one column is such a price."""

from dataclasses import replace

from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.scope import is_number
from streamhouse.planner.language.tokens import Token, stem, stems
from streamhouse.planner.language.units import unit_of

_EARNING = frozenset(
    """who that which is are was were paid earn earns earned get gets got make makes charge charges cost costs with a an
    rate pay of fee price wage for""".split()
)
_BOUNDS = frozenset(
    """more than less over above under below at least most up to exactly no not fewer between and""".split()
)


def with_rates(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with the name of the price before its bound, where "an hour" is a part of one price alone."""
    for at in range(2, len(tokens)):
        if tokens[at - 1].word not in {"a", "an", "per"} or not _is_money(tokens, at - 2):
            continue
        name = _price_of(tokens[at], lexicon)
        first = at - 2
        while first and (tokens[first - 1].kind == "number" or tokens[first - 1].word in _BOUNDS | {"euros", "cents"}):
            first -= 1
        opener = first
        while opener and tokens[opener - 1].word in _EARNING:
            opener -= 1
        if not name or not opener or opener == first:
            continue
        old = tokens[first]
        plain = replace(old, kind="word", value=None, money="")
        column = name.rsplit(".", 1)[1]
        put = (replace(plain, text="with", word="with", stem="with"),
               replace(plain, text=column, word=name, stem=name, kind="name"))  # fmt: skip
        return (*tokens[:opener], *put, *tokens[first : at - 1], *tokens[at + 1 :])
    return tokens


def _is_money(tokens: tuple[Token, ...], at: int) -> bool:
    if tokens[at].kind == "number":
        return bool(tokens[at].money)
    unit = unit_of(tokens[at].word) if tokens[at].kind == "word" else None
    return unit is not None and unit.measures == "money" and tokens[at - 1].kind == "number"


def _price_of(token: Token, lexicon: Lexicon) -> str:
    """The full name of the one price that its name, a synonym or its description says to be of a thing."""
    found: list[str] = []
    for table in lexicon.catalog.tables.values():
        for column in table.columns:
            own = unit_of_column(column) if is_number(column) else None
            words = {part for text in (column.name, *column.synonyms, column.description) for part in stems(text)}
            if own is not None and own.measures == "money" and words & {token.stem, stem(f"{token.word}ly")}:
                found.append(f"{table.name}.{column.name}")
    return found[0] if len(found) == 1 else ""
