"""How a step turns the changes of its inputs into changes of its table (design D6).

Every function gives the same result for the same ranges, however often it runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from streamhouse.engine.delta import Delta
from streamhouse.engine.expectations import Judged
from streamhouse.engine.frames import Frames
from streamhouse.engine.groups import Groups
from streamhouse.engine.keys import key_rows, one_of_each_key, storable, union_keys, without_keys
from streamhouse.engine.needs import Need
from streamhouse.engine.spill import Spilled
from streamhouse.model.plan import PlannedRead, PlannedStep
from streamhouse.model.types import ReadMode, Strategy
from streamhouse.sql.projection import is_light, repeated
from streamhouse.stores.arrow import arrow_schema, conform
from streamhouse.stores.base import Changes
from streamhouse.stores.equality import plain_keys
from streamhouse.stores.keyed import winners

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class States(Protocol):
    """Rows as they are at the end of the epoch in hand, but for what the step itself is about to write."""

    def whole(self, name: str) -> "DataFrame":
        """All rows of a source or table; one DataFrame for all steps, while the rows stay the same."""

    def with_keys(self, name: str, wanted: pa.Table, columns: Mapping[str, str]) -> "DataFrame":
        """The rows that have one of the keys in `wanted`, null-safe; `columns` maps its columns to theirs.

        The keys may also be values that are cached with the rows (`Need.computed`); the result is without these.
        """

    def before(self, name: str) -> pa.Table:
        """The rows, as of the start of the epoch, of the keys that the epoch changes in a keyed input.

        With them, as in `Delta.keyed`, the values computed from them.
        """

    def own_with_keys(self, name: str, wanted: pa.Table, columns: Mapping[str, str]) -> pa.Table:
        """As `with_keys`, of the step's own table before the epoch, in this process."""

    def difference(self, name: str, rows: pa.Table, among: pa.Table | None = None) -> Changes:
        """What turns the rows that the step's own table had before the epoch into `rows`.

        Args:
            name: Of the step's own table, of which all columns of `rows` are cached.
            rows: Each key once.
            among: Distinct values of some of the table's columns, null-safe: its rows with others stay as they are.
                None: all of them are compared.
        """

    def rows(self, name: str, *, old: bool) -> pa.Table | Spilled:
        """As `whole`, or as of the start of the epoch, and not yet as a DataFrame."""

    def met(self, name: str, wanted: pa.Table, columns: Mapping[str, str], *, old: bool) -> pa.Table | Spilled:
        """As `with_keys`, or as of the start of the epoch, and not yet as a DataFrame."""

    def size(self, name: str) -> int:
        """How many rows there were at the start of the epoch."""

    def groups(self, step: str) -> Groups:
        """What a `delta` step holds, by its id."""

    def derive(self, name: str, changes: Changes | None) -> None:
        """Say what the epoch changes in the rows of a stage, before anything else of it is asked for; None: nothing."""


@dataclass(frozen=True)
class StepInputs:
    """What a step can ask for while an epoch runs.

    Attributes:
        needs: Table or source → its columns and key, as the segment reads it.
        deltas: Table or source → what the epoch changed there; absent: nothing.
        states: Rows by key, or as a whole.
        at_ms: The epoch's recorded time.
    """

    needs: Mapping[str, Need]
    deltas: Mapping[str, Delta]
    states: States
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


def gives_frame(step: PlannedStep, inputs: StepInputs) -> bool:
    """Whether steps that follow take the step's query in place of its rows, and so need not wait for these.

    They run it again, so it must cost less than carrying its rows. The rows are all that the step changes.
    """
    return (
        step.strategy is Strategy.MAP
        and not step.writes.primary_key
        and not step.expect
        and is_light(step.sql)
        and repeated(step.sql) is None  # its rows are there at once
        and not any(delta.spread or inputs.needs[name].key for name, delta in inputs.deltas.items())
    )


def run_step(step: PlannedStep, inputs: StepInputs, frames: Frames) -> StepResult:
    """What the epoch changes in the table the step writes."""
    if step.strategy is Strategy.FULL:
        return run_full(step, inputs, frames)
    if step.strategy is Strategy.RECOMPUTE:
        return _recompute(step, inputs, frames)
    return _from_changes(step, inputs, frames)


def changed_rows(step: PlannedStep, inputs: StepInputs, frames: Frames) -> "DataFrame":
    """The SQL of a `map` or `merge` step over the changed rows alone."""
    if frames.may_stand(step):
        [read] = step.reads
        over = inputs.deltas[read.table].standing() if read.table in inputs.deltas else None
        if over is not None and (standing := frames.standing(step, over)) is not None:
            return standing
    bound: dict[str, DataFrame] = {}
    for read in step.reads:
        if read.mode is ReadMode.LOOKUP:
            bound[read.port] = inputs.states.whole(read.table)
        elif read.table in inputs.deltas:
            bound[read.port] = inputs.deltas[read.table].frame()
        else:
            bound[read.port] = frames.frame(arrow_schema(inputs.needs[read.table].columns).empty_table())
    return frames.run(step, bound, inputs.at_ms)


def collected(step: PlannedStep, frame: "DataFrame", frames: Frames) -> StepResult:
    """The result of a step that only adds rows, of its query."""
    judged = frames.collect(step, frame)
    return StepResult(Changes(judged.valid_rows), judged)


def _from_changes(step: PlannedStep, inputs: StepInputs, frames: Frames) -> StepResult:
    same = _repeated_rows(step, inputs)
    judged = Judged(same) if same is not None else frames.collect(step, changed_rows(step, inputs, frames))
    rows = judged.valid_rows
    if step.strategy is not Strategy.MAP:
        return StepResult(Changes(rows), judged)
    key = step.writes.primary_key
    rows = plain_keys(winners(rows, step.writes), key) if key else rows
    touched = [
        key_rows(part, read.key_columns)
        for read in _drivers(step, inputs)
        if inputs.needs[read.table].key
        for part in _keys_before(inputs.deltas[read.table].changes())
    ]
    if not touched:
        return StepResult(Changes(rows), judged)
    # A changed row that no longer passes the step's filter leaves the table.
    deletes = without_keys(union_keys(touched).select(list(key)), key_rows(rows, key))
    return StepResult(Changes(rows, deletes), judged)


def _repeated_rows(step: PlannedStep, inputs: StepInputs) -> pa.Table | None:
    """What a step gives that only repeats columns of its one input: Spark would carry the rows there and back.

    None: it does more.
    """
    if step.strategy is not Strategy.MAP or step.expect or len(step.reads) != 1:
        return None
    [read], origins = step.reads, repeated(step.sql)
    types = {column.name: column.type for column in inputs.needs[read.table].columns}
    if origins is None or any(types.get(origins.get(c.name, "")) != c.type for c in step.columns):
        return None
    rows = inputs.deltas[read.table].changes().upserts
    names = [column.name for column in step.columns]
    return conform(rows.select([origins[name] for name in names]).rename_columns(names), step.columns)


def _recompute(step: PlannedStep, inputs: StepInputs, frames: Frames) -> StepResult:
    """The SQL over every input row that shares a key with a changed one, as it was or as it is.

    Of its rows those are written that differ from the table's.
    """
    touched = union_keys(
        [key_rows(image, read.key_columns) for read in _drivers(step, inputs) for image in _images(read, inputs)]
    )
    bound: dict[str, DataFrame] = {}
    for read in step.reads:
        if read.mode is ReadMode.LOOKUP:
            bound[read.port] = inputs.states.whole(read.table)
        else:
            bound[read.port] = inputs.states.with_keys(read.table, touched, read.key_columns)
    judged = frames.collect(step, frames.run(step, bound, inputs.at_ms))
    rows = one_of_each_key(judged.valid_rows, step.writes)
    if step.part:  # others write the rows too, and no state says which step writes which column
        return StepResult(Changes(rows, _keys_to_delete(step, inputs, touched, rows)), judged)
    changes = inputs.states.difference(step.writes.name, rows, touched)
    if step.writes.forgets_after is not None:  # colder tiers hold rows that the state does not know
        changes = Changes(changes.upserts, _keys_to_delete(step, inputs, touched, rows))
    return StepResult(changes, judged)


def _keys_to_delete(step: PlannedStep, inputs: StepInputs, touched: pa.Table, rows: pa.Table) -> pa.Table:
    """The keys of the step's table that are touched and have no row, whether or not they had one."""
    key = step.writes.primary_key
    before = touched
    if set(touched.column_names) != set(key):
        own = {name: name for name in touched.column_names}
        before = inputs.states.own_with_keys(step.writes.name, touched, own)
    return without_keys(storable(before.select(list(key)), step.writes), key_rows(rows, key))


def run_full(step: PlannedStep, inputs: StepInputs, frames: Frames) -> StepResult:
    """The SQL over everything; only what differs from the table is written."""
    bound = {read.port: inputs.states.whole(read.table) for read in step.reads}
    judged = frames.collect(step, frames.run(step, bound, inputs.at_ms))
    rows = one_of_each_key(judged.valid_rows, step.writes)
    changes = inputs.states.difference(step.writes.name, rows)
    if step.writes.forgets_after is not None:  # what a row was that colder tiers hold is not known
        changes = replace(changes, before=None)
    return StepResult(changes, judged)


def _drivers(step: PlannedStep, inputs: StepInputs) -> list[PlannedRead]:
    return [read for read in step.reads if read.mode is ReadMode.CHANGES and read.table in inputs.deltas]


def _keys_before(changes: Changes) -> list[pa.Table]:
    """The keys that may have had a row; one that did not exist before cannot have a row that must go."""
    known = (changes.upserts, changes.deletes) if changes.before is None else (changes.before,)
    return [part for part in known if part is not None]


def _images(read: PlannedRead, inputs: StepInputs) -> list[pa.Table]:
    changes, key = inputs.deltas[read.table].keyed(), inputs.needs[read.table].key
    if not key:
        return [changes.upserts]
    if set(read.key_columns.values()) <= set(key):  # a change keeps them, so the rows before say nothing new
        return [part for part in (changes.upserts, changes.deletes) if part is not None]
    return [changes.upserts, inputs.states.before(read.table)]
