"""What a flow is to run with while the plan of another one cannot be read (docs/decisions/unreadable-plans.md)."""

import pytest

from streamhouse.change.change_request import begin
from streamhouse.cli.init import write_project
from streamhouse.errors import StateConflictError, UnknownFlowError
from streamhouse.jobs.tier import chosen_flows
from streamhouse.project.edits import to_run
from streamhouse.project.project import Project
from streamhouse.trigger.trigger import Trigger
from tests.two_flows import HOW, apply_both, record_epoch, spoil_plan

pytestmark = pytest.mark.proof


@pytest.fixture(params=["off", "all"])
def project(request, tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    write_project(tmp_path)
    (tmp_path / "streamhouse.yaml").write_text(f"auto_apply: {request.param}\n")
    return Project.at(tmp_path)


@pytest.fixture(params=HOW)
def spoiled(request, project):
    """Two flows that share no table; the plan of `orders`, which ran, cannot be read. What is said of it."""
    apply_both(project)
    record_epoch(project, "lines")
    spoil_plan(project, request.param)
    return HOW[request.param]


def edit(project, flow, old, new):
    file = project.root / "flows" / f"{flow}.yaml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def refused(project, flow):
    with pytest.raises(StateConflictError) as error:
        to_run(project, flow)
    assert error.value.hint
    return error.value.message


def test_a_flow_goes_on_as_it_is_applied(project, spoiled):
    found = to_run(project, "others")
    assert (found.plan.flow, found.is_applied, found.edit) == ("others", True, None)
    [warning] = found.warnings
    assert warning.startswith(spoiled)
    with project.state() as state:
        begun = begin(state, found.plan, is_applied=True)
    assert begun.change is None


def test_the_flow_itself_is_refused(project, spoiled):
    assert refused(project, "orders").startswith(spoiled)


def test_an_edit_waits_or_is_refused(project, spoiled):
    edit(project, "others", "description: ", "description: All ")
    if project.settings.auto_apply == "all":
        message = refused(project, "others")
        assert message.startswith("others cannot take the edit of its files: it is not known what orders reads; ")
        assert spoiled in message
    else:
        assert to_run(project, "others").edit.text == "text that changes no row"


def test_a_flow_that_never_ran_is_refused(project, spoiled):
    file = project.root / "flows" / "others.yaml"
    text = file.read_text().replace("flow: others", "flow: third").replace("others", "third")
    (project.root / "flows" / "third.yaml").write_text(text.replace("other_", "third_"))
    assert refused(project, "third").startswith("third cannot begin: it is not known whether orders has its tables")
    with pytest.raises(UnknownFlowError):
        to_run(project, "fourth")


def test_a_flow_is_refused_where_the_other_one_reads_its_tables_by_its_file(project, spoiled):
    edit(project, "orders", "ods.orders}, writes: dwd.orders", "ods.others}, writes: dwd.orders")
    assert refused(project, "others").startswith("others may not go on: orders reads ods.others; ")


def test_a_flow_is_refused_where_the_other_one_read_its_rows(project):
    apply_both(project)
    record_epoch(project, "ods.others")
    spoil_plan(project, "damaged")
    assert refused(project, "others").startswith("others may not go on: orders reads ods.others; ")


def test_a_flow_is_refused_where_nothing_is_known_of_the_other_one(project):
    apply_both(project)
    spoil_plan(project, "damaged")
    assert "it is not known whether orders reads its tables" in refused(project, "others")


def test_tiers_of_a_flow_that_is_named_are_filled(project, spoiled):
    assert chosen_flows(project, ["others"], lambda _: True) == ["others"]
    for flows in ([], ["orders"], ["others", "orders"]):
        with pytest.raises(StateConflictError, match="orders"):
            chosen_flows(project, flows, lambda _: True)


def test_the_trigger_looks_at_the_other_flow(project, spoiled):
    with project.state() as state:
        trigger = Trigger(project, state, {})
        trigger.pin("others")
        [look] = trigger.look()
        assert (look.flow, look.change) == ("others", None)
        [look] = trigger.look()
        assert look.flow == "others"
