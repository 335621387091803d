"""As in "booked over the phone": a way by which something came, where "over" is no bound."""

from dataclasses import replace

from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.numbers import read_number
from streamhouse.planner.language.scope import TIMES, is_number
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.words import ARTICLES


def with_channels(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "via" for each "over" before a value that is no number."""
    changed: list[Token | None] = list(tokens)
    for at, token in enumerate(tokens[:-1]):
        if token.word != "over" or token.kind != "word":
            continue
        behind = at + 1
        while behind < len(tokens) - 1 and tokens[behind].word in ARTICLES:
            behind += 1
        if read_number(tokens, behind) is not None:
            continue
        found = lexicon.mention(tokens, behind)
        if found is None or not _is_way(found, lexicon):
            continue
        changed[at] = replace(token, text="via", word="via", stem=stem("via"))
        if found.senses[0].kind != "value" or found.of_kind("column"):  # no column of that name
            said = replace(tokens[behind], text=found.text, word=" ".join(found.words), kind="quoted")
            changed[behind : found.end] = [said, *(None for _ in range(behind + 1, found.end))]
    return tuple(token for token in changed if token is not None)


def _is_way(found: Mention, lexicon: Lexicon) -> bool:
    """Whether a phrase is a value, and nothing that a number can be over."""
    if found.of_kind("table", "measure") or not any(one.quality >= WHOLE_NAME for one in found.of_kind("value")):
        return False
    tables = lexicon.catalog.tables
    columns = (tables[one.table].column(one.column) for one in found.of_kind("column"))
    return not any(is_number(one) or one.type in TIMES for one in columns)
