"""Dates of a wish: days, months, quarters, halves and years, each with its year."""

from datetime import date, datetime, time, timedelta

from streamhouse.planner.language.numbers import read_ordinal
from streamhouse.planner.language.tokens import Token
from streamhouse.planner.language.words import MONTHS

Tokens = tuple[Token, ...]


def word_at(tokens: Tokens, at: int) -> str:
    """The word of a token; empty behind the end and for quoted values."""
    return tokens[at].word if 0 <= at < len(tokens) and tokens[at].kind != "quoted" else ""


def phrase_at(tokens: Tokens, at: int, *options: str) -> int:
    """How many tokens the first of some phrases has that stands here; 0: none does."""
    first = word_at(tokens, at) or " "  # most phrases begin with another word
    for option in options:
        parts = option.split() if option.startswith(first) else []
        if parts and all(word_at(tokens, at + offset) == part for offset, part in enumerate(parts)):
            return len(parts)
    return 0


_BEFORE_MONTHS = frozenset(
    """in from of since until till by before after during for to through except without and or between only each every
    last next early mid late dated not vs versus than the ( , : ; / & -""".split()
)
_BEHIND_VERB = frozenset({"i", "we", "you", "be", "have", "not"})


def is_may(tokens: Tokens, at: int) -> bool:
    """Whether "may" is the month here, and no verb as in "may I see" or "people who may be called"."""
    if word_at(tokens, at) != "may" or word_at(tokens, at + 1) in _BEHIND_VERB:
        return False
    return at == 0 or tokens[at].text[:1].isupper() or word_at(tokens, at - 1) in _BEFORE_MONTHS


Span = tuple[datetime, datetime]


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time())


def _day(day: date) -> Span:
    return _midnight(day), _midnight(day + timedelta(days=1))


def month_span(year: int, month: int, months: int = 1) -> Span:
    """The begin of a month, and of the month so many later."""
    last = year * 12 + month - 1 + months
    return datetime(year, month, 1), datetime(last // 12, last % 12 + 1, 1)


def year_at(tokens: Tokens, at: int) -> int | None:
    """The year that stands here, from 1900 to 2100."""
    if at < len(tokens) and tokens[at].kind == "number" and len(tokens[at].text) == 4 and tokens[at].text.isdigit():
        value = int(tokens[at].word)
        return value if 1900 <= value <= 2100 else None
    return None


def day_at(tokens: Tokens, at: int) -> tuple[int, int] | None:
    """The day of a month that stands here, and how many tokens it has."""
    if at >= len(tokens):
        return None
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    if tokens[at].kind == "number" and tokens[at].text.isdigit() and 1 <= int(tokens[at].word) <= 31:
        suffixed = following is not None and following.glued and following.word in {"st", "nd", "rd", "th"}
        return int(tokens[at].word), 1 + suffixed
    ordinal = read_ordinal(tokens[at], following)
    return (ordinal, 1) if ordinal else None


def read_date(tokens: Tokens, at: int) -> tuple[Span, int] | None:
    """A date, month, quarter, half or year with its year: its begin and its end."""
    for rule in (_iso, _month_day_year, _day_month_year, _month_year, _quarter, _half, _bare_year):
        found = rule(tokens, at)
        if found:
            return found
    return None


def _iso(tokens: Tokens, at: int) -> tuple[Span, int] | None:
    if at >= len(tokens):
        return None
    token = tokens[at]
    if token.kind == "date" and isinstance(token.value, datetime):
        return (token.value, token.value), 1
    if token.kind == "date" and isinstance(token.value, date):
        return _day(token.value), 1
    if token.kind == "word" and len(token.word) == 7 and token.word[4] == "-":
        year, _, month = token.word.partition("-")
        if year.isdigit() and month.isdigit() and 1 <= int(month) <= 12:
            return month_span(int(year), int(month)), 1
    return None


def _of(tokens: Tokens, at: int) -> int:
    return 1 if word_at(tokens, at) in {"of", "in", ","} else 0


def _dated(year: int, month: int, day: int, length: int) -> tuple[Span, int] | None:
    try:
        return _day(date(year, month, day)), length
    except ValueError:
        return None


def _month_day_year(tokens: Tokens, at: int) -> tuple[Span, int] | None:
    month = MONTHS.get(word_at(tokens, at))
    day = day_at(tokens, at + 1) if month else None
    if not month or not day:
        return None
    after = at + 1 + day[1]
    after += _of(tokens, after)
    year = year_at(tokens, after)
    return _dated(year, month, day[0], after + 1 - at) if year else None


def _day_month_year(tokens: Tokens, at: int) -> tuple[Span, int] | None:
    start = at + phrase_at(tokens, at, "the")
    day = day_at(tokens, start)
    if not day:
        return None
    after = start + day[1]
    after += _of(tokens, after)
    month = MONTHS.get(word_at(tokens, after))
    if not month:
        return None
    after += 1
    after += _of(tokens, after)
    year = year_at(tokens, after)
    return _dated(year, month, day[0], after + 1 - at) if year else None


def _month_year(tokens: Tokens, at: int) -> tuple[Span, int] | None:
    month = MONTHS.get(word_at(tokens, at))
    after = at + 1 + _of(tokens, at + 1)
    year = year_at(tokens, after) if month else None
    return (month_span(year, month), after + 1 - at) if month and year else None


_QUARTERS = {"q1": 1, "q2": 2, "q3": 3, "q4": 4, "first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4}


def _quarter(tokens: Tokens, at: int) -> tuple[Span, int] | None:
    start = at + phrase_at(tokens, at, "the")
    quarter = _QUARTERS.get(word_at(tokens, start))
    if not quarter:
        return None
    after = start + 1
    if not word_at(tokens, start).startswith("q"):
        if word_at(tokens, after) != "quarter":
            return None
        after += 1
    after += _of(tokens, after)
    year = year_at(tokens, after)
    return (month_span(year, 3 * quarter - 2, 3), after + 1 - at) if year else None


def _half(tokens: Tokens, at: int) -> tuple[Span, int] | None:
    start = at + phrase_at(tokens, at, "the")
    half = {"first": 1, "second": 7, "h1": 1, "h2": 7}.get(word_at(tokens, start))
    if not half:
        return None
    after = start + 1
    if not word_at(tokens, start).startswith("h"):
        if word_at(tokens, after) != "half":
            return None
        after += 1
    after += _of(tokens, after)
    year = year_at(tokens, after)
    return (month_span(year, half, 6), after + 1 - at) if year else None


def _bare_year(tokens: Tokens, at: int) -> tuple[Span, int] | None:
    start = at + phrase_at(tokens, at, "the year", "year", "calendar year")
    year = year_at(tokens, start)
    return (month_span(year, 1, 12), start + 1 - at) if year else None
