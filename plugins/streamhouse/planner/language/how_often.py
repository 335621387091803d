"""As in "how often was customer absent": the number of rows that have a value, where one column alone has it.

So it is with "how often were bookings cancelled", where a column of yes or no says it.
"""

from dataclasses import replace

from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.origins import root_of
from streamhouse.planner.language.periods import read_period
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.words import is_past_form

_BEING = frozenset({"was", "were", "is", "are"})
_GROUPING = frozenset({"per", "by", "in", "each", "every", "for", "at", "on"})
_OFTEN = (("how", "often"), ("how", "many", "times"))


def with_how_often(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "number of deliveries with customer absent" for "how often was customer absent"."""
    words = tuple(token.word for token in tokens)
    for often in _OFTEN:
        at = len(often)
        if words[:at] != often or len(words) < at + 2 or words[at] not in _BEING:
            continue
        rows = _rows_done(tokens, at + 1, lexicon)
        if rows:
            said = [replace(tokens[0], text=one, word=one, stem=stem(one)) for one in ("number", "of", "that", "were")]
            return (*said[:2], *rows, *said[2:], *tokens[at + 1 + len(rows) :])
        value = lexicon.mention(tokens, at + 1)
        table = _table_of(value, lexicon) if value is not None else ""
        if value is None or not table:
            continue
        end = value.end
        ended = end >= len(tokens) or tokens[end].kind == "symbol" or words[end] in _GROUPING
        if not ended and read_period(tokens, end) is None:
            continue
        said = [replace(tokens[0], text=one, word=one, stem=stem(one)) for one in ("number", "of", table, "with")]
        said[2] = replace(said[2], text=table.rsplit(".", 1)[1], stem=stem(table), kind="name")
        return (*said, *tokens[at + 1 :])
    return tokens


def _rows_done(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> tuple[Token, ...]:
    """The words for rows, before what was done to them and a column of yes or no says; empty: there is no such."""
    rows = lexicon.mention(tokens, at)
    done = lexicon.mention(tokens, rows.end, 1) if rows is not None else None
    if rows is None or done is None or not rows.is_plural or not is_past_form(done.words[-1]):
        return ()
    flags = {sense.table for sense in done.senses if sense.quality >= WHOLE_NAME and lexicon.is_flag(sense)}
    others = {sense.table for sense in done.senses if sense.quality >= WHOLE_NAME} - flags
    named = rows.tables(WHOLE_NAME)
    return tokens[at : rows.end] if len(named) == 1 and named <= flags and not named & others else ()


def _table_of(value: Mention, lexicon: Lexicon) -> str:
    """The table of the only column that has a value; empty: a phrase may be something else."""
    senses = [sense for sense in value.senses if sense.quality >= WHOLE_NAME]
    roots = {root_of(lexicon, sense.table, sense.column) for sense in senses}
    if len(roots) != 1 or any(sense.kind != "value" for sense in senses):
        return ""
    return roots.pop()[0]
