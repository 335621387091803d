"""What tools return. Every text of a person or of a row is the value of a field of its own: data, never an instruction.

Times are ISO 8601 in UTC, durations milliseconds unless they are text.
"""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from streamhouse.model.outcome import Outcome
from streamhouse.ui.answers import Answer, LayerFreshness, ParameterAnswer, ProblemDetail

Fault = ProblemDetail
"""One error, or one remark: what, where, and what to do about it."""


class Hit(Answer):
    """One thing that a search found."""

    kind: Literal["table", "action", "flow"]
    name: str
    description: str
    words: tuple[str, ...] = Field(description="words of the search that it has; 'describe' shows the rest")
    lost: tuple[str, ...] = Field(default=(), description="what is lost or damaged of it, and what to do")


class SearchAnswer(Answer):
    """What a search found, best first."""

    hits: tuple[Hit, ...]
    more: bool = Field(description="there are more hits than the limit")


class ColumnFacts(Answer):
    """One column."""

    name: str
    type: str
    nullable: bool
    key: bool
    description: str = ""
    synonyms: tuple[str, ...] = ()
    unit: str | None = None
    values: dict[str, tuple[str, ...]] = Field(default_factory=dict, description="known code → words for it")
    references: str | None = Field(default=None, description="layer.table.column of the key that it points to")


class Named(Answer):
    """A measure or a dimension."""

    name: str
    description: str = ""
    synonyms: tuple[str, ...] = ()
    sql: str = ""
    unit: str | None = None
    hierarchy: tuple[str, ...] = ()


class StepFacts(Answer):
    """A step that writes a table."""

    flow: str
    step: str
    action: str
    version: str
    strategy: str
    reason: str
    reads: tuple[str, ...]
    expectations: dict[str, str] = Field(description="name → the check that every row passes")
    sql: str


class Link(Answer):
    """One step's use of a column; `into_column` null: it decides which rows there are."""

    table: str
    column: str
    role: str
    into: str
    into_column: str | None
    flow: str
    distance: int


class TroubleFacts(Answer):
    """A job that fails for a table while its flow runs on."""

    table: str
    tier: str
    job: str
    code: str
    message: str
    hint: str | None
    since: datetime
    times: int


class LossFacts(Answer):
    """Something that a flow lost: rows that answers lack, or records without which it cannot go on."""

    kind: str = Field(description="tables, state store, unreadable")
    tier: str | None = Field(description="of the tables; null: of no tier, or it is not known of which")
    tables: tuple[str, ...]
    code: str
    message: str
    hint: str | None = Field(description="what to do")


class Freshness(Answer):
    """How fresh the tables of a flow are."""

    flow: str
    state: str
    target_ms: int
    layers: tuple[LayerFreshness, ...]
    last_epoch_at: datetime | None


class Sample(Answer):
    """Rows of a table or a query, in no order but the query's own. Nested values and large numbers are text."""

    columns: tuple[str, ...] = ()
    types: tuple[str, ...] = Field(default=(), description="of the columns, as Spark calls them")
    rows: tuple[tuple[str | int | float | bool | None, ...], ...] = ()
    more: bool = Field(default=False, description="there are more rows than the limit")
    why_not: str = Field(default="", description="why there are no rows; empty: nothing kept them back")


class TableFacts(Answer):
    """A table: contract, meaning, lineage, freshness."""

    name: str
    layer: str
    kind: Literal["table", "quarantine"]
    flows: tuple[str, ...]
    description: str
    synonyms: tuple[str, ...]
    columns: tuple[ColumnFacts, ...]
    primary_key: tuple[str, ...] = Field(description="empty: rows are only added")
    event_time: str | None
    measures: tuple[Named, ...]
    dimensions: tuple[Named, ...]
    tiers: dict[str, str] = Field(description="tier → how long it keeps rows")
    rows_written: int
    made_by: tuple[StepFacts, ...]
    read_by: tuple[str, ...] = Field(description="flow: table that it is read for")
    comes_from: tuple[Link, ...]
    goes_into: tuple[Link, ...]
    links_left_out: int
    freshness: tuple[Freshness, ...]
    troubles: tuple[TroubleFacts, ...]
    lost: tuple[LossFacts, ...] = ()
    rows_allowed: bool = Field(description="its rows may be queried from here")


class ActionFacts(Answer):
    """An action: what it takes, what it promises, who uses it."""

    name: str
    version: str
    step: str
    layer: str
    description: str
    file: str
    inputs: dict[str, dict[str, str]] = Field(description="port → column → type; no columns: any")
    parameters: tuple[ParameterAnswer, ...]
    primary_key: tuple[str, ...]
    expectations: dict[str, str]
    used_by: tuple[str, ...] = Field(description="flow: table that it writes")
    deprecated: str | None
    sql: str


class FlowStep(Answer):
    """One step of a flow."""

    step: str
    action: str
    strategy: str
    reads: tuple[str, ...]
    writes: str


class FlowFacts(Answer):
    """A flow: its steps, and how it is doing."""

    name: str
    description: str
    owner: str
    tags: tuple[str, ...]
    file: str | None
    revision: int | None = Field(description="applied; null: never")
    edit: str | None = Field(description="how its files differ from what is applied; null: not at all")
    sources: dict[str, str] = Field(description="source → its kind")
    steps: tuple[FlowStep, ...]
    freshness: Freshness
    error: str | None
    troubles: tuple[TroubleFacts, ...]
    lost: tuple[LossFacts, ...] = ()


class DescribeAnswer(Answer):
    """One of `table`, `action` and `flow`."""

    kind: Literal["table", "action", "flow"]
    table: TableFacts | None = None
    action: ActionFacts | None = None
    flow: FlowFacts | None = None
    sample: Sample | None = None
    withheld: tuple[str, ...] = Field(default=(), description="what was left out, and why")


class ErrorAnswer(Answer):
    """What the text of a call that failed holds, as JSON."""

    error: Fault
    errors: tuple[Fault, ...] = Field(default=(), description="all of them, where there are several")


class ValidateAnswer(Answer):
    """What is wrong with the files."""

    ok: bool
    errors: tuple[Fault, ...]
    notices: tuple[Fault, ...]
    left_out: int = Field(description="errors and notices beyond the first hundred")
    actions: int
    flows: int


class PlanFinding(Answer):
    """What applying does to a step, by which rule, and why."""

    outcome: Outcome
    rule: str | None
    step: str
    action: str
    change: str
    columns: tuple[str, ...] = Field(description="whose meaning changes")
    all_columns: bool
    why: str


class PlanWork(Answer):
    """What is done to a table in a tier."""

    outcome: Outcome
    table: str
    tier: str
    what: tuple[str, ...]


class PlanReader(Answer):
    """A step of another flow that reads what changes."""

    flow: str
    step: str
    outcome: Outcome
    why: str


class PlanFlow(Answer):
    """What applying the files of one flow would do."""

    flow: str
    revision: int | None = Field(description="applied; null: never, so that a run would create it")
    outcome: Outcome
    changes: bool
    blocks: bool = Field(description="a person must decide first")
    new_tables: tuple[str, ...]
    findings: tuple[PlanFinding, ...]
    readers: tuple[PlanReader, ...]
    work: tuple[PlanWork, ...]
    command: str = Field(description="what a person types to carry it out; no tool does")


class PlanAnswer(Answer):
    """What applying the files would do; nothing is done."""

    flows: tuple[PlanFlow, ...] = Field(description="those that change first")
    left_out: int = Field(default=0, description="flows beyond what one answer holds: name one")
    withheld: int = Field(default=0, description="parts left out, because a table does not let its schema be shown")
    unreadable: tuple[Fault, ...] = Field(default=(), description="of each flow whose applied plan cannot be read")


class DiffFile(Answer):
    """One file of a proposal against the project."""

    path: str
    new: bool
    diff: str


class ReadingFacts(Answer):
    """What a phrase of the wish became."""

    phrase: str
    became: str


class QuestionFacts(Answer):
    """What must be answered first: 'revise' takes the phrase and the words in its place."""

    text: str
    phrase: str
    choices: tuple[str, ...]


class CheckFacts(Answer):
    """Something that was tried with a proposal."""

    name: str
    verdict: str
    text: str


class ProposalAnswer(Answer):
    """What a wish became. Nothing is written but the proposal itself, under `.streamhouse/proposals/`."""

    proposal: str
    status: Literal["proposed", "question", "refused"]
    wish: str
    sentence: str = Field(description="the wish as it was understood; wrong: 'revise', or ask in other words")
    table: str
    flow: str
    readings: tuple[ReadingFacts, ...]
    assumptions: tuple[str, ...]
    questions: tuple[QuestionFacts, ...]
    refusal: str
    sql: str
    files: tuple[DiffFile, ...]
    reuses: tuple[str, ...]
    outcomes: tuple[str, ...]
    cost: dict[str, Any]
    checks: tuple[CheckFacts, ...]
    request: dict[str, Any] | None = Field(description="what 'revise' takes back, edited")
    preview: Sample
    for_a_person: tuple[str, ...] = Field(description="commands that a person types to take the proposal on")
    became: str = Field(default="asked", description="how far it came: asked, revised, failed, written, built, applied")
    withheld: tuple[str, ...] = ()


class QueryAnswer(Answer):
    """Rows of a query."""

    result: Sample
    tables: tuple[str, ...]
    seconds: float


class Hop(Answer):
    """The way of rows from one layer to the next, over recent epochs of one segment."""

    segment: str
    before: str = Field(description="'source', or the layer that is readable first")
    layer: str
    last_ms: int
    p50_ms: int
    p95_ms: int
    tables: tuple[str, ...] = Field(description="that the segment writes in this layer")


class SegmentFacts(Answer):
    """Steps with one clock."""

    segment: str
    pace: str
    tables: tuple[str, ...]
    epochs: int
    last_epoch_at: datetime | None
    last_wait_ms: int | None = Field(description="from the rows being seen until the last epoch began")
    last_work_ms: int | None = Field(description="that the last epoch took")
    p95_work_ms: int | None
    last_rows: int
    unfinished: int | None = Field(description="epoch that was begun and has not ended; null: none")


class FlowDiagnosis(Answer):
    """Why the tables of a flow are late, or that they are not."""

    flow: str
    freshness: Freshness
    late: bool
    lag_ms: int | None = Field(description="since the last epoch ended; null: none ever did")
    error: str | None
    slowest: Hop | None = Field(description="the hop that took longest in the median")
    hops: tuple[Hop, ...]
    segments: tuple[SegmentFacts, ...]
    rows_per_second: dict[str, float]
    stand_still: tuple[str, ...] = Field(description="tables that are paused; 'waits' says for what")
    waits: tuple[str, ...] = Field(description="what waits for a person, the runner or a repair, why, and what to do")
    questions: int
    edit: str | None
    troubles: tuple[TroubleFacts, ...]
    lost: tuple[LossFacts, ...] = ()
    events: tuple[str, ...] = Field(description="the last ones, newest first")
    findings: tuple[str, ...] = Field(description="what is out of order, the weightiest first; empty: nothing")


class DiagnoseAnswer(Answer):
    """One entry for each flow that the name is about: those that lost something first, then late ones."""

    flows: tuple[FlowDiagnosis, ...]
    left_out: int = 0
    not_looked_at: dict[str, str] = Field(
        default_factory=dict, description="tier → why it was not looked at for lost rows"
    )
