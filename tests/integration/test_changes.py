"""Edits of a flow that runs, over real stores: what each outcome promises, while rows come in."""

import pytest

from streamhouse.model.outcome import Outcome
from streamhouse.runtime.open import Open
from streamhouse.runtime.project import Project
from streamhouse.runtime.settings import Settings
from streamhouse.runtime.stores import open_stores
from streamhouse.state.records import Phase
from tests.live import Live, drop_tables, make_project, write_action

pytestmark = [pytest.mark.services, pytest.mark.spark]


@pytest.fixture
def open_(tmp_path, fluss, spark):
    make_project(tmp_path)
    project = Project(tmp_path, Settings(fluss=fluss))
    stores = open_stores(project, spark, fluss)
    with project.state() as state:
        found = Open(project, spark, fluss, stores, state)
        yield found
        drop_tables(found)
    for store in stores.values():
        store.close()


@pytest.fixture
def live(open_):
    running = Live(open_)
    running.add()
    with running:
        running.drained()
        yield running


def test_a_column_added_by_an_edit_reaches_the_running_query(live):
    queries = [query.id for query in live.open.spark.streams.active]
    write_action(live.root, "valid", "SELECT order_id, customer, cents, tax FROM rows WHERE cents > 0")
    found, change = live.apply()
    assert found.outcome is Outcome.SWAP
    assert change.phase is Phase.APPLIED, change.error
    at = live.epoch()
    live.add()
    live.drained()
    assert live.epoch() <= at + 2
    assert [query.id for query in live.open.spark.streams.active] == queries
    rows = live.rows("dwd.lv_orders").to_pylist()
    assert any(row["tax"] is not None for row in rows)
    assert any(row["tax"] is None for row in rows)


def test_an_aggregate_that_changes_is_built_anew_while_the_flow_runs(live):
    live.add()
    live.drained()
    write_action(live.root, "spent", "SELECT customer, SUM(cents + tax) AS cents FROM rows GROUP BY customer")
    found, change = live.apply()
    assert found.outcome is Outcome.REBUILD
    assert change.phase is Phase.APPLIED, change.error
    live.add()
    live.drained()
    live.assert_equals_batch()
