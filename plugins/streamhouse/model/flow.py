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

    @property
    def primary_key(self) -> tuple[str, ...]:
        """By which rows are updated and deleted, of a kind that has this option; empty: rows are only added."""
        given = self.options.get("primary_key", ())
        return tuple(str(name) for name in given) if isinstance(given, list | tuple) else ()


class Read(Frozen):
    """What one port of a step reads: a source of this flow or any table."""

    table: str
    mode: ReadMode = Field(default=ReadMode.CHANGES, alias="as")
    at: Location = Field(default=Location(""), exclude=True)

    model_config = Frozen.model_config | {"populate_by_name": True}


class Step(Frozen):
    """One use of an action."""

    use: str  # `action` or `action@1`
    reads: dict[str, Read] = Field(default_factory=dict)  # port → what it reads
    writes: str = Field(pattern=TABLE_NAME)
    params: dict[str, Any] = Field(default_factory=dict, alias="with")
    strategy: Strategy | None = None
    isolate: bool = Field(default=False, description="run this step, and what reads from it, on a clock of its own")
    at: Location = Field(default=Location(""), exclude=True)
    places: dict[str, Location] = Field(default_factory=dict, exclude=True)  # key path → its place in the file

    model_config = Frozen.model_config | {"populate_by_name": True}


class Flow(Frozen):
    """One file of `flows/`."""

    flow: str = Field(pattern=NAME)
    description: str = ""
    owner: str = ""
    tags: tuple[str, ...] = ()
    freshness: Pace = timedelta(seconds=1)  # how far the last layer may lag behind the source
    schema_change: FollowsChanges = SchemaChange()
    history: History | None = Field(
        default=None,
        description="what an edit does to older rows; by default ods and dwd keep them, dws and ads rewrite them",
    )
    commit_interval: Pace = Field(
        default=timedelta(seconds=10), description="how often steps commit to tables without a hot tier"
    )
    max_rows_per_epoch: int = Field(default=MAX_ROWS_PER_EPOCH, ge=1, le=_ROWS_MOST)
    local_epoch_rows: int = Field(
        default=LOCAL_EPOCH_ROWS,
        ge=0,
        le=_ROWS_MOST,
        description="epochs of more rows are read and written by Spark's executors",
    )
    sources: dict[str, Source] = Field(default_factory=dict)
    steps: tuple[Step, ...] = Field(min_length=1)
    tables: dict[str, TableOptions] = Field(default_factory=dict)
    at: Location = Field(default=Location(""), exclude=True)
    places: dict[str, Location] = Field(default_factory=dict, exclude=True)
