"""An action: a reusable, typed piece of Spark SQL."""

from datetime import date
from typing import Any, Literal

from pydantic import Field

from streamhouse.errors import Location
from streamhouse.model.meaning import Described
from streamhouse.model.types import NAME, USE, Frozen, Pace, StepKind, Strategy


class Parameter(Frozen):
    """A value a step may set, used in the SQL as `:name`."""

    type: str = Field(description="its Spark SQL type", examples=["bigint", "decimal(12,2)"])
    default: Any = Field(default=None, description="its value where a step gives none", examples=["1"])
    required: bool = Field(default=False, description="whether a step must give a value")
    description: str = Field(default="", description="one sentence on what it does")


class Output(Frozen):
    """What the result of an action promises."""

    primary_key: tuple[str, ...] = Field(
        default=(),
        description="the columns that name a row; absent: those of GROUP BY, else the table is a log",
        examples=["[order_id]"],
    )
    event_time: str | None = Field(
        default=None, description="the column that says when the event of a row happened", examples=["sold_at"]
    )
    extra_columns: Literal["pass", "drop"] = Field(
        default="drop",
        description="what becomes of columns that the input has and the action does not name: pass (they are added to "
        "the table) or drop",
    )
    renamed: dict[str, str] = Field(
        default_factory=dict, description="column → the name it had, so that an edit renames it and keeps its values"
    )
    places: dict[str, Location] = Field(default_factory=dict, exclude=True)  # key of `renamed` → where its value stands


class Expectation(Frozen):
    """A condition every output row should meet."""

    check: str = Field(description="a condition over the columns of the result", examples=["amount_cents >= 0"])
    on_violation: Literal["warn", "drop", "quarantine", "fail"] = Field(
        default="warn",
        description="what becomes of a row that violates it: warn (it is written and counted), drop, quarantine (it "
        "goes to a table beside) or fail (the epoch fails)",
    )


class Example(Frozen):
    """A unit test of the action: rows in, rows out (in any order)."""

    given: dict[str, list[dict[str, Any]]] = Field(description="input → its rows")
    params: dict[str, Any] = Field(default_factory=dict, description="values of parameters")
    expect: list[dict[str, Any]] = Field(description="the rows of the result, in any order")


class Deprecation(Frozen):
    """An action that is to be used no more."""

    until: date = Field(description="the day from which it may be gone")
    use: str | None = Field(default=None, pattern=USE, description="what to use instead: name or name@major")


class Action(Described):
    """One file of `actions/`: a YAML header in the first comment, then one SELECT.

    What it says of columns, measures and dimensions is said of the table that it makes.
    """

    action: str = Field(pattern=NAME, description="the name of the action", examples=["clean_orders"])
    version: str = Field(
        default="1.0.0",
        pattern=r"^[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}$",
        description="of the action: major.minor.patch, each of at most nine digits; a step may name the major version",
    )
    step: StepKind = Field(
        description="what the action does, and with it the layer of its table: ingest → ods, clean → dwd, "
        "aggregate → dws, customize → ads"
    )
    deprecated: Deprecation | None = Field(
        default=None, description="until when the action may be used, and what replaces it"
    )
    inputs: dict[str, dict[str, str]] = Field(
        description="input → column → Spark SQL type, with `not null` behind it where a row must have the column; "
        "{} takes any columns"
    )
    never_null: dict[str, tuple[str, ...]] = Field(default_factory=dict, exclude=True)  # of `inputs`: the columns
    params: dict[str, Parameter] = Field(
        default_factory=dict, description="values that a step may set; the SQL uses them as :name"
    )
    output: Output = Field(default=Output(), description="what the result promises")
    expect: dict[str, Expectation] = Field(
        default_factory=dict, description="name → a condition that each row should meet"
    )
    examples: tuple[Example, ...] = Field(default=(), description="unit tests: rows in, rows out")
    strategy: Strategy | None = Field(
        default=None, description="how a table of the action is kept up to date; absent: chosen by analysis of the SQL"
    )
    interval: Pace | None = Field(
        default=None, description="a step with the strategy full runs no more often than this", examples=["5m"]
    )
    sql: str = Field(default="", exclude=True)  # without the header
    at: Location = Field(default=Location(""), exclude=True)
    sql_at: Location = Field(default=Location(""), exclude=True)  # where the SQL begins in its file
    places: dict[str, Location] = Field(default_factory=dict, exclude=True)  # path of a part of its meaning → its place
