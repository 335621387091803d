"""As in "how many calls came in on each queue": a verb that is true of every row, before the groups."""

from dataclasses import replace

from streamhouse.planner.language.empty_columns import may_be_empty
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.words import COUNTING

_BEFORE = frozenset({"that", "which", "have", "has", "were", "was", "the", "all"})
_PLACED = frozenset({"on", "in", "at", "to", "for", "through", "from", "over"})
_GROUPED = frozenset({"each", "every"})


def with_plain_groups(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "for each" alone, where the verb before it is the time that every counted row has."""
    words = [token.word for token in tokens]
    for at in range(len(tokens) - 3):
        if tuple(words[at : at + 2]) not in COUNTING:
            continue
        rows = lexicon.mention(tokens, at + 2, 1)
        tables = rows.tables(WHOLE_NAME) if rows is not None else set()
        first = at + 3
        while first < len(tokens) and words[first] in _BEFORE:
            first += 1
        end = _verb_end(tokens, first, tables, lexicon)
        if end is None:
            return tokens
        behind = end + (words[end] in _PLACED)
        if behind < len(tokens) and words[behind] in _GROUPED:
            opener = replace(tokens[end - 1], text="for", word="for", stem=stem("for"))
            return (*tokens[: at + 3], opener, *tokens[behind:])
        if words[end] == "per":
            return (*tokens[: at + 3], *tokens[end:])
        return tokens
    return tokens


def _verb_end(tokens: tuple[Token, ...], first: int, tables: set[str], lexicon: Lexicon) -> int | None:
    """Where a verb ends that is the time of one of some tables; None: none stands there."""
    for length in (2, 1):
        verb = lexicon.mention(tokens, first, length) if first + length < len(tokens) else None
        if verb is None or verb.end != first + length or tokens[first].kind != "word":
            continue
        for sense in verb.of_kind("column"):
            table = lexicon.catalog.tables[sense.table]
            own = sense.table in tables and sense.column == table.event_time and sense.quality >= WHOLE_NAME
            if own and not may_be_empty(table.column(sense.column)):
                return verb.end
    return None
