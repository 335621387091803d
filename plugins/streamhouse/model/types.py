"""Words with one meaning: layers, tiers, strategies, merge functions, positions."""

from datetime import timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer
from pytimeparse2 import parse

NAME = r"^[a-z][a-z0-9_]*$"
USE = r"^[a-z][a-z0-9_]*(@[0-9]{1,9}(\.[0-9]{1,9}){0,2})?$"  # an action: name, or name@version, as far as it is said
TABLE_NAME = r"^(ods|dwd|dws|ads)\.[a-z][a-z0-9_]*$"
DECIMAL_DIGITS = 38
"""Most digits of a decimal, in Spark, Arrow and each tier."""

_LEAST = timedelta(milliseconds=1)
FOREVER = timedelta(days=36500)
"""A tier that keeps rows so long drops none."""

Ranges = dict[str, tuple[tuple[int, int], ...]]
"""Partition or bucket → ranges `[first, end)` of its positions, in order."""


def behind(ranges: tuple[tuple[int, int], ...], at: int) -> int:
    """The first position from `at` on that lies in none of some ranges, which are in order.

    >>> behind(((3, 15), (15, 20)), 4)
    20
    """
    for first, end in ranges:
        if first <= at < end:
            at = end
    return at


Position = dict[str, int]
"""Where a reader stands in one table or source, and where the next epoch begins.

Keys and meaning belong to the store: Fluss `{bucket: next offset}`, Paimon and Iceberg
`{"snapshot": last read id}`, a replay `{"row": next row}`, files `{path: rows taken}`.
An absent key is its beginning.
"""


class Frozen(BaseModel):
    """Base of every model: immutable, refuses unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Layer(StrEnum):
    """Where a table stands between source and consumer, upstream first."""

    ODS = "ods"
    DWD = "dwd"
    DWS = "dws"
    ADS = "ads"


class History(StrEnum):
    """What an edit does to rows already written."""

    KEEP = "keep"  # they keep the meaning they had
    REWRITE = "rewrite"  # they are recomputed

    @staticmethod
    def of(layer: Layer) -> "History":
        """The default of a layer: facts keep their history, results are rewritten."""
        return History.KEEP if layer in {Layer.ODS, Layer.DWD} else History.REWRITE


class StepKind(StrEnum):
    """What a step does; each kind writes into one layer."""

    INGEST = "ingest"
    CLEAN = "clean"
    AGGREGATE = "aggregate"
    CUSTOMIZE = "customize"

    @property
    def layer(self) -> Layer:
        """The layer this kind of step writes."""
        return {
            StepKind.INGEST: Layer.ODS,
            StepKind.CLEAN: Layer.DWD,
            StepKind.AGGREGATE: Layer.DWS,
            StepKind.CUSTOMIZE: Layer.ADS,
        }[self]


class Tier(StrEnum):
    """Where rows live: hot is Fluss, warm is Paimon, cold is Iceberg."""

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"


class Strategy(StrEnum):
    """How a step turns an epoch's changes into changes of its table (design D6)."""

    MAP = "map"
    MERGE = "merge"
    RECOMPUTE = "recompute"
    DELTA = "delta"
    FULL = "full"

    @property
    def reads_state(self) -> bool:
        """Whether it reads rows that were there before the epoch, and not the changed rows alone."""
        return self not in (Strategy.MAP, Strategy.MERGE)

    @property
    def sees_all(self) -> bool:
        """Whether it compares the whole result with the table where it cannot know what to leave as it is."""
        return self in (Strategy.DELTA, Strategy.FULL)


class MergeFunction(StrEnum):
    """How a store folds a new value of a column into the one it holds."""

    SUM = "sum"
    MIN = "min"
    MAX = "max"
    LAST_VALUE = "last_value"
    FIRST_VALUE = "first_value"
    BOOL_AND = "bool_and"
    BOOL_OR = "bool_or"


class MergeEngine(StrEnum):
    """What becomes of a row written to a key that is stored: one meaning, whichever tier holds the table."""

    DEDUPLICATE = "deduplicate"  # it takes the place of the stored one
    FIRST_ROW = "first_row"  # it is left out
    VERSIONED = "versioned"  # it takes the place of one whose version is not higher; NULL is the lowest
    PARTIAL_UPDATE = "partial_update"  # the columns of its writer do; other steps write the rest
    AGGREGATION = "aggregation"  # each column is folded into the stored one, by a function of its own


class ReadMode(StrEnum):
    """`changes` drives the step; `lookup` is read as of the epoch and drives nothing."""

    CHANGES = "changes"
    LOOKUP = "lookup"


@lru_cache(maxsize=1024)
def _seconds(text: str) -> float | None:
    seconds: float | None = parse(text)
    return seconds


def duration_of(text: str) -> timedelta:
    """The duration that a person wrote: 0, or from a millisecond to what `FOREVER` stands for.

    Raises:
        ValueError: it is none; the message says how to write one.
    """
    if text == "forever":
        return FOREVER
    # A number alone says no unit, and digits of other scripts are read as ours.
    seconds = _seconds(text) if text.isascii() and any(map(str.isalpha, text)) else None
    if seconds is None:
        raise ValueError(f"'{text}' is no duration; write a number with its unit, such as 30s, 5m, 1h, 7d")
    if not 0 <= float(seconds) <= FOREVER.total_seconds():
        why = "negative" if float(seconds) < 0 else f"longer than {FOREVER.days}d"
        raise ValueError(f"'{text}' is {why}; write a number with its unit, such as 30s, 5m, 1h, 7d, or forever")
    if 0 < float(seconds) < _LEAST.total_seconds():
        raise ValueError(f"'{text}' is shorter than a millisecond; the least is 1ms")
    return timedelta(seconds=float(seconds))


def _some(value: timedelta) -> timedelta:
    if value < _LEAST:
        raise ValueError("it is no time at all; write more, such as 100ms, 30s, 5m")
    return value


def _ends(value: timedelta) -> timedelta:
    if value >= FOREVER:
        raise ValueError("it would never come; write how often or how soon, such as 1s, 5m, 1h")
    return value


def _to_duration(value: Any) -> Any:
    if isinstance(value, str):
        return duration_of(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise ValueError(f"{value} lacks a unit; write 30s, 5m, 1h or 7d")
    return value


@lru_cache(maxsize=1024)
def format_duration(value: timedelta) -> str:
    """The shortest text that reads back as `value`: '250ms', '30s', '7d', 'forever'."""
    if value == FOREVER:
        return "forever"
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)):
        milliseconds = round(value.total_seconds() * 1000)
        if milliseconds and milliseconds % size == 0:
            return f"{milliseconds // size}{unit}"
    return f"{round(value.total_seconds() * 1000)}ms"


Duration = Annotated[
    timedelta,
    BeforeValidator(_to_duration, json_schema_input_type=str),
    PlainSerializer(format_duration, return_type=str),
    Field(description="a number with its unit: 250ms, 30s, 5m, 1h, 7d, or forever"),
]
"""Any duration from zero to forever."""

Holding = Annotated[Duration, AfterValidator(_some)]
"""How long something is kept: more than no time."""

Pace = Annotated[Duration, AfterValidator(_some), AfterValidator(_ends)]
"""How often, or how soon, something happens: more than no time, and not never."""
