"""What a segment needs of everything it reads: which columns, which whole states, which read-backs. Pure."""

from dataclasses import dataclass, field, replace

from streamhouse.model.plan import FlowPlan, PlannedRead, PlannedSource, PlannedStep, Segment
from streamhouse.model.read_as import ReadAs
from streamhouse.model.table import Column, ComputedColumn, Table
from streamhouse.model.types import ReadMode, Strategy

Origin = PlannedSource | Table


@dataclass(frozen=True)
class Need:
    """What the steps of one segment want of one source or table.

    Attributes:
        columns: Those that some reader uses, and the primary key, in the order of the origin.
        changes: Whether a step is driven by its changes.
        state: Whether a step wants its rows as a whole, or by keys: then they are in the cache.
        read_back: Of a table that this segment merges into, or that selects: whether later steps read it, and so
            need what the store made of what was written.
        computed: Values to be stored with each row, by which a step finds rows.
        adapted: How columns are made of others.
    """

    origin: Origin
    columns: tuple[Column, ...]
    changes: bool = False
    state: bool = False
    read_back: bool = False
    computed: tuple[ComputedColumn, ...] = ()
    adapted: tuple[ReadAs, ...] = ()

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of `columns`."""
        return tuple(column.name for column in self.columns)

    @property
    def key(self) -> tuple[str, ...]:
        """The primary key; empty: rows are only ever added."""
        return self.origin.primary_key


@dataclass
class _NeedParts:
    columns: set[str] = field(default_factory=set)
    changes: bool = False
    state: bool = False
    computed: dict[str, ComputedColumn] = field(default_factory=dict)


def needs_of(plan: FlowPlan, segment: Segment) -> dict[str, Need]:
    """Source or table → what the segment needs of it; tables it only writes are in it, without needs."""
    reads = segment.reads  # found out at every call
    origins: dict[str, Origin] = {source.name: source for source in plan.sources if source.name in reads}
    origins |= {table.name: table for table in plan.readable if table.name in reads}
    own = {step.writes.name: step.writes for step in segment.steps}
    wanted = {name: _NeedParts() for name in origins | own}
    for step in segment.steps:
        for read in step.reads:
            _add_read(wanted[read.table], step, read)
        _add_own(wanted[step.writes.name], step)
    found = {name: _need(origin, wanted[name], own) for name, origin in (origins | own).items()}
    return {name: replace(need, adapted=plan.adapted.get(name, ())) for name, need in found.items()}


def _add_read(wanted: _NeedParts, step: PlannedStep, read: PlannedRead) -> None:
    wanted.columns.update(read.columns)
    wanted.computed.update({column.name: column for column in read.computed})
    wanted.changes |= read.mode is ReadMode.CHANGES
    wanted.state |= read.mode is ReadMode.LOOKUP or step.strategy.reads_state


def _add_own(wanted: _NeedParts, step: PlannedStep) -> None:
    """A step that replaces rows must know those that its table has: only what differs is written."""
    touched = {name for read in step.reads for name in read.key_columns}
    if step.strategy.sees_all or (step.strategy is Strategy.RECOMPUTE and not step.part):
        wanted.columns.update(column.name for column in step.columns)
        wanted.state = True
    elif step.strategy is Strategy.RECOMPUTE and touched != set(step.writes.primary_key):
        wanted.columns.update(touched)
        wanted.state = True


def _need(origin: Origin, wanted: _NeedParts, own: dict[str, Table]) -> Need:
    names = wanted.columns | set(origin.primary_key)
    columns = tuple(column for column in origin.columns if column.name in names)
    table = own.get(origin.name)
    read_back = table is not None and bool(table.merge or table.selects) and (wanted.changes or wanted.state)
    computed = tuple(wanted.computed.values())
    return Need(origin, columns or origin.columns[:1], wanted.changes, wanted.state, read_back, computed)
