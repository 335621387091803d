"""The highest and the lowest of one number, by superlatives: "the most expensive and the cheapest stay"."""

from streamhouse.planner.language.draft import Figure
from streamhouse.planner.language.reader import DETERMINERS, Reader
from streamhouse.planner.language.words import SUPERLATIVES

_PRICED = {"expensive": "price", "costly": "price", "pricey": "price", "recent": "", "heavy": "weight"}


def read_extremes(reader: Reader) -> list[Figure] | None:
    """Read two superlatives of one thing; they are the maximum and the minimum of the number that they are about."""
    start = reader.at
    reader.skip(DETERMINERS)
    first = _superlative(reader)
    if first is None or not reader.take("and the", "and", "or the", "as well as the"):
        reader.at = start
        return None
    last = _superlative(reader)
    if last is None or first[1] != last[1] or not first[1] or first[0] == last[0]:
        reader.at = start
        return None
    noun = reader.noun()
    if noun is None or not noun.head.of_kind("table"):
        reader.at = start
        return None
    phrase = reader.text(start)
    return [
        Figure("max" if highest else "min", noun, hint=hint, phrase=f"{'highest' if highest else 'lowest'} of {phrase}")
        for highest, hint in (first, last)
    ]


def _superlative(reader: Reader) -> tuple[bool, str] | None:
    if reader.word() in {"most", "least"} and reader.word(1) in _PRICED:
        found = reader.word() == "most", _PRICED[reader.word(1)]
        reader.at += 2
        return found
    known = SUPERLATIVES.get(reader.word())
    if known is not None:
        reader.at += 1
    return known
