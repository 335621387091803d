"""As in "revenue per channel without cancelled orders": rows of a state that do not count, and no missing rows."""

from dataclasses import replace

from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.reader import DETERMINERS
from streamhouse.planner.language.tokens import Token, place_behind, stem

_WITHOUT = frozenset({"without", "excluding", "except", "ignoring"})


def with_values_left_out(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "ones" for rows that were counted before, where a value of theirs leaves some of them out."""
    for at in range(1, len(tokens) - 1):
        if tokens[at].word not in _WITHOUT or _of_things(tokens, at, lexicon):
            continue
        begin = place_behind(DETERMINERS, tokens, at + 1)
        value = lexicon.mention(tokens, begin) if begin < len(tokens) else None
        if value is None:
            continue
        if tokens[at].word == "without" and _flags(value, lexicon) & _counted(tokens[:at], lexicon):
            put = replace(tokens[at], text="excluding", word="excluding", stem=stem("excluding"))
            return (*tokens[:at], put, *tokens[at + 1 :])
        split = _split(tokens, value, lexicon)
        if split is None:
            continue
        rows, state = split
        tables = rows.tables(WHOLE_NAME)
        own = {one.table for one in state.of_kind("value") if one.quality >= WHOLE_NAME} & tables
        if own and own & _counted(tokens[:at], lexicon):
            first = tokens[rows.start]
            put = replace(first, text="ones", word="ones", stem="one", end=tokens[rows.end - 1].end)
            return (*tokens[: rows.start], put, *tokens[rows.end :])
    return tokens


def _of_things(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> bool:
    """Whether "without" may be said of the things right before it: "orders per client without cancelled orders"."""
    before = lexicon.mention(tokens, at - 1, 1) if tokens[at].word == "without" else None
    if before is None:
        return False
    things = before.tables(WHOLE_NAME)
    return bool(things) and not things & _counted(tokens[:at], lexicon)


def _split(tokens: tuple[Token, ...], value: Mention, lexicon: Lexicon) -> tuple[Mention, Mention] | None:
    """The rows behind a value, and the value; None: there are no rows behind it."""
    behind = lexicon.mention(tokens, value.end) if value.end < len(tokens) else None
    if behind is not None and behind.of_kind("table"):
        return behind, value
    return None


def _flags(mention: Mention, lexicon: Lexicon) -> set[str]:
    """The tables that have a column of yes or no that "rush orders" names, as a whole."""
    if mention.end - mention.start < len(("rush", "orders")):
        return set()
    return {one.table for one in mention.of_kind("column") if one.quality >= WHOLE_NAME and lexicon.is_flag(one)}


def _counted(tokens: tuple[Token, ...], lexicon: Lexicon) -> set[str]:
    """The tables whose rows a wish counts or adds up: of the first name in it that is a table or a measure."""
    at = 0
    while at < len(tokens):
        found = lexicon.mention(tokens, at)
        if found is None:
            at += 1
            continue
        rows = {one.table for one in found.of_kind("table", "measure") if one.quality >= WHOLE_NAME}
        if rows:
            return rows
        at = found.end
    return set()
