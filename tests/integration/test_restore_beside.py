"""A flow is restored and restated while the plan of another one, with which it shares no table, cannot be read.

`tests/unit/jobs/test_restore_beside.py` and `test_backfill_beside.py` ask the rule.
"""

import shutil
import sqlite3
from contextlib import closing

import pytest

from streamhouse.engine.lease import leased
from streamhouse.errors import StateConflictError
from streamhouse.jobs.backfill import _applied, _not_by_an_epoch, restate
from streamhouse.jobs.restore import restore_together
from streamhouse.project.desired import desired
from streamhouse.runtime.owner import is_alive, this_owner
from streamhouse.stores.base import Changes, WriteContext
from tests.drills import WARM_FLOWS, drill
from tests.gate.levels import soak
from tests.two_flows import spoil_plan

pytestmark = pytest.mark.spark

[FLOW] = WARM_FLOWS.values()
FLOWS = {"f": FLOW, "h": FLOW.replace("flow: f", "flow: h").replace("ods.one", "ods.own").replace("dwd.two", "dwd.own")}
PLAN = "SELECT body, fingerprint FROM streamhouse_plan WHERE flow = 'f'"


def database(d):
    return closing(sqlite3.connect(d.folder / "state.db"))


def spoiled(d):
    """The plan of `f` cannot be read from now on. What it was, to be put back."""
    with database(d) as connection:
        [plan] = connection.execute(PLAN).fetchall()
    spoil_plan(d.project, "damaged", "f")
    return plan


def put_back(d, plan):
    with database(d) as connection, connection:
        connection.execute("UPDATE streamhouse_plan SET body = ?, fingerprint = ? WHERE flow = 'f'", plan)


def without_a_row(d, name):
    """Take one row of a table of `h` away, as something else than an epoch does."""
    plan = d.open.state.running_plans({})["h"]
    [(segment, step)] = [(one, s) for one in plan.segments for s in one.steps if s.writes.name == name]
    store = d.open.stores[step.writes.tiers.target]
    rows = store.read_state(step.writes)
    gone = Changes(rows.slice(0, 0), deletes=rows.slice(0, 1).select(step.writes.primary_key))
    with (
        leased(d.open.state, "h", this_owner(), alive=is_alive) as guard,
        _not_by_an_epoch(d.open, guard, segment, step, dry_run=False),
    ):
        store.write(step.writes, gone, WriteContext("test", 0))


@soak
def test_a_lost_table_comes_back_beside_a_plan_that_cannot_be_read(tmp_path, spark):
    with drill(tmp_path / "project", spark, FLOWS) as d:
        d.begin()
        for _ in range(2):
            d.add()
            d.run()
        d.end()
        plan = spoiled(d)
        shutil.rmtree(d.folder / "warm" / "ods.db" / "own")
        plans = desired(d.project, unreadable={}).plans
        d.begin()
        with pytest.raises(StateConflictError, match="restore h --from-sources"):
            restore_together(d.open, {"h": plans["h"]})
        with pytest.raises(StateConflictError, match="revision 1 of flow 'f'"):
            restore_together(d.open, {"f": plans["f"], "h": plans["h"]}, from_sources=True)
        [done] = restore_together(d.open, {"h": plans["h"]}, from_sources=True)
        assert (done.flow, done.lost) == ("h", [])
        d.end()
        put_back(d, plan)
        d.begin()
        d.add()
        d.run()
        assert d.differences() == {}


@soak
def test_a_row_comes_back_by_a_backfill_beside_a_plan_that_cannot_be_read(tmp_path, spark):
    with drill(tmp_path / "project", spark, FLOWS) as d:
        d.begin()
        for _ in range(2):
            d.add()
            d.run()
        without_a_row(d, "dwd.own")
        assert list(d.differences()) == ["dwd.own warm"]
        d.end()
        plan = spoiled(d)
        d.begin()
        with pytest.raises(StateConflictError, match="revision 1 of flow 'f'"):
            _applied(d.project, "f")
        [done] = [one for one in restate(d.open, _applied(d.project, "h")) if one.table == "dwd.own"]
        assert (done.upserts, done.deletes) == (1, 0)
        d.end()
        put_back(d, plan)
        d.begin()
        d.add()
        d.run()
        assert d.differences() == {}
