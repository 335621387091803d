"""As in "new members per month": those who joined then, where one time alone says when a person or a thing came."""

from dataclasses import replace

from streamhouse.planner.catalog import CatalogTable
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.periods import read_period
from streamhouse.planner.language.scope import TIMES
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.words import GRAINS, TIME_ENDINGS

_CAME = frozenset("joined registered enrolled hired admitted founded".split())
_GROUPING = frozenset({"per", "by", "each", "every"})


def with_newcomers(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "members who joined" for "new members", before a time."""
    for at in range(len(tokens) - 2):
        if tokens[at].word != "new" or lexicon.mention(tokens, at, 1) is not None:
            continue
        rows = lexicon.mention(tokens, at + 1)
        tables = rows.tables(WHOLE_NAME) if rows is not None else set()
        if rows is None or len(tables) != 1 or not _timed(tokens, rows.end):
            continue
        came = _came(lexicon.catalog.tables[tables.pop()])
        if came:
            said = [replace(tokens[at], text=one, word=one, stem=stem(one)) for one in ("who", came)]
            return (*tokens[:at], *tokens[at + 1 : rows.end], *said, *tokens[rows.end :])
    return tokens


def _timed(tokens: tuple[Token, ...], at: int) -> bool:
    """Whether a time or a group of times stands right behind: "in 2025", "per month", but not "in Berlin"."""
    grouped = [token.word for token in tokens[at : at + 2]]
    is_group = len(grouped) > 1 and grouped[0] in _GROUPING and grouped[1] in GRAINS
    return is_group or (at < len(tokens) and read_period(tokens, at) is not None)


def _came(table: CatalogTable) -> str:
    """The word of the only time of a table that says when a thing came; empty: there is none, or there are several."""
    if table.event_time is not None:
        return ""  # that time is taken without a word for it
    times = [column.name.lower().split("_") for column in table.columns if column.type in TIMES]
    words = {parts[0] for parts in times if parts[0] in _CAME and set(parts[1:]) <= {*TIME_ENDINGS, "date"}}
    return words.pop() if len(words) == 1 else ""
