"""What is restored while the plan of another flow cannot be read (docs/decisions/unreadable-plans.md)."""

from types import SimpleNamespace

import pytest

from streamhouse.cli.init import write_project
from streamhouse.engine.loss import LaterEpoch
from streamhouse.errors import StateConflictError
from streamhouse.jobs.restore import refuse_beside, refuse_older_state
from streamhouse.project.desired import desired
from streamhouse.project.project import Project
from streamhouse.state.damage import DamagedStateError
from tests.two_flows import HOW, apply_both, record_epoch, spoil_plan

pytestmark = pytest.mark.proof


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    write_project(tmp_path)
    found = Project.at(tmp_path)
    apply_both(found)
    return found


def refused(project, *flows):
    """Why these flows are not restored together; None: they are."""
    plans = desired(project, unreadable={}).plans
    with project.state() as state:
        try:
            refuse_beside(state, {flow: plans[flow] for flow in flows})
        except StateConflictError as error:
            return f"{error.message} {error.hint}"
    return None


def test_all_flows_are_restored_while_each_plan_can_be_read(project):
    assert refused(project, "orders", "others") is None


@pytest.mark.parametrize("how", HOW)
def test_a_flow_that_shares_no_table_is_restored(project, how):
    record_epoch(project, "lines")
    spoil_plan(project, how)
    assert refused(project, "others") is None
    assert refused(project, "orders", "others").startswith(HOW[how])


@pytest.mark.parametrize("read", ["ods.others", "dwd.other_orders"])
def test_a_flow_whose_rows_the_other_one_read_is_not(project, read):
    record_epoch(project, read)
    spoil_plan(project, "damaged")
    assert refused(project, "others").startswith(f"others may not go on: orders reads {read}; ")


def test_a_flow_is_not_restored_where_nothing_is_known_of_the_other_one(project):
    spoil_plan(project, "damaged")
    assert "it is not known whether orders reads its tables" in refused(project, "others")


@pytest.mark.parametrize("others", LaterEpoch)
def test_nothing_is_restored_by_an_older_state_store(others):
    """The last epochs that it knows of the other flow may be older, too."""
    found = SimpleNamespace(plan=SimpleNamespace(flow="f"), notes={"main": (None, others, True)})
    refuse_older_state([found], {})
    unreadable = {"g": DamagedStateError("the plan of g is damaged", hint="put a copy back")}
    if others is LaterEpoch.NOT_LATER:
        refuse_older_state([found], unreadable)
        return
    with pytest.raises(StateConflictError, match="the state store is older") as error:
        refuse_older_state([found], unreadable)
    assert error.value.message.endswith("; the plan of g is damaged")
    assert error.value.hint == "put a copy back"
