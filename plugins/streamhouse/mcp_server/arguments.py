"""What tools take. Every text and number has a limit, and an argument that nobody knows is refused."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from streamhouse.planner.wish_length import LONGEST_WISH

NAME_LENGTH = 200
SQL_LENGTH = 20_000
MOST_ROWS = 500
MOST_SAMPLE = 20
MOST_HITS = 50

Name = Annotated[str, Field(min_length=1, max_length=NAME_LENGTH)]
Number = Annotated[int, Field(strict=True)]
"""A whole number; `true` and "5" are none."""
ProposalId = Annotated[
    str, Field(pattern=r"^[0-9a-f]{12}$", description="id of a proposal, as 'ask' and 'revise' return it")
]


class Arguments(BaseModel):
    """Base of all arguments."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SearchArguments(Arguments):
    """Of `search`."""

    text: str = Field(max_length=NAME_LENGTH, description="words to look for; empty lists everything by name")
    kinds: tuple[Literal["table", "action", "flow"], ...] = Field(
        default=("table", "action", "flow"), max_length=3, description="what to look for"
    )
    limit: Number = Field(default=20, ge=1, le=MOST_HITS, description="at most so many hits")


class DescribeArguments(Arguments):
    """Of `describe`."""

    name: Name = Field(description="a table (dws.revenue), a column of it (dws.revenue.cents), an action or a flow")
    kind: Literal["table", "action", "flow"] | None = Field(
        default=None, description="what the name is of, where several have it"
    )
    rows: Number = Field(
        default=0, ge=0, le=MOST_SAMPLE, description="so many sample rows, of a table that says `ai: {rows: allowed}`"
    )


class ValidateArguments(Arguments):
    """Of `validate`."""

    paths: tuple[Name, ...] = Field(
        default=(), max_length=50, description="report only these files and folders of the project"
    )
    proposal: ProposalId | None = Field(default=None, description="check the project with this proposal's files in it")


class PlanArguments(Arguments):
    """Of `plan`."""

    flow: Name | None = Field(default=None, description="one flow; all flows without it")
    proposal: ProposalId | None = Field(default=None, description="plan the project with this proposal's files in it")


class AskArguments(Arguments):
    """Of `ask`."""

    wish: str = Field(
        min_length=1,
        description="what a person wants to know, in plain English, one wish",
        json_schema_extra={"maxLength": LONGEST_WISH},  # the planner refuses a longer one, as for every door
    )
    rows: Number = Field(
        default=0,
        ge=0,
        le=MOST_SAMPLE,
        description="so many rows of the answer, where every table it reads says `ai: {rows: allowed}`",
    )


class ReviseArguments(Arguments):
    """Of `revise`: answers or edits."""

    proposal: ProposalId
    answers: dict[Name, Name] = Field(
        default_factory=dict,
        max_length=20,
        description="answers to its questions: the question's phrase → the words that take its place",
    )
    edits: dict[Name, JsonValue] = Field(
        default_factory=dict,
        max_length=20,
        description="path of a part of its Request, such as `ranking` or `block.filters` → what it is to be",
    )
    rows: Number = Field(default=0, ge=0, le=MOST_SAMPLE, description="as of `ask`")

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if bool(self.answers) == bool(self.edits):
            raise ValueError("give either answers or edits")
        return self


class QueryArguments(Arguments):
    """Of `query`."""

    sql: str = Field(min_length=1, max_length=SQL_LENGTH, description="one SELECT of Spark SQL over layer.table names")
    limit: Number = Field(default=100, ge=1, le=MOST_ROWS, description="at most so many rows")


class DiagnoseArguments(Arguments):
    """Of `diagnose`."""

    name: Name | None = Field(
        default=None, description="a table (dws.revenue), a flow, or a layer (dws); all flows without it"
    )
