"""As in "lots with grade extra": a value directly behind the column that it belongs to, of rows that were named."""

from streamhouse.planner.language.draft import Noun
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.reader import DETERMINERS, Reader

_BEFORE = frozenset({"with", "of", "in", "for", "having"})


def said_with_column(reader: Reader, noun: Noun, start: int) -> bool:
    """Whether a noun is a column with one of its values behind it, and says which rows are meant."""
    before = start - 1
    while before > 0 and reader.tokens[before].word in DETERMINERS:
        before -= 1
    if before < 1 or reader.tokens[before].word not in _BEFORE or len(noun.around) != 1:
        return False
    value = noun.around[0]
    columns = {(one.table, one.column) for one in noun.head.of_kind("column") if one.quality >= WHOLE_NAME}
    values = {(one.table, one.column) for one in value.of_kind("value") if one.quality >= WHOLE_NAME}
    return value.start == noun.head.end and bool(columns & values)
