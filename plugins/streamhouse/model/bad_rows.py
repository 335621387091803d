"""What a flow says of rows of a source that cannot be read, and the dead-letter table that takes them.

A source whose policy is `dead_letter` has a second one beside it: its dead letters, keyed by their position. A step
of ours writes them into a table. So epochs, crashes, tiers and queries treat that table as any other.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from streamhouse.model.action import Action, Output
from streamhouse.model.flow import Flow, Read, Source, Step
from streamhouse.model.table import Column, TableOptions
from streamhouse.model.types import Frozen, StepKind

DEAD_LETTERS = "__dead_letters"
"""End of the name of a dead-letter table, and of the source whose rows it has."""

KIND = "dead_letters"
"""Kind of the source; nobody writes it into a flow."""

OPTION = "on_bad_rows"
"""Option of a source: what is done with rows that cannot be read."""

POSITION = "position"
"""Column of a dead-letter table, and its primary key: where the row is in its source."""

ACTION = "streamhouse_dead_letters"
FEWEST_ROWS = 1_000
"""A share counts a source with fewer rows as one with so many: else one bad row among three would stop the flow."""

LETTER_COLUMNS = (
    Column(name=POSITION, type="string", nullable=False),
    Column(name="reason", type="string"),
    Column(name="message", type="string"),
    Column(name="raw", type="binary"),
    Column(name="context", type="string"),
    Column(name="replays", type="int"),
)
DEAD_LETTER = "dead_letter"
"""Kind of the event that says how many rows a dead-letter table has."""

_COUNT_TEXT = re.compile(r"(\S+) has (\d+) rows that cannot be read", re.ASCII)
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]+)?)\s*%", re.ASCII)


class OnBadRows(Frozen):
    """Option `on_bad_rows` of a source."""

    action: Literal["fail", "dead_letter"] = Field(
        default="fail",
        description="fail: the flow stops at the row; dead_letter: the row goes to the dead-letter table",
    )
    limit: int | str | None = Field(
        default=None,
        description="how many dead letters there may be, as a number of rows (100) or a share of all rows that were "
        "read (1%); with more, the flow stops",
    )
    table: str | None = Field(default=None, description="the dead-letter table; the plan of the flow names it")

    @model_validator(mode="before")
    @classmethod
    def _word_alone(cls, value: Any) -> Any:
        return {"action": value} if isinstance(value, str) else value

    @field_validator("limit")
    @classmethod
    def _limit_is_a_bound(cls, value: int | str | None) -> int | str | None:
        if isinstance(value, str):
            found = _PERCENT.fullmatch(value)
            if found is None or float(found[1]) > 100:
                raise ValueError(f"'{value}' is no limit; write a number of rows, such as 100, or a share, such as 1%")
        elif value is not None and value < 0:
            raise ValueError("the limit is below zero")
        return value

    @model_validator(mode="after")
    def _limit_is_of_dead_letters(self) -> "OnBadRows":
        if self.limit is not None and self.action == "fail":
            raise ValueError("a limit needs action: dead_letter; with fail, the first bad row stops the flow")
        return self

    def most(self, rows: int) -> int | None:
        """How many dead letters there may be after `rows` rows of the source; None: any number."""
        if isinstance(self.limit, str):
            found = _PERCENT.fullmatch(self.limit)
            assert found is not None, "checked above"
            return int(float(found[1]) * max(rows, FEWEST_ROWS) / 100)
        return self.limit


def policy_of(options: Mapping[str, Any]) -> OnBadRows:
    """What the options of a source say, as far as it can be understood; opening the source reports the rest."""
    try:
        return OnBadRows.model_validate(options.get(OPTION) or {})
    except ValueError:
        return OnBadRows()


def keeps_dead_letters(kind: str, options: Mapping[str, Any]) -> bool:
    """Whether rows of a source that cannot be read go to its dead-letter table."""
    return kind != KIND and policy_of(options).action == "dead_letter"


def letters_source(name: str) -> str:
    """The name of the source that has the dead letters of another."""
    return f"{name}{DEAD_LETTERS}"


def dead_letter_table(flow: str, source: str) -> str:
    """The name of the dead-letter table of a source.

    Example:
        >>> dead_letter_table("shop", "orders"), dead_letter_table("orders", "orders")
        ('ods.shop_orders__dead_letters', 'ods.orders__dead_letters')
    """
    return f"ods.{flow if flow == source else f'{flow}_{source}'}{DEAD_LETTERS}"


def base_options(options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Kind and options of the source whose dead letters are the rows of another, by the options of that one."""
    plain = {name: value for name, value in options.items() if name not in ("kind", "primary_key", "base_key", "base")}
    if "base_key" in options:
        plain["primary_key"] = options["base_key"]
    return str(options.get("kind", "")), plain


def _named(flow: Flow, source: Source) -> Source:
    """The source with the name of its dead-letter table."""
    policy = policy_of(source.options).model_copy(update={"table": dead_letter_table(flow.flow, source.name)})
    return source.model_copy(update={"options": {**source.options, OPTION: policy.model_dump(exclude_none=True)}})


def _letters(source: Source) -> Source:
    # One level deep, so that an edit of one option is an edit of this option here, too.
    options = {**source.options, "kind": source.kind, "primary_key": [POSITION]}
    if "primary_key" in source.options:
        options["base_key"] = source.options["primary_key"]
    return Source(name=letters_source(source.name), kind=KIND, options=options, at=source.at)


def with_dead_letters(flow: Flow) -> Flow:
    """The flow with the steps that write its dead-letter tables; the same where it has none."""
    sources = {n: s for n, s in flow.sources.items() if keeps_dead_letters(s.kind, s.options)}
    used = {read.table for step in flow.steps for read in step.reads.values()}
    sources = {
        name: _named(flow, source)
        for name, source in sources.items()
        if name in used and letters_source(name) not in flow.sources
    }
    if not sources:
        return flow
    steps = [
        Step(
            use=ACTION,
            reads={"letters": Read(table=letters_source(name), at=source.at)},
            writes=dead_letter_table(flow.flow, name),
            at=source.at,
        )
        for name, source in sources.items()
    ]
    tables = {step.writes: _options_of(flow, name) for name, step in zip(sources, steps, strict=True)}
    return flow.model_copy(
        update={
            "sources": {
                **flow.sources,
                **sources,
                **{letters_source(name): _letters(source) for name, source in sources.items()},
            },
            "steps": (*flow.steps, *steps),
            "tables": {**tables, **flow.tables},
        }
    )


def _options_of(flow: Flow, source: str) -> TableOptions:
    """Dead letters are kept in the tiers of the table that the rows would have reached."""
    for step in flow.steps:
        if any(read.table == source for read in step.reads.values()) and step.writes in flow.tables:
            return TableOptions(tiers=flow.tables[step.writes].tiers)
    return TableOptions()


def count_text(table: str, count: int, new: int, epoch: int) -> str:
    """What the event of an epoch says.

    Example:
        >>> parse_counts([count_text("ods.a__dead_letters", 3, 2, 7)])
        {'ods.a__dead_letters': 3}
    """
    return f"{table} has {count} rows that cannot be read; {new} came in epoch {epoch}"


def parse_counts(texts: Iterable[str]) -> dict[str, int]:
    """Dead-letter table → how many rows it had at last, by events from the oldest to the newest."""
    found = (_COUNT_TEXT.match(text) for text in texts)
    return {count_match[1]: int(count_match[2]) for count_match in found if count_match is not None}


DEAD_LETTER_ACTION = Action(
    action=ACTION,
    step=StepKind.INGEST,
    description="Rows of a source that could not be read, one for each position.",
    inputs={"letters": {column.name: column.type for column in LETTER_COLUMNS}},
    output=Output(primary_key=(POSITION,)),
    sql="SELECT position, reason, message, raw, context, replays, current_timestamp() AS seen_at FROM letters",
)
"""What writes a dead-letter table; a registry has it without a file."""
