"""What the page says of flows that lost something: the words of `streamhouse status`, and nothing else is hidden."""

import json
import sqlite3
from contextlib import closing

import pytest

from streamhouse.cli.main import main
from streamhouse.model.outcome import Outcome
from streamhouse.model.types import Tier
from streamhouse.project.desired import desired_plan
from streamhouse.project.rested import Rested
from streamhouse.state.changes import Wish
from tests.two_flows import HOW, apply_both, spoil_plan

pytestmark = pytest.mark.proof

LOST = 6


def by_flow(client):
    return {one["flow"]: one for one in client.get("/api/flows").json()}


@pytest.fixture(params=HOW)
def spoiled(request, project):
    """Two flows; the plan of `orders` cannot be read. What is said of it."""
    apply_both(project)
    spoil_plan(project, request.param)
    return HOW[request.param]


def said_by_status(project, capsys, flow):
    capsys.readouterr()
    assert main(["status", flow, "--json", "--project", str(project.root)]) == LOST
    [found] = json.loads(capsys.readouterr().out)["flows"]
    keys = ("kind", "tier", "tables", "code", "text", "hint")
    return [{key: one[key] for key in keys} for one in found["lost"]]


def test_a_plan_that_cannot_be_read_hides_no_other_flow(project, spoiled, client, capsys):
    flows = by_flow(client)
    assert flows["others"]["lost"] == []
    [lost] = flows["orders"]["lost"]
    assert [lost] == said_by_status(project, capsys, "orders")
    assert lost["text"].startswith(spoiled)
    assert lost["hint"]
    assert client.get("/api/flows/orders").json()["summary"]["lost"] == [lost]
    assert client.get("/api/flows/others/graph").json()["nodes"]
    assert {one["flow"] for one in client.get("/api/tables").json()} == {"others"}
    assert {one["flow"] for one in client.get("/api/quarantine").json()} <= {"others"}
    for path in ("project", "approvals", "changes", "events", "actions", "proposals", "search?q=orders"):
        assert client.get(f"/api/{path}").status_code == 200, path


def test_what_needs_the_plan_gives_its_error(spoiled, client):
    for path in ("flows/orders/graph", "flows/orders/metrics", "tables/dwd.orders", "lineage/dwd.orders"):
        answer = client.get(f"/api/{path}")
        assert (answer.status_code, answer.json()["code"]) == (409, "SH504"), path
        assert answer.json()["detail"].startswith(spoiled)
        assert answer.json()["hint"]
    assert client.get("/api/tables/dwd.nothing").status_code == 404


def test_a_table_says_which_flows_may_be_missing(spoiled, client):
    assert client.get("/api/tables/dwd.other_orders").json()["unknown_flows"] == ["orders"]
    assert client.get("/api/lineage/dwd.other_orders").json()["unknown_flows"] == ["orders"]


def test_the_plan_of_the_other_flow_is_shown(project, spoiled, client):
    plan = client.get("/api/plan").json()
    assert [(one["flow"], one["changes"]) for one in plan["flows"]] == [("others", False)]
    [unreadable] = plan["unreadable"]
    assert unreadable["message"].startswith(spoiled)
    file = project.root / "flows" / "others.yaml"
    file.write_text(file.read_text().replace("description: ", "description: All "))
    assert client.get("/api/flows/others").json()["summary"]["edit"] == "text that changes no row"


def test_a_project_without_damage_says_nothing_of_losses(project, client):
    apply_both(project)
    assert {one["flow"]: one["lost"] for one in by_flow(client).values()} == {"orders": [], "others": []}
    assert client.get("/api/project").json()["not_looked_at"] == {}
    assert client.get("/api/plan").json()["unreadable"] == []
    assert client.get("/api/tables/dwd.orders").json()["unknown_flows"] == []


def test_a_table_that_is_gone_is_named_at_its_flow_and_its_page(project, state, client, capsys):
    plan = desired_plan(project, "orders")
    table = next(one for one in plan.tables.values() if one.tiers.target is Tier.HOT)
    (project.state_dir / "services" / "data" / "something").mkdir(parents=True)
    state.stored_tables.record_table(table, Tier.HOT, "1@1")
    [flow] = client.get("/api/flows").json()
    [lost] = flow["lost"]
    assert [lost] == said_by_status(project, capsys, "orders")
    assert (lost["kind"], lost["tier"], lost["tables"]) == ("tables", "hot", [table.name])
    assert client.get(f"/api/tables/{table.name}").json()["lost"] == [lost]
    others = [name for name in plan.tables if name != table.name]
    assert [client.get(f"/api/tables/{name}").json()["lost"] for name in others] == [[]] * len(others)


def test_a_change_of_another_version_is_named_and_hides_nothing(project, state, client, capsys):
    state.ask_change(Wish(state.plan("orders")[1], Outcome.SWAP), "ada")
    with closing(sqlite3.connect(project.state_dir / "state.db")) as connection, connection:
        connection.execute("""UPDATE streamhouse_change SET body = '{"flow": 1}'""")
    [flow] = client.get("/api/flows").json()
    [lost] = flow["lost"]
    assert lost["text"] == "change 1 of flow 'orders' was recorded by another version of Streamhouse"
    assert [lost] == said_by_status(project, capsys, "orders")
    assert flow["waits"] == []
    assert client.get("/api/flows/orders/graph").json()["nodes"]


def test_one_look_serves_many_questions_until_it_has_rested(monkeypatch):
    now, looks = [0.0], []
    monkeypatch.setattr("time.monotonic", lambda: now[0])

    def find():
        looks.append(now[0])
        now[0] += 2.0  # so long it takes
        return len(looks)

    rested = Rested(find, 10, least_s=30.0)
    assert [rested.now(), rested.now()] == [1, 1]
    now[0] = 31.9
    assert rested.now() == 1
    now[0] = 32.0
    assert rested.now() == 2
    slow = Rested(find, 20)
    assert slow.now() == 3
    now[0] += 39.9
    assert slow.now() == 3
    now[0] += 0.2
    assert slow.now() == 4
