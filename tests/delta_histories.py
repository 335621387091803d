"""Histories of one `delta` step over inputs in memory: epochs, accidents, and the batch to compare with."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from streamhouse.engine import delta_step
from streamhouse.engine.frames import Frames
from streamhouse.engine.strategies import StepResult
from streamhouse.errors import StreamhouseError
from streamhouse.model.types import Strategy
from streamhouse.stores.base import Changes
from tests.delta_queries import COLUMNS, KEYS, Case, entry, version
from tests.memory_world import MemoryInput, Planned, World, planned
from tests.oracle import assert_same_rows, run_step

ROWS = 4
"""At most so many rows of an input change at a time."""
HAPPENS = ("restart", "lost", "fails", "fails after the write", "dies", "logs are gone", "edit", "others write")
ANY_STRATEGY = HAPPENS[:-2]
"""What a step survives that looks at the touched keys alone: an edit of it and rows of others are for a rebuild."""


@dataclass
class Paths:
    """Epochs that computed all, though each input that changed is followed and the groups were there."""

    all: int = 0


@contextmanager
def counted_paths() -> Iterator[Paths]:
    """Count how epochs compute; none computes all because the inputs have few rows."""
    counted, real = Paths(), delta_step._all

    def counting(epoch: delta_step._Epoch) -> StepResult:
        counted.all += all(epoch.plan.follows(read.port) for read in epoch.changed)
        return real(epoch)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delta_step, "_all", counting)
        patch.setattr(delta_step, "_all_is_cheaper", lambda *_: False)
        yield counted


def planned_case(case: Case, sql: str | None = None) -> Planned:
    """The step of a case, with another SQL if there is one."""
    return planned(sql or case.sql, tuple(case.key.split(", ")), COLUMNS, KEYS, case.reads, case.strategy)


def world_of(case: Case, frames: Frames, folder: Path) -> World:
    """A step that has not run, over inputs without rows."""
    inputs = {name: MemoryInput(COLUMNS[name], KEYS[name]) for name in set(case.reads.values())}
    return World(planned_case(case), inputs, frames, folder)


def history(world: World, case: Case, chance: Random, paths: Paths | None) -> None:
    """Three epochs, with accidents between them."""
    begin(world, chance)
    stands = True
    for _ in range(3):
        if chance.randrange(3) == 0:
            known = HAPPENS if case.strategy is Strategy.DELTA else ANY_STRATEGY
            quiet = accident(world, case, chance, known[chance.randrange(len(known))])
            stands = stands and quiet
        fill(world, chance, ROWS)
        result = epoch(world, chance, paths if stands else None)
        stands = stands or result is not None


def begin(world: World, chance: Random) -> None:
    """An epoch in which every input has rows."""
    for name, given_ in sorted(world.inputs.items()):
        given_.put(entry(name, given_.rows, chance, 8))
    _change_each(world, chance)
    epoch(world, chance)


def _change_each(world: World, chance: Random) -> None:
    """Change every input: without changes an epoch computes nothing, and what it would repair waits for the next."""
    for name, given_ in sorted(world.inputs.items()):
        given_.put(Changes(pa.Table.from_pylist([version(name, chance, 1)], schema=given_.rows.schema)))


def fill(world: World, chance: Random, most: int) -> None:
    """Change some of the inputs, by up to two entries each."""
    for name, given_ in sorted(world.inputs.items()):
        for _ in range(chance.randrange(3)):
            given_.put(entry(name, given_.rows, chance, most))


def epoch(world: World, chance: Random, paths: Paths | None = None) -> StepResult | None:
    """Run one, and compare; `paths`: it does not compute all."""
    computed = paths.all if paths else 0
    held = world.table_as_recorded  # an attempt that failed may have written, and writes the same again
    result = world.epoch(before=chance.randrange(2) == 0)
    compare(world)
    if result is not None:
        _differs(result, held, world.how.step.writes.primary_key)
    if paths is not None:
        assert paths.all == computed, "the epoch computed all"
    return result


def accident(world: World, case: Case, chance: Random, happens: str) -> bool:
    """Let something happen between two epochs; whether the groups still stand behind it."""
    if happens == "restart":
        world.restart()
        return True
    if happens == "lost":
        world.restart(lost=True)
        return False
    if happens in ("fails", "fails after the write"):
        fill(world, chance, ROWS)
        result, _ = world.run()
        if happens == "fails after the write":
            world.write(result)
        if chance.randrange(2):
            world.restart()
        epoch(world, chance)  # another attempt has the same changes, as the log of the epochs says
        return True
    if happens in ("dies", "logs are gone"):
        fill(world, chance, ROWS)
        result, deltas = world.run()
        world.write(result)
        world.record(result, deltas, dies=True)
        compare(world)
        world.restart()
        if happens == "logs are gone":
            for given_ in world.inputs.values():
                given_.forgotten = len(given_.log)
        return result is None
    if happens == "edit":
        sql = case.sql.replace("count(*)", "count(*) + 1").replace("max(", "1 + min(").replace("k.v,", "k.v + 1 AS v,")
        try:
            how = planned_case(case, sql)
        except StreamhouseError:  # of a random query: there is no such edit
            return True
        if how.step.writes.columns == world.how.step.writes.columns:
            world.restart(how=how)
            world.table.columns = how.step.writes.columns
            _change_each(world, chance)
        return how.step.delta == world.how.step.delta and world.how.step.sql == case.sql
    own = world.table.rows
    key = own.select(world.table.key)
    world.table.put(Changes(own.slice(0, 1), key.slice(1, 1)) if world.table.log else _nothing(own))
    world.recorded[world.how.step.writes.name] = world.table.available()
    _change_each(world, chance)
    return False


def _nothing(rows: pa.Table) -> Changes:
    return Changes(rows.slice(0, 0))


def compare(world: World) -> None:
    """The table has the rows that the batch has."""
    step = world.how.step
    assert_same_rows(world.table.rows, batch(world), key=step.writes.primary_key, name=step.sql)


def batch(world: World) -> pa.Table:
    """What the step makes of all rows."""
    inputs = {read.port: world.inputs[read.table].rows for read in world.how.step.reads}
    return run_step(world.frames.spark, world.how.step, inputs)[0]


def _differs(result: StepResult, held: pa.Table, key: tuple[str, ...]) -> None:
    """No row is written that is there already, none is deleted that is not."""
    there = {tuple(row[k] for k in key): repr(row) for row in held.to_pylist()}
    upserts = result.changes.upserts.select(held.column_names).to_pylist()
    same = [row for row in upserts if there.get(tuple(row[k] for k in key)) == repr(row)]
    assert not same, "rows are written as they were"
    deletes = result.changes.deletes
    gone = [] if deletes is None else [tuple(row[k] for k in key) for row in deletes.select(list(key)).to_pylist()]
    assert all(row in there for row in gone), "rows are deleted that were not there"
