"""As in "litres from organic farms in January 2026": the sum of a number that a measure of its table sums."""

from dataclasses import replace

from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.periods import read_period
from streamhouse.planner.language.plain_folds import measure_of_column, plain_fold
from streamhouse.planner.language.scope import is_quantity
from streamhouse.planner.language.tokens import Token
from streamhouse.planner.language.words import GRAINS

_LINKS = frozenset({"of", "from", "in", "by", "for", "with", "on", "to", "during", "since"})
_FOLDS = frozenset(
    """per each every by average avg mean median total sum share percentage percent list highest lowest most least top
    more less over under above below between than exactly""".split()
)


def with_sums_in_periods(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "total litres" for "litres" at the begin, before a period and without groups."""
    number = lexicon.mention(tokens, 0) if tokens else None
    if number is None or number.end >= len(tokens) or tokens[number.end].word not in _LINKS:
        return tokens
    words = {token.word for token in tokens[number.end :]}
    if words & (_FOLDS - {tokens[number.end].word} | GRAINS.keys()) or not _has_period(tokens, number.end):
        return tokens
    if not _is_summed(number, lexicon):
        return tokens
    total = replace(tokens[0], text="total", word="total", stem="total", kind="word", value=None)
    return (total, *tokens)


def _has_period(tokens: tuple[Token, ...], begin: int) -> bool:
    return any(read_period(tokens, at) is not None for at in range(begin, len(tokens)))


def _is_summed(number: Mention, lexicon: Lexicon) -> bool:
    """Whether words name one number alone, which has a unit, adds up, and is the sum that one measure has."""
    senses = [one for one in number.senses if one.quality >= WHOLE_NAME]
    columns = {(one.table, one.column) for one in senses if one.kind == "column"}
    if len(columns) != 1 or any(one.kind in {"table", "value"} for one in senses):
        return False
    name, column_name = columns.pop()
    table = lexicon.catalog.tables[name]
    column = table.column(column_name)
    measure = measure_of_column(table, column_name)
    fold = plain_fold(table.measures[measure].sql) if measure else None
    return bool(column.unit) and is_quantity(column) and fold is not None and fold.function == "sum"
