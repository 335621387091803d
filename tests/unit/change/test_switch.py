"""The switch to another plan, over tables in local files. No Spark."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pyarrow as pa
import pytest

from streamhouse.change.switch import switch_between
from streamhouse.model.outcome import Outcome
from streamhouse.model.plan import FlowPlan, PlannedRead, PlannedSource, PlannedStep, Segment
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import ReadMode, StepKind, Strategy, Tier
from streamhouse.runtime.owner import this_owner
from streamhouse.state.changes import Wish
from streamhouse.state.records import EpochRecord
from streamhouse.state.store import StateStore
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.mark import Mark
from streamhouse.stores.paimon import PaimonStore

COLUMNS = (Column(name="id", type="bigint"),)
LAST = 7
"""The newest epoch of `aside` in the table that it wrote before it left the plan."""


def step(writes, tiers):
    return PlannedStep(
        action="a",
        version="1.0.0",
        kind=StepKind.INGEST,
        reads=(PlannedRead(port="rows", table="src", mode=ReadMode.CHANGES, columns=("id",)),),
        writes=Table(name=writes, columns=COLUMNS, tiers=tiers),
        sql="SELECT id FROM rows",
        strategy=Strategy.MAP,
        reason="",
    )


def plan(tiers, **segments):
    steps = {name: tuple(step(table, tiers) for table in tables) for name, tables in segments.items()}
    return FlowPlan(
        flow="f",
        sources=(PlannedSource(name="src", kind="files", columns=COLUMNS),),
        segments=tuple(Segment(name=name, steps=found) for name, found in steps.items()),
    )


class World:
    """A flow whose step was apart, and is not; the state store knows only what the applied plan has."""

    def __init__(self, root, state, tiers):
        self.state = state
        lakes = {tier: PaimonStore(root / tier, root / "locks") for tier in (Tier.WARM, Tier.COLD)}
        self.open = SimpleNamespace(state=state, stores=lakes)
        self.old, self.wanted = plan(tiers, main=["ods.a", "ods.b"]), plan(tiers, main=["ods.a"], aside=["ods.b"])
        self.table = self.wanted.tables["ods.b"]
        for table in self.wanted.tables.values():
            lakes[Tier.WARM].create(table)
        state.save_plan(self.old)
        lease = state.acquire("f", this_owner(), timedelta(minutes=1), datetime.now(UTC))
        state.begin_epoch(lease, "main", 3, 30, datetime.now(UTC))
        state.finish_epoch(lease, EpochRecord("f", "main", 3, 30, 1, 1, end={"src": {"0": 5}}))

    def write(self, epoch, *ids):
        """As `aside` writes."""
        rows = Changes(pa.table({"id": pa.array(ids, pa.int64())}))
        self.open.stores[Tier.WARM].write(self.table, rows, WriteContext("f/aside", epoch))

    def switched(self):
        """Segment → the epoch that it goes on behind, once the step is apart again."""
        change = self.state.ask_change(Wish(self.wanted, Outcome.SWAP), "ann")
        return {one.segment: one.epoch for one in switch_between(self.open, self.old, self.wanted, change, {}).records}


@pytest.fixture
def world(tmp_path):
    with StateStore(f"sqlite:///{tmp_path}/state.db") as state:
        yield lambda **tiers: World(tmp_path, state, Tiers(**tiers))


def test_a_segment_that_comes_back_after_the_state_store_was_made_again_loses_no_row(world):
    found = world(warm="30d")
    found.write(LAST, 1)
    found.write(found.switched()["aside"] + 1, 2)
    rows = found.open.stores[Tier.WARM].read_state(found.table)
    assert sorted(rows.column("id").to_pylist()) == [1, 2]


def test_a_segment_that_comes_back_goes_on_behind_all_epochs_that_a_copy_names(world):
    """Else the copy would have rows of epochs that the state store does not know yet, or knows for others."""
    found = world(warm="30d", cold="forever")
    cold = found.open.stores[Tier.COLD]
    cold.create(found.table.replica)
    mark = Mark(0, Tier.WARM, {"snapshot": 1}, {"f/aside": LAST}, {"f/aside": {LAST: 70}})
    rows = Changes(pa.table({"id": pa.array([1], pa.int64())}))
    cold.write(found.table.replica, rows, WriteContext("tiering/ods.b", 0, properties=mark.properties()))
    assert found.switched() == {"main": 5, "aside": LAST + 2}


def test_a_segment_that_never_was_begins_with_epoch_0(world):
    assert world(warm="30d").switched() == {"main": 5, "aside": 0}
