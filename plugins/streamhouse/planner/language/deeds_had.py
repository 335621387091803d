"""As in "adoptions with a return": a noun for what was done to rows, which the catalog names by a participle."""

from dataclasses import replace

from streamhouse.planner.language.levels import ANY_FORM, NEARLY_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.nouns_of_times import DONE
from streamhouse.planner.language.scope import TIMES
from streamhouse.planner.language.tokens import Token, stem

_WITH = frozenset({"with", "without"})
_SOME = frozenset({"a", "an", "any"})


def with_deeds(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "with a returned" for "with a return", where a time of the catalog is called "returned"."""
    for at in range(1, len(tokens) - 2):
        if tokens[at].word not in _WITH or tokens[at + 1].word not in _SOME:
            continue
        noun = tokens[at + 2]
        done = _participle(tokens, at + 2, lexicon)
        if done:
            put = tuple(replace(noun, text=word, word=word, stem=stem(word)) for word in done.split())
            return with_deeds((*tokens[: at + 2], *put, *tokens[at + 3 :]), lexicon)
    return tokens


def _participle(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> str:
    """The participle for a noun; empty: the noun is a name of its own, or nothing was done that is called so."""
    noun = tokens[at]
    following = lexicon.mention(tokens, at)
    if following is not None and (following.end > at + 1 or following.best >= NEARLY_NAME):
        return ""
    for done in DONE.get(noun.word, ()):
        senses = lexicon.meanings(tuple(map(stem, done.split())), tuple(done.split()))
        if any(
            one.kind == "column"
            and one.quality >= ANY_FORM
            and lexicon.catalog.tables[one.table].column(one.column).type in TIMES
            for one in senses
        ):
            return done
    return ""
