"""As in "sheets wasted": the words of a column's name the other way round, where its participle means nothing alone."""

from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Sense
from streamhouse.planner.language.numbers import read_number
from streamhouse.planner.language.tokens import Token
from streamhouse.planner.language.words import is_past_form

_RELATIVE = frozenset({"that", "which", "who"})
_BEING = frozenset({"were", "was", "are", "is"})
_BOUNDS = (
    ("at", "least"), ("at", "most"), ("more", "than"), ("less", "than"), ("fewer", "than"), ("over",), ("under",),
    ("exactly",),
)  # fmt: skip


def with_verbs_in_names(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "wasted sheets" for "sheets wasted", and "with 50 wasted sheets" for "that wasted 50 sheets".

    "How many sheets were wasted" has the name apart.
    """
    for at in range(2, len(tokens) - 2):
        counted = tokens[at - 2].word == "how" and tokens[at - 1].word == "many"
        if counted and tokens[at + 1].word in _BEING and _named(tokens[at + 2], tokens[at], lexicon):
            tokens = (*tokens[:at], tokens[at + 2], tokens[at], *tokens[at + 3 :])
            break
    for at in range(len(tokens) - 1):
        if _named(tokens[at + 1], tokens[at], lexicon):
            tokens = (*tokens[:at], tokens[at + 1], tokens[at], *tokens[at + 2 :])
    for at in range(1, len(tokens) - 3):
        if tokens[at].word in _RELATIVE:
            tokens = _bounded(tokens, at, lexicon)
    return tokens


def _bounded(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with a bound before the whole name, as in "that | wasted | at least 50 | sheets"."""
    verb, begin = tokens[at + 1], at + 2
    words = tuple(token.word for token in tokens[begin : begin + 2])
    bound = next((one for one in _BOUNDS if words[: len(one)] == one), ())
    number = read_number(tokens, begin + len(bound))
    noun = begin + len(bound) + number[1] if number is not None else len(tokens)
    if noun >= len(tokens) or not _named(verb, tokens[noun], lexicon):
        return tokens
    link = Token("with", "with", "with", "word", tokens[at].start, tokens[at].end)
    return (*tokens[:at], link, *tokens[begin:noun], verb, *tokens[noun:])


def _named(verb: Token, noun: Token, lexicon: Lexicon) -> bool:
    """Whether a participle and a noun are the name of one column or measure, and the participle alone is nothing."""
    if {verb.kind, noun.kind} != {"word"} or not is_past_form(verb.word):
        return False
    alone = lexicon.mention((verb,), 0)
    if alone is not None and alone.best >= WHOLE_NAME:
        return False
    both = lexicon.mention((verb, noun), 0)
    if both is None or both.end != len((verb, noun)):
        return False
    return bool([one for one in both.of_kind("column", "measure") if _whole(one)]) and not both.of_kind("value")


def _whole(sense: Sense) -> bool:
    return sense.quality >= WHOLE_NAME
