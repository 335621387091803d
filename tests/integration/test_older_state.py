"""A state store, a checkpoint or both are put back from an older copy, or lost: nothing doubles, nothing is lost."""

import pytest

from streamhouse.errors import StateConflictError, StoreError
from streamhouse.jobs.backfill import restate
from streamhouse.jobs.restore import restore_flow
from streamhouse.model.types import Tier
from streamhouse.runtime.open import plan_of
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.fluss.notes import NAME as NOTES
from tests.gate.levels import deep, soak
from tests.losses import FLOW, ORDERS, World, opened_project

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep(
        "each way in which a state can be old",
        stays=("test_an_older_state_is_refused_and_restored_from_the_tables[both_gone]",),
    ),
]

YAML = f"""\
flow: {FLOW}
freshness: 100ms
sources: {{orders: {{files: {{path: data/*.csv, columns: {ORDERS}}}}}}}
steps:
  - {{use: keep, reads: {{rows: orders}}, writes: ods.os_hot}}
  - {{use: keep, reads: {{rows: orders}}, writes: ods.os_warm}}
  - {{use: keep, reads: {{rows: orders}}, writes: ods.os_cold}}
  - {{use: valid, reads: {{rows: ods.os_hot}}, writes: dwd.os_hot}}
  - {{use: valid, reads: {{rows: ods.os_hot}}, writes: dwd.os_warm}}
  - {{use: valid, reads: {{rows: ods.os_hot}}, writes: dwd.os_cold}}
  - {{use: spent, reads: {{rows: ods.os_hot}}, writes: dws.os_hot}}
  - {{use: spent, reads: {{rows: ods.os_hot}}, writes: dws.os_warm}}
tables:
  ods.os_hot: {{tiers: {{hot: 7d}}}}
  ods.os_warm: {{tiers: {{warm: 7d}}}}
  ods.os_cold: {{tiers: {{cold: forever}}}}
  dwd.os_hot: {{tiers: {{hot: 7d}}}}
  dwd.os_warm: {{tiers: {{warm: 7d}}}}
  dwd.os_cold: {{tiers: {{cold: forever}}}}
  dws.os_hot: {{tiers: {{hot: 7d}}}}
  dws.os_warm: {{tiers: {{warm: 7d}}}}
"""


@pytest.fixture(scope="module")
def opened(tmp_path_factory, fluss, spark):
    with opened_project(tmp_path_factory.mktemp("older") / "project", YAML, fluss, spark) as found:
        yield found


@pytest.fixture
def world(opened, tmp_path):
    made = World(opened, tmp_path / "copies")
    for _ in range(2):
        made.add()
    made.run()
    made.copy()
    made.add()
    made.run()
    yield made
    made.clear()


OLD = ["state", "checkpoints"]


def refused_and_restored(world):
    world.add()
    with pytest.raises(StateConflictError, match="streamhouse restore live"):
        world.run()
    done = restore_flow(world.open, plan_of(world.open.project, FLOW))
    assert done.did
    world.run()
    world.assert_equals_batch()
    return done


@pytest.mark.parametrize(
    ("older", "lost"),
    [
        pytest.param(["state"], [], id="state_old"),
        pytest.param(OLD, [], id="both_old", marks=soak),
        pytest.param(["state"], ["checkpoints"], id="state_old_no_checkpoint", marks=soak),
        pytest.param(["checkpoints"], ["state"], id="no_state_old_checkpoint", marks=soak),
        pytest.param([], OLD, id="both_gone"),
    ],
)
def test_an_older_state_is_refused_and_restored_from_the_tables(world, older, lost):
    for what in older:
        world.put_back(what)
    for what in lost:
        world.lose(what)
    refused_and_restored(world)


@pytest.mark.parametrize(
    "older", [pytest.param(["state"], id="state_old", marks=soak), pytest.param(OLD, id="both_old")]
)
def test_an_epoch_that_died_is_completed_once(world, older, monkeypatch):
    world.add()
    with monkeypatch.context() as patched:
        patched.setattr("streamhouse.engine.epoch.reach", dies_at("between_writes", {"ods.os_hot", "ods.os_cold"}))
        with pytest.raises(StoreError, match="it dies"):
            world.run()
    for what in older:
        world.put_back(what)
    refused_and_restored(world)


def dies_at(point, tables):
    def reach(name, detail=""):
        if name == point and detail in tables:
            raise StoreError("it dies")

    return reach


@pytest.mark.parametrize(
    "how", ["empty_offsets", *(pytest.param(h, marks=soak) for h in ("old", "gone", "empty_commits", "garbage_before"))]
)
def test_a_checkpoint_that_is_lost_old_or_damaged_is_made_from_the_state_store(world, how):
    world.add()
    if how in ("old", "gone"):
        (world.put_back if how == "old" else world.lose)("checkpoints")
    for segment in (world.folders["checkpoints"] / FLOW).glob("*"):
        if how == "empty_offsets":
            (segment / "0" / "offsets" / "1").write_text("")
        if how == "empty_commits":
            (segment / "0" / "commits" / "1").write_text("")
        if how == "garbage_before":
            (segment / "0" / "offsets" / "0").write_text("v1\n{\n")
    world.run()
    world.assert_equals_batch()


@pytest.mark.parametrize("how", ["gone", "unlogged", pytest.param("damaged", marks=soak)])
def test_an_epoch_that_died_is_completed_without_its_checkpoint(world, how, monkeypatch):
    world.add()
    with monkeypatch.context() as patched:
        patched.setattr("streamhouse.engine.epoch.reach", dies_at("between_writes", {"ods.os_hot"}))
        with pytest.raises(StoreError, match="it dies"):
            world.run()
    logged = world.folders["checkpoints"] / FLOW / "main" / "0" / "offsets" / "2"
    if how == "gone":
        world.lose("checkpoints")
    elif how == "damaged":
        logged.write_text("")
    else:
        logged.unlink()  # the power failed before the file was on the disk
    world.run()
    world.assert_equals_batch()


def test_a_hot_table_that_something_else_wrote_to_is_not_taken_for_the_flows(world):
    table = plan_of(world.open.project, FLOW).tables["ods.os_hot"]
    store = world.open.stores[Tier.HOT]
    rows = store.read_state(table).slice(0, 2)
    store.write(table, Changes(rows), WriteContext("test", 0))
    with pytest.raises(StateConflictError, match="streamhouse restore live"):
        world.run()
    [told] = restore_flow(world.open, plan_of(world.open.project, FLOW)).did
    assert told == "ods.os_hot: 2 rows that something else wrote since the last epoch stay"
    world.run()


def test_a_backfill_writes_beside_the_flow(world):
    found = restate(world.open, plan_of(world.open.project, FLOW))
    assert {one.upserts for one in found} == {0}
    world.add()
    world.run()
    world.assert_equals_batch()


def test_what_cannot_be_known_is_refused_until_the_tables_are_built_again(world):
    world.put_back("state")
    world.lose("checkpoints")
    world.open.stores[Tier.HOT].drop(NOTES)
    plan = plan_of(world.open.project, FLOW)
    with pytest.raises(StateConflictError, match="live/lake"):
        world.run()
    with pytest.raises(StateConflictError, match="it cannot be known how far live is"):
        restore_flow(world.open, plan)
    restore_flow(world.open, plan, rebuild=True)
    world.add()
    world.run()
    world.assert_equals_batch()
