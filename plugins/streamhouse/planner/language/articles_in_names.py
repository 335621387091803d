"""As in "boats that left the fleet": the name of a time or of what is yes or no, with an article that it lacks."""

from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.scope import TIMES
from streamhouse.planner.language.tokens import Token
from streamhouse.planner.language.words import ARTICLES

_HAVING = frozenset({"have", "has", "had", "is", "are", "was", "were"})  # "have a balcony" is read so


def without_articles(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens without the articles that stand within names of such columns."""
    return tuple(token for at, token in enumerate(tokens) if not _is_within(tokens, at, lexicon))


def _is_within(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> bool:
    if tokens[at].word not in ARTICLES or not 0 < at < len(tokens) - 1 or tokens[at - 1].word in _HAVING:
        return False
    pair = (tokens[at - 1], tokens[at + 1])
    found = lexicon.mention(pair, 0, 2) if all(token.kind == "word" for token in pair) else None
    if found is None or found.end < len(pair):
        return False
    tables = lexicon.catalog.tables
    named = {(s.table, s.column) for s in found.of_kind("column") if s.quality >= WHOLE_NAME}
    kinds = {tables[table].column(column).type for table, column in named}
    others = [s for s in found.of_kind("table", "measure", "value") if (s.table, s.column) not in named]
    return bool(kinds) and kinds <= {*TIMES, "boolean"} and not others
