"""The Request: what a wish asks for, typed and resolved to tables and columns, so that a person can correct it.

A Request holds names of tables and columns that exist and nothing of SQL's text. The offline planner and a language
model both end in one, and the same code turns it into files.
"""

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, TypeAdapter

from streamhouse.model.types import NAME, TABLE_NAME, Frozen, Layer, Pace


def _read_constant(value: Any) -> Any:
    """A constant as JSON has it: `{"number": "12.5"}` and `{"time": …}`; a text is a text, also where it has digits."""
    if isinstance(value, dict) and len(value) == 1:
        kind, text = next(iter(value.items()))
        if kind in _WRITTEN and isinstance(text, str):
            return _WRITTEN[kind].validate_python(text)
    return value


def _write_constant(value: Any) -> Any:
    if isinstance(value, Decimal):
        return {"number": str(value)}
    if isinstance(value, datetime):
        return {"time": value.isoformat()}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    return value


_WRITTEN: dict[str, TypeAdapter[Any]] = {
    "number": TypeAdapter(Decimal), "time": TypeAdapter(datetime), "date": TypeAdapter(date)
}  # fmt: skip
Constant = Annotated[
    bool | int | Decimal | datetime | date | str,
    BeforeValidator(_read_constant),
    PlainSerializer(_write_constant, when_used="json"),
]
"""A value that a wish names; numbers are exact, times are UTC. It comes back from JSON as what it was."""


class Grain(StrEnum):
    """A length of time to cut at, or a part of the calendar that comes again."""

    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"  # begins on Monday
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    HOUR_OF_DAY = "hour_of_day"  # 0 to 23
    DAY_OF_WEEK = "day_of_week"  # 1 is Monday, 7 is Sunday
    DAY_OF_MONTH = "day_of_month"
    MONTH_OF_YEAR = "month_of_year"

    @property
    def comes_again(self) -> bool:
        """Whether it is a part of the calendar: rows of two years may share a value."""
        return "_of_" in self.value


class ColumnRef(Frozen):
    """A column of the base table or of a joined one."""

    kind: Literal["column"] = "column"
    column: str
    role: str = ""  # of a join in `joins`; empty: the base table


class Number(Frozen):
    """A number in a computation."""

    kind: Literal["number"] = "number"
    value: Decimal


class Cut(Frozen):
    """A time, cut to a grain: the begin of its hour, or its day of the week."""

    kind: Literal["cut"] = "cut"
    of: ColumnRef
    grain: Grain


class Between(Frozen):
    """The time from one column to another, as a number of `unit`, with fractions; days from or to a date are whole."""

    kind: Literal["between"] = "between"
    first: ColumnRef
    last: ColumnRef
    unit: Literal["second", "minute", "hour", "day"]


class Arithmetic(Frozen):
    """Two numbers combined. A quotient by zero is NULL."""

    kind: Literal["arithmetic"] = "arithmetic"
    left: "Scalar"
    operator: Literal["+", "-", "*", "/"]
    right: "Scalar"


class Banded(Frozen):
    """A number sorted into bands: `bounds` rise, and the first that is above the value names the band."""

    kind: Literal["banded"] = "banded"
    of: "Scalar"
    bounds: tuple[Decimal, ...] = Field(min_length=1)


Scalar = Annotated[ColumnRef | Number | Cut | Between | Arithmetic | Banded, Field(discriminator="kind")]
"""A value of one row."""

Comparator = Literal[
    "=", "<>", "<", "<=", ">", ">=", "in", "not in", "contains", "starts", "ends", "is null", "is not null"
]


class Condition(Frozen):
    """A scalar, or a measure by its name, compared with constants or with another scalar.

    Texts are compared as they are: the planner has found the spelling of the value that the table has.
    """

    kind: Literal["condition"] = "condition"
    left: Scalar | str  # a text: the name of a measure of the same block
    operator: Comparator
    values: tuple[Constant, ...] = ()  # several only of in and not in
    other: Scalar | str | None = None  # instead of values; a text: the name of a measure
    parameter: str = ""  # what the action calls the constant; empty: chosen from the column


class During(Frozen):
    """A time in the half-open range [since, until), or within the last `within` before now."""

    kind: Literal["during"] = "during"
    of: ColumnRef
    since: datetime | None = None
    until: datetime | None = None
    within: int | None = Field(default=None, ge=1)  # so many of `unit` before the epoch's time
    unit: Grain = Grain.DAY


class AnyOf(Frozen):
    """True where one of several conditions is."""

    kind: Literal["any"] = "any"
    of: tuple["Filter", ...] = Field(min_length=1)


class Related(Frozen):
    """Rows of the base that have, or do not have, rows of another table that point to them (or share `on`).

    Attributes:
        exists: False: "without any".
        on: Column of the base → column of the other table.
        filters: Over the other table: its columns have no role.
        at_least: So many rows are needed.
    """

    kind: Literal["related"] = "related"
    table: str = Field(pattern=TABLE_NAME)
    exists: bool
    on: dict[str, str] = Field(min_length=1)
    filters: tuple["Filter", ...] = ()
    at_least: int = Field(default=1, ge=1)


Filter = Annotated[Condition | During | AnyOf | Related, Field(discriminator="kind")]
"""What decides whether a row counts."""

Function = Literal[
    "count", "count distinct", "sum", "avg", "min", "max", "median", "stddev", "percentile", "first", "last"
]


class ResultColumn(Frozen):
    """Something that the result has a column for; `name` is what that is called."""

    name: str = Field(pattern=NAME)


class Measure(ResultColumn):
    """A number, or a value, of each group of rows.

    Attributes:
        name: Of the result's column.
        function: What is done with the values of `of`; of `count` without `of`, rows are counted.
        named: In its place: a measure that the base table's meaning defines.
        where: Only these rows count.
        by: Of first and last: the column that orders rows; of percentile: unused.
        fraction: Of percentile: 0 to 1.
        unit: Of the result; None: it has none, or nobody knows.
    """

    function: Function = "count"
    of: Scalar | None = None
    named: str | None = None
    where: tuple[Filter, ...] = ()
    by: Scalar | None = None
    fraction: Decimal | None = None
    unit: str | None = None

    @property
    def counts_rows(self) -> bool:
        """Whether it is the number of rows, and no measure that the base table's meaning defines."""
        return self.function == "count" and self.of is None and self.named is None


class Derived(ResultColumn):
    """A number made of measures of the same group, or of one measure and other groups.

    Attributes:
        kind: `ratio` of `of` by `to` (times 100 where `percent`); `difference` of both; `share`: of the total of
            `of` over all groups that agree in `per`; `change`: against the same measure `periods` periods before, as
            a difference, or where `percent` relative to it; `previous`: that value itself; `running`: the sum from
            the first period; `moving`: the average (or sum) over the last `periods` periods, this one included;
            `rank`: 1 is the highest of those that agree in `per`; `above_average`: the measure minus the average
            of all groups.
        per: Dimensions that a window stays within; of change, previous, running and moving all but the time are, too,
            when it is empty.
        per_many: Of ratio: for so many of `to`, such as 1000.
        fold: Of moving.
    """

    kind: Literal["ratio", "difference", "share", "change", "previous", "running", "moving", "rank", "above_average"]
    of: str
    to: str | None = None
    per: tuple[str, ...] = ()
    periods: int = Field(default=1, ge=1, le=100_000)
    percent: bool = False
    per_many: int = Field(default=1, ge=1)
    fold: Literal["avg", "sum"] = "avg"


class Dimension(ResultColumn):
    """One thing that results are grouped by; `name` is the result's column."""

    of: Scalar


class Join(Frozen):
    """Another table whose columns are needed, reached over a key: at most one row for each row of the left side.

    Attributes:
        role: What its columns are called by in this Request; unique, not empty.
        left: Role that `on` starts from; empty: the base.
        on: Column of the left side → column of `table`.
        optional: Rows without a partner stay, with NULLs.
    """

    table: str = Field(pattern=TABLE_NAME)
    role: str = Field(pattern=NAME)
    left: str = ""
    on: dict[str, str] = Field(min_length=1)
    optional: bool = True


class Pick(Frozen):
    """Of all rows with equal `per`, only the first or the last by `by`: "latest reading of each sensor"."""

    per: tuple[Scalar, ...] = Field(min_length=1)
    by: Scalar
    last: bool = True


class Sessions(Frozen):
    """Rows of one `per` cut into sessions where more than `gap` lies between two times.

    Dimensions of the block are `per` and the session's begin (`session_start`).
    """

    per: tuple[ColumnRef, ...] = Field(min_length=1)
    time: ColumnRef
    gap: Pace


class Block(Frozen):
    """One SELECT: rows of `base` (or groups of an inner block), filtered, joined, grouped.

    Without measures and dimensions the result has rows of the base: `columns`, or all columns when that is empty.
    With dimensions and no measures the result has each combination once.
    A block over an inner one refers to the inner block's dimensions and measures as columns without role.

    Attributes:
        hidden: Names of measures and derived numbers that others are made of and that nobody asked for: the result
            lacks them.
    """

    base: str | None = Field(default=None, pattern=TABLE_NAME)
    inner: "Block | None" = None  # in place of base: an aggregate of an aggregate
    joins: tuple[Join, ...] = ()
    filters: tuple[Filter, ...] = ()
    pick: Pick | None = None
    sessions: Sessions | None = None
    dimensions: tuple[Dimension, ...] = ()
    measures: tuple[Measure, ...] = ()
    derived: tuple[Derived, ...] = ()
    having: tuple[Filter, ...] = ()  # conditions on measures and derived numbers, by name
    columns: tuple[Dimension, ...] = ()  # of rows that are not grouped
    hidden: tuple[str, ...] = ()


class Ranking(Frozen):
    """Only the best rows of the result, or of each group of it.

    Attributes:
        by: Measure, derived number or column of the result.
        count: How many; 1 and `ties`: all that share the best value.
        per: Dimensions whose every combination has its own best; empty: of the whole result.
        ties: Rows equal to the last one stay, too.
    """

    by: str
    count: int = Field(ge=1)
    descending: bool = True
    per: tuple[str, ...] = ()
    ties: bool = False


class Request(Frozen):
    """What a wish asks for.

    Attributes:
        wish: As a person wrote it.
        block: What is computed.
        ranking: What is left of it.
        alert: The result lists rows that need attention, so it belongs to ADS.
        freshness: How far the result may lag behind the source; None: nobody said.
        layer: Where the result belongs; None: chosen by what it is.
        name: Of the result's table, without the layer; None: chosen.
    """

    wish: str
    block: Block
    ranking: Ranking | None = None
    alert: bool = False
    freshness: Pace | None = None
    layer: Layer | None = None
    name: str | None = Field(default=None, pattern=NAME)


class Reading(Frozen):
    """What one phrase of the wish became."""

    phrase: str
    became: str


class Question(Frozen):
    """Something that changes the answer and that the wish does not tell."""

    text: str
    phrase: str = ""
    choices: tuple[str, ...] = ()  # each can replace `phrase`


class Understood(Frozen):
    """How a wish was read.

    Attributes:
        request: None: the wish could not be read; then there is a question or a refusal.
        readings: Phrase of the wish → what it became, in the order of the wish.
        assumptions: What the wish leaves open and that does not change the answer, or is usual.
        questions: Each must be answered before there is a proposal.
        refusal: Why it is not possible, naming what is missing and what comes nearest; empty: it is.
    """

    request: Request | None = None
    readings: tuple[Reading, ...] = ()
    assumptions: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    refusal: str = ""


for model in (Arithmetic, Banded, AnyOf, Related, Block):
    model.model_rebuild()
