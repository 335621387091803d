"""Rows of one kind for so many of all: "cancelled tours per 100 tours"."""

from dataclasses import replace
from decimal import Decimal

from streamhouse.planner.language.draft import Figure, Noun
from streamhouse.planner.language.numbers import read_number
from streamhouse.planner.language.reader import Reader

_OPENERS = ("for every", "for each", "out of every", "out of each", "out of", "in every", "of every", "per", "in")
_MANY = frozenset(Decimal(10) ** power for power in range(1, 7))


def read_per_many(reader: Reader) -> bool:
    """Read "per 100 tours" directly behind rows of them that a value describes."""
    start = reader.at
    draft = reader.draft
    above = draft.nouns[-1] if draft.nouns else None
    counted = draft.figures[-1] if draft.figures and draft.figures[-1].function == "count" else None
    if counted is not None and isinstance(counted.noun, Noun) and not counted.window:
        above = counted.noun
    many = _many(reader) if above is not None and above.end == start else None
    below = reader.noun() if many is not None else None
    if above is None or many is None or below is None or not _is_part(above, below):
        reader.at = start
        return False
    phrase = f"{above.text} {reader.text(start)}"
    figure = Figure("count", above, window="ratio", to=Figure("count", below, phrase=below.text), phrase=phrase)
    if counted is not None and counted.noun is above:
        draft.figures.pop()
    else:
        draft.nouns.pop()
    draft.figures.append(replace(figure, per_many=int(many)))
    return True


def _many(reader: Reader) -> Decimal | None:
    """Read "per 100", "for every thousand"."""
    if not reader.take(*_OPENERS):
        return None
    if reader.word() in {"hundred", "thousand"}:
        many = Decimal(100 if reader.word() == "hundred" else 1000)
        reader.at += 1
        return many
    number = read_number(reader.tokens, reader.at)
    if number is None or number[0] not in _MANY or reader.tokens[reader.at].money:
        return None
    reader.at += number[1]
    return number[0]


def _is_part(above: Noun, below: Noun) -> bool:
    """Whether both are the same things, of which a value describes the first alone."""
    described = any(mention.of_kind("value", "column", "state") for mention in above.around)
    return above.head.words[-1:] == below.head.words[-1:] and described and not below.around
