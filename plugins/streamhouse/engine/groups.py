"""The state of a `delta` step: derived from its inputs, and never trusted at another position than its own.

It is in the segment's cache, bound to the positions of every input and of the step's own table. Where one of these is
another, all of it is computed again, and the whole table is compared with the result.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.engine.delta_pace import DeltaPace
from streamhouse.engine.stages import stage_step
from streamhouse.engine.states import CachedRows, StateCache
from streamhouse.model.delta_plan import WEIGHT, DeltaBlock, DeltaStage
from streamhouse.model.plan import PlannedStep
from streamhouse.model.table import Column
from streamhouse.model.types import Position
from streamhouse.stores.base import Changes


@dataclass
class StatePart:
    """Rows of the state.

    Attributes:
        cached: Name, columns and key in the cache.
        after: What the epoch in hand makes of them; None: nothing. A table: all of them are others.
    """

    cached: CachedRows
    after: Changes | pa.Table | None = None


@dataclass
class GroupState:
    """The state of one step over its epochs.

    Attributes:
        plan: How the step makes it.
        tables: What it is bound to: the step's inputs, and its own table.
        groups: The groups.
        results: What the groups make, where the table has only the first of these rows.
        table: Of a stage: the rows that it makes.
        stages: Of the stages of a step, by name; they are valid where the step's own state is.
        valid: Whether the state is that of the start of the epoch in hand.
        pace: What the step's epochs take.
    """

    plan: DeltaBlock
    tables: tuple[str, ...]
    groups: StatePart
    results: StatePart | None
    table: StatePart | None = None
    stages: Mapping[str, "GroupState"] = field(default_factory=dict)
    valid: bool = False
    pace: DeltaPace = field(default_factory=DeltaPace)
    _at: Position | None = None

    @classmethod
    def of(cls, step: PlannedStep, inputs: Mapping[str, CachedRows], spark: str) -> "GroupState":
        """Of a step.

        Args:
            step: Its strategy is `delta`.
            inputs: Table → its rows as the cache has them.
            spark: Version that computes them.
        """
        plan = step.delta
        assert plan is not None, "asked for groups of a step of another strategy"
        tables = (*dict.fromkeys(read.table for read in step.reads), step.writes.name)
        bound = sorted((read.port, inputs[read.table].signature) for read in step.reads)
        identity = f"{spark} {step.model_dump_json()} {bound}"  # any edit: all is computed and compared
        stages = {stage.name: cls._of_stage(step, stage, tables, identity) for stage in plan.stages}
        return cls(plan, tables, *_parts(step, plan, identity), stages=stages)

    @classmethod
    def _of_stage(cls, step: PlannedStep, stage: DeltaStage, tables: tuple[str, ...], identity: str) -> "GroupState":
        substep = stage_step(step, stage)
        table = StatePart(CachedRows(substep.id, stage.columns, stage.key, identity))
        return cls(stage.plan, tables, *_parts(substep, stage.plan, identity), table=table)

    @property
    def parts(self) -> tuple[StatePart, ...]:
        """All rows of the state."""
        own = tuple(part for part in (self.groups, self.results, self.table) if part is not None)
        return (*own, *(part for stage in self.stages.values() for part in stage.parts))

    def stand_at(self, cache: StateCache, positions: Mapping[str, Position]) -> None:
        """See whether the state is that of the start of an epoch."""
        at = self._position(positions)
        if self._at != at:
            found = [cache.position(part.cached.name) for part in self.parts]
            self._at = found[0] if all(one == found[0] for one in found) else None
        self.valid = self._at == at
        self.drop()

    def forget(self) -> None:
        """The cache is another one: what it has of the state is not known."""
        self._at, self.valid = None, False
        self.drop()

    def drop(self) -> None:
        """Forget what the epoch in hand makes of the state."""
        for part in self.parts:
            part.after = None

    def take_over(
        self, cache: StateCache, positions: Mapping[str, Position]
    ) -> Iterator[tuple[str, Changes | None, Position]]:
        """What a recorded epoch made of the state, by name of the rows, and where it is now; all of it is committed."""
        at, changed = self._position(positions), any(part.after is not None for part in self.parts)
        if not changed and (not self.valid or self._at == at):
            return
        for part in self.parts:
            after, part.after = part.after, None
            if isinstance(after, pa.Table):
                cache.load(part.cached.name, [after], at)
            yield part.cached.name, None if isinstance(after, pa.Table) else after, at
        self._at = at

    def _position(self, positions: Mapping[str, Position]) -> Position:
        found = {name: positions.get(name, {}) for name in self.tables}
        return {f"{name} {part}": value for name, parts in found.items() for part, value in parts.items() if value}


def _parts(step: PlannedStep, plan: DeltaBlock, identity: str) -> tuple[StatePart, StatePart | None]:
    """The groups of a plan, and the results where the table has only the first of them."""
    columns = (*plan.groups, *plan.values, Column(name=WEIGHT, type="bigint"))
    groups = StatePart(CachedRows(f"{step.id} groups", columns, plan.key, identity))
    if plan.top is None:
        return groups, None
    return groups, StatePart(
        CachedRows(f"{step.id} results", (*step.columns, *plan.hidden), tuple(plan.shown), identity)
    )


class Groups:
    """What a step does with its state in one epoch."""

    def __init__(self, cache: StateCache, state: GroupState) -> None:
        self._cache = cache
        self._state = state

    @property
    def valid(self) -> bool:
        """Whether the state is that of the start of the epoch."""
        return self._state.valid

    @property
    def pace(self) -> DeltaPace:
        """What the step's epochs take."""
        return self._state.pace

    @property
    def columns(self) -> tuple[Column, ...]:
        """Of the rows of the groups."""
        return self._state.groups.cached.columns

    def add(self, added: pa.Table) -> tuple[pa.Table, pa.Table] | None:
        """The rows of the groups in `added`, with these, and the groups; the state of a recorded epoch has them.

        None: more was taken away than there was, so the state is not what it should be; or a sum has more digits than
        it can have, which Spark must say.
        """
        part, totals = self._state.groups, self._state.plan.totals is not None
        summed = [column.name for column in self._state.plan.values] if totals else []
        found = self._cache.regrouped(part.cached.name, added, [*summed, WEIGHT])
        if found is None:
            return None
        rows, touched = found
        if rows.num_rows and pc.min(rows.column(WEIGHT)).as_py() < 0:
            return None
        part.after = Changes(rows, touched)
        return rows, touched

    def replace(self, rows: pa.Table) -> pa.Table:
        """Equal rows put together; in a recorded epoch the state has these in place of all it had."""
        part = self._state.groups
        part.after = rows if self._state.plan.totals is not None else self._cache.consolidated(part.cached.name, rows)
        return part.after

    def stage(self, name: str) -> "Groups":
        """Of a stage of the step."""
        return Groups(self._cache, self._state.stages[name])

    def keep(self, rows: Changes | pa.Table) -> None:
        """What the epoch makes of the rows of a stage; a table: all of them."""
        assert self._state.table is not None, "asked for the rows of a step that has a table of its own"
        self._state.table.after = rows

    def forget(self) -> None:
        """The state is of no use: the next epoch computes all."""
        self._state.valid = False
        self._state.drop()

    def top(self, results: pa.Table, touched: pa.Table | None) -> pa.Table:
        """The first rows of all results, after those of some groups took the place of theirs; None: of all groups."""
        part, top = self._state.results, self._state.plan.top
        assert part is not None, "asked for the first rows of a step that has all"
        assert top is not None, "asked for the first rows of a step that has all"
        part.after = results if touched is None else Changes(results, touched)
        return self._cache.top(part.cached.name, part.after, top)
