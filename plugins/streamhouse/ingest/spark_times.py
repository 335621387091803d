"""Days and times as texts in the forms that Spark's readers take. Pure.

Left out, and refused: what depends on the day of reading (a time without a day), days as numbers in quotes, years
outside 1 to 9999, and names of regions, whose rules differ between libraries.
"""

import re
from datetime import date, datetime, timedelta

_DAY = r"(?:\+?0*)?(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})"
_DATE = re.compile(rf"{_DAY}(?:[T ](.*))?)?)?", re.DOTALL | re.ASCII)
_TIME = re.compile(rf"{_DAY}(?:[T ](\d{{1,2}})(?::(\d{{1,2}})(?::(\d{{1,2}})(?:\.(\d*))?(.*))?)?)?)?)?", re.ASCII)
_OFFSET = re.compile(r"\s*(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2})|:(\d))?(?::(\d{2}))?", re.ASCII)
_OF_UTC = re.compile(r"\s*(?:Z|UTC|GMT|UT)", re.ASCII)
_MIDNIGHT = re.compile(r"0?0(?::0?0(?::0?0(?:\.0*)?(?:\s*(?:Z|[+-]00(?::?00)?))?)?)?", re.ASCII)
_BLANKS = "".join(map(chr, range(33))) + "\x7f"
"""What Spark cuts off at both ends: blanks and control characters of ASCII."""
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)
_MOST_OFFSET = timedelta(hours=18)


def day_number(text: str) -> int:
    """Days since 1970-01-01.

    Raises:
        ValueError: it is no day, or has a time that would be lost.

    Example:
        >>> day_number("1970-1-2"), day_number("1970-01-01T00:00:00Z")
        (1, 0)
    """
    found = _DATE.fullmatch(text.strip(_BLANKS))
    if found is None:
        raise ValueError("no day in the form 2026-01-31")
    if found[4] and not _MIDNIGHT.fullmatch(found[4]):
        raise ValueError("what follows the day would be lost; declare a timestamp")
    return date(*_day(found)).toordinal() - _EPOCH_DAY


def instant_number(text: str) -> int:
    """Microseconds since 1970-01-01 in UTC; a text without a zone is in UTC.

    Raises:
        ValueError: it is no time.

    Example:
        >>> instant_number("1970-01-01 01:00:01.5+01")
        1500000
    """
    local, zone = _local(text)
    return (local - _EPOCH - _offset(zone)) // _MICROSECOND


def local_number(text: str) -> int:
    """Microseconds since 1970-01-01 of a wall clock.

    Raises:
        ValueError: it is no time, or has a zone.
    """
    local, zone = _local(text)
    if zone:
        raise ValueError("a local time has no zone; declare a timestamp")
    return (local - _EPOCH) // _MICROSECOND


def _day(found: re.Match[str]) -> tuple[int, int, int]:
    return int(found[1]), int(found[2] or 1), int(found[3] or 1)


def _local(text: str) -> tuple[datetime, str]:
    found = _TIME.fullmatch(text.strip(_BLANKS))
    if found is None:
        raise ValueError("no time in the form 2026-01-31T10:30:00Z")
    fraction = (found[7] or "")[:6].ljust(6, "0")  # digits beyond microseconds go
    hour, minute, second, micros = (int(part or 0) for part in (found[4], found[5], found[6], fraction))
    return datetime(*_day(found), hour, minute, second, micros), found[8] or ""


def _offset(zone: str) -> timedelta:
    if not zone or _OF_UTC.fullmatch(zone):
        return timedelta()
    found = _OFFSET.fullmatch(zone)
    if found is None:
        raise ValueError("no zone in the form Z or +01:00")
    hours, minutes, seconds = int(found[2]), int(found[3] or found[4] or 0), int(found[5] or 0)
    if max(minutes, seconds) > 59:
        raise ValueError("no such zone")
    offset = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if offset > _MOST_OFFSET:
        raise ValueError("a zone is at most 18 hours from UTC")
    return offset if found[1] == "+" else -offset
