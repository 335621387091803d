"""As in "pupils who borrowed an instrument": what each row of a deed has anyway, which restricts nothing."""

from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.empty_columns import may_be_empty
from streamhouse.planner.language.levels import ANY_FORM, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.periods import read_period
from streamhouse.planner.language.place import is_participle
from streamhouse.planner.language.scope import is_key_like
from streamhouse.planner.language.tokens import Token

_ARTICLES = frozenset({"a", "an", "any"})
_GOES_ON = frozenset({"per", "by", "each", "every", "in", "since", "before", "after", "during"})


def without_objects(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens without "an instrument" behind "borrowed", where each loan has an instrument."""
    for at in range(1, len(tokens) - 2):
        verb = lexicon.mention(tokens, at)
        if verb is None or not is_participle(verb) or verb.end + 1 >= len(tokens):
            continue
        if tokens[verb.end].word not in _ARTICLES:
            continue
        noun = lexicon.mention(tokens, verb.end + 1)
        if noun is None or not _goes_on(tokens, noun.end):
            continue
        tables = {s.table for s in verb.of_kind("column") if s.quality >= ANY_FORM
                  and lexicon.catalog.tables[s.table].event_time == s.column}  # fmt: skip
        tables |= {s.table for s in verb.of_kind("table") if s.quality >= ANY_FORM}  # "booked" of bookings
        own = [s for s in noun.senses if s.quality >= WHOLE_NAME and s.table in tables]
        names = {(s.table, s.column) for s in own if s.quality == max(one.quality for one in own)}
        if len(names) != 1 or noun.of_kind("value", "table"):
            continue
        table, name = names.pop()
        column = lexicon.catalog.tables[table].column(name) if name else None
        plain = column is not None and not column.references and (column.type == "string" or is_key_like(column))
        if column is not None and plain and not may_be_empty(column):
            draft.assumptions.append(f"each row of {table} has {name}")
            return (*tokens[: verb.end], *tokens[noun.end :])
    return tokens


def _goes_on(tokens: tuple[Token, ...], at: int) -> bool:
    ended = at >= len(tokens) or tokens[at].kind == "symbol" or tokens[at].word in _GOES_ON
    return ended or read_period(tokens, at) is not None
