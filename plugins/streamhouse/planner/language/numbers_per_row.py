"""As in "average number of people per booking", where a column of each booking says how many people come."""

from streamhouse.planner.language.levels import NEARLY_NAME, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.scope import is_number
from streamhouse.planner.language.tokens import Token

_AVERAGES = frozenset({"average", "avg", "mean", "median"})
_NUMBERS = frozenset({"number", "count", "nr", "no"})
_BEHIND = frozenset({"per", "by", "for", "in", "and", "since", "at", "each"})
_ROWS = (("per",), ("for", "each"), ("of", "each"), ("in", "each"), ("for", "every"))


def with_numbers_per_row(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "average people" for "average number of people per booking", where bookings have that column."""
    words = [token.word for token in tokens]
    for at in range(len(words) - 4):
        if words[at] not in _AVERAGES or words[at + 1] not in _NUMBERS or words[at + 2] != "of":
            continue
        figure = lexicon.mention(tokens, at + 3)
        each = next((one for one in _ROWS if figure and tuple(words[figure.end : figure.end + len(one)]) == one), None)
        rows = lexicon.mention(tokens, figure.end + len(each)) if figure and each else None
        if figure is None or rows is None or figure.of_kind("table", "measure", "value"):
            continue
        if rows.end < len(tokens) and tokens[rows.end].kind != "symbol" and words[rows.end] not in _BEHIND:
            continue  # "per booking type"
        tables = rows.tables(WHOLE_NAME)
        columns = [(s.table, s.column) for s in figure.of_kind("column") if s.quality >= NEARLY_NAME]
        if len(tables) == 1 and len(columns) == 1 and columns[0][0] in tables:
            table = lexicon.catalog.tables[columns[0][0]]
            if table.event_time is not None and is_number(table.column(columns[0][1])):
                return (*tokens[: at + 1], *tokens[figure.start : figure.end], *tokens[rows.end :])
    return tokens
