"""As in "days on which fewer than 5 orders were placed": days with so few orders, where the verb names their time."""

from dataclasses import replace

from streamhouse.planner.language.levels import ANY_FORM, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.numbers import read_number
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.words import is_past_form

_PERIODS = frozenset({"days", "weeks", "months"})
_WHICH = (("on", "which"), ("in", "which"), ("during", "which"), ("when",), ("where",))
_BOUNDS = (
    ("less", "than"),
    ("fewer", "than"),
    ("more", "than"),
    ("at", "least"),
    ("at", "most"),
    ("over",),
    ("under",),
)
_BEING = frozenset({"was", "were"})


def with_days_of_rows(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "days with fewer than 5 orders", without the verb."""
    words = tuple(token.word for token in tokens)
    for at, word in enumerate(words):
        which = _stands(words, at + 1, _WHICH) if word in _PERIODS else 0
        bound = at + 1 + which
        first = bound + _stands(words, bound, _BOUNDS)
        number = read_number(tokens, first) if which and first > bound else None
        thing = lexicon.mention(tokens, first + number[1]) if number is not None else None
        if thing is None or thing.end + 1 >= len(tokens) or words[thing.end] not in _BEING:
            continue
        verb = lexicon.mention(tokens, thing.end + 1, 1)
        said = _said(thing, verb, tokens, lexicon) if verb is not None and is_past_form(words[thing.end + 1]) else None
        if said is not None:
            put = replace(tokens[at + 1], text="with", word="with", stem=stem("with"))
            return (*tokens[: at + 1], put, *tokens[bound : thing.start], *said, *tokens[thing.end + 2 :])
    return tokens


def _stands(words: tuple[str, ...], at: int, phrases: tuple[tuple[str, ...], ...]) -> int:
    """How many words the first of some phrases has that stands at a place; 0: none does."""
    return next((len(one) for one in phrases if words[at : at + len(one)] == one), 0)


def _said(thing: Mention, verb: Mention, tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...] | None:
    """The words for rows whose time a verb names; None: they are none."""
    tables = lexicon.catalog.tables
    times = [sense for sense in verb.of_kind("column") if sense.quality >= ANY_FORM]
    rows = {sense.table for sense in times if sense.column == tables[sense.table].event_time}
    if len(times) != len(rows) or not rows:
        return None
    named = thing.tables(WHOLE_NAME)
    return tokens[thing.start : thing.end] if len(named) == 1 and named <= rows else None
