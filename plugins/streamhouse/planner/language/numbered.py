"""Numbers that say which rows are meant: "on the third floor", "five-star reviews"."""

from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.draft import Is, Noun
from streamhouse.planner.language.levels import NEARLY_NAME
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.numbers import read_number, read_ordinal
from streamhouse.planner.language.reader import DETERMINERS, Reader
from streamhouse.planner.language.scope import is_whole_number


def read_numbered(reader: Reader) -> Is | None:
    """Read an ordinal or a number joined to the column that it is a value of."""
    start = reader.at
    reader.take("on", "in", "at", "with", "from", "of") if reader.word(1) in DETERMINERS or _value(reader, 1) else ""
    reader.skip(DETERMINERS)
    named = reader.lexicon.mention(reader.tokens, reader.at)
    found = _value(reader, 0)
    if found is None or (named is not None and named.end - named.start > 1):
        reader.at = start
        return None
    number, length = found
    mention = reader.mention(length)
    if mention is None or not _is_level(reader, mention, 0.85 if reader.number_here() else 0.95):
        reader.at = start
        return None
    reader.at = mention.end
    return Is((str(number),), Noun(mention), reader.negated, reader.text(start))


def _value(reader: Reader, ahead: int) -> tuple[int, int] | None:
    at = reader.at + ahead
    if at >= len(reader.tokens):
        return None
    following = reader.tokens[at + 1] if at + 1 < len(reader.tokens) else None
    ordinal = read_ordinal(reader.tokens[at], following)
    if ordinal:
        return ordinal, 2 if reader.tokens[at].kind == "number" else 1
    number = read_number(reader.tokens, at)
    behind = reader.tokens[at + number[1]] if number and at + number[1] < len(reader.tokens) else None
    if number and behind is not None and behind.joined and number[0] == number[0].to_integral_value():
        return int(number[0]), number[1]
    return None


def _is_level(reader: Reader, mention: Mention, least: float) -> bool:
    """Whether a mention is a whole number without a unit of its own: a floor, a level, a number of stars."""
    if any(sense.kind in {"table", "value", "measure"} and sense.quality >= NEARLY_NAME for sense in mention.senses):
        return False
    for sense in mention.of_kind("column"):
        table = reader.lexicon.catalog.tables[sense.table]
        column = table.column(sense.column)
        unit = unit_of_column(column)
        if sense.quality >= least and is_whole_number(column) and not column.references and unit is None:
            return column.name not in table.primary_key
    return False
