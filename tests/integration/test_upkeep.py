"""`streamhouse upkeep` over the lake tables of a flow that goes on, with the strictest expiry there is."""

from contextlib import contextmanager
from datetime import timedelta

import pytest

from streamhouse.jobs import tier as tier_module
from streamhouse.jobs import upkeep as module
from streamhouse.jobs.run import Meter, carry
from streamhouse.jobs.tier import tier_flows
from streamhouse.jobs.upkeep import keep_up
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import Open, plan_of
from tests.gate.levels import deep
from tests.live import FLOW, add, assert_equals_batch, opened_project, served

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep("upkeep beside a flow; tests/contract/test_lake_upkeep.py has each part"),
]

TIERS = """\
tables:
  ods.lv_orders: {tiers: {hot: 1d, cold: 90d}}
  dwd.lv_orders: {tiers: {warm: 30d, cold: 90d}}
  dws.lv_spent: {tiers: {hot: 1d, warm: 30d}}
  dws.lv_average: {tiers: {cold: 90d}}
"""
LAKES = {
    ("ods.lv_orders", Tier.COLD),
    ("dwd.lv_orders", Tier.WARM),
    ("dwd.lv_orders", Tier.COLD),
    ("dws.lv_spent", Tier.WARM),
    ("dws.lv_average", Tier.COLD),
    ("ads.lv_best", Tier.WARM),  # by default
}


@pytest.fixture
def open_(tmp_path, fluss, spark, monkeypatch):
    with opened_project(tmp_path, fluss, spark) as first:
        file = tmp_path / "flows" / f"{FLOW}.yaml"
        file.write_text(file.read_text() + TIERS)
        project = Project(tmp_path, Settings(fluss=fluss, keep_snapshots=timedelta(0)))
        found = Open(project, spark, fluss, first.stores, first.state)

        @contextmanager
        def as_it_is(*_, **__):
            yield found

        for opener in (module, tier_module):
            monkeypatch.setattr(opener, "opened", as_it_is)  # else it would stop the session that all tests share
        yield found


def drain(open_):
    plan = plan_of(open_.project, FLOW)
    carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True)


def test_a_flow_and_tiering_go_on_over_tables_that_were_compacted_and_expired(open_):
    for number in range(3):
        add(open_.project.root, number)
        drain(open_)
        tier_flows(open_.project)
    add(open_.project.root, 3)
    drain(open_)  # tiering has yet to read this from the warm table
    done = keep_up(open_.project, [FLOW], full=True)
    assert not done.failed
    assert {(one.table, one.tier) for one in done.tables} == LAKES
    assert all(one.after.files < one.before.files for one in done.tables), done.tables
    assert all(one.snapshots for one in done.tables), done.tables
    add(open_.project.root, 4)
    drain(open_)
    tier_flows(open_.project)
    assert_equals_batch(open_)
    assert keep_up(open_.project, orphans=True).tables[0].orphans == 0
    for name, lake in (("ods.lv_orders", Tier.COLD), ("dws.lv_spent", Tier.WARM), ("dwd.lv_orders", Tier.COLD)):
        target = Tier.WARM if name.startswith("dwd") else Tier.HOT
        first, copy = (sorted(map(str, served(open_, name, t).to_pylist())) for t in (target, lake))
        assert copy == first, (name, lake)
