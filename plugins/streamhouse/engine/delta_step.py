"""Strategy `delta`: the cost of an epoch follows what changed (docs/decisions/delta.md).

The rows that the query puts together are not stored as a whole. What an epoch adds to them and takes from them is
computed input by input: the changed rows of one meet the others, those before it as they are at the epoch's end and
those behind it as they were at its start. Their sum is the difference of the rows at the end and at the start.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.engine.delta import Delta, count
from streamhouse.engine.expectations import Judged
from streamhouse.engine.frames import Frames
from streamhouse.engine.groups import Groups
from streamhouse.engine.keys import key_rows, one_of_each_key, union_keys
from streamhouse.engine.spill import Spilled
from streamhouse.engine.stages import reads_of, stage_needs, stage_step
from streamhouse.engine.strategies import StepInputs, StepResult, run_full
from streamhouse.errors import EpochFailedError
from streamhouse.model.action import Expectation
from streamhouse.model.delta_plan import ROWS, WEIGHT, DeltaBlock, DeltaStage
from streamhouse.model.plan import PlannedRead, PlannedStep
from streamhouse.model.types import ReadMode
from streamhouse.spark.failures import sizes_of_too_large
from streamhouse.sql.delta.weights import weight_columns, weighted
from streamhouse.stores.arrow import arrow_schema, conform
from streamhouse.stores.base import Changes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class _Epoch:
    """A step, or a stage of it, in one epoch.

    `stage_rows` has all rows of the stages before it, where these are computed.
    """

    step: PlannedStep
    plan: DeltaBlock
    inputs: StepInputs
    frames: Frames
    groups: Groups
    stage_rows: Mapping[str, pa.Table] = field(default_factory=dict)

    @cached_property
    def links(self) -> dict[str, dict[str, str]]:
        """The links of the plan, each with the name that its values have in a table of wanted ones."""
        return {f"k{at}": link for at, link in enumerate(self.plan.links)}

    @cached_property
    def weights(self) -> dict[str, str]:
        """Linear port → the column of its rows' weights."""
        return weight_columns(self.plan)

    @cached_property
    def changed(self) -> list[PlannedRead]:
        """The ports that changed, in their order."""
        return [read for read in self.step.reads if read.table in self.inputs.deltas]


class _TooManyRowsError(Exception):
    """This process does not take the joined rows; the result may have few."""


def run_delta(step: PlannedStep, inputs: StepInputs, frames: Frames) -> StepResult:
    """What an epoch changes in the table of a `delta` step.

    An epoch at whose start the state is valid touches only the groups that it changes. Any other epoch computes all
    groups and compares the result with the table.
    """
    assert step.delta is not None, "of another strategy"
    groups = inputs.states.groups(step.id)
    stage_inputs = replace(inputs, needs={**inputs.needs, **stage_needs(step)}) if step.delta.stages else inputs
    reading = step.model_copy(update={"reads": reads_of(step, step.delta)})
    epoch = _Epoch(reading, step.delta, stage_inputs, frames, groups)
    try:
        if _follows(epoch) and not _all_is_cheaper(step, inputs):
            with groups.pace.following(_changed_rows(step, inputs)):
                found = _changes(step, epoch)
            if found is not None:
                return found
        with groups.pace.computing_all(_rows(step, inputs)):
            return _everything(step, epoch)
    except _TooManyRowsError:
        groups.forget()
        return run_full(step, inputs, frames)


def _follows(epoch: _Epoch) -> bool:
    """Whether the state is valid, and the table follows from it and the changes, as far as is known before stages."""
    return epoch.groups.valid and all(epoch.plan.follows(read.port) for read in epoch.changed)


def _all_is_cheaper(step: PlannedStep, inputs: StepInputs) -> bool:
    """Whether to compute all costs less than to follow the changes, for all that is known of the step's epochs."""
    pace = inputs.states.groups(step.id).pace
    return pace.prefers_all(_rows(step, inputs), _changed_rows(step, inputs), len(_changed(step, inputs)))


def _changed(step: PlannedStep, inputs: StepInputs) -> set[str]:
    """The inputs that changed."""
    return {read.table for read in step.reads} & inputs.deltas.keys()


def _changed_rows(step: PlannedStep, inputs: StepInputs) -> int:
    return sum(inputs.deltas[name].rows for name in _changed(step, inputs))


def _rows(step: PlannedStep, inputs: StepInputs) -> int:
    """How many rows the inputs have."""
    return sum(inputs.states.size(name) for name in {read.table for read in step.reads})


def _changes(step: PlannedStep, epoch: _Epoch) -> StepResult | None:
    """Of the groups that the epoch touches; None: the state is not what it should be."""
    states, deltas = epoch.inputs.states, dict(epoch.inputs.deltas)
    for stage in _stages(step):
        substep = stage_step(step, stage)
        inner = replace(epoch, step=substep, plan=stage.plan, groups=epoch.groups.stage(stage.name))
        inner = replace(inner, inputs=replace(epoch.inputs, deltas=deltas))
        result = _of_groups(inner)
        if result is None:
            return None
        inner.groups.keep(result.changes)
        changed = count(result.changes) > 0
        states.derive(substep.id, result.changes if changed else None)
        if changed:
            frames = epoch.frames
            deltas[substep.id] = Delta(changes=result.changes, make_frame=frames.frame, collect=frames.rows)
    return _of_groups(replace(epoch, inputs=replace(epoch.inputs, deltas=deltas)))


def _of_groups(epoch: _Epoch) -> StepResult | None:
    """What a step or a stage makes of its groups that the epoch touches; None: it does not follow from the changes."""
    if not all(epoch.plan.follows(read.port) for read in epoch.changed):
        return _all(epoch)
    try:
        added = pa.concat_tables([arrow_schema(epoch.groups.columns).empty_table(), *_added(epoch)])
    except EpochFailedError:  # of rows that are neither those of the epoch's start nor those of its end
        return None
    if not added.num_rows:
        return StepResult(Changes(_none(epoch.step)), Judged(_none(epoch.step)))
    found = epoch.groups.add(added)
    if found is None:
        return None
    rows, touched = found
    return _written(epoch, rows, _among(epoch.plan, touched))


def _everything(step: PlannedStep, epoch: _Epoch) -> StepResult:
    """Compute all stages and all groups, and compare the result with the whole table."""
    stage_rows: dict[str, pa.Table] = {}
    for stage in _stages(step):
        of = stage_step(step, stage)
        inner = replace(epoch, step=of, plan=stage.plan, groups=epoch.groups.stage(stage.name), stage_rows=stage_rows)
        rows, _, _ = _table_rows(inner, _all_rows(inner), None)
        inner.groups.keep(rows)
        stage_rows = {**stage_rows, of.id: rows}
    return _all(replace(epoch, stage_rows=stage_rows))


def _all(epoch: _Epoch) -> StepResult:
    """Compute all groups, and compare the result with the whole table."""
    return _written(epoch, _all_rows(epoch), None)


def _all_rows(epoch: _Epoch) -> pa.Table:
    """The rows of all groups."""
    states, stage_rows = epoch.inputs.states, epoch.stage_rows
    bound = {
        read.port: epoch.frames.frame(stage_rows[read.table]) if read.table in stage_rows else states.whole(read.table)
        for read in epoch.step.reads
    }
    try:
        return epoch.groups.replace(_folded(epoch, [_weighted(epoch, bound, 1)]))
    except EpochFailedError as error:
        if error.__cause__ is None or sizes_of_too_large(error.__cause__) is None:
            raise
        raise _TooManyRowsError from error


def _stages(step: PlannedStep) -> tuple[DeltaStage, ...]:
    return step.delta.stages if step.delta is not None else ()


def _written(epoch: _Epoch, rows: pa.Table, among: pa.Table | None) -> StepResult:
    """What the rows of some groups make of the table."""
    wanted, judged, among = _table_rows(epoch, rows, among)
    changes = epoch.inputs.states.difference(epoch.step.writes.name, wanted, among)
    if among is None and epoch.step.writes.forgets_after is not None:  # as in `run_full`
        changes = replace(changes, before=None)
    return StepResult(changes, judged)


def _table_rows(epoch: _Epoch, rows: pa.Table, among: pa.Table | None) -> tuple[pa.Table, Judged, pa.Table | None]:
    """The rows that the table has of some groups, how they were judged, and the groups; None: of all."""
    step = _over_groups(_with_hidden(epoch), epoch.plan.result, epoch.step.expect)
    judged = epoch.frames.collect(step, _result(epoch, step, _each(epoch.plan, rows)))
    wanted = one_of_each_key(judged.valid_rows, step.writes)
    if epoch.plan.top is not None:
        wanted, among = epoch.groups.top(wanted, among), None
    return wanted.select([column.name for column in epoch.step.columns]), judged, among


def _with_hidden(epoch: _Epoch) -> PlannedStep:
    """The step, with the columns that only put rows in order."""
    step, hidden = epoch.step, epoch.plan.hidden
    if not hidden:
        return step
    table = step.writes.model_copy(update={"columns": (*step.writes.columns, *hidden)})
    return step.model_copy(
        update={"writes": table, "part": (*step.part, *(one.name for one in hidden)) if step.part else ()}
    )


def _result(epoch: _Epoch, step: PlannedStep, rows: pa.Table) -> "DataFrame":
    """The query over the rows of groups, planned once where it can be."""
    frames = epoch.frames
    over = frames.place(f"{step.id} {ROWS}", rows) if frames.may_stand(step) else None
    standing = frames.standing(step, over) if over is not None else None
    return frames.run(step, {ROWS: frames.frame(rows)}, epoch.inputs.at_ms) if standing is None else standing


def _among(plan: DeltaBlock, touched: pa.Table) -> pa.Table | None:
    """The groups as the table's columns show them; None: the table has one row."""
    return key_rows(touched, plan.shown) if plan.shown else None


def _each(plan: DeltaBlock, rows: pa.Table) -> pa.Table:
    """The rows of the port `grouped`: totals as they are, other rows as often as their weight says."""
    if plan.totals is not None:
        return _one_at_least(rows) if plan.single else rows
    import numpy as np

    weights = rows.column(WEIGHT).to_numpy()
    return rows.take(pa.array(np.repeat(np.arange(rows.num_rows), weights)))


def _one_at_least(rows: pa.Table) -> pa.Table:
    """The totals of all rows are there without any row."""
    if rows.num_rows:
        return rows
    zeros = [pa.array([0], pa.int64()).cast(field.type) for field in rows.schema]
    return pa.table(zeros, schema=rows.schema)


def _folded(epoch: _Epoch, parts: Sequence["DataFrame"]) -> pa.Table:
    """Rows with weights, or the totals of them, in this process."""
    if not parts:
        return arrow_schema(epoch.groups.columns).empty_table()
    frame = parts[0]
    for part in parts[1:]:
        frame = frame.unionAll(part)
    if epoch.plan.totals is not None:
        step = _over_groups(epoch.step, epoch.plan.totals, {})
        frame = epoch.frames.run(step, {ROWS: frame}, epoch.inputs.at_ms)
    return conform(epoch.frames.rows(frame), epoch.groups.columns)


def _weighted(epoch: _Epoch, bound: Mapping[str, "DataFrame"], weight: int) -> "DataFrame":
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

    step = epoch.step.model_copy(update={"sql": epoch.plan.rows, "expect": {}})
    return epoch.frames.run(step, bound, epoch.inputs.at_ms).withColumn(WEIGHT, F.lit(weight).cast("bigint"))


def _over_groups(step: PlannedStep, sql: str, expect: Mapping[str, Expectation]) -> PlannedStep:
    """A query over the port `grouped` in place of the step's own."""
    read = PlannedRead(port=ROWS, table=step.writes.name, mode=ReadMode.CHANGES, columns=())
    return step.model_copy(update={"sql": sql, "reads": (read,), "expect": expect})


def _none(step: PlannedStep) -> pa.Table:
    return arrow_schema(step.columns).empty_table()


# --- what an epoch adds to the rows, and takes from them ---


def _added(epoch: _Epoch) -> list[pa.Table]:
    """Rows with their weights, or the totals of them."""
    return [part for at, read in enumerate(epoch.changed) for part in _added_by(epoch, at, read)]


def _added_by(epoch: _Epoch, at: int, read: PlannedRead) -> Iterator[pa.Table]:
    later = {other.port for other in epoch.changed[at + 1 :]}
    now, before = _images(epoch, read)
    if read.port in epoch.plan.linear:
        rows = pa.concat_tables(
            [_with_weight(now, epoch.weights[read.port], 1), _with_weight(before, epoch.weights[read.port], -1)]
        )
        if rows.num_rows:
            yield _rows_of(epoch, _Meeting(epoch, later).of_rows(read, rows))
        return
    columns = {name: link[read.port] for name, link in epoch.links.items() if read.port in link}
    touched = union_keys([key_rows(rows, columns) for rows in (now, before)])
    yield _rows_of(epoch, _Meeting(epoch, later).of_keys(touched))
    yield _taken_away(epoch, _rows_of(epoch, _Meeting(epoch, later | {read.port}).of_keys(touched)))


def _rows_of(epoch: _Epoch, bound: Mapping[str, pa.Table | Spilled]) -> pa.Table:
    """The rows that some rows of the ports make, with weights, or the totals of them."""
    linear = [rows for port in epoch.plan.linear if not isinstance(rows := bound[port], Spilled)]
    if any(not rows.num_rows for rows in linear):
        return arrow_schema(epoch.groups.columns).empty_table()
    step = epoch.step.model_copy(update={"sql": weighted(epoch.plan)})
    rows_by_port = {read.port: _port_rows(epoch, read, bound[read.port]) for read in epoch.step.reads}
    return conform(epoch.frames.answer(f"{step.id} rows", step, rows_by_port), epoch.groups.columns)


def _port_rows(epoch: _Epoch, read: PlannedRead, rows: pa.Table | Spilled) -> "pa.Table | DataFrame":
    """Rows of a port, always of one schema; the weight of a row is 1 where it has none."""
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

    weight = epoch.weights.get(read.port)
    if isinstance(rows, Spilled):
        frame = epoch.frames.frame(rows)
        return frame if weight is None else frame.withColumn(weight, F.lit(1).cast("bigint"))
    found = conform(rows, epoch.inputs.needs[read.table].columns)
    if weight is None:
        return found
    if weight not in rows.column_names:
        return _with_weight(found, weight, 1)
    return found.append_column(pa.field(weight, pa.int64()), rows.column(weight))


def _with_weight(rows: pa.Table, name: str, weight: int) -> pa.Table:
    return rows.append_column(pa.field(name, pa.int64()), pa.repeat(pa.scalar(weight, pa.int64()), rows.num_rows))


def _taken_away(epoch: _Epoch, rows: pa.Table) -> pa.Table:
    """Rows or totals with the opposite sign."""
    summed = [column.name for column in epoch.plan.values] if epoch.plan.totals is not None else []
    for name in (*summed, WEIGHT):
        at = rows.schema.get_field_index(name)
        rows = rows.set_column(at, rows.schema.field(at), pc.negate(rows.column(at)))
    return rows


def _images(epoch: _Epoch, read: PlannedRead) -> tuple[pa.Table, pa.Table]:
    """The rows of a port that are there now and were not before, and the other way round."""
    need = epoch.inputs.needs[read.table]
    now = epoch.inputs.deltas[read.table].changes().upserts.select(need.column_names)
    before = epoch.inputs.states.before(read.table).select(need.column_names) if need.key else now.slice(0, 0)
    return now, before


class _Meeting:
    """Binds ports to the rows that can meet some rows, along links; a port that no link leads to is bound whole."""

    def __init__(self, epoch: _Epoch, old: set[str]) -> None:
        self._epoch = epoch
        self._old = old  # ports as they were at the epoch's start
        self._known: dict[str, pa.Table] = {}  # rows of linear ports, from which links lead on
        self._bound: dict[str, pa.Table | Spilled] = {}

    def of_rows(self, read: PlannedRead, rows: pa.Table) -> dict[str, pa.Table | Spilled]:
        """One port bound to some rows, the others to those that these can meet."""
        self._bound[read.port] = rows
        self._known[read.port] = rows
        return self._all()

    def of_keys(self, touched: pa.Table) -> dict[str, pa.Table | Spilled]:
        """Ports bound to the rows that have one of some values, of the links that are columns of `touched`."""
        links = self._epoch.links
        for read in self._epoch.step.reads:
            columns = {name: links[name][read.port] for name in touched.column_names if read.port in links[name]}
            if columns:
                self._bind(read, key_rows(touched, list(columns)), columns)
        return self._all()

    def _all(self) -> dict[str, pa.Table | Spilled]:
        while (step := self._next()) is not None:
            self._bind(*step)
        for read in self._epoch.step.reads:
            if read.port not in self._bound:
                self._bound[read.port] = self._epoch.inputs.states.rows(read.table, old=self._is_old(read))
        return self._bound

    def _next(self) -> tuple[PlannedRead, pa.Table, dict[str, str]] | None:
        """A port that a link leads to, with the values wanted there."""
        for read in self._epoch.step.reads:
            if read.port in self._bound:
                continue
            for port, rows in self._known.items():
                shared = {name: link for name, link in self._epoch.links.items() if {port, read.port} <= link.keys()}
                if shared:
                    wanted = key_rows(rows, {name: link[port] for name, link in shared.items()})
                    return read, wanted, {name: link[read.port] for name, link in shared.items()}
        return None

    def _bind(self, read: PlannedRead, wanted: pa.Table, columns: Mapping[str, str]) -> None:
        rows = self._epoch.inputs.states.met(read.table, wanted, columns, old=self._is_old(read))
        self._bound[read.port] = rows
        if read.port in self._epoch.plan.linear and not isinstance(rows, Spilled):
            self._known[read.port] = rows

    def _is_old(self, read: PlannedRead) -> bool:
        """Whether a port is wanted as of the start; one that did not change is the same, and is read only once."""
        return read.port in self._old or read.table not in self._epoch.inputs.deltas
