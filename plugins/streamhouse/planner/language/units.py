"""Units: which words name one unit, what it measures, and how many of a base unit it is."""

from dataclasses import dataclass
from decimal import Decimal

from streamhouse.planner.language.tokens import singular


@dataclass(frozen=True)
class Unit:
    """A unit of numbers: `scale` of the first unit of the same `measures` make one of it."""

    name: str
    measures: str
    scale: Decimal


_UNITS: tuple[tuple[str, str, str, str], ...] = (
    ("cents", "money", "1", "cent ct penny pence usd_cent us_cent euro_cent eur_cent"),
    ("dollars", "money", "100", "dollar usd $ buck us_dollar"),
    ("euros", "money", "100", "euro eur €"),
    ("pounds", "money", "100", "gbp £ sterling quid"),
    ("milliseconds", "time", "0.001", "millisecond ms msec milli millis"),
    ("seconds", "time", "1", "second s sec"),
    ("minutes", "time", "60", "minute min"),
    ("hours", "time", "3600", "hour h hr"),
    ("days", "time", "86400", "day d"),
    ("weeks", "time", "604800", "week"),
    ("mm", "length", "0.001", "millimeter millimetre mm"),
    ("cm", "length", "0.01", "centimeter centimetre cm"),
    ("m", "length", "1", "m metre meter"),
    ("km", "length", "1000", "km kilometer kilometre"),
    ("miles", "length", "1609.344", "mile mi"),
    ("grams", "mass", "1", "gram g gramme"),
    ("kg", "mass", "1000", "kg kilogram kilo kilogramme"),
    ("tonnes", "mass", "1000000", "tonne ton t"),
    ("Wh", "energy", "1", "wh watt_hour"),
    ("kWh", "energy", "1000", "kwh kilowatt_hour"),
    ("MWh", "energy", "1000000", "mwh megawatt_hour"),
    ("W", "power", "1", "watt w"),
    ("kW", "power", "1000", "kilowatt kw"),
    ("percent", "fraction", "0.01", "percent percentage pct % per_cent"),
    ("fraction", "fraction", "1", "fraction ratio"),
    ("celsius", "temperature", "1", "celsius degree °c degree_celsius c"),
    ("bytes", "data", "1", "byte"),
    ("KB", "data", "1000", "kb kilobyte"),
    ("MB", "data", "1000000", "mb megabyte"),
    ("GB", "data", "1000000000", "gb gigabyte"),
    ("liters", "volume", "1", "liter litre l"),
    ("ml", "volume", "0.001", "ml milliliter millilitre"),
    ("bar", "pressure", "1", "bar"),
    ("volts", "voltage", "1", "volt v"),
)
_BY_WORD = {
    word: Unit(name, measures, Decimal(scale)) for name, measures, scale, words in _UNITS for word in words.split()
}
# Endings of column names that tell a unit; single letters only where nothing else is usual.
_ENDINGS = {
    "cents": "cent", "cent": "cent", "usd": "usd", "eur": "eur", "gbp": "gbp", "dollars": "dollar", "ms": "ms",
    "millis": "ms", "s": "second", "sec": "second", "secs": "second", "seconds": "second", "min": "minute",
    "mins": "minute", "minutes": "minute", "h": "hour", "hours": "hour", "hrs": "hour", "days": "day", "km": "km",
    "meters": "meter", "metres": "meter", "m": "meter", "mm": "mm", "cm": "cm", "miles": "mile", "kg": "kg",
    "grams": "gram", "g": "gram", "kwh": "kwh", "wh": "wh", "mwh": "mwh", "kw": "kw", "w": "watt", "watts": "watt",
    "pct": "percent", "percent": "percent", "celsius": "celsius", "c": "celsius", "bytes": "byte", "kb": "kb",
    "mb": "mb", "gb": "gb", "liters": "liter", "litres": "liter", "l": "liter", "ml": "ml", "bar": "bar",
    "volts": "volt", "v": "volt", "weeks": "week",
}  # fmt: skip


def unit_of(word: str) -> Unit | None:
    """The unit that a word names.

    >>> unit_of("Minutes").measures
    'time'
    """
    lower = word.strip().lower().replace(" ", "_")
    return _BY_WORD.get(lower) or _BY_WORD.get(singular(lower))


def unit_of_name(column: str) -> Unit | None:
    """The unit that the last part of a column's name says, if it does.

    >>> unit_of_name("duration_min").name
    'minutes'
    """
    parts = column.lower().split("_")
    ending = _ENDINGS.get(parts[-1]) if len(parts) > 1 else None
    return _BY_WORD[ending] if ending else None


def is_unit_ending(part: str) -> bool:
    """Whether the last part of a column's name only says its unit."""
    return part in _ENDINGS


def factor(unit: Unit, wanted: Unit) -> Decimal | None:
    """How many of `wanted` make one of `unit`; None: they measure different things."""
    if unit.measures != wanted.measures or (unit.measures == "money" and not _same_money(unit, wanted)):
        return None
    return unit.scale / wanted.scale


def _same_money(one: Unit, other: Unit) -> bool:
    return one.name == other.name or "cents" in {one.name, other.name}
