"""A flow: which action reads what and writes where."""

from datetime import timedelta
from typing import Any

from pydantic import Field

from streamhouse.errors import Location
from streamhouse.model.schema_change import FollowsChanges, SchemaChange
from streamhouse.model.table import TableOptions
from streamhouse.model.types import NAME, TABLE_NAME, Frozen, History, Pace, ReadMode, Strategy

LOCAL_EPOCH_ROWS = 300_000  # measured: benchmarks/spread.py
MAX_ROWS_PER_EPOCH = 200_000  # a third less processor time than 100,000; more gains less, and takes memory
_ROWS_MOST = 1_000_000_000  # of an epoch; no machine holds as many


class Source(Frozen):
    """Where rows come from: one kind of source and its options."""

    name: str
    kind: str  # replay, files, kafka, cdc, …: a kind known to the package `ingest`
    options: dict[str, Any] = Field(default_factory=dict)
    at: Location = Field(default=Location(""), exclude=True)
    places: dict[str, Location] = Field(default_factory=dict, exclude=True)  # option, or option.key → where it stands

    def place_of(self, option: str) -> Location:
        """Where an option stands: the part of it that is written, else the source itself.

        Args:
            option: Such as `path`, or `registry.url` of a mapping.
        """
        while option not in self.places and "." in option:
            option = option.rpartition(".")[0]
        return self.places.get(option, self.at)

    @property
    def primary_key(self) -> tuple[str, ...]:
        """By which rows are updated and deleted, of a kind that has this option; empty: rows are only added."""
        option = self.options.get("primary_key", ()) if self.options.get("mode") != "append" else ()
        return tuple(str(name) for name in option) if isinstance(option, list | tuple) else ()


class Read(Frozen):
    """What one port of a step reads: a source of this flow or any table."""

    table: str = Field(description="a source of this flow, or layer.name of a table", examples=["dwd.sales"])
    mode: ReadMode = Field(
        default=ReadMode.CHANGES,
        alias="as",
        description="changes: new and changed rows start the step; lookup: the step reads the table as of the epoch, "
        "and changes of it start nothing",
    )
    at: Location = Field(default=Location(""), exclude=True)

    model_config = Frozen.model_config | {"populate_by_name": True}


class Step(Frozen):
    """One use of an action."""

    use: str = Field(description="the action; with @ its major version", examples=["clean_orders", "clean_orders@2"])
    reads: dict[str, Read] = Field(
        default_factory=dict,
        description="input of the action → a source of this flow, or a table",
        examples=["{orders: ods.orders}", "{sales: dwd.sales, products: {table: ods.products, as: lookup}}"],
    )
    writes: str = Field(pattern=TABLE_NAME, description="the table, layer.name", examples=["dwd.orders"])
    params: dict[str, Any] = Field(
        default_factory=dict,
        alias="with",
        description="values for the parameters of the action",
        examples=["{min_quantity: 2}"],
    )
    strategy: Strategy | None = Field(
        default=None, description="how the table is kept up to date; absent: the action's, else by analysis of its SQL"
    )
    isolate: bool = Field(default=False, description="run this step, and what reads from it, on a clock of its own")
    at: Location = Field(default=Location(""), exclude=True)
    places: dict[str, Location] = Field(default_factory=dict, exclude=True)  # key path → its place in the file

    model_config = Frozen.model_config | {"populate_by_name": True}


class Flow(Frozen):
    """One file of `flows/`."""

    flow: str = Field(pattern=NAME, description="the name of the flow", examples=["retail"])
    description: str = Field(default="", description="one sentence on what it is, for people and for the planner")
    synonyms: tuple[str, ...] = Field(default=(), description="other words that people use for it")
    owner: str = Field(default="", description="the person or team to ask", examples=["data-platform"])
    tags: tuple[str, ...] = Field(
        default=(), description="words to find the flow by, also in Airflow", examples=["[sales]"]
    )
    freshness: Pace = Field(
        default=timedelta(seconds=1), description="how far the last layer may lag behind the source", examples=["30s"]
    )
    schema_change: FollowsChanges = SchemaChange()
    history: History | None = Field(
        default=None,
        description="what an edit does to older rows; by default ods and dwd keep them, dws and ads rewrite them",
    )
    commit_interval: Pace = Field(
        default=timedelta(seconds=10), description="how often steps commit to tables without a hot tier"
    )
    max_rows_per_epoch: int = Field(
        default=MAX_ROWS_PER_EPOCH, ge=1, le=_ROWS_MOST, description="the most rows that one epoch reads"
    )
    local_epoch_rows: int = Field(
        default=LOCAL_EPOCH_ROWS,
        ge=0,
        le=_ROWS_MOST,
        description="epochs of more rows are read and written by Spark's executors",
    )
    sources: dict[str, Source] = Field(
        default_factory=dict,
        description="name → one kind of source and its options",
        examples=["{orders: {files: {path: data/*.csv}}}"],
    )
    steps: tuple[Step, ...] = Field(min_length=1, description="the uses of actions, in any order")
    tables: dict[str, TableOptions] = Field(
        default_factory=dict,
        description="table → options beyond the defaults",
        examples=["{dwd.sales: {tiers: {hot: 1h, warm: 30d, cold: forever}}}"],
    )
    at: Location = Field(default=Location(""), exclude=True)
    places: dict[str, Location] = Field(default_factory=dict, exclude=True)
