"""How a step turns the changes of its inputs into changes of its table (design D6).

Every function gives the same result for the same ranges, however often it runs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from streamhouse.engine.expectations import Judged
from streamhouse.engine.frames import Frames
from streamhouse.engine.keys import key_rows, last_of_each_key, union_keys, with_keys, without_keys
from streamhouse.errors import StateConflictError
from streamhouse.model.plan import PlannedRead, PlannedStep
from streamhouse.model.table import Column
from streamhouse.model.types import ReadMode, Strategy
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class StepInputs:
    """What a step can ask for while an epoch runs.

    Attributes:
        columns: Table or source → its columns.
        keys: Table → primary key; empty for sources and log tables.
        changes: Table or source → what the epoch changed there; absent: nothing.
        changed: Table or source in `changes` → its upserts, made a DataFrame once for all steps.
        state: Table or source → all its rows at the epoch's end.
        at_ms: The epoch's recorded time.
    """

    columns: Mapping[str, tuple[Column, ...]]
    keys: Mapping[str, tuple[str, ...]]
    changes: Mapping[str, Changes]
    changed: Callable[[str], "DataFrame"]
    state: Callable[[str], "DataFrame"]
    at_ms: int


@dataclass(frozen=True)
class StepResult:
    """What a step makes of an epoch.

    Attributes:
        changes: Of the table it writes.
        judged: The rows of its SQL after their expectations.
    """

    changes: Changes
    judged: Judged


def run_step(step: PlannedStep, inputs: StepInputs, frames: Frames, current: Callable[[], pa.Table]) -> StepResult:
    """What the epoch changes in the table the step writes.

    Args:
        step: As planned.
        inputs: What the epoch changed, and the state of what it reads.
        frames: Runs the SQL.
        current: All rows of the step's own table before this epoch's write; called only by
            strategies that must know which keys are gone.
    """
    if step.strategy is Strategy.FULL:
        return _full(step, inputs, frames, current)
    if step.strategy is Strategy.RECOMPUTE:
        return _recompute(step, inputs, frames, current)
    return _from_changes(step, inputs, frames)


def _from_changes(step: PlannedStep, inputs: StepInputs, frames: Frames) -> StepResult:
    """`map` and `merge`: the SQL over the changed rows alone."""
    bound: dict[str, DataFrame] = {}
    touched: list[pa.Table] = []
    key = step.writes.primary_key
    for read in step.reads:
        if read.mode is ReadMode.LOOKUP:
            bound[read.port] = inputs.state(read.table)
            continue
        changes = inputs.changes.get(read.table)
        if changes:
            bound[read.port] = inputs.changed(read.table)
        else:
            bound[read.port] = frames.frame(arrow_schema(inputs.columns[read.table]).empty_table())
        if changes and inputs.keys.get(read.table) and step.strategy is Strategy.MAP:
            # A key that did not exist before cannot have a row that must go.
            known = (changes.upserts, changes.deletes) if changes.before is None else (changes.before,)
            touched += [key_rows(part, read.key_columns) for part in known if part is not None]
    judged = frames.collect(step, frames.run(step, bound, inputs.at_ms))
    rows = judged.kept
    if step.strategy is Strategy.MAP:
        rows = last_of_each_key(rows, key)
    if not touched:
        return StepResult(Changes(rows), judged)
    # A changed row that no longer passes the step's filter leaves the table.
    gone = without_keys(union_keys(touched).select(list(key)), key_rows(rows, key))
    return StepResult(Changes(rows, gone), judged)


def _recompute(step: PlannedStep, inputs: StepInputs, frames: Frames, current: Callable[[], pa.Table]) -> StepResult:
    """The SQL over every input row that shares a key with a changed one, as it was or as it is."""
    touched = union_keys(
        [
            key_rows(image, read.key_columns)
            for read in step.reads
            if read.mode is ReadMode.CHANGES and read.table in inputs.changes
            for image in _images(read, inputs)
        ]
    )
    keys = frames.frame(touched)
    bound: dict[str, DataFrame] = {}
    for read in step.reads:
        state = inputs.state(read.table)
        if read.mode is ReadMode.CHANGES:
            state = frames.having_keys(state, keys, read.key_columns)
        bound[read.port] = state
    judged = frames.collect(step, frames.run(step, bound, inputs.at_ms))
    key = step.writes.primary_key
    rows = last_of_each_key(judged.kept, key)
    before = touched
    if set(touched.column_names) != set(key):
        before = key_rows(with_keys(current(), touched), key)
    # No row of a table has a NULL in its key; a changed input row may.
    gone = without_keys(before.select(list(key)).drop_null(), key_rows(rows, key))
    return StepResult(Changes(rows, gone), judged)


def _full(step: PlannedStep, inputs: StepInputs, frames: Frames, current: Callable[[], pa.Table]) -> StepResult:
    """The SQL over everything; only what differs from the table is written."""
    bound = {read.port: inputs.state(read.table) for read in step.reads}
    judged = frames.collect(step, frames.run(step, bound, inputs.at_ms))
    key = step.writes.primary_key
    rows = last_of_each_key(judged.kept, key)
    before = current().select(rows.column_names)
    gone = without_keys(key_rows(before, key), key_rows(rows, key))
    return StepResult(Changes(_not_in(rows, before, key), gone), judged)


def _images(read: PlannedRead, inputs: StepInputs) -> list[pa.Table]:
    changes = inputs.changes[read.table]
    images = [changes.upserts]
    if inputs.keys.get(read.table):
        if changes.before is not None:
            images.append(changes.before)
        elif not set(read.key_columns.values()) <= set(inputs.keys[read.table]):
            raise StateConflictError(
                f"{read.table} does not tell the rows before a change, which this step needs",
                hint="keep the table in the hot tier",
            )
        elif changes.deletes is not None:
            images.append(changes.deletes)
    return images


def _not_in(rows: pa.Table, before: pa.Table, key: tuple[str, ...]) -> pa.Table:
    """The rows that are new or differ from the row of the same key in `before`."""
    old = {tuple(row[k] for k in key): row for row in before.to_pylist()}
    changed = [i for i, row in enumerate(rows.to_pylist()) if old.get(tuple(row[k] for k in key)) != row]
    return rows.take(pa.array(changed, pa.int64()))
