"""As in "copies of the novel sold": the name of a measure, with what is counted between its two words."""

from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token
from streamhouse.planner.language.words import ARTICLES, is_past_form


def with_names_joined(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "copies sold of novel" for "copies of the novel sold", where both are the name of a measure."""
    for at in range(len(tokens) - 3):
        first = tokens[at]
        if first.kind != "word" or tokens[at + 1].word != "of":
            continue
        begin = at + 2 + (tokens[at + 2].word in ARTICLES)
        value = lexicon.mention(tokens, begin)
        if (
            value is None
            or value.end >= len(tokens)
            or not any(s.quality >= WHOLE_NAME for s in value.of_kind("value"))
        ):
            continue
        done = tokens[value.end]
        if done.kind == "word" and is_past_form(done.word) and _is_measure((first, done), lexicon):
            return (*tokens[: at + 1], done, *tokens[at + 1 : value.end], *tokens[value.end + 1 :])
    return tokens


def _is_measure(pair: tuple[Token, Token], lexicon: Lexicon) -> bool:
    """Whether two words together are the name of a measure, and of nothing else."""
    found = lexicon.mention(pair, 0, len(pair))
    if found is None or found.end < len(pair) or found.of_kind("table", "value"):
        return False
    return any(sense.quality >= WHOLE_NAME for sense in found.of_kind("measure"))
