"""How a step of strategy `delta` turns changes of its inputs into changes of its groups (docs/decisions/delta.md)."""

from pydantic import Field

from streamhouse.model.table import Column
from streamhouse.model.types import Frozen

ROWS = "grouped"
"""The port of `DeltaPlan.result` and `DeltaPlan.totals`; no word of Spark SQL, for some stand ill behind `+`."""

WEIGHT = "__weight"
"""Column of a group's row: how many rows of the query stand behind it."""


class Sorted(Frozen):
    """A column by which rows are put in order."""

    column: str
    descending: bool = False
    nulls_first: bool = True


class TopRows(Frozen):
    """Which rows of a result ORDER BY and LIMIT leave. The primary key decides between rows that ORDER BY does not."""

    order: tuple[Sorted, ...]
    limit: int
    offset: int = 0


class DeltaBlock(Frozen):
    """A query cut in two: which rows it puts together, and what it makes of each group of them.

    The state of the step has the groups, the values and `WEIGHT`. Without `totals` it has one row for each distinct
    row of `rows`. With them it has one row for each group, and the values are totals.
    """

    rows: str = Field(description="SQL over the ports: groups and values of each row, before they are grouped")
    groups: tuple[Column, ...] = Field(description="columns of `rows`; rows that agree in all of them are one group")
    key: tuple[str, ...] = Field(description="those of `groups` by which the state is looked up")
    values: tuple[Column, ...] = Field(description="the other columns of the state")
    totals: str | None = Field(
        default=None, description="SQL over the port `grouped`, with `WEIGHT`: the totals of each group; None: none"
    )
    result: str = Field(description="SQL over the port `grouped`: what the step makes of the state's rows")
    shown: dict[str, str] = Field(description="column of the step's table → the group that it shows")
    linear: tuple[str, ...] = Field(description="ports of which each row of `rows` has exactly one row in it")
    links: tuple[dict[str, str], ...] = Field(
        description="port → its column, where all rows that make a row of `rows` have one value"
    )
    top: TopRows | None = Field(
        default=None, description="the rows of `result` that the table has; None: all. The state has the others, too"
    )
    single: bool = Field(default=False, description="whether there is one group, and it is there without any row")
    hidden: tuple[Column, ...] = Field(
        default=(),
        exclude_if=lambda columns: not columns,  # plans without them keep their fingerprints
        description="columns of `result` that only put rows in order; the table has none of them",
    )
    ports: dict[str, str] = Field(
        default_factory=dict,
        exclude_if=lambda ports: not ports,
        description="port of `rows` → the step's port or the stage that it reads; empty: the ports are the step's own",
    )

    def follows(self, port: str) -> bool:
        """Whether the changes of a port need not be met by all rows of the others."""
        return port in self.linear or any(port in link for link in self.links)


class DeltaStage(Frozen):
    """An inner query that is kept up to date as a table of its own would be; its rows are a part of the state."""

    name: str = Field(description="by which `ports` call it")
    plan: DeltaBlock
    columns: tuple[Column, ...]
    key: tuple[str, ...]


class DeltaPlan(DeltaBlock):
    """How a step is kept up to date: a block over its ports and its stages."""

    stages: tuple[DeltaStage, ...] = Field(
        default=(), exclude_if=lambda stages: not stages, description="inner queries that are kept, inner ones first"
    )
