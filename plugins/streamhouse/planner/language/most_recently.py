"""As in "most recently received order of each shop": the latest rows, where the verb is the time of each row."""

from dataclasses import replace

from streamhouse.planner.language.levels import ANY_FORM, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token
from streamhouse.planner.language.words import is_past_form

_LATEST = (("most", "recently"), ("last",), ("latest",))


def with_latest_rows(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "latest order" for "most recently received order", where orders have that time as their own."""
    words = tuple(token.word for token in tokens)
    for at in range(len(tokens) - 2):
        said = next((one for one in _LATEST if words[at : at + len(one)] == one), ())
        verb = at + len(said)
        if said and verb + 1 < len(tokens) and is_past_form(words[verb]) and _is_own_time(tokens, verb, lexicon):
            latest = replace(tokens[at], text="latest", word="latest", stem="latest", kind="word")
            return (*tokens[:at], latest, *tokens[verb + 1 :])
    return tokens


def _is_own_time(tokens: tuple[Token, ...], verb: int, lexicon: Lexicon) -> bool:
    """Whether a verb can only be the time at which each of the rows behind it came to be."""
    rows, done = lexicon.mention(tokens, verb + 1), lexicon.mention(tokens, verb, 1)
    tables = rows.tables(WHOLE_NAME) if rows is not None else set()
    if len(tables) != 1 or done is None:
        return False
    table = lexicon.catalog.tables[min(tables)]
    own = {one.column for one in done.of_kind("column") if one.table == table.name and one.quality >= ANY_FORM}
    return own == {table.event_time} and not done.of_kind("value")
