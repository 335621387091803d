"""What the autopilot sees of a flow and what it concludes: plain values, so that rules are pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from streamhouse.model.plan import FlowPlan
from streamhouse.model.types import Tier
from streamhouse.state.records import AppliedChange, EpochRecord, FlowEvent
from streamhouse.state.troubles import TableTrouble


class FaultKind(StrEnum):
    """What is wrong."""

    SMALL_EPOCHS = "small_epochs"  # epochs are full and rows wait: each could take more
    FRESHNESS = "freshness"  # the promised freshness does not hold, though epochs are not full
    LATE_SOURCE = "late_source"  # no rows for far longer than usual
    SKEW = "skew"  # one bucket takes most of the rows
    SMALL_FILES = "small_files"  # a lake table consists of many small files
    TIERING_LAG = "tiering_lag"  # a further tier is far behind
    FAILURES = "failures"  # epochs fail or are tried again
    EXPECTATIONS = "expectations"  # many rows go into quarantine
    UPSTREAM = "upstream"  # a change upstream waits for a person
    TROUBLE = "trouble"  # a job cannot serve a table
    UNUSED_TABLE = "unused_table"  # no step reads it and it is not for consumers
    SHARED_STEP = "shared_step"  # two steps compute the same


class Means(StrEnum):
    """How a proposal changes something."""

    EDIT = "edit"  # of the flow's file: the outcome of the plan decides whether it may be applied
    UPKEEP = "upkeep"  # a round of upkeep: no row changes
    TIERING = "tiering"  # a round of tiering: no row changes
    PERSON = "person"  # nothing that a program should do


class Goal(StrEnum):
    """The number that is measured before and after."""

    LATE_PERCENT = "late_percent"  # of epochs: those that took longer than promised; lower is better
    ROWS_PER_SECOND = "rows_per_second"  # read while epochs that are full work; higher is better
    FILES = "files"  # of the table; lower is better
    BEHIND_S = "behind_s"  # seconds since the copy was filled last, while rows wait; lower is better
    NONE = "none"  # nothing to measure


_EFFECTS = {
    Goal.LATE_PERCENT: "the promise holds, and no more epochs than before take longer than the one before",
    Goal.ROWS_PER_SECOND: "more rows are read in a second of work",
    Goal.FILES: "the table consists of fewer files",
    Goal.BEHIND_S: "the copy is filled",
    Goal.NONE: "",
}


@dataclass(frozen=True)
class LakeFiles:
    """What a lake table consists of.

    Attributes:
        places: Buckets of partitions that have files: compaction leaves at least one file in each.
    """

    files: int
    size_bytes: int
    places: int = 1


@dataclass(frozen=True)
class Evidence:
    """Everything known of one flow at one moment.

    Attributes:
        plan: As applied, over the names that people know; so are all names here.
        now: When it was looked at, aware.
        running: A runner carries it.
        failed: Its runner gave it up. Of one that was lost, the flow need not be the cause.
        error: Of a flow that failed or was lost; None: neither.
        ended: When its runner ended; None: it runs, or that is not known.
        changed: The change that was applied last; None: none ever was.
        epochs: Finished in the window and begun after `changed`, oldest first: those of the plan as it is.
        past: All finished epochs that are known, oldest first.
        events: Of the window and after `changed`, oldest first.
        troubles: Tables that a job cannot serve.
        files: `(table, tier)` → what it consists of, of lake tiers that could be looked at.
        behind: `(table, tier)` → for how long rows have waited to be copied there; absent: none waits.
        waiting: Tables that wait for a person.
        upstream: What changed upstream and waits for a person, or could not be followed → since when.
        read: Tables that a step of any flow reads.
        unseen: What could not be looked at → why.
    """

    flow: str
    plan: FlowPlan
    now: datetime
    running: bool = True
    failed: bool = False
    error: str | None = None
    ended: datetime | None = None
    changed: AppliedChange | None = None
    epochs: tuple[EpochRecord, ...] = ()
    past: tuple[EpochRecord, ...] = ()
    events: tuple[FlowEvent, ...] = ()
    troubles: tuple[TableTrouble, ...] = ()
    files: Mapping[tuple[str, Tier], LakeFiles] = field(default_factory=dict)
    behind: Mapping[tuple[str, Tier], timedelta] = field(default_factory=dict)
    waiting: tuple[str, ...] = ()
    upstream: Mapping[str, datetime] = field(default_factory=dict)
    read: frozenset[str] = frozenset()
    unseen: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FlowFault:
    """One thing that is wrong, and what could be done.

    Attributes:
        about: The table, source or segment concerned; empty: the whole flow.
        text: One sentence with the numbers.
        numbers: What was compared, by name.
        since: When it began, as far as the evidence goes back; None: the evidence does not say.
        means: How the remedy works.
        edits: Key of the flow's file → new value, of `EDIT`.
        remedy: What to do, in words.
        goal: The measure that shows whether it helped.
        window: How long to measure afterwards.
    """

    kind: FaultKind
    flow: str
    about: str
    text: str
    numbers: Mapping[str, float]
    since: datetime | None
    means: Means
    remedy: str
    edits: Mapping[str, Any] = field(default_factory=dict)
    goal: Goal = Goal.NONE
    window: timedelta = timedelta(minutes=10)

    @property
    def effect(self) -> str:
        """What should be better afterwards, in words."""
        return _EFFECTS[self.goal]

    @property
    def key(self) -> str:
        """The same for the same fault seen again."""
        return f"{self.flow}:{self.kind}:{self.about}"
