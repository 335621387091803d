"""Two values of one column side by side: "private label versus national brands", "planned against unplanned"."""

from dataclasses import replace
from datetime import datetime

from streamhouse.planner.language.draft import Is, Noun, Time, When
from streamhouse.planner.language.levels import ANY_FORM
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.periods import Period, read_period
from streamhouse.planner.language.reader import Reader
from streamhouse.planner.language.senses import Sense
from streamhouse.planner.request import Grain

_AGAINST = ("versus", "vs", "vs .", "v .", "compared with", "compared to", "against", "as opposed to", "or")


def read_sides(reader: Reader) -> bool:
    """Read both values: rows with one of them are grouped by their column."""
    start = reader.at
    if _read_weekdays(reader) or _read_years(reader):
        return True
    reader.at = start
    reader.take("of", "by", "for", "from", "over", "via", "through", "at", "in")
    first = _value(reader)
    if first is not None and reader.take(*_AGAINST[:-1]):
        last = _tail(reader, first) or _value(reader)
        shared = _shared(first, last) if last is not None else ()
        if last is not None and shared and first.text != last.text:
            values, shared = _further(reader, (first, last), shared)
            senses = tuple(Sense("column", table, column) for table, column in shared)
            phrase, last = reader.text(start), values[-1]
            reader.keep(Is(values, phrase=phrase))
            reader.draft.groups.append(Noun(Mention(first.start, last.end, phrase, senses, first.words)))
            return True
    reader.at = start
    return False


def _further(
    reader: Reader, values: tuple[Mention, ...], shared: tuple[tuple[str, str], ...]
) -> tuple[tuple[Mention, ...], tuple[tuple[str, str], ...]]:
    """Read more values of the same column: "bronze vs silver | vs gold"; with the columns that have all of them."""
    while True:
        back = reader.at
        found = _value(reader) if reader.take(*_AGAINST[:-1]) else None
        columns = tuple(one for one in shared if found is not None and one in _shared(values[0], found))
        if found is None or not columns or any(found.text == one.text for one in values):
            reader.at = back
            return values, shared
        values, shared = (*values, found), columns


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


def _read_years(reader: Reader) -> bool:
    """Read "2026 compared with 2025": rows of both years, by the year."""
    start = reader.at
    first = read_period(reader.tokens, reader.at)
    if first is None:
        return False
    reader.at += first[1]
    span = other_side(reader, first[0], None, start)
    if span is None:
        reader.at = start
        return False
    reader.keep(When(span, phrase=reader.text(start)))
    return True


def other_side(reader: Reader, period: Period, of: Mention | None, start: int) -> Period | None:
    """Read "compared with 2025" behind a year, a quarter or a month, and group by it; the time of both, else None.

    They must follow each other, for rows of a time between them would be read as well.
    """
    back = reader.at
    if reader.local is not None or reader.negated or not reader.take(*_AGAINST[:-1]):
        return None
    reader.take("the", "in", "those of", "those in")
    last = read_period(reader.tokens, reader.at)
    span = _both(period, last[0]) if last is not None else None
    if last is None or span is None:
        reader.at = back
        return None
    reader.at += last[1]
    reader.draft.groups.append(Time(span.grain, Noun(of) if of is not None else None, reader.text(start)))
    return span


def _both(one: Period, other: Period) -> Period | None:
    """The time of two whole years, months or quarters that follow each other; None: they are no such periods."""
    first, last = sorted((one, other), key=lambda period: period.since or datetime.min)
    if first.since is None or first.until is None or last.until is None or first.until != last.since:
        return None
    for grain, months in ((Grain.YEAR, 12), (Grain.QUARTER, 3), (Grain.MONTH, 1)):
        if all(_begins(of, months) and _later(of.since, months) == of.until for of in (first, last)):
            return Period(since=first.since, until=last.until, grain=grain)
    return None


def _begins(period: Period, months: int) -> bool:
    since = period.since
    return since is not None and since == datetime(since.year, since.month, 1) and (since.month - 1) % months == 0


def _later(since: datetime | None, months: int) -> datetime | None:
    if since is None:
        return None
    years, month = divmod(since.month - 1 + months, 12)
    return since.replace(year=since.year + years, month=month + 1)


_TWO = 2


def _value(reader: Reader) -> Mention | None:
    reader.skip({"the", "our", "all"})
    mention = reader.mention()
    if mention is None or not mention.of_kind("value") or mention.senses[0].kind != "value":
        return None
    reader.at = mention.end
    return mention


def _tail(reader: Reader, first: Mention) -> Mention | None:
    """Read "the teacher" behind "cancelled by the pupil vs", where the other value is "cancelled by the teacher"."""
    behind = reader.tokens[reader.at : reader.at + len(first.words)]
    for kept in range(len(first.words) - 1, 0, -1):
        tokens = (*reader.tokens[first.start : first.start + kept], *behind)
        found = reader.lexicon.mention(tokens, 0)
        if found is not None and found.end > kept and found.words != first.words and _shared(first, found):
            start = reader.at
            reader.at += found.end - kept
            return replace(found, start=start, end=reader.at)
    return None


def _shared(one: Mention, other: Mention) -> tuple[tuple[str, str], ...]:
    """Columns that have both values."""
    mine = {(s.table, s.column): s.value for s in one.of_kind("value") if s.quality >= ANY_FORM}
    found = [(s.table, s.column) for s in other.of_kind("value") if mine.get((s.table, s.column), s.value) != s.value]
    return tuple(dict.fromkeys(found))
