"""Comparisons with the average of all groups: "above average", "more orders than the average customer"."""

from dataclasses import replace

from streamhouse.planner.language.draft import Compared, Figure, Lasting, Noun, Time
from streamhouse.planner.language.reader import DETERMINERS, Reader
from streamhouse.planner.language.tokens import singular
from streamhouse.planner.language.words import COMPARATIVES, GRAINS

_ABOVE = (
    "above average", "above the average", "over the average", "more than the average", "higher than average",
    "greater than the average", "higher than the average", "more than average", "larger than the average",
    "above the overall average", "exceeding the average", "exceeds the average", "longer than average",
    "longer than the average", "better than average", "better than the average",
)  # fmt: skip
_BELOW = (
    "below average", "below the average", "under the average", "less than the average", "lower than average",
    "lower than the average", "less than average", "smaller than the average", "below the overall average",
    "shorter than average", "shorter than the average", "fewer than average", "fewer than the average",
)  # fmt: skip
_BUSY = {"busier": ">", "quieter": "<"}
_BY = ("by the number of", "by number of", "in terms of", "measured by", "counting", "judged by", "going by", "by")
_BACK = ("on", "in", "during", "for", "at")


def read_average(reader: Reader, left: Noun | Figure | Lasting | None) -> Compared | None:
    """Read a comparison with the average, and whose average it is where that is what the groups are."""
    start = reader.at
    reader.skip({"is", "are", "was", "were"})
    for rule in (_plain, _more_things, _busier):
        back = reader.at
        found = rule(reader, left)
        if found is not None:
            return replace(found, phrase=reader.text(start))
        reader.at = back
    reader.at = start
    return None


def _plain(reader: Reader, left: Noun | Figure | Lasting | None) -> Compared | None:
    above = reader.take(*_ABOVE)
    below = "" if above else reader.take(*_BELOW)
    if not (above or below):
        return None
    _whose(reader)
    hint = "long" if "longer" in above or "shorter" in below else ""
    return Compared(left, ">" if above else "<", average=True, hint=hint)


def _more_things(reader: Reader, left: Noun | Figure | Lasting | None) -> Compared | None:
    """Read "more orders than average", "fewer tours than the average guide"."""
    known = COMPARATIVES.get(reader.word())
    if left is not None or known is None or known[1] or reader.word(1) == "than":
        return None
    reader.at += 1
    noun = reader.noun()
    if noun is None or not noun.head.of_kind("table", "measure") or not _than_average(reader):
        return None
    return Compared(Figure("number", noun, phrase=noun.text), known[0], average=True)


def _busier(reader: Reader, left: Noun | Figure | Lasting | None) -> Compared | None:
    """Read "busier than the average day, by orders": of which rows the number is compared."""
    said = reader.word()
    operator = _BUSY.get(said)
    if left is not None or operator is None:
        return None
    reader.at += 1
    if not _than_average(reader):
        return None
    back = reader.at
    reader.take(",")
    noun = reader.noun() if reader.take(*_BY) else None
    if noun is None or not noun.head.of_kind("table", "measure"):
        reader.at = back
        question = (f"'{said}': by the number of what?", said, ())
        if question not in reader.draft.questions:
            reader.draft.questions.append(question)
        return None
    return Compared(Figure("number", noun, phrase=noun.text), operator, average=True)


def _than_average(reader: Reader) -> bool:
    """Read "than average", "than on the average day"."""
    if not reader.take("than"):
        return False
    reader.take(*_BACK)
    reader.skip({"the", "an", "a", "our"})
    if not reader.take("average", "mean"):
        return False
    _whose(reader)
    return True


def _whose(reader: Reader) -> None:
    """Read the thing behind "average", where it is what the groups are; else it stays, and is named as unread."""
    draft, back = reader.draft, reader.at
    reader.take("of all", "for all", "of the", "of", "across all")
    reader.skip(DETERMINERS)
    grains = [group.grain for group in draft.groups if isinstance(group, Time)]
    if GRAINS.get(reader.word()) in grains and grains:
        reader.at += 1
        return
    things = [noun.head.words[-1:] for noun in (*draft.nouns, *draft.groups) if isinstance(noun, Noun)]
    if [singular(reader.word())] in [[singular(word) for word in words] for words in things]:
        reader.at += 1
        return
    reader.at = back
