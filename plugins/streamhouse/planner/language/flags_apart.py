"""As in "where the queen was not seen" and "with a marked queen": the name of a flag, its words apart or in reverse."""

from dataclasses import replace

from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.words import ARTICLES

_LINKS = (("in", "which"), ("for", "which"), ("on", "which"), ("where",), ("whose",), ("when",))
_BEING = frozenset({"is", "are", "was", "were", "been", "being", "be", "has", "have", "had", "got", "gets"})
_NOT = frozenset({"not", "never"})
_OWNING = (("with", "no"), ("with",), ("without", "any"), ("without",), ("having",), ("have",), ("has",), ("had",))
_WHO = frozenset({"that", "which", "who"})
_ARTICLES = ARTICLES | {"his", "her"}


def with_whole_flags(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "with" or "without" and the whole name of a flag, where its words are apart or in reverse."""
    for at in range(1, len(tokens)):
        found = _apart(tokens, at, lexicon) or _in_reverse(tokens, at, lexicon)
        if found is not None:
            return found
    return tokens


def _apart(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> tuple[Token, ...] | None:
    """As in "where the queen was not seen" of `queen_seen`."""
    begin = _behind(tokens, at, _LINKS)
    if not begin:
        return None
    begin += begin < len(tokens) and tokens[begin].word in _ARTICLES
    verb = end = begin + 1
    while end < len(tokens) and tokens[end].word in _BEING | _NOT:
        end += 1
    between = {token.word for token in tokens[verb:end]}
    if end >= len(tokens) or not between & _BEING or not _is_flag((tokens[begin], tokens[end]), lexicon):
        return None
    denied = bool(between & _NOT)
    return (*tokens[:at], _link(tokens[at], denied=denied), tokens[begin], tokens[end], *tokens[end + 1 :])


def _in_reverse(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> tuple[Token, ...] | None:
    """As in "with a marked queen" of `queen_marked`, and "with an unmarked queen"."""
    begin = _behind(tokens, at, _OWNING)
    if not begin:
        return None
    denied = "no" in {token.word for token in tokens[at:begin]} or tokens[at].word == "without"
    begin += begin < len(tokens) and tokens[begin].word in _ARTICLES
    if begin + 1 >= len(tokens) or (begin + 2 < len(tokens) and tokens[begin + 2].word in {"from", "of"}):
        return None  # "with a marked queen from 2025" says something of the queen as well
    said, thing = tokens[begin : begin + 2]
    if {said.kind, thing.kind} != {"word"} or _names_thing(said, thing, lexicon):
        return None
    if said.word.startswith("un") and not _is_flag((thing, said), lexicon):
        rest = said.word.removeprefix("un")
        said, denied = replace(said, word=rest, stem=stem(rest)), not denied
    if not _is_flag((thing, said), lexicon):
        return None
    before = tokens[: at - (tokens[at - 1].word in _WHO)]
    return (*before, _link(tokens[at], denied=denied), thing, said, *tokens[begin + 2 :])


def _behind(tokens: tuple[Token, ...], at: int, openers: tuple[tuple[str, ...], ...]) -> int:
    """Where the words behind an opener begin; 0: none is there."""
    words = [token.word for token in tokens[at : at + 2]]
    return next((at + len(one) for one in openers if tuple(words[: len(one)]) == one), 0)


def _link(token: Token, *, denied: bool) -> Token:
    word = "without" if denied else "with"
    return replace(token, text=word, word=word, stem=stem(word), kind="word")


def _is_flag(words: tuple[Token, Token], lexicon: Lexicon) -> bool:
    """Whether a noun and what is said of it are the whole name of a column of yes or no."""
    if {token.kind for token in words} != {"word"}:
        return False
    found = lexicon.mention(words, 0)
    if found is None or found.end != len(words):
        return False
    columns = [one for one in found.of_kind("column") if one.quality >= WHOLE_NAME]
    return bool(columns) and all(map(lexicon.is_flag, columns))


def _names_thing(said: Token, thing: Token, lexicon: Lexicon) -> bool:
    """Whether the words name something as they are: "paid leave"."""
    found = lexicon.mention((said, thing), 0)
    return found is not None and found.end > 1
