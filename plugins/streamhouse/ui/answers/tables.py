"""Tables, what they mean, and where their columns come from."""

from datetime import datetime
from typing import Any, Literal

from streamhouse.ui.answers.base import Answer
from streamhouse.ui.answers.flows import LossAnswer, TierTrouble
from streamhouse.ui.answers.graph import TierRetention


class ColumnAnswer(Answer):
    """One column of a table."""

    name: str
    type: str
    nullable: bool
    key: bool
    merge: str | None = None
    since: datetime | None = None  # rows written before hold something else
    since_revision: int | None = None


class ReadAnswer(Answer):
    """One port of a step."""

    port: str
    table: str
    mode: str
    columns: tuple[str, ...]
    by_key: tuple[str, ...] = ()


class Rule(Answer):
    """An expectation, and where a step has it, how often rows violated it as far as the events of the flow say."""

    name: str
    check: str
    on_violation: str
    violations: int = 0
    last_violated: datetime | None = None


class StepAnswer(Answer):
    """A step with its SQL."""

    flow: str
    step: str
    action: str
    version: str
    kind: str
    strategy: str
    reason: str
    segment: str
    pace: str
    reads: tuple[ReadAnswer, ...]
    part: tuple[str, ...]
    expectations: tuple[Rule, ...]
    params: dict[str, Any]
    sql: str


class ReaderAnswer(Answer):
    """A step that reads a table."""

    flow: str
    step: str
    table: str
    mode: str
    columns: tuple[str, ...]


class MeaningOfColumn(Answer):
    """What a column means; only what somebody said. `values`: known value → the words for it."""

    name: str
    description: str
    unit: str | None
    synonyms: tuple[str, ...]
    values: dict[str, tuple[str, ...]]
    references: str | None


class MeaningOfMeasure(Answer):
    """A number that people ask for by name."""

    name: str
    sql: str
    unit: str | None
    description: str
    synonyms: tuple[str, ...]


class MeaningOfDimension(Answer):
    """Something that people group by; levels from coarse to fine."""

    name: str
    column: str | None
    levels: tuple[str, ...]
    description: str
    synonyms: tuple[str, ...]


class MeaningOfTable(Answer):
    """What a table means."""

    description: str
    synonyms: tuple[str, ...]
    columns: tuple[MeaningOfColumn, ...]
    measures: tuple[MeaningOfMeasure, ...]
    dimensions: tuple[MeaningOfDimension, ...]


class TablePage(Answer):
    """Everything of one table or source."""

    name: str
    kind: Literal["source", "table", "quarantine"]
    layer: str
    flows: tuple[str, ...]
    columns: tuple[ColumnAnswer, ...]
    primary_key: tuple[str, ...]
    event_time: str | None
    buckets: int
    tiers: tuple[TierRetention, ...]
    options: dict[str, Any]  # of a source
    rows: int
    steps: tuple[StepAnswer, ...]
    readers: tuple[ReaderAnswer, ...]
    quarantine: str | None
    troubles: tuple[TierTrouble, ...] = ()
    lost: tuple[LossAnswer, ...] = ()  # of this table, in each tier
    unknown_flows: tuple[str, ...] = ()  # whose plan cannot be read: they may write or read it
    meaning: MeaningOfTable | None = None  # None: its files are wrong, or it is a source or a table of quarantine


class TableSummary(Answer):
    """One table in short, for who writes SQL."""

    name: str
    columns: dict[str, str]  # column → type
    tiers: tuple[str, ...]
    flow: str


class LineageLink(Answer):
    """One step's use of a column; `into_column` None: it decides which rows there are."""

    table: str
    column: str
    role: str
    into: str
    into_column: str | None
    flow: str
    step: str
    distance: int


class LineagePage(Answer):
    """What a table or column comes from, and what is made of it; nearest first."""

    table: str
    column: str | None
    up: tuple[LineageLink, ...]
    down: tuple[LineageLink, ...]
    unknown_flows: tuple[str, ...] = ()  # whose plan cannot be read: their links are missing


class ReplayAnswer(Answer):
    """What became of the wish to read dead letters again."""

    table: str
    flow: str
    rows: int  # that are read again in the next epoch
    waiting: int  # that were asked for before
    number: int | None


class QuarantineAnswer(Answer):
    """A table of rows that were kept out: of another table by expectations, or because they cannot be read."""

    table: str
    of: str
    flow: str
    rows: int
    rules: tuple[Rule, ...]
    dead_letters: bool = False  # rows that cannot be read; they can be read again
