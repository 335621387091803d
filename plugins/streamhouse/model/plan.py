"""The compiled flow: what explain, diff, run, draw and the DAG all read."""

from collections.abc import Collection
from datetime import timedelta
from hashlib import sha256
from typing import Any, Literal

from pydantic import Field

from streamhouse.model.action import Expectation
from streamhouse.model.bad_rows import KIND, letters_source
from streamhouse.model.delta_plan import DeltaPlan
from streamhouse.model.flow import LOCAL_EPOCH_ROWS
from streamhouse.model.notice import Notice
from streamhouse.model.read_as import ReadAs, as_read, as_stored
from streamhouse.model.table import Column, ComputedColumn, Table
from streamhouse.model.types import Duration, Frozen, History, Layer, Ranges, ReadMode, StepKind, Strategy

EXPECTATION = "_expectation"
"""Column of a quarantine table: the expectation that its row violates."""


QUARANTINE = "__quarantine"
"""End of the name of the table that holds the rows that expectations keep out of another."""


Truncation = Literal["kept", "removed"]
"""What is done when all rows are removed from a source: they stay here, or are removed here as well."""


class PlannedSource(Frozen):
    """A source with the columns it delivers."""

    name: str
    kind: str
    options: dict[str, Any] = Field(default_factory=dict)
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()  # empty: rows are only ever added
    loads_first: bool = False  # feeds a lookup table: its backlog is read before the others'
    optional: tuple[str, ...] = Field(
        default=(),
        exclude_if=lambda names: not names,
        description="columns that rows may lack; of a source as it is opened, and of none in a plan",
    )
    truncations: Literal["kept", "asked"] = Field(
        default="kept",
        exclude_if=lambda word: word == "kept",
        description="when all rows are removed there: they stay here, or a person is asked each time",
    )
    truncated: dict[str, Truncation] = Field(
        default_factory=dict,
        exclude_if=lambda found: not found,
        description="removal of all rows, by its id → what a person decided",
    )
    given_up: Ranges = Field(
        default_factory=dict,
        exclude_if=lambda found: not found,
        description="part of it → ranges of positions whose rows are gone, and that a person said to go on behind",
    )


class PlannedRead(Frozen):
    """One port: `table` is the name of a source of this plan, or `layer.table`."""

    port: str
    table: str
    mode: ReadMode
    columns: tuple[str, ...]  # the columns the SQL uses, in the order of the input
    key_columns: dict[str, str] = Field(default_factory=dict)  # output column → column here, for touched rows
    computed: tuple[ComputedColumn, ...] = ()  # columns in `key_columns` that the input has not, and which are computed
    hidden: tuple[str, ...] = Field(
        default=(),
        exclude_if=lambda names: not names,  # plans from before keep their fingerprints
        description="columns of the table that came later, and that this step's policy does not let in",
    )


class PlannedStep(Frozen):
    """One step, checked and typed. `sql` is canonical Spark SQL over the port names, parameters filled in."""

    action: str
    version: str
    kind: StepKind
    reads: tuple[PlannedRead, ...]
    writes: Table
    sql: str
    strategy: Strategy
    reason: str  # why this strategy, in words for a person
    isolate: bool = False
    part: tuple[str, ...] = ()  # columns it writes besides the key, when other steps write the rest; empty: whole rows
    interval: Duration | None = None  # of a `full` step; None: every epoch that changes an input
    delta: DeltaPlan | None = Field(
        default=None,
        exclude_if=lambda plan: plan is None,  # plans of other strategies keep their fingerprints
        description="of a `delta` step: how changes of its inputs become changes of its groups",
    )
    expect: dict[str, Expectation] = Field(default_factory=dict)
    notices: tuple[Notice, ...] = Field(default=(), exclude=True)  # of its SQL; their places are no part of the plan
    copies: dict[str, tuple[str, str]] = Field(  # column → the table and column that it is copied from unchanged
        default_factory=dict,
        exclude=True,  # follows from `sql`; only what columns mean is looked up by it
    )
    texts: dict[str, tuple[tuple[tuple[str, str], ...], tuple[str, ...]]] = Field(
        default_factory=dict,
        exclude=True,
        description="column of text → the tables and columns that its values are from, and further texts it may have",
    )
    history: History = History.KEEP  # what an edit does to rows already written
    renamed: dict[str, str] = Field(default_factory=dict)  # column → the name it had
    params: dict[str, Any] = Field(default_factory=dict)  # as the step gives them; `sql` has them filled in

    def __eq__(self, other: object) -> bool:
        """Whether both are stored as the same step: notices and copies follow from its text, and are not stored."""
        if not isinstance(other, PlannedStep):
            return NotImplemented
        unstored: dict[str, Any] = {"notices": (), "copies": {}, "texts": {}}
        return self.__dict__ | unstored == other.__dict__ | unstored

    __hash__ = None  # type: ignore[assignment]  # its parameters are a dictionary

    @property
    def id(self) -> str:
        """Stable name of the step: the table it writes, and its action when others write the table too."""
        return f"{self.writes.name}:{self.action}" if self.part else self.writes.name

    @property
    def follows(self) -> frozenset[str]:
        """Sources and tables whose rows it takes as they come; of others it looks rows up."""
        return frozenset(read.table for read in self.reads if read.mode is not ReadMode.LOOKUP)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of its table that it writes."""
        table = self.writes
        wanted = {*table.primary_key, *self.part}
        return tuple(c for c in table.columns if c.name in wanted) if self.part else table.columns

    @property
    def quarantine(self) -> Table | None:
        """Where rows go that an expectation keeps out of the table; None when none does."""
        if all(rule.on_violation != "quarantine" for rule in self.expect.values()):
            return None
        columns = tuple(c.model_copy(update={"nullable": True}) for c in self.columns)
        return Table(
            name=f"{self.writes.name}{QUARANTINE}",
            columns=(*columns, Column(name=EXPECTATION, type="string")),
            tiers=self.writes.tiers,
        )


class Segment(Frozen):
    """Steps that share one clock, each after the steps that write what it reads."""

    name: str
    steps: tuple[PlannedStep, ...] = Field(min_length=1)
    interval: Duration | None = None  # between two epochs; None: as fast as the flow's freshness asks

    @property
    def reads(self) -> frozenset[str]:
        """Every source and table that a step reads, also those the segment writes itself."""
        return frozenset(read.table for step in self.steps for read in step.reads)

    @property
    def loads_first(self) -> frozenset[str]:
        """What feeds, through whatever steps of the segment, a table that a step of it looks up.

        Its backlog is read before the others', so that a fact finds its dimension as it would in a batch.
        """
        written = {step.writes.name: step for step in self.steps}
        pending = [read.table for step in self.steps for read in step.reads if read.mode is ReadMode.LOOKUP]
        found: set[str] = set()
        while pending:
            name = pending.pop()
            if name not in found and name in written:
                pending += [read.table for read in written[name].reads if read.mode is ReadMode.CHANGES]
            found.add(name)
        return frozenset(found)

    @property
    def tables(self) -> dict[str, Table]:
        """Every table the segment writes, by name, upstream first; quarantine tables after their own."""
        written = (table for step in self.steps for table in (step.writes, step.quarantine))
        return {table.name: table for table in written if table is not None}


class FlowPlan(Frozen):
    """Equal definitions give an equal plan, so plans can be compared, hashed and stored."""

    flow: str
    description: str = ""
    owner: str = ""
    tags: tuple[str, ...] = ()
    freshness: Duration = timedelta(seconds=1)
    max_rows_per_epoch: int = 100_000
    local_epoch_rows: int = LOCAL_EPOCH_ROWS
    sources: tuple[PlannedSource, ...]
    external: tuple[Table, ...] = ()  # tables of other flows that this one reads
    segments: tuple[Segment, ...] = Field(min_length=1)
    adapted: dict[str, tuple[ReadAs, ...]] = Field(
        default_factory=dict,
        exclude_if=lambda found: not found,
        description="source or table of another flow → its columns that are made of what is there by now",
    )
    again: dict[str, str] = Field(
        default_factory=dict,
        exclude_if=lambda found: not found,
        description="table of another flow that was made again, or one, also of another segment, that lost what was "
        "not read → which time it is read from its beginning",
    )
    given_up: dict[str, Ranges] = Field(
        default_factory=dict,
        exclude_if=lambda found: not found,
        description="table of another flow or segment → ranges of its log that a person said to go on behind: "
        "their rows are gone",
    )

    older_nulls: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        exclude_if=lambda found: not found,
        description="table that it writes → columns that no new row has NULL in, but rows written before an edit may; "
        "see `compiler.older_nulls`",
    )
    aside: tuple[tuple[str, ...], ...] = Field(
        default=(),
        exclude_if=lambda found: not found,
        description="groups of steps that waited for a person while the rest of their segment went on, in the order "
        "in which they were detached; see `compiler.detached`",
    )

    def as_known(self, table: Table) -> Table:
        """A table of another flow with the columns that the steps of this one know."""
        adapted = self.adapted.get(table.name, ())
        return table.model_copy(update={"columns": as_read(table.columns, adapted)}) if adapted else table

    def as_there(self, origin: PlannedSource | Table) -> PlannedSource | Table:
        """A source, or a table of another flow, with the columns that it has, where steps know it with others."""
        if isinstance(origin, PlannedSource) and origin.kind == KIND:
            return self._letters_there(origin)
        adapted = self.adapted.get(origin.name, ())
        if not adapted:
            return origin
        columns = as_stored(origin.columns, adapted)
        if isinstance(origin, Table):
            return origin.model_copy(update={"columns": columns})
        optional = tuple(dict.fromkeys(part.name for one in adapted for part in one.of))
        return origin.model_copy(update={"columns": columns, "optional": optional})

    def _letters_there(self, letters: PlannedSource) -> PlannedSource:
        """Dead letters with what is read of their source: the same columns decide what can be read."""
        for source in self.sources:
            if letters_source(source.name) == letters.name:
                base = self.as_there(source).model_dump(mode="json")
                return letters.model_copy(update={"options": {**letters.options, "base": base}})
        return letters

    @property
    def steps(self) -> tuple[PlannedStep, ...]:
        """Every step, upstream first."""
        return tuple(step for segment in self.segments for step in segment.steps)

    def segments_of(self, steps: Collection[str]) -> tuple[Segment, ...]:
        """The segments that have one of these steps."""
        return tuple(segment for segment in self.segments if any(step.id in steps for step in segment.steps))

    @property
    def readable(self) -> tuple[Table, ...]:
        """Every table that a step of this flow may read."""
        return (*self.external, *self.tables.values())

    @property
    def tables(self) -> dict[str, Table]:
        """Every table this flow writes, by name, upstream first; quarantine tables after their own."""
        return {name: table for segment in self.segments for name, table in segment.tables.items()}

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers this flow writes, upstream first."""
        present = {table.layer for table in self.tables.values()}
        return tuple(layer for layer in Layer if layer in present)

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits that change when, and only when, the plan does."""
        return fingerprint_of(self.model_dump_json())


def fingerprint_of(body: str) -> str:
    """The fingerprint of a plan by its text, as JSON."""
    return sha256(body.encode()).hexdigest()[:16]
