"""Which texts are literals of a time type: `DATE '2026-02-30'` is none, and Spark does not even parse it."""

import re
from calendar import monthrange
from decimal import Decimal

_DATE = re.compile(r"([+-]?[0-9]{4,7})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[ T].*)?)?)?", re.DOTALL)
_CLOCK = r"([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]{0,9}))?)?"
_STAMP = re.compile(
    rf"([+-]?[0-9]{{4,6}})(?:-([0-9]{{1,2}})(?:-([0-9]{{1,2}})(?:[ T](?:{_CLOCK}|([0-9]{{1,2}}))?(.*))?)?)?", re.DOTALL
)
_TIME = re.compile(rf"T?{_CLOCK}\s*(AM|PM)?", re.IGNORECASE | re.ASCII)
_SPANS = {
    "YEAR TO MONTH": r"[0-9]+-[0-9]+",
    "DAY TO HOUR": r"[0-9]+ [0-9]+",
    "DAY TO MINUTE": r"[0-9]+ [0-9]+:[0-9]+",
    "DAY TO SECOND": r"[0-9]+ [0-9]+:[0-9]+:[0-9]+(\.[0-9]{1,9})?",
    "HOUR TO MINUTE": r"[0-9]+:[0-9]+",
    "HOUR TO SECOND": r"[0-9]+:[0-9]+:[0-9]+(\.[0-9]{1,9})?",
    "MINUTE TO SECOND": r"[0-9]+:[0-9]+(\.[0-9]{1,9})?",
}
_MOST = {"YEAR": 178956970, "DAY": 106751991, "HOUR": 2562047788, "MINUTE": 153722867280}
_UNIT = r"(?:year|month|week|day|hour|minute|second|millisecond|microsecond)s?"
_PAIR = rf"[+-]?\s*(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s+{_UNIT}"
_PARTS = re.compile(r"([+-]?)\s*([0-9.]+)\s+([a-z]+?)s?(?=\s|$)", re.ASCII)
_MONTHS = {"month": 1, "year": 12}
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 7 * 86_400}
_MICROS = {"microsecond": 1, "millisecond": 1000, **{unit: 1_000_000 * n for unit, n in _SECONDS.items()}}
_INTERVAL = re.compile(rf"(?:interval\s+)?{_PAIR}(?:\s+{_PAIR})*", re.IGNORECASE | re.ASCII)
_MOMENTS = frozenset({"epoch", "now", "today", "tomorrow", "yesterday"})


def check_moment(kind: str, text: str) -> str | None:
    """Why Spark does not take a text for a literal of a type; None: it does, as far as is known.

    Args:
        kind: `DATE`, `TIMESTAMP`, `TIMESTAMP_LTZ`, `TIMESTAMP_NTZ`, `TIME`, `INTERVAL`, or the span of an interval,
            such as `DAY TO SECOND`.
        text: What stands between the quotes.

    >>> check_moment("DATE", "2026-02-30")
    "'2026-02-30' is no DATE"
    """
    said = text.strip()
    if " TO " in kind:
        form = _SPANS.get(kind)
        fits = form is not None and re.fullmatch(rf"[+-]?\s*{form}", said, re.ASCII) is not None
        within = fits and int(re.split(r"\D", said.lstrip("+- "), flags=re.ASCII)[0]) <= _MOST[kind.partition(" ")[0]]
        return None if within else f"'{text}' is no interval {kind}"
    if kind == "INTERVAL":
        units = {unit for _, _, unit in _PARTS.findall(said.lower())}
        fits = length_of(said) is not None and units & _MONTHS.keys() in (set(), units)
        return None if fits else f"'{text}' is no interval"
    if kind != "TIME" and said.partition(" ")[0].lower() in _MOMENTS:
        return None
    good = _is_time(said) if kind == "TIME" else _is_date(said) if kind == "DATE" else _is_stamp(said)
    return None if good else f"'{text}' is no {kind}"


def length_of(text: str) -> tuple[int, int] | None:
    """The months and the microseconds of the text of an interval, a day as 24 hours; None: it is no interval.

    >>> length_of("1 hour 30 minutes")
    (0, 5400000000)
    """
    said = text.strip().lower()
    if _INTERVAL.fullmatch(said) is None:
        return None
    months = micros = 0
    for sign, number, unit in _PARTS.findall(said):
        if "." in number and unit != "second":
            return None
        amount = Decimal(f"{sign}{number}")
        months += int(amount * _MONTHS.get(unit, 0))
        micros += int(amount * _MICROS.get(unit, 0))
    return months, micros


def _is_date(text: str) -> bool:
    found = _DATE.fullmatch(text)
    return found is not None and _is_day(found[1], found[2], found[3])


def _is_day(year: str, month: str | None, day: str | None) -> bool:
    if not 1 <= int(month or 1) <= 12 or int(day or 1) < 1:
        return False
    # The calendar of a year repeats after 400 years.
    return int(day or 1) <= monthrange(2000 + int(year) % 400, int(month or 1))[1]


def _is_stamp(text: str) -> bool:
    if re.match(r"T?[0-9]{1,2}:", text):  # a time of today
        return True
    found = _STAMP.fullmatch(text)
    if found is None or not _is_day(found[1], found[2], found[3]):
        return False
    zone = found[9] or ""
    return _is_clock(found[4], found[5], found[6]) and re.fullmatch(r"\s*(?:[A-Za-z+-].*)?", zone, re.ASCII) is not None


def _is_time(text: str) -> bool:
    found = _TIME.fullmatch(text)
    if found is None:
        return False
    return _is_clock(found[1], found[2], found[3]) and (found[5] is None or 1 <= int(found[1]) <= 12)


def _is_clock(hour: str | None, minute: str | None, second: str | None) -> bool:
    return int(hour or 0) < 24 and int(minute or 0) < 60 and int(second or 0) < 60
