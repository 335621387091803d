"""Words for the key of things that the catalog calls otherwise: "ids of the members", "member ids"."""

from streamhouse.planner.language.levels import LAST_WORD, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.words import ARTICLES_OF_ALL

_KEYS = frozenset(map(stem, ("id", "identifier")))
_BEFORE_THINGS = frozenset({"of", "for"})
_BEFORE_NAMED = ARTICLES_OF_ALL | {"each", "every", "those", "these"}


def with_key_names(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with the name of the key in place of "id", where the things have one key, of another name."""
    for at in range(len(tokens) - 1, -1, -1):
        if tokens[at].stem not in _KEYS or tokens[at].kind != "word":
            continue
        before = _table(tokens, at - 1, lexicon) if at else ""
        table = before or _behind(tokens, at, lexicon)
        key = lexicon.catalog.tables[table].primary_key if table else ()
        named = table and _named(tokens, at, table, lexicon, len(before) > 0)
        if len(key) == 1 and not named:
            name, first = f"{table}.{key[0]}", tokens[at - 1] if before else tokens[at]
            token = Token(name, name, name, "name", first.start, tokens[at].end)
            tokens = (*tokens[: at - 1 if before else at], token, *tokens[at + 1 :])
    return tokens


def _behind(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> str:
    """The things of "ids of the members"; empty: none stand there, or they have no name of their own."""
    if at + 1 >= len(tokens) or tokens[at + 1].word not in _BEFORE_THINGS:
        return ""
    at += 2
    while at < len(tokens) and tokens[at].word in _BEFORE_NAMED:
        at += 1
    return _table(tokens, at, lexicon)


def _table(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> str:
    """The one table that a word names exactly; empty: it names none, or several."""
    found = lexicon.mention(tokens, at, 1) if 0 <= at < len(tokens) else None
    tables = found.tables(WHOLE_NAME) if found is not None else set()
    return tables.pop() if len(tables) == 1 else ""


def _named(tokens: tuple[Token, ...], at: int, table: str, lexicon: Lexicon, before: bool) -> bool:
    """Whether the table has a column that is called so already."""
    phrases = [(tokens[at].stem,), *([(tokens[at - 1].stem, tokens[at].stem)] if before else [])]
    senses = [sense for phrase in phrases for sense in lexicon.meanings(phrase)]
    return any(s.kind == "column" and s.table == table and s.quality >= LAST_WORD for s in senses)
