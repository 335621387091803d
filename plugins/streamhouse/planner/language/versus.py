"""One column of a row against another: "more children than adults", "paid after they were due"."""

from dataclasses import replace

from streamhouse.planner.language.clauses import read_operator
from streamhouse.planner.language.draft import Compared, Lasting, Noun
from streamhouse.planner.language.numbers import read_quantity
from streamhouse.planner.language.reader import AUXILIARIES, Reader
from streamhouse.planner.language.scope import TIMES, is_number
from streamhouse.planner.language.words import COMPARATIVES

_PRONOUNS = frozenset({"they", "it", "he", "she", "the", "their", "its", *AUXILIARIES, "day", "date", "of"})
_LATER = {"after": ">", "later than": ">", "before": "<", "earlier than": "<", "only after": ">", "prior to": "<",
          "on the day": "=", "past": ">", "no later than": "<=", "not later than": "<="}  # fmt: skip


def read_versus(reader: Reader) -> Compared | None:
    """Read a comparison of two columns of one row."""
    start = reader.at
    for rule in (_more_than, _apart, _later):
        found = rule(reader)
        if found is not None:
            return replace(found, phrase=reader.text(start))
        reader.at = start
    return None


def _more_than(reader: Reader) -> Compared | None:
    """Read "more children than adults"."""
    reader.take("with", "having", "that have", "who have", "that had")
    reader.skip({"a", "an"})
    found = COMPARATIVES.get(reader.word())
    if not found or reader.word(1) == "than":
        return None
    reader.at += 1
    left = reader.noun()
    if left is None or not reader.take("than"):
        return None
    right = reader.noun()
    if right is None or not (_is(reader, left, "number") and _is(reader, right, "number")):
        return None
    return Compared(left, found[0], right=right)


def _later(reader: Reader) -> Compared | None:
    """Read "paid after they were due", "returned before the due date"."""
    left = reader.noun()
    if left is None or left.head.of_kind("table", "value") or not _is(reader, left, "time"):
        return None
    word = reader.take(*_LATER)
    if not word or reader.period_here():
        return None
    reader.skip(_PRONOUNS)
    right = reader.noun()
    if right is None or not _is(reader, right, "time") or right.head.of_kind("value"):
        return None
    return Compared(left, _LATER[word], right=right)


def _apart(reader: Reader) -> Compared | None:
    """Read "made at least sixty days before arrival", "more than 3 days after the order"."""
    left = reader.noun()
    if left is not None and (left.head.of_kind("table") or not _is(reader, left, "time")):
        return None
    found = read_operator(reader)
    quantity = read_quantity(reader.tokens, reader.at)
    if quantity is None or quantity.unit is None or quantity.unit.measures != "time":
        return None
    reader.at += quantity.length
    word = reader.take("before", "after", "ahead of", "prior to")
    if not word or not found or left is None or reader.period_here():
        return None
    reader.skip(_PRONOUNS)
    right = reader.noun()
    if right is None or not _is(reader, right, "time"):
        return None
    first, last = (right, left) if word == "after" else (left, right)
    return Compared(Lasting(first, last), found[0], quantity)


def _is(reader: Reader, noun: Noun, what: str) -> bool:
    tables = reader.lexicon.catalog.tables
    columns = [tables[sense.table].column(sense.column) for sense in noun.head.of_kind("column")]
    if what == "time":
        return any(column.type in TIMES for column in columns)
    return any(is_number(column) for column in columns)
