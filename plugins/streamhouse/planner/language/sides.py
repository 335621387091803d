"""Two values of one column side by side: "private label versus national brands", "planned against unplanned"."""

from dataclasses import replace

from streamhouse.planner.language.draft import Is, Noun, Time, When
from streamhouse.planner.language.levels import ANY_FORM
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.periods import read_period
from streamhouse.planner.language.reader import Reader
from streamhouse.planner.language.senses import Sense
from streamhouse.planner.request import Grain

_AGAINST = ("versus", "vs", "vs .", "v .", "compared with", "compared to", "against", "as opposed to", "or")


def read_sides(reader: Reader) -> bool:
    """Read both values: rows with one of them are grouped by their column."""
    start = reader.at
    if _read_weekdays(reader):
        return True
    reader.at = start
    reader.take("of", "by", "for", "from")
    first = _value(reader)
    if first is not None and reader.take(*_AGAINST[:-1]):
        last = _value(reader)
        shared = _shared(first, last) if last is not None else ()
        if last is not None and shared and first.text != last.text:
            senses = tuple(Sense("column", table, column) for table, column in shared)
            phrase = reader.text(start)
            reader.keep(Is((first, last), phrase=phrase))
            reader.draft.groups.append(Noun(Mention(first.start, last.end, phrase, senses, first.words)))
            return True
    reader.at = start
    return False


def _read_weekdays(reader: Reader) -> bool:
    """Read "on Mondays vs Thursdays": rows of both days, by the day of the week."""
    start = reader.at
    first = read_period(reader.tokens, reader.at)
    if first is None or first[0].grain is not Grain.DAY_OF_WEEK or not first[0].calendar:
        return False
    reader.at += first[1]
    if not reader.take(*_AGAINST[:-1]):
        return False
    reader.take("on", "the")
    last = read_period(reader.tokens, reader.at)
    if last is None or last[0].grain is not Grain.DAY_OF_WEEK or not last[0].calendar:
        return False
    reader.at += last[1]
    days = tuple(sorted({*first[0].calendar, *last[0].calendar}))
    if len(days) != len(first[0].calendar) + len(last[0].calendar) or len(days) != _TWO:
        return False  # of "weekdays against weekends" each side is one group
    phrase = reader.text(start)
    reader.keep(When(replace(first[0], calendar=days), phrase=phrase))
    reader.draft.groups.append(Time(Grain.DAY_OF_WEEK, None, phrase))
    return True


_TWO = 2


def _value(reader: Reader) -> Mention | None:
    reader.skip({"the", "our", "all"})
    mention = reader.mention()
    if mention is None or not mention.of_kind("value") or mention.senses[0].kind != "value":
        return None
    reader.at = mention.end
    return mention


def _shared(one: Mention, other: Mention) -> tuple[tuple[str, str], ...]:
    """Columns that have both values."""
    mine = {(s.table, s.column): s.value for s in one.of_kind("value") if s.quality >= ANY_FORM}
    found = [(s.table, s.column) for s in other.of_kind("value") if mine.get((s.table, s.column), s.value) != s.value]
    return tuple(dict.fromkeys(found))
