"""Dates of a wish that the calendar does not have."""

import re
from calendar import monthrange
from itertools import chain

from streamhouse.planner.language.screen import unquoted
from streamhouse.planner.language.words import MONTHS

_NAMES = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAY = r"(?P<day>\d{1,2})(?P<th>st|nd|rd|th)?"
_DAY_FIRST = re.compile(
    rf"(?<![\d.,:/-]){_DAY}(?:\s+of)?\s+(?P<month>{_NAMES})\b(?:\s+of|,)?(?:\s+(?P<year>(?:19|20)\d\d))?(?![\d-])",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    rf"\b(?P<month>{_NAMES})\s+(?:the\s+)?{_DAY}(?![\d.:/-])(?:,?\s+(?P<year>(?:19|20)\d\d)(?![\d-]))?",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"(?<![\d-])(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?P<th>)(?![\d-])")
_LEAP = 2000
_LONGEST = 31
_MONTHS = 12


def no_such_day(wish: str) -> str:
    """Why a date of a wish is none, in its own words; empty: each is a day. Text in quotation marks is no date.

    A number above 31 before or after a month is a day only as an ordinal or with a year: "top 50 March sales".

    >>> no_such_day("sales on 31 April 2017")
    "'31 April 2017' is no day of the calendar: that month has 30 days"
    """
    text = unquoted(wish)
    for found in chain(*(pattern.finditer(text) for pattern in (_DAY_FIRST, _MONTH_FIRST, _NUMBERS))):
        day, named = int(found["day"]), found["month"].lower()
        month = MONTHS.get(named) or int(named)
        if not 1 <= month <= _MONTHS:
            return f"'{found.group()}' is no day of the calendar: a year has 12 months"
        days = monthrange(int(found["year"] or _LEAP) or _LEAP, month)[1]
        meant = day <= _LONGEST or found["th"] or found["year"]
        if meant and not 1 <= day <= days:
            return f"'{found.group().strip()}' is no day of the calendar: that month has {days} days"
    return ""
