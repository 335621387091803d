"""A step over inputs in memory: the engine's own code without any store."""

from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from operator import add, and_, or_
from pathlib import Path
from typing import Any

import pyarrow as pa

from streamhouse.compiler.check import Readable
from streamhouse.compiler.step import plan_step
from streamhouse.engine.delta import Delta
from streamhouse.engine.delta_step import run_delta
from streamhouse.engine.epoch_states import EpochStates
from streamhouse.engine.frames import Frames
from streamhouse.engine.needs import needs_of
from streamhouse.engine.segment_states import SegmentStates
from streamhouse.engine.strategies import StepInputs, StepResult, run_step
from streamhouse.errors import RowsLostError
from streamhouse.model.action import Action, Output
from streamhouse.model.flow import Flow, Read, Step
from streamhouse.model.plan import FlowPlan, PlannedSource, PlannedStep, Segment
from streamhouse.model.table import Column
from streamhouse.model.types import MergeFunction, Position, ReadMode, StepKind, Strategy
from streamhouse.stores.arrow import arrow_schema, conform
from streamhouse.stores.base import Changes

_AT_MS = 1_700_000_000_000
_PLACE = "log"
_MANY = 1000


class MemoryInput:
    """Rows with all their versions: what was changed, one entry after the other. A table of a step is one, too."""

    def __init__(self, columns: tuple[Column, ...], key: tuple[str, ...]) -> None:
        self.columns = columns
        self.key = key
        self.versions = [arrow_schema(columns).empty_table()]
        self.log: list[Changes] = []
        self.forgotten = 0  # entries that can no longer be read

    @property
    def rows(self) -> pa.Table:
        """As they are now."""
        return self.versions[-1]

    @property
    def end(self) -> Position:
        """Behind the last entry."""
        return self.available()

    def put(self, changes: Changes) -> None:
        """Add an entry."""
        upserts = conform(changes.upserts, self.columns)
        self.log.append(Changes(upserts, changes.deletes))
        self.versions.append(_changed(self.rows, self.log[-1], self.key))

    def available(self) -> Position:
        return {_PLACE: len(self.log)}

    def advance(self, start: Position, max_rows: int) -> Position:
        return {_PLACE: min(start.get(_PLACE, 0) + 2, len(self.log))}

    def rows_between(self, start: Position, end: Position) -> int:
        return sum(entry.upserts.num_rows for entry in self.log[start.get(_PLACE, 0) : end.get(_PLACE, 0)])

    def standing(self, position: Position) -> Position:
        return position

    def parts(self, at: Position, columns: tuple[str, ...]) -> Iterator[pa.Table]:
        rows = self.versions[at.get(_PLACE, 0)].select(columns)
        yield rows.slice(0, 3)
        yield rows.slice(3)

    def changes(
        self, start: Position, end: Position, columns: tuple[str, ...] | None, *, before: bool = False
    ) -> Changes:
        """As a store gives them: each key once."""
        first, last = start.get(_PLACE, 0), end.get(_PLACE, 0)
        if first < self.forgotten:
            raise RowsLostError("rows are gone")
        names = [column.name for column in self.columns] if columns is None else list(columns)
        entries = self.log[first:last]
        if not self.key:
            rows = [entry.upserts for entry in entries] or [self.rows.slice(0, 0)]
            return Changes(pa.concat_tables(rows).select(names))
        touched = pa.concat_tables(
            [self.rows.slice(0, 0).select(self.key)]
            + [entry.upserts.select(self.key) for entry in entries]
            + [entry.deletes.select(self.key) for entry in entries if entry.deletes is not None]
        )
        touched = touched.group_by(list(self.key)).aggregate([])
        upserts = _joined(self.versions[last], touched, self.key, "left semi")
        deletes = _joined(touched, self.versions[last], self.key, "left anti")
        old = _joined(self.versions[first], touched, self.key, "left semi") if before else None
        known = None if old is None else old.select(names)
        return Changes(upserts.select(names), deletes if deletes.num_rows else None, known)


class MergingTable(MemoryInput):
    """A table that folds what is written to a key into the row that it has."""

    def __init__(self, columns: tuple[Column, ...], key: tuple[str, ...], merge: Mapping[str, MergeFunction]) -> None:
        super().__init__(columns, key)
        self.merge = merge

    def put(self, changes: Changes) -> None:
        """Add an entry."""
        rows = dict(zip(_keys(self.rows, self.key), self.rows.to_pylist(), strict=True))
        upserts = conform(changes.upserts, self.columns)
        for key, row in zip(_keys(upserts, self.key), upserts.to_pylist(), strict=True):
            rows[key] = self._folded(rows[key], row) if key in rows else row
        self.log.append(Changes(upserts))
        self.versions.append(pa.Table.from_pylist(list(rows.values()), arrow_schema(self.columns)))

    def _folded(self, old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
        return old | {name: _fold(function, old[name], new[name]) for name, function in self.merge.items()}


def _fold(function: MergeFunction, old: Any, new: Any) -> Any:
    if old is None or new is None:
        return new if old is None else old
    return _FOLDS[function](old, new)


_FOLDS: Mapping[MergeFunction, Callable[[Any, Any], Any]] = {
    MergeFunction.SUM: add,
    MergeFunction.MIN: min,
    MergeFunction.MAX: max,
    MergeFunction.BOOL_AND: and_,
    MergeFunction.BOOL_OR: or_,
    MergeFunction.FIRST_VALUE: lambda old, _: old,
    MergeFunction.LAST_VALUE: lambda _, new: new,
}


def _changed(rows: pa.Table, changes: Changes, key: tuple[str, ...]) -> pa.Table:
    if key:
        rows = _joined(rows, changes.upserts, key, "left anti")
        if changes.deletes is not None:
            rows = _joined(rows, changes.deletes, key, "left anti")
    return pa.concat_tables([rows, changes.upserts])


def _joined(rows: pa.Table, others: pa.Table, key: tuple[str, ...], kind: str) -> pa.Table:
    """Rows that have a key of others, or have none; a NULL is a value."""
    if rows.num_rows > _MANY:  # inputs alone, whose keys have no NULL
        return rows.join(others.select(key), keys=list(key), join_type=kind).select(rows.column_names)
    wanted = set(_keys(others, key))
    keep = [(found in wanted) == (kind == "left semi") for found in _keys(rows, key)]
    return rows.filter(pa.array(keep, pa.bool_()))


def _keys(rows: pa.Table, key: tuple[str, ...]) -> list[tuple[Any, ...]]:
    return list(zip(*(rows.column(name).to_pylist() for name in key), strict=True))


@dataclass(frozen=True)
class Planned:
    """A step, and the sources it reads."""

    step: PlannedStep
    plan: FlowPlan


def planned(
    sql: str,
    key: tuple[str, ...],
    columns: Mapping[str, tuple[Column, ...]],
    keys: Mapping[str, tuple[str, ...]],
    ports: Mapping[str, str],
    strategy: Strategy | None = Strategy.DELTA,
    lookups: Collection[str] = (),
) -> Planned:
    """A step with this SQL; `ports` maps what the SQL names to the inputs, those in `lookups` are read as such."""
    action = Action(
        action="tried",
        step=StepKind.AGGREGATE,
        inputs={port: {} for port in ports},
        sql=sql,
        output=Output(primary_key=key),
    )
    modes = {True: ReadMode.LOOKUP, False: ReadMode.CHANGES}
    reads = {port: Read.model_validate({"table": name, "as": modes[port in lookups]}) for port, name in ports.items()}
    written = Step(use="tried", reads=reads, writes="dws.tried", strategy=strategy)
    readable = {name: Readable(columns[name], keys[name], source=True) for name in ports.values()}
    step = plan_step(written, action, Flow(flow="tried", steps=(written,)), readable)
    sources = tuple(
        PlannedSource(name=name, kind="memory", columns=columns[name], primary_key=keys[name])
        for name in dict.fromkeys(ports.values())
    )
    return Planned(step, FlowPlan(flow="tried", sources=sources, segments=(Segment(name="s", steps=(step,)),)))


class World:
    """One step over its epochs: in a process that may be another in each, with a cache that may be lost."""

    def __init__(self, how: Planned, inputs: Mapping[str, MemoryInput], frames: Frames, folder: Path) -> None:
        self.how = how
        self.inputs = dict(inputs)
        self.frames = frames
        self.file = folder / "s.duckdb"
        written = how.step.writes
        self.table = (
            MergingTable(written.columns, written.primary_key, written.merge)
            if written.merge
            else MemoryInput(written.columns, written.primary_key)
        )
        self.recorded: dict[str, Position] = {}  # of inputs and the table, behind the last epoch
        self._open()

    def _open(self) -> None:
        [segment] = self.how.plan.segments
        self.needs = needs_of(self.how.plan, segment)
        inputs: Any = {**self.inputs, self.how.step.writes.name: self.table}
        self.held = SegmentStates(self.file, self.needs, inputs, self.frames, [self.how.step])

    def restart(self, *, lost: bool = False, how: Planned | None = None) -> None:
        """Another process goes on; without the cache, or with another plan."""
        self.held.close()
        if lost:
            self.file.unlink(missing_ok=True)
        self.how = how or self.how
        self._open()

    def ends(self) -> dict[str, Position]:
        """Where the inputs end."""
        return {name: given.available() for name, given in self.inputs.items()}

    @property
    def table_as_recorded(self) -> pa.Table:
        """The table's rows behind the last epoch that was recorded."""
        return self.table.versions[self.recorded.get(self.how.step.writes.name, {}).get(_PLACE, 0)]

    def run(self, *, before: bool = False) -> tuple[StepResult | None, dict[str, Delta | None]]:
        """What an epoch up to the ends of all inputs makes; None: nothing changed there. Nothing is written yet."""
        deltas = self.deltas(before=before)
        return self.made(deltas), deltas

    def deltas(self, *, before: bool = False) -> dict[str, Delta | None]:
        """What changed in the inputs."""
        self.held.stand_at(self.recorded)
        return {name: self._delta(name, before) for name in self.inputs}

    def made(self, deltas: Mapping[str, Delta | None]) -> StepResult | None:
        """What the step makes of changes; None: there are none."""
        futures: dict[str, Future[Delta | None]] = {name: Future() for name in deltas}
        for name, delta in deltas.items():
            futures[name].set_result(delta)
        changed = {name: delta for name, delta in deltas.items() if delta is not None and not delta.is_empty()}
        if not changed:
            return None
        given = StepInputs(self.needs, changed, EpochStates(self.held, futures), _AT_MS)
        run = run_delta if self.how.step.strategy is Strategy.DELTA else run_step
        return run(self.how.step, given, self.frames)

    def write(self, result: StepResult | None) -> None:
        """Write what an epoch made."""
        if result is not None and (result.changes.upserts.num_rows or result.changes.deletes is not None):
            self.table.put(Changes(result.changes.upserts, result.changes.deletes))

    def record(self, result: StepResult | None, deltas: Mapping[str, Delta | None], *, dies: bool = False) -> None:
        """Record the epoch; then a process may die before the cache has it."""
        own = self.how.step.writes.name
        self.recorded = {**self.ends(), own: self.table.available()}
        if not dies:
            made = None if result is None else self._of(own, result.changes)
            self.held.take_over({**deltas, own: made}, self.recorded)

    def epoch(self, *, before: bool = False) -> StepResult | None:
        """A whole one."""
        result, deltas = self.run(before=before)
        self.write(result)
        self.record(result, deltas)
        return result

    def _delta(self, name: str, before: bool) -> Delta | None:
        given, start = self.inputs[name], self.recorded.get(name, {})
        if start.get(_PLACE, 0) == len(given.log):
            return None
        columns = self.needs[name].column_names
        return self._of(name, given.changes(start, given.available(), columns, before=before and bool(given.key)))

    def _of(self, name: str, changes: Changes) -> Delta:
        extend = self.held.extending(name)
        return Delta(changes=changes, make_frame=self.frames.frame, collect=self.frames.rows, extend=extend)
