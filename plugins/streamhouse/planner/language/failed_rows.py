"""As in "failed tests" of tests that may be passed, where other names resemble the word: a ticket may be a pass."""

from dataclasses import replace

from streamhouse.planner.language.levels import LAST_WORD, NAME_OR_DEED, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.said_by_opposite import OPPOSITES
from streamhouse.planner.language.tokens import Token, stem

_WHO = frozenset({"that", "which"})


def with_failed_rows(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "tests that are not tests.passed" for "failed tests" and "tests that failed".

    The rows beside the word decide which flag is meant, so that it is exactly the name of one, and of nothing else.
    """
    for at, token in enumerate(tokens):
        known = lexicon.mention(tokens, at, 1) if token.word in OPPOSITES else None
        if token.word not in OPPOSITES or (known is not None and known.best >= LAST_WORD):
            continue
        for word in OPPOSITES[token.word]:
            found = _said(tokens, at, word, lexicon)
            if found is not None:
                return found
    return tokens


def _said(tokens: tuple[Token, ...], at: int, word: str, lexicon: Lexicon) -> tuple[Token, ...] | None:
    flag = _flag(tokens[at], word, lexicon)
    if not flag:
        return None
    table = flag.rpartition(".")[0]
    said = [replace(tokens[at], text=one, word=one, stem=stem(one)) for one in ("that", "are", "not")]
    denied = (*said, replace(tokens[at], word=flag, stem=flag, kind="name"))
    end = _end_of_rows(tokens, at + 1, table, lexicon)
    if end:
        return (*tokens[:at], *tokens[at + 1 : end], *denied, *tokens[end:])
    behind = at - (at > 0 and tokens[at - 1].word in _WHO)
    if any(_end_of_rows(tokens, first, table, lexicon) == behind for first in range(max(behind - 3, 0), behind)):
        return (*tokens[:behind], *denied, *tokens[at + 1 :])
    return None


def _end_of_rows(tokens: tuple[Token, ...], at: int, table: str, lexicon: Lexicon) -> int:
    """Where the name of the rows of a table ends that begins at a place; 0: another word is there."""
    rows = lexicon.mention(tokens, at) if at < len(tokens) else None
    return rows.end if rows is not None and table in rows.tables(WHOLE_NAME) else 0


def _flag(token: Token, word: str, lexicon: Lexicon) -> str:
    """The full name of the one column of yes or no that a word is exactly the name of; empty: it names others, too."""
    said = lexicon.mention((replace(token, text=word, word=word, stem=stem(word)),), 0, 1)
    exact = [sense for sense in said.senses if sense.quality >= NAME_OR_DEED] if said is not None else []
    names = {(sense.table, sense.column) for sense in exact}
    if len(names) != 1 or not exact[0].column:
        return ""
    [(table, column)] = names
    return f"{table}.{column}" if lexicon.catalog.tables[table].column(column).type == "boolean" else ""
