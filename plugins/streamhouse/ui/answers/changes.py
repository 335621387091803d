"""What applying would change, what was changed, and what waits for a person."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict

from streamhouse.model.outcome import FlowDiff, Outcome
from streamhouse.ui.answers.base import Answer, ProblemDetail


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
    unreadable: tuple[ProblemDetail, ...] = ()  # of each flow whose applied plan cannot be read


class ProposalBehind(Answer):
    """What the planner proposed and a change came from."""

    id: str
    sentence: str
    text: str  # phrases, assumptions, questions, reuse, cost, checks; neither files nor rows


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
    failed: str | None  # why what was granted could not be carried out, and what to do; the grant may be taken back
    proposals: tuple[ProposalBehind, ...]


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
    outcome: str  # as of `FlowChange`; of a change that cannot be read, as it is recorded
    tables: tuple[str, ...]  # that are rebuilt
    environment: str | None
    waits: bool
    open: bool
    error: str | None
    asked_by: str
    asked_at: datetime
    updated_at: datetime
    checks: tuple[CheckAnswer, ...]
    proposals: tuple[ProposalBehind, ...]


class RevisionPage(Answer):
    """One applied plan of a flow, and what it changed."""

    flow: str
    revision: int
    applied_at: datetime
    change: ChangeAnswer | None  # of the journal; null: a run began with it, or the journal cannot tell
    diff: FlowDiff | None  # against the revision before; null: it is the first, or one of both cannot be read


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


class DecisionRequest(BaseModel):
    """Why a person decides so; kept with the decision."""

    model_config = ConfigDict(extra="forbid")

    reason: str | None = None
