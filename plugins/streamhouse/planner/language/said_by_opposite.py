"""As in "failed exams": what is not so, where the catalog only says what is."""

from dataclasses import replace

from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token, stem

_OPPOSITES = {
    "failed": ("passed", "successful"), "unsuccessful": ("successful", "passed"), "inactive": ("active",),
    "invalid": ("valid",), "incomplete": ("complete", "completed"), "unpunctual": ("punctual",),
    "irregular": ("regular",), "dishonoured": ("honoured",),
}  # fmt: skip
_KNOWN = 0.8  # how well the catalog has to know a word, so that it needs no opposite


def with_opposites(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "unpassed" for "failed", where exactly one column of yes or no says what is passed."""
    found = list(tokens)
    for at, token in enumerate(tokens):
        if token.kind != "word" or token.word not in _OPPOSITES or _is_known(tokens, at, lexicon):
            continue
        for word in _OPPOSITES[token.word]:
            if _is_flag_of_one(word, lexicon):
                denied = f"un{word}"
                found[at] = replace(token, word=denied, stem=stem(denied))
                break
    return tuple(found)


def _is_known(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> bool:
    known = lexicon.mention(tokens, at, 1)
    return known is not None and known.best >= _KNOWN


def _is_flag_of_one(word: str, lexicon: Lexicon) -> bool:
    """Whether a word names one column of yes or no, and nothing else."""
    senses = [sense for sense in lexicon.meanings((stem(word),)) if sense.quality >= _KNOWN]
    tables = lexicon.catalog.tables
    flags = {(s.table, s.column) for s in senses if s.column and tables[s.table].column(s.column).type == "boolean"}
    others = [s for s in senses if (s.table, s.column) not in flags]
    return bool(flags) and not others
