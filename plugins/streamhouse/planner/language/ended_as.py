"""As in "games that ended in a draw", "tests that led to glasses": a verb that says no more than the value behind."""

from dataclasses import replace

from streamhouse.planner.language.levels import NAME, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.periods import read_period
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.words import ARTICLES

_ENDED = frozenset({"ended", "end", "ends", "ending", "resulted", "finished", "concluded", "result"})
_LED = frozenset({"led"})
_PREPOSITIONS = frozenset({"in", "as", "with", "by", "being"})
_LINKS = frozenset({"that", "which", "who", "have", "has", "had"})


def with_ended_as(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "that were draw" for "that ended in a draw", where a value is called so."""
    for at in range(1, len(tokens) - 1):
        if tokens[at].word not in _ENDED | _LED or _is_named(tokens, at, lexicon):
            continue
        end = at + 1
        up = tokens[end].word == "up"
        end += up
        joined = end < len(tokens) and tokens[end].word in (_PREPOSITIONS if tokens[at].word in _ENDED else {"to"})
        end += joined
        while joined and end < len(tokens) and tokens[end].word in ARTICLES:
            end += 1
        if not (up or joined) or end >= len(tokens) or read_period(tokens, end) is not None:
            continue
        value = lexicon.mention(tokens, end)
        if value is None or value.senses[0].kind != "value" or value.senses[0].quality < WHOLE_NAME:
            continue
        first = at
        while first > 1 and tokens[first - 1].word in _LINKS:
            first -= 1
        if tokens[first - 1].word in {"not", "never", "did", "do", "does"}:
            continue
        put = tuple(replace(tokens[at], text=one, word=one, stem=stem(one)) for one in ("that", "were"))
        return (*tokens[:first], *put, *tokens[end:])
    return tokens


def _is_named(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> bool:
    """Whether the verb, with the words behind it, is a name of the catalog."""
    found = lexicon.mention(tokens, at)
    return found is not None and (found.end > at + 1 or found.best >= NAME) and not found.of_kind("table")
