"""An edit that an environment has: what `plan` and `apply` say of it, and that nothing is built a second time."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from streamhouse.change.change_request import ask
from streamhouse.cli.init import write_project
from streamhouse.cli.main import main
from streamhouse.compiler.migration import copied, tables_apart
from streamhouse.model.review import SwapGate
from streamhouse.project.compare import compare_project
from streamhouse.project.project import Project
from streamhouse.runtime.owner import this_owner
from streamhouse.state.changes import Wish
from streamhouse.state.records import EpochRecord

NOT_CONFIRMED = 2
TABLE = "ads.top_products"
STEP = f"  - {{use: top_products, reads: {{revenue: dws.revenue_by_product}}, writes: {TABLE}}}\n"
ACTION = """/* ---
action: top_products
step: customize
description: The products with the highest revenue.
inputs:
  revenue: {product: string, revenue_cents: bigint}
output: {primary_key: [product]}
--- */
SELECT product, revenue_cents FROM revenue ORDER BY revenue_cents DESC, product LIMIT 3
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A flow that was applied and never ran."""
    write_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    assert main(["apply", "orders", "--yes"]) == 0
    return Project.at(tmp_path)


@pytest.fixture
def has_run(project):
    """The flow has an epoch."""
    with project.state() as state:
        _, plan = state.plan("orders")
        state.begin_at([EpochRecord("orders", segment.name, 0, 1_000, 1_000, 1_001) for segment in plan.segments])


@pytest.fixture
def edited(project):
    """A step that the applied plan has not."""
    (project.root / "actions/top_products.sql").write_text(ACTION)
    with (project.root / "flows/orders.yaml").open("a") as flow:
        flow.write(STEP)
    return project


def built(project, environment="review"):
    """Ask for the environment that `apply --env` makes, as far as it needs no engine."""
    (one,) = compare_project(project, "orders")
    apart = tables_apart(one.found, one.plan)
    wish = Wish(
        one.plan,
        one.found.outcome,
        apart,
        environment=environment,
        copies=copied(one.found, one.plan, apart),
        definition=one.definition(project),
    )
    with project.state() as state:
        return state.ask_change(wish, "ann")


def asked(project, **options):
    (one,) = compare_project(project, "orders")
    with project.state() as state:
        return ask(state, one, "bob", **options)


def told(capsys, *arguments):
    capsys.readouterr()
    code = main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_what_an_environment_has_is_promoted_and_not_built_again(edited):
    change = built(edited)
    found = asked(edited, gate=SwapGate.PERSON)
    assert (found.id, found.versions, found.environment, found.gate) == (change.id, {TABLE: 1}, None, SwapGate.PERSON)
    assert asked(edited).id == change.id  # the same again goes on with it
    with edited.state() as state:
        assert state.environments() == []


def test_an_environment_of_another_edit_stays(edited):
    change = built(edited)
    action = edited.root / "actions/top_products.sql"
    action.write_text(action.read_text().replace("LIMIT 3", "LIMIT 4"))
    found = asked(edited)
    assert (found.id != change.id, found.versions) == (True, {TABLE: 2})
    with edited.state() as state:
        assert [one.id for one in state.environments()] == [change.id]


def test_an_environment_with_more_tables_than_are_to_be_rebuilt_stays(project, capsys):
    action = project.root / "actions/clean_orders.sql"
    action.write_text(action.read_text().replace("default: 1", "default: 2"))
    change = built(project)
    assert set(change.versions) == {"dwd.orders", "dws.revenue_by_product"}
    assert told(capsys, "plan", "orders")[1]["flows"][0]["promotes"] is None
    found = asked(project)
    assert (found.id != change.id, found.versions) == (True, {})
    with project.state() as state:
        assert [one.id for one in state.environments()] == [change.id]


def test_an_environment_of_an_older_revision_stays(edited, capsys):
    change = built(edited)
    with edited.state() as state:
        state.save_plan(state.plan("orders")[1].model_copy(update={"owner": "another"}))
    assert asked(edited).id != change.id


def test_an_environment_that_a_process_keeps_up_to_date_stays(edited, capsys):
    change = built(edited)
    with edited.state() as state:
        state.acquire(change.candidate, this_owner(), timedelta(minutes=1), datetime.now(UTC))
    assert told(capsys, "plan", "orders")[1]["flows"][0]["promotes"] is None
    assert main(["plan", "orders"]) == 10
    assert "environment review has exactly this: a process runs it, so applying builds" in capsys.readouterr().out
    assert asked(edited).id != change.id


def test_plan_says_that_applying_promotes(edited, capsys):
    assert told(capsys, "plan", "orders")[1]["flows"][0]["promotes"] is None
    built(edited)
    code, found = told(capsys, "plan", "orders")
    assert (code, found["flows"][0]["promotes"]) == (10, "review")
    assert main(["plan", "orders"]) == 10
    text = "orders: environment review has exactly this: applying promotes it, and builds nothing again"
    assert text in capsys.readouterr().out
    assert main(["apply", "orders"]) == NOT_CONFIRMED
    assert text in capsys.readouterr().out


def test_plan_for_an_environment(project, has_run, edited, capsys):
    code, found = told(capsys, "plan", "orders", "--env", "review")
    wanted = {"name": "review", "has_run": True, "exists": False, "is_built": False, "tables": [TABLE]}
    assert (code, found["flows"][0]["environment"]) == (10, wanted)
    assert main(["plan", "orders", "--env", "review"]) == 10
    assert f"orders: review is made with tables of its own: {TABLE}" in capsys.readouterr().out
    built(edited)
    code, found = told(capsys, "plan", "orders", "--env", "review")
    assert (code, found["flows"][0]["environment"]) == (0, wanted | {"exists": True, "is_built": True})
    assert main(["plan", "--env", "review"]) == 0
    assert f"review has exactly this: {TABLE}; let it serve: streamhouse env promote orders" in capsys.readouterr().out
    action = edited.root / "actions/top_products.sql"
    action.write_text(action.read_text().replace("LIMIT 3", "LIMIT 4"))
    assert main(["plan", "orders", "--env", "review"]) == 10
    assert f"orders: review is made again with tables of its own: {TABLE}" in capsys.readouterr().out


def test_plan_for_an_environment_of_a_flow_that_never_ran(edited, capsys):
    assert main(["plan", "orders", "--env", "review"]) == 11
    assert "run it: streamhouse run orders" in capsys.readouterr().out
    assert told(capsys, "plan", "--env", "review")[1]["flows"][0]["environment"]["has_run"] is False


def test_plan_for_an_environment_when_nothing_differs(project, has_run, capsys):
    assert main(["plan", "--env", "review"]) == 0
    assert "nothing differs from production, so there is nothing to build in review" in capsys.readouterr().out


def test_plan_for_an_environment_whose_change_blocks(project, has_run, capsys):
    action = project.root / "actions/revenue_by_product.sql"
    action.write_text(action.read_text().replace("revenue_cents", "total_cents"))
    assert main(["plan", "orders", "--env", "review"]) == 11
    assert "block" in capsys.readouterr().out


def test_plan_refuses_a_name_that_is_none(project, capsys):
    assert main(["plan", "--env", "Not a name"]) == 2
