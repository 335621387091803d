"""A flow is restored while the plan of another one, with which it shares no table, cannot be read.

`tests/unit/jobs/test_restore_beside.py` asks the rule.
"""

import shutil
import sqlite3
from contextlib import closing

import pytest

from streamhouse.errors import StateConflictError
from streamhouse.jobs.restore import restore_together
from streamhouse.project.desired import desired
from tests.drills import WARM_FLOWS, drill
from tests.gate.levels import soak
from tests.two_flows import spoil_plan

pytestmark = pytest.mark.spark

[FLOW] = WARM_FLOWS.values()
FLOWS = {"f": FLOW, "h": FLOW.replace("flow: f", "flow: h").replace("ods.one", "ods.own").replace("dwd.two", "dwd.own")}
PLAN = "SELECT body, fingerprint FROM streamhouse_plan WHERE flow = 'f'"


def database(d):
    return closing(sqlite3.connect(d.folder / "state.db"))


@soak
def test_a_lost_table_comes_back_beside_a_plan_that_cannot_be_read(tmp_path, spark):
    with drill(tmp_path / "project", spark, FLOWS) as d:
        d.begin()
        for _ in range(2):
            d.add()
            d.run()
        d.end()
        with database(d) as connection:
            [plan] = connection.execute(PLAN).fetchall()
        spoil_plan(d.project, "damaged", "f")
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
        with database(d) as connection, connection:
            connection.execute("UPDATE streamhouse_plan SET body = ?, fingerprint = ? WHERE flow = 'f'", plan)
        d.begin()
        d.add()
        d.run()
        assert d.differences() == {}
