"""As in "mites per hive, average": the function of a number stands behind its groups."""

from dataclasses import replace

from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.scope import is_number
from streamhouse.planner.language.tokens import Token

_AVERAGE = frozenset({"average", "avg", "mean"})
_MARKS = frozenset({",", "-", "–", ":"})
_FEWEST_TOKENS = 5  # as in "mites per hive, average"


def with_average_first(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "average" before the number of "mites per hive, average"; a total has no such average."""
    end = len(tokens)
    while end and tokens[end - 1].kind == "symbol":
        end -= 1
    begin = end - 1 - (end > 1 and tokens[end - 2].word == "on")
    if end < _FEWEST_TOKENS or tokens[end - 1].word not in _AVERAGE or tokens[begin - 1].word not in _MARKS:
        return tokens
    first = lexicon.mention(tokens, 0)
    if first is None or first.end >= begin or tokens[first.end].word not in {"per", "by"}:
        return tokens
    if first.of_kind("table", "value"):
        return tokens
    tables = lexicon.catalog.tables
    columns = [tables[one.table].column(one.column) for one in first.of_kind("column") if one.quality >= WHOLE_NAME]
    if not columns or not all(map(is_number, columns)):
        return tokens
    average = replace(tokens[end - 1], text="average", word="average", stem="average")
    return (average, *tokens[: begin - 1], *tokens[end:])
