"""What the page is told, as JSON. Times are ISO 8601 in UTC, durations milliseconds unless they are text."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from streamhouse.model.outcome import FlowDiff, Outcome


class Answer(BaseModel):
    """Base of all answers: made once, never changed."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Trouble(Answer):
    """One error of ours: what, where, and what to do about it."""

    code: str
    message: str
    hint: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None


class Problem(Answer):
    """An answer that is none (RFC 9457), with the parts of our errors; `errors` holds several found at once."""

    type: str = "about:blank"
    title: str
    status: int
    code: str
    detail: str
    hint: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None
    errors: tuple[Trouble, ...] = ()


class About(Answer):
    """The project, and what the person who asks may do."""

    name: str
    root: str
    version: str
    where: Literal["alone", "airflow"]
    person: str
    may_decide: bool
    may_query: bool
    query_note: str = ""  # why nothing can be asked; empty: it can
    broken: tuple[Trouble, ...]  # files that cannot be read


class LayerFreshness(Answer):
    """How long rows took from the source until they were readable in a layer, over recent epochs."""

    layer: str
    last_ms: int
    p50_ms: int
    p95_ms: int
    epochs: int
    late: bool  # `last_ms` is above the flow's target


class TierTrouble(Answer):
    """A table that a tier does not get, or a lake that is not kept up, until the job goes well again."""

    table: str
    tier: str
    job: str  # tiering, upkeep
    code: str
    text: str
    hint: str | None
    since: datetime
    times: int


class FlowSummary(Answer):
    """One flow in the list."""

    flow: str
    description: str
    owner: str
    tags: tuple[str, ...]
    state: str  # one of `state.flow_state.FlowState`
    since: datetime | None
    error: str | None
    process: str | None
    revision: int | None
    defined: bool  # by a file that can be read
    epochs: int
    last_epoch_at: datetime | None
    last_epoch_rows: int
    last_epoch_ms: int
    target_ms: int
    freshness: tuple[LayerFreshness, ...]
    rows: int
    rows_per_second: float  # over the last minute; 0 of a flow that does not run
    questions: int  # that wait for a person
    edit: str | None  # how its files differ from what is applied; None: not at all, or it was never applied
    troubles: tuple[TierTrouble, ...] = ()


class EpochPoint(Answer):
    """One finished epoch, for a chart."""

    segment: str
    epoch: int
    finished_at: datetime
    seconds: float
    rows: int
    lag_ms: int  # of the last layer it wrote


class RunEvent(Answer):
    """Something a runner told."""

    flow: str
    kind: str
    text: str
    at: datetime


class SourceFile(Answer):
    """The file that defines a flow, as it is now."""

    file: str
    text: str


class FlowPage(Answer):
    """Everything of one flow but its graph."""

    summary: FlowSummary
    epochs: tuple[EpochPoint, ...]  # oldest first
    events: tuple[RunEvent, ...]  # newest first
    source: SourceFile | None


class TierKept(Answer):
    """A tier of a table, and how long it keeps rows."""

    tier: str
    kept: str


class NodeStep(Answer):
    """A step that writes a table of the graph."""

    step: str
    action: str
    version: str
    strategy: str
    segment: str
    part: tuple[str, ...] = ()


class GraphNode(Answer):
    """A source or a table."""

    id: str
    kind: Literal["source", "table", "external", "quarantine"]
    name: str
    layer: str  # `source` for sources
    detail: str = ""  # the kind of a source
    tiers: tuple[TierKept, ...] = ()
    steps: tuple[NodeStep, ...] = ()
    columns: int = 0
    rows: int = 0
    rows_per_second: float = 0
    outcome: Outcome | None = None  # of the change that waits in the files; None: it is as applied
    stands: bool = False  # until a person decides
    troubles: tuple[TierTrouble, ...] = ()


class GraphEdge(Answer):
    """What a table is made of."""

    source: str
    target: str
    mode: str  # changes, lookup, quarantine
    columns: tuple[str, ...] = ()


class GraphSegment(Answer):
    """Steps that share one clock."""

    name: str
    pace: str
    tables: tuple[str, ...]


class Graph(Answer):
    """A flow as its plan has it."""

    flow: str
    shows: Literal["applied", "files"]
    revision: int | None
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    segments: tuple[GraphSegment, ...]


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
    """An expectation."""

    name: str
    check: str
    on_violation: str


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


class Reader(Answer):
    """A step that reads a table."""

    flow: str
    step: str
    table: str
    mode: str
    columns: tuple[str, ...]


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
    tiers: tuple[TierKept, ...]
    options: dict[str, Any]  # of a source
    rows: int
    steps: tuple[StepAnswer, ...]
    readers: tuple[Reader, ...]
    quarantine: str | None
    troubles: tuple[TierTrouble, ...] = ()


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


class FlowChange(Answer):
    """A flow's files against what is applied."""

    flow: str
    revision: int | None  # applied; None: never
    outcome: Outcome
    changes: bool
    text_only: bool  # another text, and nothing to do
    blocks: bool
    diff: FlowDiff


class PlanPage(Answer):
    """What applying the files would do."""

    flows: tuple[FlowChange, ...]


class ApprovalAnswer(Answer):
    """A question to a person."""

    id: str
    flow: str
    subject: str
    asks: str
    state: str
    evidence: str
    asked_at: datetime
    expires_at: datetime
    decided_at: datetime | None
    decided_by: str | None
    reason: str | None


class CheckAnswer(Answer):
    """One check of the audit of a table that was built."""

    table: str
    name: str
    verdict: str
    text: str


class ChangeAnswer(Answer):
    """One entry of the journal of `apply`."""

    id: int
    flow: str
    phase: str
    outcome: Outcome
    tables: tuple[str, ...]  # that are built anew
    environment: str | None
    waits: bool
    open: bool
    error: str | None
    asked_by: str
    asked_at: datetime
    updated_at: datetime
    checks: tuple[CheckAnswer, ...]


class VerdictAnswer(Answer):
    """What a change upstream means for one step."""

    flow: str
    step: str
    outcome: Outcome
    policy: str
    said: str
    values: str
    pauses: bool


class EventAnswer(Answer):
    """A change upstream, and what became of it."""

    id: str
    flow: str
    status: str
    change: str
    note: str | None
    since: datetime
    seen_at: datetime
    verdicts: tuple[VerdictAnswer, ...]


class ActionSummary(Answer):
    """An action in the list."""

    action: str
    version: str
    step: str
    layer: str
    description: str
    examples: int
    used_by: tuple[str, ...]
    deprecated: str | None


class Port(Answer):
    """An input of an action; no columns: it takes any."""

    port: str
    columns: dict[str, str]


class ParameterAnswer(Answer):
    """A value that a step may set."""

    name: str
    type: str
    required: bool
    default: Any
    description: str


class Use(Answer):
    """A step that uses an action."""

    flow: str
    writes: str


class ExampleAnswer(Answer):
    """A unit test of an action."""

    given: dict[str, list[dict[str, Any]]]
    params: dict[str, Any]
    expect: list[dict[str, Any]]


class ActionPage(Answer):
    """Everything of one action."""

    summary: ActionSummary
    file: str
    line: int
    fingerprint: str
    versions: tuple[str, ...]
    inputs: tuple[Port, ...]
    params: tuple[ParameterAnswer, ...]
    primary_key: tuple[str, ...]
    event_time: str | None
    extra_columns: str
    expectations: tuple[Rule, ...]
    uses: tuple[Use, ...]
    examples: tuple[ExampleAnswer, ...]
    sql: str


class QuarantineAnswer(Answer):
    """A table of rows that expectations keep out of another."""

    table: str
    of: str
    flow: str
    rows: int
    rules: tuple[Rule, ...]


class Found(Answer):
    """A hit of a search."""

    kind: Literal["flow", "action", "table"]
    name: str
    description: str


class QueryRequest(BaseModel):
    """A query that a person typed."""

    model_config = ConfigDict(extra="forbid")

    sql: str
    limit: int = 100


Cell = str | int | float | bool | None


class QueryColumn(Answer):
    """A column of an answer; `type` is Arrow's."""

    name: str
    type: str


class QueryAnswer(Answer):
    """Rows of a query. Numbers that JavaScript would round, and nested values, are text."""

    columns: tuple[QueryColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    more: bool  # there are more rows than were asked for
    seconds: float


class DecisionRequest(BaseModel):
    """Why a person decides so; kept with the decision."""

    model_config = ConfigDict(extra="forbid")

    reason: str | None = None
