"""What is restated while the plan of another flow cannot be read (docs/decisions/unreadable-plans.md)."""

from types import SimpleNamespace

import pytest

from streamhouse.cli.init import write_project
from streamhouse.errors import StateConflictError
from streamhouse.jobs import backfill as backfill_module
from streamhouse.jobs.backfill import _applied, restate
from streamhouse.project.project import Project
from streamhouse.runtime.restating import Restated
from streamhouse.state.records import EpochRecord
from tests.two_flows import HOW, apply_both, spoil_plan
from tests.unit.project.test_beside_unreadable import record_epoch

pytestmark = pytest.mark.proof


class Restating:
    """In place of the one that reads and writes tables."""

    def __init__(self, *_, **__):
        pass

    def step(self, _, step):
        return Restated(step.writes.name, 1, 0)


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    monkeypatch.setattr(backfill_module, "Restating", Restating)
    write_project(tmp_path)
    found = Project.at(tmp_path)
    apply_both(found)
    with found.state() as state:
        _, plan = state.plan("others")
        state.begin_at([EpochRecord("others", one.name, 0, 1, 1, 1) for one in plan.segments])
    return found


def restated(project, flow):
    """The tables that a dry run would restate."""
    plan = _applied(project, flow)
    with project.state() as state:
        done = restate(SimpleNamespace(state=state, stores={}), plan, dry_run=True)
    return [one.table for one in done]


@pytest.mark.parametrize("how", HOW)
def test_a_flow_that_shares_no_table_is_restated(project, how):
    tables = restated(project, "others")
    assert "ods.others" in tables
    record_epoch(project, "lines")
    spoil_plan(project, how)
    assert restated(project, "others") == tables
    with pytest.raises(StateConflictError) as refused:
        restated(project, "orders")
    assert refused.value.message.startswith(HOW[how])


@pytest.mark.parametrize("read", ["ods.others", "dwd.other_orders"])
def test_a_flow_whose_rows_the_other_one_read_is_not(project, read):
    record_epoch(project, read)
    spoil_plan(project, "damaged")
    with pytest.raises(StateConflictError, match=f"others may not go on: orders reads {read}; "):
        restated(project, "others")


def test_a_flow_is_not_restated_where_nothing_is_known_of_the_other_one(project):
    spoil_plan(project, "damaged")
    with pytest.raises(StateConflictError, match="it is not known whether orders reads its tables"):
        restated(project, "others")
