"""What tools say of flows that lost something: the words of `streamhouse status`, as far as they may be shown."""

import pytest

from streamhouse.model.types import Tier
from streamhouse.project.desired import desired_plan
from tests.two_flows import HOW, apply_both, spoil_plan

pytestmark = pytest.mark.proof


@pytest.fixture(params=HOW)
def spoiled(request, project):
    """Two flows; the plan of `orders` cannot be read. What is said of it."""
    apply_both(project)
    spoil_plan(project, request.param)
    return HOW[request.param]


def test_a_plan_that_cannot_be_read_hides_no_other_flow(call, spoiled):
    first, second = call("diagnose").document["flows"]
    assert (first["flow"], second["flow"], second["lost"]) == ("orders", "others", [])
    [lost] = first["lost"]
    assert (lost["kind"], lost["tier"], lost["tables"], lost["code"]) == ("state store", None, [], "SH504")
    assert lost["message"].startswith(spoiled)
    assert first["findings"][0] == f"SH504 {lost['message']}; {lost['hint']}"
    assert call("describe", name="orders").document["flow"]["lost"] == [lost]
    other = call("describe", name="others").document["flow"]
    assert (other["lost"], len(other["steps"])) == ([], 3)


def test_search_says_it_at_the_flow(call, spoiled):
    hits = {hit["name"]: hit["lost"] for hit in call("search", text="", kinds=["flow"]).document["hits"]}
    assert hits["others"] == []
    [line] = hits["orders"]
    assert line.startswith(f"SH504 {spoiled}")


def test_a_table_names_what_is_not_known(call, spoiled):
    told = call("describe", name="dwd.other_orders").document
    assert "what flow orders reads and writes: its applied plan cannot be read" in told["withheld"]
    error = call("describe", name="dwd.orders").error
    assert error["code"] == "SH504"
    assert error["message"].startswith(spoiled)


def test_plan_shows_the_other_flow(call, spoiled):
    told = call("plan").document
    assert [one["flow"] for one in told["flows"]] == ["others"]
    [fault] = told["unreadable"]
    assert fault["message"].startswith(spoiled)
    assert call("plan", flow="others").document["unreadable"] == []
    told = call("plan", flow="orders").document
    assert (told["flows"], len(told["unreadable"])) == ([], 1)


def test_nothing_of_an_unreadable_flow_without_a_file_may_be_shown(call, project, spoiled):
    (project.root / "flows" / "orders.yaml").unlink()
    assert call("diagnose", name="orders").document["flows"][0]["lost"]
    assert call("describe", name="dwd.orders").is_error


def test_a_table_that_is_gone_is_named(call, project):
    apply_both(project)
    plan = desired_plan(project, "orders")
    table = next(one for one in plan.tables.values() if one.tiers.target is Tier.HOT)
    (project.state_dir / "services" / "data" / "something").mkdir(parents=True)
    with project.state() as state:
        state.stored_tables.record_table(table, Tier.HOT, "1@1")
    [lost] = call("describe", name=table.name).document["table"]["lost"]
    assert (lost["tier"], lost["tables"]) == ("hot", [table.name])
    assert "is gone" in lost["message"]
    hits = {hit["name"]: hit["lost"] for hit in call("search", text="", kinds=["table"]).document["hits"]}
    assert [name for name, lines in hits.items() if lines] == [table.name]
    assert call("diagnose").document["flows"][0]["lost"] == [lost]
