"""As in "failed exams": what is not so, where the catalog only says what is."""

from dataclasses import replace

from streamhouse.planner.language.levels import LAST_WORD
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.words import AGGREGATES, COUNTING, RATES, SHARES

OPPOSITES = {
    "failed": ("passed", "successful"), "unsuccessful": ("successful", "passed"), "inactive": ("active",),
    "invalid": ("valid",), "incomplete": ("complete", "completed"), "unpunctual": ("punctual",),
    "irregular": ("regular",), "dishonoured": ("honoured",),
}  # fmt: skip
"""What is not so → what is, in the words of a catalog."""


def with_opposites(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "unpassed" for "failed", where exactly one column of yes or no says what is passed."""
    found = list(tokens)
    for at, token in enumerate(tokens):
        if token.kind != "word" or token.word not in OPPOSITES or _is_known(tokens, at, lexicon):
            continue
        for word in OPPOSITES[token.word]:
            if _is_flag_of_one(word, lexicon):
                denied = f"un{word}"
                found[at] = replace(token, word=denied, stem=stem(denied))
                break
    return tuple(found)


def _is_known(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> bool:
    known = lexicon.mention(tokens, at, 1)
    return known is not None and known.best >= LAST_WORD


def _is_flag_of_one(word: str, lexicon: Lexicon) -> bool:
    """Whether a word names one column of yes or no, and nothing else."""
    senses = [sense for sense in lexicon.meanings((stem(word),)) if sense.quality >= LAST_WORD]
    flags = {(sense.table, sense.column) for sense in senses if lexicon.is_flag(sense)}
    others = [s for s in senses if (s.table, s.column) not in flags]
    return bool(flags) and not others


def with_denial_first(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "unpaid" before the count of "number of unpaid bills", where that is the only number."""
    words = [token.word for token in tokens]
    counts = [at for at in range(len(words) - 2) if tuple(words[at : at + 2]) in COUNTING]
    if len(counts) != 1 or _FIGURES & set(words):
        return tokens
    at = counts[0] + 2
    while at < len(words) - 1 and words[at] in {"the", "our", "all", "of"}:
        at += 1
    token = tokens[at]
    denies = token.kind == "word" and token.word.startswith("un") and len(token.word) > _SHORTEST
    known = lexicon.mention(tokens, at, 1)
    if not denies or "and" in words[at : at + 4] or known is not None:
        return tokens
    rest = token.word[2:]
    said = any(sense.kind in {"column", "value"} for sense in lexicon.meanings((stem(rest),)))
    rows = lexicon.mention(tokens, at + 1)
    if not said or rows is None:
        return tokens
    return (*tokens[: counts[0]], token, *tokens[counts[0] : at], *tokens[at + 1 :])


def with_denied_shares(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "share of bills that are not paid" for "share of unpaid bills"."""
    for at in range(2, len(tokens) - 1):
        token = tokens[at]
        share = tokens[at - 1].word == "of" and tokens[at - 2].word in {"share", "percentage", "proportion"}
        denies = token.kind == "word" and token.word.startswith("un") and len(token.word) > _SHORTEST
        if not share or not denies or lexicon.mention(tokens, at, 1) is not None:
            continue
        rest = token.word[2:]
        said = any(sense.kind in {"column", "value"} for sense in lexicon.meanings((stem(rest),)))
        rows = lexicon.mention(tokens, at + 1)
        if not said or rows is None or not rows.of_kind("table"):
            return tokens
        words = ("that", "are", "not", rest)
        denied = [replace(token, text=word, word=word, stem=stem(word)) for word in words]
        return (*tokens[:at], *tokens[at + 1 : rows.end], *denied, *tokens[rows.end :])
    return tokens


_SHORTEST = 5  # "unpaid" has a verb behind "un"
_FIGURES = frozenset({*AGGREGATES, *SHARES, *RATES, "most", "least", "top", "change", "growth", "compared", "ratio"})
