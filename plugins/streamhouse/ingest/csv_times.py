"""Days and times in CSV: as Spark's reader takes them, without those that it guesses from today's date. Pure."""

import re
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

_ISO_DAY = r"(?P<y>[0-9]{4})-(?P<mo>[0-9]{1,2})-(?P<d>[0-9]{1,2})"
_CLOCK = r"(?P<h>[0-9]{1,2})(?::(?P<mi>[0-9]{1,2})(?::(?P<s>[0-9]{1,2})(?:\.(?P<f>[0-9]*))?{zone})?)?"
_ZONE = r"(?: ?(?P<z>Z|UTC|GMT)| ?(?P<sign>[+-])(?P<oh>[0-9]{2}):?(?P<om>[0-9]{2})?)?"
_MIDNIGHT = r"(?:[T ]0{1,2}(?::0{1,2}(?::0{1,2}(?:\.0*)?(?: ?(?:Z|UTC|GMT)| ?[+-]00:?(?:00)?)?)?)?)?"
_SIMPLE_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?$"
_SIMPLE_DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_FORMAT = re.compile(r"'(?:[^']|'')*'|([A-Za-z])\1*|.", re.DOTALL)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LETTERS = {
    "yyyy": r"(?P<y>[0-9]{4})",
    "uuuu": r"(?P<y>[0-9]{4})",
    "yy": r"(?P<y>[0-9]{2})",
    "MMM": rf"(?P<mon>(?i:{'|'.join(_MONTHS)}))",
    "MM": r"(?P<mo>[0-9]{2})",
    "M": r"(?P<mo>[0-9]{1,2})",
    "dd": r"(?P<d>[0-9]{2})",
    "d": r"(?P<d>[0-9]{1,2})",
    "HH": r"(?P<h>[0-9]{2})",
    "H": r"(?P<h>[0-9]{1,2})",
    "hh": r"(?P<h>[0-9]{2})",
    "h": r"(?P<h>[0-9]{1,2})",
    "mm": r"(?P<mi>[0-9]{2})",
    "m": r"(?P<mi>[0-9]{1,2})",
    "ss": r"(?P<s>[0-9]{2})",
    "s": r"(?P<s>[0-9]{1,2})",
    "a": r"(?P<a>(?i:am|pm))",
    "XXX": r"(?:(?P<z>Z)|(?P<sign>[+-])(?P<oh>[0-9]{2}):(?P<om>[0-9]{2}))",
    "XX": r"(?:(?P<z>Z)|(?P<sign>[+-])(?P<oh>[0-9]{2})(?P<om>[0-9]{2}))",
    "xxx": r"(?P<sign>[+-])(?P<oh>[0-9]{2}):(?P<om>[0-9]{2})",
    **dict.fromkeys(("xx", "Z", "ZZ", "ZZZ"), r"(?P<sign>[+-])(?P<oh>[0-9]{2})(?P<om>[0-9]{2})"),
}
_LETTERS |= {"S" * n: rf"(?P<f>[0-9]{{1,{n}}})" for n in range(1, 7)}
_VARIABLE = frozenset({"M", "d", "H", "h", "m", "s", *("S" * n for n in range(2, 7))})
_MONTH_DAYS = (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0)
"""How many days the months have, from the first one; the places 0 and 13 are of no month."""
_MINUTE_US = 60_000_000
_MOST_OFFSET = 18 * 60


@dataclass(frozen=True)
class TimeFormat:
    """How days or times are written.

    Attributes:
        pattern: That the whole text has; its groups are the parts.
        has_clock: Whether there is a time of day.
        has_zone: Whether there is a zone, or may be one.
    """

    pattern: str
    has_clock: bool
    has_zone: bool


_BLANK = r"[ \t]*"
_ISO_TIME = TimeFormat(rf"^{_BLANK}{_ISO_DAY}(?:[T ]{_CLOCK.replace('{zone}', _ZONE)})?{_BLANK}$", True, True)
_ISO_LOCAL = TimeFormat(rf"^{_BLANK}{_ISO_DAY}(?:[T ]{_CLOCK.replace('{zone}', '')})?{_BLANK}$", True, False)
_ISO = TimeFormat(rf"^{_BLANK}{_ISO_DAY}{_MIDNIGHT}{_BLANK}$", False, False)


@lru_cache(maxsize=64)
def time_format(text: str) -> TimeFormat:
    r"""A pattern of Spark, as far as it is taken.

    Raises:
        ValueError: it has a letter that is not taken, or lacks year, month or day.

    Example:
        >>> time_format("dd.MM.yyyy").pattern
        '^(?P<d>[0-9]{2})\\.(?P<mo>[0-9]{2})\\.(?P<y>[0-9]{4})$'
    """
    pattern = before = ""
    letters: set[str] = set()
    for found in _FORMAT.finditer(text):
        part = found.group()
        if part[0].isalpha() and part.isascii():
            if part not in _LETTERS:
                known = ", ".join(sorted(_LETTERS, key=str.lower))
                raise ValueError(f"'{part}' in '{text}' is not taken; known: {known}")
            if before in _VARIABLE and part[0] not in "aXxZ":
                raise ValueError(f"nothing in '{text}' says where '{before}' ends and '{part}' begins")
            pattern, before = pattern + _LETTERS[part], part
            letters.add(part[0])
            continue
        before = ""
        if part[0] == "'":
            pattern += re.escape("'" if part == "''" else part[1:-1].replace("''", "'"))
        elif part in "[]":
            pattern += "(?:" if part == "[" else ")?"
        elif part in "#{}'":
            raise ValueError(f"'{part}' in '{text}' is not taken")
        else:
            pattern += re.escape(part)
    return _checked(text, f"^{pattern}$", letters)


def _checked(text: str, pattern: str, letters: set[str]) -> TimeFormat:
    try:
        groups = re.compile(pattern, re.ASCII).groupindex
    except re.error as error:
        raise ValueError(f"'{text}' has a part twice, or a bracket too many") from error
    for group, name in (("y", "year"), ("d", "day")):
        if group not in groups:
            raise ValueError(f"'{text}' has no {name}")
    if ("mo" in groups) == ("mon" in groups):
        raise ValueError(f"'{text}' needs one month: M, MM or MMM")
    if ("a" in letters) != ("h" in letters):
        raise ValueError(f"'{text}' needs h with a, and a with h: H is the hour of 24")
    clock = [name for name in ("h", "mi", "s", "f") if name in groups]
    if clock != ["h", "mi", "s", "f"][: len(clock)]:
        raise ValueError(f"'{text}' has a part of a time, but not the larger one before it")
    return TimeFormat(pattern, bool(clock), "sign" in groups)


def days(texts: pa.Array, written: TimeFormat | None) -> tuple[pa.Array, pa.Array]:
    """Texts as days, NULL where one is none; and which of them are none, such as the 30th of February."""
    if written is None and _all(texts, _SIMPLE_DAY):
        return _read(texts, pa.date32())
    parts, odd = _parts(texts, written or _ISO)
    found, impossible = _read(_day_texts(parts), pa.date32())
    return found, pc.or_(odd, impossible)


def instants(texts: pa.Array, written: TimeFormat | None) -> tuple[pa.Array, pa.Array]:
    """Texts as instants, NULL where one is none, and which of them are none; one without a zone is UTC."""
    local, odd = _times(texts, written or _ISO_TIME, is_iso=written is None)
    return pc.assume_timezone(local, "UTC"), odd


def local_times(texts: pa.Array) -> tuple[pa.Array, pa.Array]:
    """ISO texts as times of a wall clock, NULL where one is none, and which of them are none."""
    return _times(texts, _ISO_LOCAL, is_iso=True)


def _times(texts: pa.Array, written: TimeFormat, *, is_iso: bool) -> tuple[pa.Array, pa.Array]:
    if is_iso and _all(texts, _SIMPLE_TIME):
        return _read(texts, pa.timestamp("us"))
    parts, odd = _parts(texts, written)
    hour, wrong_hour = _hour(parts)
    odd = pc.or_(odd, wrong_hour)
    minute, second = (_padded(parts.get(name), 2) for name in ("mi", "s"))
    fraction = parts.get("f")
    digits = "000000" if fraction is None else pc.utf8_rpad(pc.utf8_slice_codeunits(fraction, 0, 6), 6, "0")
    clock = pc.binary_join_element_wise(hour, minute, second, ":")
    whole = pc.binary_join_element_wise(pc.binary_join_element_wise(_day_texts(parts), clock, "T"), digits, ".")
    times, impossible = _read(pc.if_else(odd, None, whole), pa.timestamp("us"))
    odd = pc.or_(odd, impossible)
    if not written.has_zone:
        return times, odd
    minutes, wrong_zone = _offset(parts)
    shifted = pc.subtract(times.cast(pa.int64()), pc.multiply(minutes, _MINUTE_US))
    return shifted.cast(pa.timestamp("us")), pc.or_(odd, wrong_zone)


def _read(texts: pa.Array, to: pa.DataType) -> tuple[pa.Array, pa.Array]:
    """Texts in the form 2026-01-31 or 2026-01-31T10:30:00 as values, NULL where one is none; and which are none."""
    try:
        return texts.cast(to), _none(texts)
    except pa.ArrowInvalid:
        odd = _impossible(texts, has_clock=pa.types.is_timestamp(to))
        return pc.if_else(odd, None, texts).cast(to), odd


def _impossible(texts: pa.Array, *, has_clock: bool) -> pa.Array:
    """Which days and times there are not: of a month, an hour or another part that is too large."""

    def number(first: int, last: int) -> pa.Array:
        return pc.utf8_slice_codeunits(texts, first, last).cast(pa.int32())

    year, month, day = number(0, 4), number(5, 7), number(8, 10)
    is_leap = pc.and_(_divides(year, 4), pc.or_(pc.invert(_divides(year, 100)), _divides(year, 400)))
    place = pc.min_element_wise(month, 13)
    days = pc.take(pa.array(_MONTH_DAYS, pa.int32()), place)
    last = pc.if_else(pc.and_(pc.equal(month, 2), is_leap), 29, days)
    odd = pc.or_(pc.less(day, 1), pc.greater(day, last))
    for first, most in ((11, 23), (14, 59), (17, 59)) if has_clock else ():
        odd = pc.or_(odd, pc.greater(number(first, first + 2), most))
    return pc.fill_null(odd, False)


def _divides(numbers: pa.Array, by: int) -> pa.Array:
    return pc.equal(pc.multiply(pc.divide(numbers, by), by), numbers)


def _parts(texts: pa.Array, written: TimeFormat) -> tuple[dict[str, pa.Array], pa.Array]:
    """Group → its texts, empty where it has none; and which texts do not have the form."""
    found = pc.extract_regex(texts, written.pattern)
    odd = pc.and_(texts.is_valid(), found.is_null())
    return {field.name: pc.struct_field(found, field.name) for field in found.type}, odd


def _day_texts(parts: dict[str, pa.Array]) -> pa.Array:
    year = parts["y"]
    century = pc.if_else(pc.equal(pc.utf8_length(year), 2), "20", "")
    month = _padded(parts.get("mo"), 2)
    if "mon" in parts:
        number = pc.index_in(pc.utf8_lower(parts["mon"]), pa.array(_MONTHS))
        month = _padded(pc.add(number, 1).cast(pa.string()), 2)
    return pc.binary_join_element_wise(
        pc.binary_join_element_wise(century, year, ""), month, _padded(parts["d"], 2), "-"
    )


def _padded(texts: pa.Array | None, width: int) -> "pa.Array | str":
    return "0" * width if texts is None else pc.utf8_lpad(texts, width, "0")


def _hour(parts: dict[str, pa.Array]) -> tuple["pa.Array | str", pa.Array]:
    nothing = _none(parts["y"])
    if "a" not in parts:
        return _padded(parts.get("h"), 2), nothing
    hour = parts["h"].cast(pa.int32())
    odd = pc.fill_null(pc.or_(pc.less(hour, 1), pc.greater(hour, 12)), False)
    early = pc.if_else(pc.equal(hour, 12), 0, hour)
    late = pc.equal(pc.utf8_lower(parts["a"]), "pm")
    return _padded(pc.if_else(late, pc.add(early, 12), early).cast(pa.string()), 2), odd


def _offset(parts: dict[str, pa.Array]) -> tuple[pa.Array, pa.Array]:
    """Minutes before UTC, and which of them are too many."""
    hours, minutes = (pc.utf8_lpad(parts[name], 2, "0").cast(pa.int64()) for name in ("oh", "om"))
    total = pc.add(pc.multiply(hours, 60), minutes)
    odd = pc.or_(pc.greater(total, _MOST_OFFSET), pc.greater(minutes, 59))
    signed = pc.if_else(pc.equal(parts["sign"], "-"), pc.negate(total), total)
    return signed, pc.fill_null(odd, False)


def _all(texts: pa.Array, pattern: str) -> bool:
    return pc.all(pc.match_substring_regex(texts, pattern)).as_py() is not False


def _none(texts: pa.Array) -> pa.Array:
    return pc.and_(texts.is_null(), False)
