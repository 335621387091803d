"""Words that share the one behind them: "first and last name" are the first name and the last name."""

from dataclasses import replace

from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.senses import Sense
from streamhouse.planner.language.tokens import Token

_JOINS = frozenset({"and", "or", "&", ","})
_FIRST, _LAST, _NAME = ("first", "last", "name")


def with_shared_heads(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with the shared word behind each of the words that share it, and "full name" as both its parts.

    Each pair has to name a column of one table, and the first word alone none of it.
    """
    at = 0
    while at < len(tokens):
        whole = _full_name(tokens, at, lexicon)
        if whole:
            tokens, at = (*tokens[:at], *whole, *tokens[at + 2 :]), at + len(whole)
            continue
        head = _shared(tokens, at, lexicon)
        if head is not None:
            tokens = (*tokens[: at + 1], head, *tokens[at + 1 :])
        at += 1
    return tokens


def _shared(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> Token | None:
    """The word that the word at a place shares with the one behind "and"; None: it shares none."""
    joined = at + 1
    while joined < len(tokens) and tokens[joined].word in _JOINS:
        joined += 1
    if joined == at + 1 or joined + 1 >= len(tokens) or tokens[at].kind != "word":
        return None
    other, head = tokens[joined], tokens[joined + 1]
    first, second = _columns(lexicon, tokens[at], head), _columns(lexicon, other, head)
    alone = {sense.table for sense in lexicon.meanings((tokens[at].stem,)) if sense.quality >= WHOLE_NAME}
    tables = {sense.table for sense in first} & {sense.table for sense in second}
    return head if tables - alone else None


def _columns(lexicon: Lexicon, one: Token, head: Token) -> list[Sense]:
    if one.kind != "word" or head.kind != "word":
        return []
    return [s for s in lexicon.meanings((one.stem, head.stem)) if s.kind == "column" and s.quality >= WHOLE_NAME]


def _full_name(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> tuple[Token, ...]:
    """First name and last name in place of "full name", where no column is called so; empty: it is not one."""
    if tokens[at].word != "full" or at + 1 >= len(tokens) or tokens[at + 1].word not in {_NAME, "names"}:
        return ()
    full, name = tokens[at], tokens[at + 1]
    if lexicon.meanings((full.stem, name.stem)):
        return ()
    first, last, joined = (replace(full, text=word, word=word, stem=word) for word in (_FIRST, _LAST, "and"))
    both = ({sense.table for sense in _columns(lexicon, part, name)} for part in (first, last))
    return (first, name, joined, last, name) if set.intersection(*both) else ()
