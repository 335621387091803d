"""How flows are doing."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from streamhouse.ui.answers.base import Answer


class LayerFreshness(Answer):
    """How long rows took from the source until they were readable in a layer, over recent epochs."""

    layer: str
    last_ms: int
    p50_ms: int
    p95_ms: int
    epochs: int
    late: bool = Field(description="the last one took longer than the flow's target")


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


class LossAnswer(Answer):
    """Something that a flow lost, in the words of `streamhouse status`."""

    kind: str = Field(description="tables, state store, unreadable")
    tier: str | None = Field(description="of the tables; null: of no tier, or it is not known of which")
    tables: tuple[str, ...]
    code: str
    text: str
    hint: str | None = Field(description="what to type")


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
    waits: tuple[str, ...]  # what waits for a person, for the runner or for a repair, and what to do
    edit: str | None  # how its files differ from what is applied; None: not at all, or it was never applied
    troubles: tuple[TierTrouble, ...] = ()
    proposals: tuple[str, ...] = ()  # of the autopilot that are open
    lost: tuple[LossAnswer, ...] = ()  # what is gone, older, damaged or of another version


class EpochPoint(Answer):
    """One finished epoch, for a chart."""

    segment: str
    epoch: int
    revision: int | None = Field(description="of the plan that it ran with; null: of none that is recorded")
    finished_at: datetime
    seconds: float
    rows: int
    lag_ms: int  # of the last layer it wrote
    waited_ms: int  # from the first row seen at a source to the begin of the epoch
    tables: dict[str, int]  # table → rows written
    layers: dict[str, int]  # layer → milliseconds from the first row seen until it was readable


Span = Literal["1h", "24h", "30d"]
"""How far back metrics are shown."""


class LagAnswer(Answer):
    """How long rows took from their source to a layer, within one span of time."""

    mean_ms: float
    most_ms: int


class MetricAnswer(Answer):
    """The epochs that finished within one span of time."""

    at: datetime = Field(description="when the span begins")
    seconds: float = Field(description="its length; less for the one that goes on")
    epochs: int
    rows_per_second: float
    epoch_ms: float = Field(description="what an epoch took, the mean")
    longest_ms: int
    rows: dict[str, int]  # table → rows written
    lags: dict[str, LagAnswer]  # by layer


class Marker(Answer):
    """An event that may explain what a chart shows."""

    at: datetime
    kind: str
    text: str


class FlowMetrics(Answer):
    """The history of a flow, for charts."""

    span: Span
    since: datetime
    until: datetime
    step_s: int
    points: tuple[MetricAnswer, ...]  # oldest first; a span without an epoch has none
    markers: tuple[Marker, ...]  # oldest first


class RunEvent(Answer):
    """One report of a runner."""

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
