"""As in "berths deeper than 3 m": an adjective for a number that the catalog calls by its noun."""

from dataclasses import replace

from streamhouse.planner.language.levels import NEARLY_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.scope import is_number
from streamhouse.planner.language.tokens import Token, stem

_NOUNS = {
    "deeper": ("depth", "more"), "shallower": ("depth", "less"), "stronger": ("strength", "more"),
    "weaker": ("strength", "less"), "wider": ("width", "more"), "narrower": ("width", "less"),
    "taller": ("height", "more"), "thicker": ("thickness", "more"), "thinner": ("thickness", "less"),
    "saltier": ("salinity", "more"), "louder": ("loudness", "more"), "quieter": ("loudness", "less"),
    "denser": ("density", "more"), "steeper": ("slope", "more"),
}  # fmt: skip
_SAYING = frozenset({"that", "which", "who", "are", "is", "was", "were", "being"})


def with_nouns_of_adjectives(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "with depth more than" for "deeper than", where the catalog has such a number."""
    for at in range(1, len(tokens) - 2):
        word = tokens[at].word
        if word not in _NOUNS or tokens[at + 1].word != "than" or lexicon.mention(tokens, at, 1) is not None:
            continue
        noun, more = _NOUNS[word]
        if not _is_number_here(noun, lexicon):
            continue
        first = at
        while first > 1 and tokens[first - 1].word in _SAYING:
            first -= 1
        if tokens[first - 1].word in {"not", "no"}:
            continue
        put = (replace(tokens[at], text=one, word=one, stem=stem(one)) for one in ("with", noun, more))
        return (*tokens[:first], *put, *with_nouns_of_adjectives(tokens[at + 1 :], lexicon))
    return tokens


def _is_number_here(noun: str, lexicon: Lexicon) -> bool:
    tables = lexicon.catalog.tables
    senses = [sense for sense in lexicon.meanings((stem(noun),)) if sense.quality >= NEARLY_NAME]
    return bool(senses) and all(s.kind == "column" and is_number(tables[s.table].column(s.column)) for s in senses)
