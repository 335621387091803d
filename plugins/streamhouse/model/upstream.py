"""What happened upstream of a flow, and what is decided about it."""

import json
from enum import StrEnum
from hashlib import sha256

from pydantic import Field

from streamhouse.model.outcome import Outcome, TierChange, worst
from streamhouse.model.schema_change import EventType, Policy
from streamhouse.model.table import Column
from streamhouse.model.types import Frozen, Ranges, Tier


class UpstreamEvent(Frozen):
    """One change of one thing that a flow reads, or of one file of the project.

    `object` is a table `dwd.sales`, a source `retail:transactions`, or a file `actions/clean_sales.sql`. The versions
    name its schema before and after; what they look like is up to who observes it.
    """

    type: EventType
    object: str
    before: str
    after: str
    tier: Tier | None = None  # where it was seen, of a table
    was: Column | None = None
    now: Column | None = None
    default: str | None = None  # of an added column, as SQL
    proved: bool = False  # of nullability tightened: the data holds no NULL
    held_colder: bool = False  # of positions that are lost: a colder tier has the rows
    truncations: tuple[str, ...] = ()  # each removal of all rows, by its id
    lost: Ranges = Field(default_factory=dict)  # of positions that are lost: those whose rows are gone
    detail: str = ""  # for a person

    @property
    def id(self) -> str:
        """Sixteen hex digits: the same change of the same thing between the same versions has the same id."""
        identity = self.model_dump(mode="json", exclude={"detail", "proved", "held_colder", "truncations", "lost"})
        return sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def column(self) -> str:
        """The column it concerns, by the name that readers know; empty: none."""
        known_column = self.was or self.now
        return known_column.name if known_column is not None else ""

    @property
    def of_source(self) -> bool:
        """Whether it is of a source, not of a table."""
        return ":" in self.object

    def __str__(self) -> str:
        """For a person: `dwd.sales: widen_type amount int → bigint`."""
        was, now = self.was, self.now
        if was is not None and now is not None:
            same = was.name == now.name
            change_text = f" {was.name} {was.type} → {now.type}" if same else f" {was.name} → {now.name} ({now.type})"
            change_text = f" {was.name}" if same and was.type == now.type else change_text
        else:
            column = was or now
            change_text = f" {column.name} {column.type}" if column is not None else ""
        return f"{self.object}: {self.type}{change_text}{f' ({self.detail})' if self.detail else ''}"


class Values(StrEnum):
    """What becomes of the values that rows bring from now on."""

    AS_BEFORE = "as before"
    TAKEN = "taken"
    DEFAULTED = "taken, the default where absent"
    NULL = "null"
    BOTH = "old and new column filled"
    CAST = "cast to the old type, losses counted"
    RESCUED = "kept in the rescue column"
    ROW_DISCARDED = "row discarded, counted"
    VALUE_DISCARDED = "value discarded, counted"
    UNREAD = "not read"
    COUNTED = "not read, counted"  # in records of earlier versions
    WAIT = "rows wait"
    REFILLED = "refilled from a colder tier, the gap marked"


class Verdict(Frozen):
    """What one event means for one step that reads what changed."""

    flow: str
    step: str
    table: str  # that it writes
    policy: Policy
    said: str  # who set the policy
    outcome: Outcome
    values: Values
    tiers: tuple[TierChange, ...] = ()
    spreads: bool = False  # the change goes on to the readers of the table
    pauses: bool = False  # the step stops reading, at its positions
    asks: str = ""  # what a person is asked to approve; empty: nothing
    notes: tuple[str, ...] = ()


class Decision(Frozen):
    """What follows from one event, for every step it reaches; nearest first."""

    event: UpstreamEvent
    verdicts: tuple[Verdict, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """The one that demands most."""
        return worst(*(verdict.outcome for verdict in self.verdicts))

    @property
    def paused(self) -> tuple[tuple[str, str], ...]:
        """Flow and step of each reader that waits."""
        return tuple((v.flow, v.step) for v in self.verdicts if v.pauses)

    def waiting(self, flow: str) -> frozenset[str]:
        """The steps of a flow that must not read on for now: with those that wait, all that would become others.

        They would read rows of now with the plan of before.
        """
        own = [verdict for verdict in self.verdicts if verdict.flow == flow]
        if not any(verdict.pauses for verdict in own):
            return frozenset()
        return frozenset(v.step for v in own if v.pauses or v.outcome is not Outcome.NO_OP)

    @property
    def asks(self) -> tuple[str, ...]:
        """What a person is asked, each once."""
        return tuple(dict.fromkeys(v.asks for v in self.verdicts if v.asks))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know, each once."""
        return tuple(dict.fromkeys(note for v in self.verdicts for note in v.notes))
