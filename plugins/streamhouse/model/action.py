"""An action: a reusable, typed piece of Spark SQL."""

from datetime import date
from typing import Any, Literal

from pydantic import Field

from streamhouse.errors import Location
from streamhouse.model.types import NAME, USE, Frozen, Pace, StepKind, Strategy


class Parameter(Frozen):
    """A value a step may set, used in the SQL as `:name`."""

    type: str
    default: Any = None
    required: bool = False
    description: str = ""


class Output(Frozen):
    """What the result of an action promises."""

    primary_key: tuple[str, ...] = ()
    event_time: str | None = None
    extra_columns: Literal["pass", "drop"] = "drop"
    renamed: dict[str, str] = Field(
        default_factory=dict, description="column → the name it had, so that an edit renames it and keeps its values"
    )
    places: dict[str, Location] = Field(default_factory=dict, exclude=True)  # key of `renamed` → where its value stands


class Expectation(Frozen):
    """A condition every output row should meet."""

    check: str
    on_violation: Literal["warn", "drop", "quarantine", "fail"] = "warn"


class Example(Frozen):
    """A unit test of the action: rows in, rows out (in any order)."""

    given: dict[str, list[dict[str, Any]]]
    params: dict[str, Any] = Field(default_factory=dict)
    expect: list[dict[str, Any]]


class Deprecation(Frozen):
    """An action that is to be used no more."""

    until: date = Field(description="the day from which it may be gone")
    use: str | None = Field(default=None, pattern=USE, description="what to use instead: name or name@major")


class Action(Frozen):
    """One file of `actions/`: a YAML header in the first comment, then one SELECT."""

    action: str = Field(pattern=NAME)
    version: str = Field(default="1.0.0", pattern=r"^\d+\.\d+\.\d+$")
    step: StepKind
    description: str = ""
    deprecated: Deprecation | None = None  # None: it is not
    inputs: dict[str, dict[str, str]]  # port → column → type; an empty mapping takes any columns
    params: dict[str, Parameter] = Field(default_factory=dict)
    output: Output = Output()
    expect: dict[str, Expectation] = Field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    strategy: Strategy | None = None  # None: chosen by analysis of the SQL
    interval: Pace | None = None  # a `full` step runs no more often than this
    sql: str = Field(default="", exclude=True)  # without the header
    at: Location = Field(default=Location(""), exclude=True)
    sql_at: Location = Field(default=Location(""), exclude=True)  # where the SQL begins in its file
