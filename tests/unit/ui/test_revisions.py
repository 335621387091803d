"""The plan that an epoch ran with: its revision, the change that it came from, and what that changed."""

from datetime import UTC, datetime, timedelta

import pytest

from streamhouse.change.change_request import ask
from streamhouse.project.compare import Applied, compare
from streamhouse.project.desired import desired_plans
from streamhouse.runtime.owner import this_owner
from streamhouse.state.records import EpochRecord

pytestmark = pytest.mark.proof


def finish(state, lease, epoch, at):
    at_ms = int(at.timestamp() * 1000)
    state.begin_epoch(lease, "main", epoch, at_ms, at)
    record = EpochRecord("orders", "main", epoch, at_ms, at_ms, at_ms + 9, layer_visible_ms={"ods": at_ms + 5})
    state.finish_epoch(lease, record)


def edited(project):
    flow = project.root / "flows" / "orders.yaml"
    flow.write_text(flow.read_text().replace("flow: orders", "flow: orders\nmax_rows_per_epoch: 5000", 1))
    return desired_plans(project)["orders"]


def test_an_epoch_names_its_plan_and_the_change_behind_it(client, project, state):
    lease = state.acquire("orders", this_owner(), timedelta(hours=1), datetime.now(UTC))
    finish(state, lease, 0, datetime.now(UTC))
    asked = ask(state, compare(edited(project), Applied.of(state), {}), "ada")
    assert state.complete_change(lease, asked)
    finish(state, lease, 1, datetime.now(UTC) + timedelta(seconds=5))
    epochs = client.get("/api/flows/orders").json()["epochs"]
    assert [(one["epoch"], one["revision"]) for one in epochs] == [(0, 1), (1, 2)]
    page = client.get("/api/flows/orders/revisions/2").json()
    assert (page["change"]["id"], page["change"]["asked_by"]) == (asked.id, "ada")
    assert [(one["outcome"], one["rule"]) for one in page["diff"]["settings"]] == [("swap", 39)]
    first = client.get("/api/flows/orders/revisions/1").json()
    assert (first["change"], first["diff"]) == (None, None)


def test_an_epoch_before_every_recorded_plan_names_none(client, state):
    lease = state.acquire("orders", this_owner(), timedelta(hours=1), datetime.now(UTC))
    finish(state, lease, 0, datetime.now(UTC) - timedelta(days=1))
    assert [one["revision"] for one in client.get("/api/flows/orders").json()["epochs"]] == [None]


@pytest.mark.parametrize("path", ["orders/revisions/9", "nope/revisions/1"])
def test_a_revision_that_there_is_not(client, state, path):
    assert client.get(f"/api/flows/{path}").status_code == 404


def test_an_earlier_plan_that_cannot_be_read_hides_the_difference_alone(client, project, state, monkeypatch):
    state.save_plan(edited(project))
    monkeypatch.setattr("streamhouse.state.store.StateStore.plan_at", lambda *_: None)
    page = client.get("/api/flows/orders/revisions/2").json()
    assert (page["revision"], page["diff"]) == (2, None)
