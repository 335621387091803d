"""Times of a wish: "in March 2017", "since 2020", "on weekends", "between 8 and 10 am", "last 30 days"."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from streamhouse.planner.language.dates import (
    Span,
    Tokens,
    day_at,
    is_may,
    month_span,
    phrase_at,
    read_date,
    word_at,
    year_at,
)
from streamhouse.planner.language.numbers import read_number
from streamhouse.planner.language.words import GRAINS, MONTHS, PARTS_OF_DAY, WEEKDAYS
from streamhouse.planner.request import Grain


@dataclass(frozen=True)
class Period:
    """A stretch of time, or a part of the calendar.

    Attributes:
        since: First moment; None: open.
        until: First moment behind it; None: open.
        within: In its place: so many of `grain` before now.
        calendar: In its place: `grain` (a part of the calendar) has one of these values.
        unclear: What the words leave open, as a question, with what can be said instead.
    """

    since: datetime | None = None
    until: datetime | None = None
    within: int | None = None
    grain: Grain = Grain.DAY
    calendar: tuple[int, ...] = ()
    unclear: str = ""
    choices: tuple[str, ...] = ()
    assumption: str = ""


Found = tuple[Period, int]


def read_period(tokens: Tokens, at: int) -> Found | None:
    """The time phrase that begins at a token, and how many tokens it has."""
    for rule in _RULES:
        found = rule(tokens, at)
        if found:
            return found
    return None


def _clock(tokens: Tokens, at: int) -> tuple[Decimal, int, bool] | None:
    """An hour of the day, how many tokens it has, and whether am, pm or minutes say that it is one."""
    if at >= len(tokens):
        return None
    named = {"noon": 12, "midday": 12, "midnight": 0}.get(word_at(tokens, at))
    if named is not None:
        return Decimal(named), 1, True
    token = tokens[at]
    if token.kind == "clock":
        hour, minute = map(int, token.word.split(":"))
        value, certain = Decimal(hour) + Decimal(minute) / 60, True
    elif token.kind == "number" and token.text.isdigit() and int(token.word) <= 24:
        value, certain = Decimal(token.word), False
    else:
        return None
    half = word_at(tokens, at + 1)
    if half in {"am", "pm"}:
        return value % 12 + (12 if half == "pm" else 0), 2, True
    if half in {"o'clock", "oclock", "h"}:
        return value, 2, True
    return value, 1, certain


def _hours_between(tokens: Tokens, at: int) -> Found | None:
    start = at + phrase_at(tokens, at, "between", "from")
    first = _clock(tokens, start)
    if not first or start == at:
        return None
    middle = start + first[1]
    joined = phrase_at(tokens, middle, "and", "to", "until", "till", "-")
    last = _clock(tokens, middle + joined) if joined else None
    if not last or not (first[2] or last[2]):
        return None
    low, high = first[0], last[0]
    if not first[2] and high > 12 and low < 12 and low + 12 < high and word_at(tokens, middle + joined + 1) == "pm":
        low += 12
    if low % 1 or high % 1:
        return Period(unclear="only whole hours of the day can be compared", choices=()), middle + joined + last[1] - at
    return _hour_range(int(low), int(high)), middle + joined + last[1] - at


def _hour_range(low: int, high: int) -> Period:
    hours = range(low, high) if low < high else [*range(low, 24), *range(high)]
    return Period(grain=Grain.HOUR_OF_DAY, calendar=tuple(sorted(hours)))


def _hours_open(tokens: Tokens, at: int) -> Found | None:
    word = word_at(tokens, at)
    found = _clock(tokens, at + 1) if word in {"before", "after", "until", "from", "since"} else None
    if not found or not found[2] or found[0] % 1:
        return None
    hour = int(found[0])
    if not hour and word not in {"before", "until"}:
        return Period(unclear=f"'{word} midnight' leaves no hour out", choices=("from 0 to 6 am",)), 1 + found[1]
    if word in {"before", "until"}:
        return _hour_range(0, hour or 24), 1 + found[1]
    return Period(grain=Grain.HOUR_OF_DAY, calendar=tuple(range(hour, 24))), 1 + found[1]


def _hour_at(tokens: Tokens, at: int) -> Found | None:
    """Read "at noon", "at 9:30": a moment, which no row has for certain."""
    found = _clock(tokens, at + 1) if word_at(tokens, at) == "at" else None
    if not found or not found[2]:
        return None
    said = " ".join(token.text for token in tokens[at : at + 1 + found[1]])
    hour = int(found[0])
    choices = (f"between {hour}:00 and {hour + 1}:00",) if hour + 1 < 24 else ()
    return Period(unclear=f"'{said}': the hour that begins then, or that moment alone?", choices=choices), 1 + found[1]


def _part_of_day(tokens: Tokens, at: int) -> Found | None:
    start = at + phrase_at(tokens, at, "in the", "during the", "at", "in", "on", "during")
    found = PARTS_OF_DAY.get(word_at(tokens, start))
    if not found or (start == at and not word_at(tokens, start).endswith("s")):
        return None
    period = _hour_range(*found)
    text = f"'{word_at(tokens, start)}' is read as {found[0]}:00 to {found[1]}:00"
    return Period(grain=period.grain, calendar=period.calendar, assumption=text), start + 1 - at


def _weekdays(tokens: Tokens, at: int) -> Found | None:
    start = at + phrase_at(tokens, at, "on the", "at the", "on", "at", "during the", "during", "over the")
    word = word_at(tokens, start)
    if word in {"weekend", "weekends"}:
        return Period(grain=Grain.DAY_OF_WEEK, calendar=(6, 7)), start + 1 - at
    if word in {"weekdays", "workdays"} or (word in {"working", "business"} and word_at(tokens, start + 1) == "days"):
        if start == at and word_at(tokens, at - 1) in {"by", "per", "and"}:
            return None
        return Period(grain=Grain.DAY_OF_WEEK, calendar=(1, 2, 3, 4, 5)), start + 1 + (
            word in {"working", "business"}
        ) - at
    until = phrase_at(tokens, start + 1, "to", "through", "until", "till", "-")
    last = word_at(tokens, start + 1 + until)
    if word in WEEKDAYS and until and last in WEEKDAYS and WEEKDAYS[word] < WEEKDAYS[last]:
        days = list(range(WEEKDAYS[word], WEEKDAYS[last] + 1))
        return Period(grain=Grain.DAY_OF_WEEK, calendar=tuple(days)), start + 2 + until - at
    return _listed_weekdays(tokens, at, start)


def _listed_weekdays(tokens: Tokens, at: int, start: int) -> Found | None:
    """Days of the week that a list names: "Mondays, Tuesdays and Fridays"."""
    word = word_at(tokens, start)
    days: list[int] = []
    while word in WEEKDAYS and (len(word) > 3 or start > at):
        days.append(WEEKDAYS[word])
        start += 1
        joined = phrase_at(tokens, start, ", and", "and", "or", ",")
        following = word_at(tokens, start + joined)
        if not joined or following not in WEEKDAYS:
            break
        start, word = start + joined, following
    return (Period(grain=Grain.DAY_OF_WEEK, calendar=tuple(sorted(set(days)))), start - at) if days else None


_MOST = 1_000_000
_MOST_YEARS = 9_999


def _last(tokens: Tokens, at: int) -> Found | None:
    start = at + phrase_at(
        tokens,
        at,
        "in the",
        "within the",
        "during the",
        "over the",
        "for the",
        "from the",
        "of the",
        "the",
        "in",
        "within",
        "during",
    )
    start_word = word_at(tokens, start)
    if start_word not in {"last", "past", "previous", "preceding", "recent", "latest"}:
        return None
    number = read_number(tokens, start + 1)
    length = number[1] if number else 0
    grain = GRAINS.get(word_at(tokens, start + 1 + length))
    if grain is None or grain.comes_again:
        return None
    end = start + 2 + length - at
    most = _MOST_YEARS if grain is Grain.YEAR else _MOST
    if number and not 1 <= number[0] <= most:
        return Period(unclear=f"a time has 1 to {most:,} {grain}s, and not {number[0]:f}: how many?"), end
    if number:
        return Period(within=int(number[0]), grain=grain), end
    if word_at(tokens, start + 2) in {"of", "in"} or start_word in {"recent", "latest"}:
        return None
    if grain in {Grain.HOUR, Grain.MINUTE}:
        return Period(within=1, grain=grain), end
    span = {"day": "24 hours", "week": "7 days", "month": "30 days", "quarter": "90 days", "year": "365 days"}[grain]
    return Period(
        unclear=f"'last {grain}' may mean the calendar {grain} before this one or the last {span}",
        choices=(f"in the last {span}", "in a period with dates, such as 'in March 2017'"),
    ), end


def _today(tokens: Tokens, at: int) -> Found | None:
    start = at + phrase_at(tokens, at, "so far", "until", "in", "during", "since")
    if phrase_at(tokens, start, "today", "yesterday", "this week", "this month", "this year", "this quarter"):
        length = phrase_at(tokens, start, "today", "yesterday", "this week", "this month", "this year", "this quarter")
        said = " ".join(word_at(tokens, start + offset) for offset in range(length))
        return _depends_on_the_day(said), start + length - at
    opener = word_at(tokens, at)
    if opener in {"since", "until", "till", "before", "after"} and word_at(tokens, at + 1) in _SINGLE_DAYS:
        return _depends_on_the_day(f"{opener} {tokens[at + 1].text}"), 2
    return None


_SINGLE_DAYS = frozenset(word for word in WEEKDAYS if word.endswith("day"))


def _depends_on_the_day(said: str) -> Period:
    return Period(
        unclear=f"'{said}' depends on the day it is asked",
        choices=("in the last 24 hours", "in the last 7 days", "in the last 30 days"),
    )


_TO_DATES = ("and the end of", "to the end of", "until the end of", "till the end of", "and", "to", "until", "till",
             "through", "up to", "-")  # fmt: skip


def _between_dates(tokens: Tokens, at: int) -> Found | None:
    opener = phrase_at(tokens, at, "between", "from", "in the period from", "in the time from", "in the week from")
    start = at + opener
    if not opener and (found := _days_to_days(tokens, at)):
        return found
    first = read_date(tokens, start) if opener else None
    shared = _shared_begin(tokens, start) if opener and first is None else None
    if first is None and shared is None:
        return None
    middle = start + (first[1] if first else shared or 0)
    joined = phrase_at(tokens, middle, *_TO_DATES)
    last = read_date(tokens, middle + joined) if joined else None
    if not last:
        return None
    begin = first[0][0] if first else _begin_with(tokens, start, last[0][0])
    if begin is None or begin > last[0][1]:
        return None
    return Period(since=begin, until=last[0][1]), middle + joined + last[1] - at


def _days_to_days(tokens: Tokens, at: int) -> Found | None:
    """Read "20 to 26 November 2017", "3 March 2025 to 9 March 2025", without a word before them."""
    first = read_date(tokens, at)
    shared = None if first else _shared_begin(tokens, at)
    middle = at + (first[1] if first else shared or 0)
    joined = phrase_at(tokens, middle, "to", "until", "till", "through", "-") if middle > at else 0
    last = read_date(tokens, middle + joined) if joined else None
    if last is None:
        return None
    begin = first[0][0] if first else _begin_with(tokens, at, last[0][0])
    if begin is None or begin > last[0][1] or (last[0][1] - last[0][0]).days > 31:
        return None
    return Period(since=begin, until=last[0][1]), middle + joined + last[1] - at


def _shared_begin(tokens: Tokens, at: int) -> int | None:
    """How many tokens a begin has that lacks the year or the month that only the end has: "1 [and 15 May 2024]"."""
    month = MONTHS.get(word_at(tokens, at))
    if month:
        day = day_at(tokens, at + 1)
        return 1 + (day[1] if day else 0)
    day = day_at(tokens, at)
    if not day:
        return None
    return day[1] + (1 if word_at(tokens, at + day[1]) in MONTHS else 0)


def _begin_with(tokens: Tokens, at: int, end: datetime) -> datetime | None:
    month, day = MONTHS.get(word_at(tokens, at)), None
    if month:
        day = day_at(tokens, at + 1)
    else:
        day = day_at(tokens, at)
        month = MONTHS.get(word_at(tokens, at + day[1])) if day else None
    try:
        return datetime(end.year, month or end.month, day[0] if day else 1)
    except ValueError:
        return None


def _open_dates(tokens: Tokens, at: int) -> Found | None:
    openers: tuple[tuple[str, Callable[[Span], Period]], ...] = (
        ("until the end of", lambda span: Period(until=span[1])),
        ("since the beginning of", lambda span: Period(since=span[0])),
        ("since the start of", lambda span: Period(since=span[0])),
        ("on or after", lambda span: Period(since=span[0])),
        ("on or before", lambda span: Period(until=span[1])),
        ("not before", lambda span: Period(since=span[0])),
        ("no later than", lambda span: Period(until=span[1])),
        ("later than", lambda span: Period(since=span[1])),
        ("earlier than", lambda span: Period(until=span[0])),
        ("starting from", lambda span: Period(since=span[0])),
        ("starting in", lambda span: Period(since=span[0])),
        ("since", lambda span: Period(since=span[0])),
        ("after", lambda span: Period(since=span[1])),
        ("before", lambda span: Period(until=span[0])),
        ("prior to", lambda span: Period(until=span[0])),
        ("until", lambda span: Period(until=span[1])),
        ("till", lambda span: Period(until=span[1])),
        ("through", lambda span: Period(until=span[1])),
        ("up to", lambda span: Period(until=span[1])),
        ("by the end of", lambda span: Period(until=span[1])),
    )
    for opener, make in openers:
        length = phrase_at(tokens, at, opener)
        span = read_date(tokens, at + length) if length else None
        if span:
            return make(span[0]), length + span[1]
    if word_at(tokens, at) == "by" and (found := read_date(tokens, at + 1)) is not None:
        return _by_date(tokens, at, found)
    if word_at(tokens, at) == "from":
        span = read_date(tokens, at + 1)
        onward = phrase_at(tokens, at + 1 + span[1], "onwards", "onward", "on", "and later") if span else 0
        if span and onward:
            return Period(since=span[0][0]), 1 + span[1] + onward
    return None


def _by_date(tokens: Tokens, at: int, found: tuple[Span, int]) -> Found:
    """Read "by 10 May 2026": that day is the last one; of a month or a year, its begin or its end may be meant."""
    span, length = found
    said = " ".join(token.text for token in tokens[at : at + 1 + length])
    if span[1] - span[0] <= timedelta(days=1):
        return Period(until=span[1], assumption=f"'{said}' is read as until the end of that day"), 1 + length
    date = said.removeprefix("by ")
    return Period(
        unclear=f"'{said}': before it begins, or until it ends?", choices=(f"before {date}", f"until the end of {date}")
    ), 1 + length


def _dated_period(tokens: Tokens, at: int) -> Found | None:
    opener = phrase_at(tokens, at, "in the month of", "for the month of", "in", "on", "during", "for", "within", "from",
                    "of", "dated", "as of")  # fmt: skip
    found = read_date(tokens, at + opener)
    if not found or (found[0][0] == found[0][1]):
        return None
    spans, after = [found[0]], at + opener + found[1]
    joined = phrase_at(tokens, after, "and", "or")
    further = read_date(tokens, after + joined) if joined else None
    if further and further[0][0] == found[0][1]:
        spans.append(further[0])
        after += joined + further[1]
    return Period(since=spans[0][0], until=spans[-1][1]), after - at


def _months_of_year(tokens: Tokens, at: int) -> Found | None:
    """Read "in May and June 2026": the year behind the last of several months is that of all of them."""
    opener = phrase_at(tokens, at, "in the months of", "for the months of", "during", "in", "of", "for", "from", "both")
    start = at + opener
    months: list[int] = []
    while (month := MONTHS.get(word_at(tokens, start))) is not None:
        months.append(month)
        year = year_at(tokens, start + 1 + (word_at(tokens, start + 1) in {"of", "in"}))
        if year is not None:
            break
        joined = phrase_at(tokens, start + 1, ", and", ", or", "and", "or", ",", "/", "&")
        start += 1 + joined
        if not joined:
            return None
    else:
        return None
    if len(months) < 2:
        return None
    end = start + 2 + (word_at(tokens, start + 1) in {"of", "in"}) - at
    said = " ".join(token.text for token in tokens[at + opener : at + end])
    if months != list(range(months[0], months[-1] + 1)):
        return Period(unclear=f"'{said}': only months that follow each other can be read with one year"), end
    since, until = month_span(year, months[0], len(months))
    return Period(since=since, until=until, assumption=f"'{said}' is read as {len(months)} months of {year}"), end


def _month_alone(tokens: Tokens, at: int) -> Found | None:
    opener = phrase_at(tokens, at, "in the month of", "in the months of", "during", "in", "of", "for", "every", "from")
    months: list[int] = []
    start = at + opener
    word = word_at(tokens, start)
    if not opener and (not (len(word) > 3 or is_may(tokens, at)) or tokens[at].text[:1].islower()):
        return None
    while word in MONTHS and year_at(tokens, start + 1) is None:
        months.append(MONTHS[word])
        start += 1
        joined = phrase_at(tokens, start, "and", "or", ",")
        word = word_at(tokens, start + joined)
        if not joined or word not in MONTHS:
            break
        start += joined
    if not months or (word_at(tokens, at + opener - 1) == "from" and word_at(tokens, start) in _GO_ON):
        return None
    text = "a month without a year is read as that month of every year"
    return Period(grain=Grain.MONTH_OF_YEAR, calendar=tuple(sorted(set(months))), assumption=text), start - at


_GO_ON = frozenset({"on", "onward", "onwards", "to", "until", "till", "through", "up", "-"})


def _week_of_month(tokens: Tokens, at: int) -> Found | None:
    """Read "in the last week of May 2025": its last, or first, seven days."""
    opener = phrase_at(tokens, at, "in the", "into the", "during the", "from the", "of the", "the", "in", "during")
    start = at + opener
    length = phrase_at(tokens, start, "last week of", "first week of", "final week of")
    span = read_date(tokens, start + length) if length else None
    if span is None or not 28 <= (span[0][1] - span[0][0]).days <= 31:
        return None
    since, until = span[0]
    first = word_at(tokens, start) == "first"
    since, until = (since, since + timedelta(days=7)) if first else (until - timedelta(days=7), until)
    text = f"the {word_at(tokens, start)} week is read as its seven days from {since:%Y-%m-%d}"
    return Period(since=since, until=until, assumption=text), opener + length + span[1]


_RULES: tuple[Callable[[Tokens, int], Found | None], ...] = (
    _hours_between, _hours_open, _hour_at, _week_of_month, _between_dates, _open_dates, _last, _today,
    _months_of_year, _dated_period, _weekdays, _part_of_day, _month_alone,
)  # fmt: skip
