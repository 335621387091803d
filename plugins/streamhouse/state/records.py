"""What the state store keeps, as frozen values. Times are epoch milliseconds or aware datetimes, always UTC."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from streamhouse.errors import StateConflictError
from streamhouse.model.forgetting import Forgetting
from streamhouse.model.outcome import Outcome
from streamhouse.model.plan import FlowPlan
from streamhouse.model.review import Review, SwapGate
from streamhouse.model.table import Table
from streamhouse.model.types import Position
from streamhouse.model.version import stored_name


@dataclass(frozen=True)
class Owner:
    """A process that may carry a flow. `started_at` distinguishes a process from a later one with the same pid."""

    host: str
    pid: int
    started_at: datetime

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


@dataclass(frozen=True)
class Lease:
    """The right to write a flow's tables, until `expires_at` or until `fencing` moves."""

    flow: str
    owner: Owner
    fencing: int  # rises by one each time the flow changes hands, from 1
    ttl: timedelta
    expires_at: datetime


class RunnerState(StrEnum):
    """What the runner of a flow last said, or `lost` when it went silent without saying."""

    STOPPED = "stopped"
    RUNNING = "running"
    FAILED = "failed"
    LOST = "lost"  # never recorded: the lease ran out, or its process is gone, while `running`


@dataclass(frozen=True)
class EpochRecord:
    """One finished epoch of one segment.

    Attributes:
        at_ms: When the epoch's rows were seen at the source; the clock of its SQL. 0: a restore did not find it.
        started_ms: When the attempt that finished it began.
        start: Source or table → the first position read.
        end: Source or table → the position after the last one read.
        ends: Table written → its end after the write.
        rows: Table written → rows written by this epoch.
        layer_visible_ms: Layer → when its last table became readable.
        computed: `full` or `delta` step → hash of the definition by which its table was computed last.
    """

    flow: str
    segment: str
    epoch: int
    at_ms: int
    started_ms: int
    finished_ms: int
    start: dict[str, Position] = field(default_factory=dict)
    end: dict[str, Position] = field(default_factory=dict)
    ends: dict[str, Position] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    layer_visible_ms: dict[str, int] = field(default_factory=dict)
    computed: dict[str, str] = field(default_factory=dict)

    @property
    def reads(self) -> bool:
        """Whether it read its inputs; a change that takes a plan over is recorded as an epoch that does not."""
        return bool(self.layer_visible_ms)


@dataclass(frozen=True)
class PlanRevision:
    """One applied plan in a flow's history; `revision` counts from 1."""

    flow: str
    revision: int
    fingerprint: str
    applied_at: datetime


_CANDIDATE = "-change-"  # no name of a flow has a hyphen


def is_candidate(flow: str) -> bool:
    """Whether the name is of a `Change.candidate`."""
    return _CANDIDATE in flow


class Phase(StrEnum):
    """How far a change of a flow is."""

    ASKED = "asked"
    BUILDING = "building"  # new versions of tables are being filled; the old ones serve
    WAITING = "waiting"  # they are built and audited, and serve when a person says so
    APPLIED = "applied"
    FAILED = "failed"  # what was applied before goes on
    WITHDRAWN = "withdrawn"  # by a later change, or by a person


OVER = (Phase.APPLIED, Phase.FAILED, Phase.WITHDRAWN)
"""Phases in which nothing of a change is still to be done. A phase that is damaged is none of them."""


@dataclass(frozen=True)
class Move:
    """From one version of a table of another flow to the next.

    Attributes:
        version: The next one.
        ended: Where the one before ended.
        began: Position in the next one that says the same.
    """

    version: int
    ended: Position
    began: Position


@dataclass(frozen=True)
class Change:
    """One entry of the journal of `apply`.

    Attributes:
        plan: What is wanted, over the names that people know.
        versions: Table → the version it gets; of tables that are rebuilt.
        copies: Those of them into which the rows that are there are copied; the others are computed from their history.
        marks: Table → columns that mean something else, or nothing, in rows written before.
        moves: Table of another flow, which was rebuilt → where to go on reading.
        followers: Other flow → its tables that are rebuilt once this change is done.
        base: Revision that was applied when this was asked.
        environment: Where its tables are built and stay until it is promoted; None: production.
        error: Why it failed, or what its audit found while it waits.
        gate: What lets its tables serve.
        review: Of its tables, as they were when they were looked at last; None: not yet.
        forgetting: Whose rows are left out of the tables that are rebuilt; None: no row is.
    """

    id: int
    flow: str
    plan: FlowPlan
    outcome: Outcome
    phase: Phase
    versions: dict[str, int]
    copies: frozenset[str] = field(default_factory=frozenset, kw_only=True)
    marks: dict[str, tuple[str, ...]] = field(default_factory=dict, kw_only=True)
    moves: dict[str, Move]
    followers: dict[str, list[str]]
    requested_by: str
    requested_at: datetime
    updated_at: datetime
    base: int
    environment: str | None = None
    error: str | None = None
    gate: SwapGate = SwapGate.AUDIT
    review: Review | None = None
    forgetting: Forgetting | None = None

    @property
    def candidate(self) -> str:
        """The name under which new versions of tables are filled: of a flow that no file can define."""
        return f"{self.flow}{_CANDIDATE}{self.id}"

    @property
    def is_open(self) -> bool:
        """Whether it is still to be done."""
        return self.phase not in OVER

    @property
    def waits(self) -> bool:
        """Whether it goes on only when a person says so."""
        return self.phase is Phase.WAITING


@dataclass(frozen=True)
class UnreadableChange:
    """An entry of the journal of `apply` that is damaged, or of another version of Streamhouse.

    Attributes:
        phase: As it is recorded.
        outcome: As it is recorded.
        versions: As of `Change`; None: that cannot be read either.
        error: Why it cannot be read, with what to do.
    """

    id: int
    flow: str
    phase: str
    outcome: str
    versions: dict[str, int] | None
    environment: str | None
    requested_by: str
    requested_at: datetime
    updated_at: datetime
    error: StateConflictError

    @property
    def is_open(self) -> bool:
        """Whether it is still to be done."""
        return self.phase not in OVER

    @property
    def built(self) -> str:
        """The tables that it may have built, as stores call them, for people; empty: none."""
        if self.versions is None:
            return "tables that are not known"
        return ", ".join(stored_name(name, version) for name, version in self.versions.items())

    @property
    def text(self) -> str:
        """Why it cannot be read, and what to do, or what may stay of one that was given up."""
        if self.is_open:
            return f"{self.error.message}; {self.error.hint}"
        stays = self.phase != Phase.APPLIED and self.built
        return f"{self.error.message}; if it built them, these stay: {stays}" if stays else self.error.message


def newest_first(readable: Iterable[Change], unreadable: Iterable[UnreadableChange]) -> list[Change | UnreadableChange]:
    """The entries of the journal of `apply`, the last one first."""
    found: list[Change | UnreadableChange] = [*readable, *unreadable]
    return sorted(found, key=lambda one: one.id, reverse=True)


@dataclass(frozen=True)
class AppliedChange:
    """What the journal says of a change that serves.

    Attributes:
        by: Who asked for it.
        at: When its plan became the applied one.
    """

    id: int
    by: str
    at: datetime


@dataclass(frozen=True)
class MeaningSince:
    """Since when a column means what the applied plan says; rows written before keep their values.

    Attributes:
        revision: Of the plan that gave it this meaning.
        since: When that was applied.
    """

    revision: int
    since: datetime


@dataclass(frozen=True)
class RetiredVersion:
    """A version of a table that served once.

    Attributes:
        change: By which it was replaced.
        positions: How far its flow was then: source, or table as stores call it → position. It has all up to there.
    """

    table: Table
    version: int
    change: int
    positions: dict[str, Position]
    at: datetime


@dataclass(frozen=True)
class VersionSince:
    """A version that served under the name of a table.

    Attributes:
        version: Its number; 0: not recorded.
        since_ms: When it began to; None: with the table itself, or not recorded.
    """

    version: int
    since_ms: int | None = None


@dataclass(frozen=True)
class FlowEvent:
    """Something worth telling a person later."""

    flow: str
    kind: str
    text: str
    at: datetime


@dataclass(frozen=True)
class LayerDelays:
    """How long rows took from the source to readable in one layer, milliseconds, over recent epochs."""

    last_ms: int
    p50_ms: int
    p95_ms: int
    epochs: int  # how many epochs the percentiles stand on


@dataclass(frozen=True)
class FlowProgress:
    """How a flow is doing, for `status` and the UI."""

    flow: str
    state: RunnerState
    since: datetime | None = None  # when this state began; None: it never ran
    error: str | None = None
    owner: Owner | None = None  # of the last runner, living or not
    revision: int | None = None  # of the last applied plan
    epochs: int = 0  # finished, over all segments
    last_epoch_at: datetime | None = None
    rows: dict[str, int] = field(default_factory=dict)  # table → rows written since the flow began, upstream first
    freshness: dict[str, LayerDelays] = field(default_factory=dict)  # layer → …, upstream first
