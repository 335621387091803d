"""An order of rows, which a table does not have: it is read, and the answer says so."""

from streamhouse.planner.language.asking import read_figure
from streamhouse.planner.language.grouping import read_adverb
from streamhouse.planner.language.mentions import mentions_of
from streamhouse.planner.language.reader import Reader

_ALONE = (
    "highest first", "lowest first", "largest first", "newest first", "oldest first", "most first",
    "in descending order", "in ascending order", "descending", "ascending", "biggest first",
    "smallest first", "alphabetically", "in alphabetical order", "in alphabetic order", "in reverse alphabetical order",
    "in lexicographical order", "sorted", "from highest to lowest", "from high to low", "from lowest to highest",
    "from low to high", "from oldest to youngest", "from youngest to oldest", "from largest to smallest",
    "from smallest to largest", "from most to least", "from newest to oldest", "from oldest to newest",
    "best first", "worst first", "longest first", "shortest first", "fewest first", "cheapest first", "least first",
    "greatest first", "in order of size", "chronologically", "in chronological order", "latest first", "earliest first",
    "most common first", "most frequent first", "most popular first", "least common first", "least frequent first",
    "most expensive first", "highest number first", "youngest first", "heaviest first", "lightest first",
    "fastest first", "slowest first", "busiest first", "top first",
)  # fmt: skip
_ORDERED = ("sorted", "ordered", "order", "sort", "ranked", "arranged", "listed", "arrange")
_DIRECTIONS = ("descending", "ascending", "in descending order", "in ascending order", "in decreasing order",
               "in increasing order", "desc", "asc", "alphabetically", "in alphabetical order", "decreasing",
               "increasing")  # fmt: skip
_KINDS = ("descending", "ascending", "decreasing", "increasing", "alphabetical", "alphabetic", "lexicographical",
          "chronological", "reverse")  # fmt: skip
_OFTEN = ("frequency", "popularity")


def read_order(reader: Reader) -> bool:
    """Read "sorted by price", "in descending order of age", "highest first"; it changes no row of the result."""
    start = reader.at
    if _in_order_of(reader) or _ordered_by(reader):
        _note(reader, start)
        return True
    reader.at = start
    if not reader.take(*_ALONE):
        return False
    if reader.word() in {"by", "of"} and _by(reader):
        _note(reader, start)
        return True
    _note(reader, start)
    return True


def _in_order_of(reader: Reader) -> bool:
    """Read "in ascending order of age", "in order of age", "by order of the date"."""
    if not reader.take("in the", "in", "by the", "by"):
        return False
    reader.take(*_KINDS)
    reader.take(*_KINDS)
    if not reader.take("order"):
        return False
    return reader.word() in {"of", "by"} and _by(reader)


def _ordered_by(reader: Reader) -> bool:
    """Read "sorted by age descending", "ordered in ascending order of age", "sort the result by name"."""
    if not reader.take(*_ORDERED):
        return False
    reader.take("them all", "them", "the results", "the result", "results", "the list", "the rows", "it", "these")
    reader.take(*_DIRECTIONS, "in order")
    if reader.word() in {"by", "of"}:
        return _by(reader)
    if reader.take("in", "from"):
        reader.at -= 1
    return bool(reader.take(*_ALONE, *_DIRECTIONS))


def _by(reader: Reader) -> bool:
    """What rows are sorted by: a column, a figure, or how often; False: it cannot be read."""
    reader.at += 1
    reader.skip({"the", "their", "its", "his", "her"})
    while True:
        if reader.word() in _OFTEN:
            reader.at += 1
        else:
            by = read_figure(reader) or reader.noun()
            if by is None and not read_adverb(reader):
                return False
            reader.draft.orders += mentions_of(by)
        reader.take(*_DIRECTIONS)
        if reader.word() in {"and", ","} and reader.word(1) in {"then", "by"}:
            reader.at += 1
            reader.skip({"then", "by"})
            continue
        return True


def _note(reader: Reader, start: int) -> None:
    ends = all(token.kind == "symbol" or token.word == "please" for token in reader.tokens[reader.at :])
    reader.draft.ordered_at = start if ends else None
    said = reader.text(start).replace("'", "")
    reader.draft.assumptions.append(
        f"the rows of a table have no order, so '{said}' changes nothing: sort them in the query that reads them"
    )


__all__ = ["read_order"]
