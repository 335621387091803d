"""The hot tier is lost: its tables come back from the lakes, the flows go on, and told is what is missing."""

import pytest

from streamhouse.change.building import epochs_of_writers
from streamhouse.errors import StateConflictError
from streamhouse.jobs.restore import restore_flow
from streamhouse.model.types import Tier
from streamhouse.runtime.open import plan_of
from streamhouse.stores.fluss.notes import NAME as NOTES
from streamhouse.tiering.move import tier, tier_all
from tests.gate.levels import deep, soak
from tests.live import expected
from tests.losses import FLOW, ORDERS, World, opened_project
from tests.oracle import assert_same_rows

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep(
        "each part of a hot tier that is lost",
        stays=("test_hot_tables_come_back_from_the_lakes_and_the_flow_goes_on[hot_and_state]",),
    ),
]

YAML = f"""\
flow: {FLOW}
freshness: 100ms
sources: {{orders: {{files: {{path: data/*.csv, columns: {ORDERS}}}}}}}
steps:
  - {{use: keep, reads: {{rows: orders}}, writes: ods.lh_all}}
  - {{use: valid, reads: {{rows: ods.lh_all}}, writes: dwd.lh_all}}
  - {{use: spent, reads: {{rows: ods.lh_all}}, writes: dws.lh_all, isolate: true}}
  - {{use: keep, reads: {{rows: orders}}, writes: ods.lh_alone}}
tables:
  ods.lh_all: {{tiers: {{hot: 7d, warm: 30d, cold: forever}}}}
  dwd.lh_all: {{tiers: {{hot: 7d, warm: 30d}}}}
  dws.lh_all: {{tiers: {{hot: 7d, cold: forever}}}}
  ods.lh_alone: {{tiers: {{hot: 7d}}}}
"""


@pytest.fixture(scope="module")
def opened(tmp_path_factory, fluss, spark):
    with opened_project(tmp_path_factory.mktemp("hot") / "project", YAML, fluss, spark) as found:
        yield found


@pytest.fixture
def world(opened, tmp_path):
    made = World(opened, tmp_path / "copies")
    made.add()
    made.run()
    tier_all(
        plan_of(opened.project, FLOW),
        opened.stores,
        epochs=lambda name: epochs_of_writers(opened.state, FLOW, name),
    )
    yield made
    opened.stores[Tier.HOT].drop(NOTES)
    made.clear()


def lose_hot_tier(world):
    for name in (*plan_of(world.open.project, FLOW).tables, NOTES):
        world.open.stores[Tier.HOT].drop(name)


def assert_tiers_equal_batch(world, *names):
    plan, wanted = plan_of(world.open.project, FLOW), expected(world.open)
    for name in names:
        table = plan.tables[name]
        for one in table.tiers.present:
            copy = table if one is Tier.HOT else table.replica
            rows = world.open.stores[one].read_state(copy)
            assert_same_rows(rows, wanted[name], key=table.primary_key, name=f"{name} {one}")


@pytest.mark.parametrize(
    "lost",
    [
        pytest.param([], id="hot", marks=soak),  # the next ones lose it, too
        pytest.param(["state"], id="hot_and_state"),
        pytest.param(["checkpoints"], id="hot_and_checkpoints", marks=soak),
    ],
)
def test_hot_tables_come_back_from_the_lakes_and_the_flow_goes_on(world, lost):
    lose_hot_tier(world)
    for what in lost:
        world.lose(what)
    world.add()
    if "state" not in lost:
        with pytest.raises(StateConflictError, match="streamhouse restore live"):
            world.run()
    plan = plan_of(world.open.project, FLOW)
    before = restore_flow(world.open, plan, dry_run=True)
    cached = world.open.project.state_dir / "cache" / "states" / FLOW
    assert cached.is_dir()
    done = restore_flow(world.open, plan)
    assert not cached.exists()  # they stood at positions in the old logs
    assert set(before.did) <= set(done.did)
    assert "ods.lh_all: its hot table is filled again from the warm tier" in done.did
    assert [text for text in done.lost if "lh_all" in text and "not known" not in text] == []
    if "state" not in lost:
        assert any(text.startswith("ods.lh_alone: all of its rows, 20") for text in done.lost)
    world.run()
    tier_all(plan, world.open.stores)
    assert_tiers_equal_batch(world, "ods.lh_all", "dwd.lh_all", "dws.lh_all")


@pytest.mark.parametrize("from_sources", [pytest.param(False, marks=soak), True])
def test_what_no_lake_has_is_told_or_computed_again(world, from_sources):
    world.add()
    world.run()
    lose_hot_tier(world)
    plan = plan_of(world.open.project, FLOW)
    done = restore_flow(world.open, plan, from_sources=from_sources)
    assert "ods.lh_all: 25 changes behind the last tiered offset" in done.lost
    world.add()
    world.run()
    if from_sources:
        assert "ods.lh_alone: 45 rows were computed again from what the flow reads" in done.did
        tier_all(plan, world.open.stores)
        assert_tiers_equal_batch(world, "ods.lh_all", "dwd.lh_all", "dws.lh_all", "ods.lh_alone")
    else:
        assert world.open.stores[Tier.HOT].read_state(plan.tables["ods.lh_all"]).num_rows == 45
        assert world.open.stores[Tier.HOT].read_state(plan.tables["ods.lh_alone"]).num_rows == 25


@soak
def test_copies_that_reach_not_as_far_get_what_they_lack(world):
    world.add()
    world.run()
    plan = plan_of(world.open.project, FLOW)
    cold = {Tier.HOT: world.open.stores[Tier.HOT], Tier.WARM: world.open.stores[Tier.WARM]}
    one = plan.tables["ods.lh_all"]
    tier(one, cold[Tier.HOT], cold[Tier.WARM])
    lose_hot_tier(world)
    restore_flow(world.open, plan)
    world.add()
    world.run()
    tier_all(plan, world.open.stores)
    assert_tiers_equal_batch(world, "ods.lh_all")


@soak
def test_a_restore_that_was_killed_is_begun_again(world, monkeypatch):
    lose_hot_tier(world)
    plan = plan_of(world.open.project, FLOW)
    with monkeypatch.context() as patched:
        patched.setattr("streamhouse.jobs.refill.Refill.done", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            restore_flow(world.open, plan)
    with pytest.raises(StateConflictError, match="streamhouse restore live"):
        world.run()
    restore_flow(world.open, plan)
    world.add()
    world.run()
    tier_all(plan, world.open.stores)
    assert_tiers_equal_batch(world, "ods.lh_all", "dwd.lh_all", "dws.lh_all")
