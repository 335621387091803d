"""A change that cannot be read: what each command says of it, and that the command of its hint leads out of it."""

import json
import re
import shlex
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from streamhouse.change.change_request import begin
from streamhouse.change.retired import drop_abandoned
from streamhouse.cli.main import main
from streamhouse.jobs.forget_remains import _in_unreadable_changes
from streamhouse.model.outcome import Outcome
from streamhouse.project.desired import desired_plan
from streamhouse.project.project import Project
from streamhouse.runtime.lost_tables import lost_tables
from streamhouse.runtime.owner import this_owner
from streamhouse.state.changes import Wish
from streamhouse.state.records import EpochRecord, Move, Phase, UnreadableChange
from tests.two_flows import apply_both, spoil_plan
from tests.unit.change.test_built_already import ACTION, STEP, built

BODIES = {"damaged": '{"flow": ', "of another version": '{"flow": 1}'}
SAID = {
    "damaged": "the state store is damaged: change 1 of flow 'orders'",
    "of another version": "change 1 of flow 'orders'",
}
TABLE = "dwd.orders"
FOLLOWS = "the versions that it reads get no more rows"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Two flows that ran."""
    from streamhouse.cli.init import write_project

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    write_project(tmp_path)
    found = Project.at(tmp_path)
    apply_both(found)
    with found.state() as state:
        for flow in ("orders", "others"):
            plan = state.plan(flow)[1]
            state.begin_at([EpochRecord(flow, segment.name, 0, 1_000, 1_000, 1_001) for segment in plan.segments])
    return found


def spoil(project, how, change=1):
    with closing(sqlite3.connect(project.state_dir / "state.db")) as connection, connection:
        connection.execute("UPDATE streamhouse_change SET body = ? WHERE id = ?", (BODIES[how], change))


def asked(project, environment=None, flow="orders", table=TABLE):
    with project.state() as state:
        plan = state.plan(flow)[1]
        return state.ask_change(Wish(plan, Outcome.REBUILD, frozenset({table}), environment=environment), "ann")


@pytest.fixture(params=BODIES)
def spoiled(request, project):
    """A change of `orders` that cannot be read. What is said of it."""
    asked(project)
    spoil(project, request.param)
    return SAID[request.param]


@pytest.fixture(params=BODIES)
def spoiled_environment(request, project):
    """An environment of `orders` that cannot be read, beside one of `others`. What is said of it."""
    asked(project, "dev")
    asked(project, "test", "others", "dwd.other_orders")
    spoil(project, request.param)
    return f"{SAID[request.param]} in environment 'dev'"


def told(capsys, *words):
    """Exit code, and what a command says."""
    capsys.readouterr()
    code = main(list(words))
    said = capsys.readouterr()
    return code, " ".join(f"{said.out} {said.err}".split())


def edit(project, flow):
    file = project.root / "flows" / f"{flow}.yaml"
    file.write_text(file.read_text().replace("description: ", "description: All "))


def commands(hint):
    """The commands that a hint names, as one types them."""
    return [shlex.split(one) for one in re.findall(r"streamhouse ([^;,)]+)", hint)]


def test_the_commands_of_the_hint_lead_out_of_the_damage(project, spoiled, capsys):
    edit(project, "orders")
    code, refused = told(capsys, "apply", "orders", "--yes", "--no-wait")
    assert (code, spoiled in refused) == (6, True)
    give_up, again = commands(refused.partition("hint: ")[2])
    assert (give_up, again) == (["changes", "1", "--withdraw"], ["apply", "orders"])
    code, said = told(capsys, *give_up)
    assert (code, said.startswith("orders: change 1 is given up; SH504 ")) == (0, True)
    assert said.endswith("if it built them, these stay: dwd.orders__v2")
    assert told(capsys, *again, "--yes", "--no-wait")[0] == 0
    assert told(capsys, "status")[0] == 0
    assert told(capsys, "plan")[0] in (0, 10)
    with project.state() as state:
        change = state.open_change("orders")
        assert (change.id, change.plan) == (2, desired_plan(project, "orders"))
        assert begin(state, change.plan).change == change
    assert told(capsys, *give_up) == (6, "SH504 change 1 is withdrawn already hint: see: streamhouse changes")


def test_the_commands_of_the_hint_lead_out_of_an_environment(project, spoiled_environment, capsys):
    code, refused = told(capsys, "env", "promote", "orders", "dev")
    assert (code, spoiled_environment in refused) == (6, True)
    give_up, again = commands(refused.partition("hint: ")[2])
    assert (give_up, again) == (["env", "discard", "orders", "dev"], ["apply", "orders", "--env", "dev"])
    code, said = told(capsys, *give_up)
    assert (code, said.startswith("orders: dev is gone; SH504 ")) == (0, True)
    assert said.endswith("if it built them, these stay: dwd.orders__v2")
    assert told(capsys, "env", "list")[0] == 0
    code, said = told(capsys, *again, "--yes")
    assert (code, "nothing differs" in said or "nothing to apply" in said) == (0, True)
    built = asked(project, "dev")
    with project.state() as state:
        assert state.open_change("orders", "dev") == built
    assert built.versions == {TABLE: 3}


def test_what_was_given_up_and_cannot_be_read_stays_and_is_named_once(project, spoiled):
    """At the next start of its flow; `changes` names it at any time."""

    class Open:
        state = project.state()

    said = []
    with Open.state as state:
        found = state.give_up(1)
        assert (type(found), found.phase) == (UnreadableChange, Phase.WITHDRAWN)
        for _ in range(3):
            drop_abandoned(Open, "orders", said.append)
        assert said == [found.text]
        assert [event.text for event in state.events("orders")].count(found.text) == 1
        unreadable = []
        assert state.left_behind("orders", unreadable) == []
        assert [one.text for one in unreadable] == [found.text]


def test_changes_are_listed_beside_one_that_cannot_be_read(project, spoiled, capsys):
    asked(project, flow="others", table="dwd.other_orders")
    code, text = told(capsys, "changes")
    assert (code, text.count(spoiled), "others" in text) == (0, 1, True)
    capsys.readouterr()
    assert main(["changes", "--json"]) == 0
    later, first = json.loads(capsys.readouterr().out)["changes"]
    assert (later["id"], later["error"], first["id"], first["versions"]) == (2, None, 1, {TABLE: 2})
    assert "streamhouse changes 1 --withdraw" in first["error"]
    code, text = told(capsys, "changes", "1")
    assert (code, spoiled in text) == (6, True)


def test_environments_are_listed_beside_one_that_cannot_be_read(spoiled_environment, capsys):
    code, text = told(capsys, "env", "list")
    assert (code, text.count(spoiled_environment), "streamhouse env discard orders dev" in text) == (6, 1, True)
    assert "test others" in text
    capsys.readouterr()
    assert main(["env", "list", "--json"]) == 6
    readable, other = json.loads(capsys.readouterr().out)["environments"]
    assert (readable["name"], readable["error"], other["name"], other["flow"]) == ("test", None, "dev", "orders")
    assert spoiled_environment in other["error"]


def test_plan_and_apply_go_on_beside_an_environment_that_cannot_be_read(project, spoiled_environment, capsys):
    for flow in ("orders", "others"):
        edit(project, flow)
        code, text = told(capsys, "plan", flow)
        assert (code, text.count(spoiled_environment)) == ((6, 1) if flow == "orders" else (0, 0))
        assert f"{flow}: nothing to apply" in text
        assert told(capsys, "apply", flow, "--yes", "--no-wait")[0] == 0
    code, text = told(capsys, "plan", "--env", "dev")
    assert (code, "others: nothing differs from production" in text) == (6, True)
    code, text = told(capsys, "plan", "others", "--env", "test")
    assert (code, spoiled_environment in text) == (0, False)


def test_plan_goes_on_beside_an_environment_and_a_plan_that_cannot_be_read(project, capsys):
    """A flow that changes what its tables have, beside an environment of its own."""
    asked(project, "test", "others", "dwd.other_orders")
    spoil_plan(project, "damaged")
    (project.root / "actions/top_products.sql").write_text(ACTION)
    with (project.root / "flows/others.yaml").open("a") as flow:
        flow.write(STEP.replace("dws.", "dws.other_").replace("ads.", "ads.other_"))
    code, text = told(capsys, "plan", "others")
    assert (code, "others: differs from revision 1" in text) == (10, True)


def test_what_an_environment_has_that_cannot_be_read_is_built_again(project, capsys):
    (project.root / "actions/top_products.sql").write_text(ACTION)
    with (project.root / "flows/orders.yaml").open("a") as flow:
        flow.write(STEP)
    built(project)
    spoil(project, "of another version")
    code, text = told(capsys, "apply", "orders", "--yes", "--no-wait")
    assert (code, text.count("change 1 of flow 'orders' in environment 'review'")) == (0, 1)
    with project.state() as state:
        assert state.open_change("orders").id == 2


def test_apply_names_an_environment_that_cannot_be_read_also_for_programs(project, spoiled_environment, capsys):
    capsys.readouterr()
    assert main(["apply", "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"flows": [], "unreadable": []}, "nothing is applied"
    (project.root / "actions/top_products.sql").write_text(ACTION)
    with (project.root / "flows/orders.yaml").open("a") as flow:
        flow.write(STEP)
    assert main(["apply", "orders", "--yes", "--no-wait", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    [one] = document["unreadable"]
    assert (one["name"], one["flow"], one["tables"]) == ("dev", "orders", {TABLE: 2})
    assert spoiled_environment in one["error"]
    assert [flow["flow"] for flow in document["flows"]] == ["orders"]


def test_forget_names_the_tables_of_a_change_that_cannot_be_read(project, spoiled):
    found = SimpleNamespace(plans={"orders": None, "others": None})
    with project.state() as state:
        assert list(_in_unreadable_changes(state, found)) == [], "one that is open ends the command"
        state.give_up(1)
        [one] = _in_unreadable_changes(state, found)
    assert (one.where, one.what.rpartition(" ")[2]) == ("change 1 of orders", "dwd.orders__v2")
    assert one.remedy == "drop these tables in the stores, if they are there"


def test_a_reader_whose_change_is_given_up_learns_what_follows(project, capsys):
    """A change of a flow that reads another one's table, which a person gives up."""
    move = Move(2, {"0": 3}, {"0": 9})
    with project.state() as state:
        plan = state.plan("others")[1]
        table = state.plan("orders")[1].tables[TABLE]
        state.save_plan(plan.model_copy(update={"external": (table,)}))
        lease = state.acquire("orders", this_owner(), timedelta(hours=1), datetime.now(UTC))
        change = state.ask_change(Wish(state.plan("orders")[1], Outcome.REBUILD, frozenset({TABLE})), "ann")
        state.complete_change(lease, change, at={TABLE: move.ended, f"{TABLE}__v2": move.began})
        state.release(lease)
        assert state.open_change("others").moves == {TABLE: move}
    code, said = told(capsys, "changes", "2", "--withdraw")
    assert (code, said.endswith(f"change 3 is asked for, to go on in {TABLE} (v2): {FOLLOWS}")) == (0, True)
    with project.state() as state:
        lease = state.acquire("others", this_owner(), timedelta(hours=1), datetime.now(UTC))
        state.move_change(lease, state.open_change("others"), Phase.FAILED, "a row violates an expectation")
        state.release(lease)
    code, said = told(capsys, "status")
    assert f"version 1 of {TABLE}" in said
    assert "gets no more rows since change 1 of orders" in said


def test_a_query_of_an_environment_names_the_flow_whose_part_cannot_be_read(project, spoiled_environment, capsys):
    from streamhouse.jobs.query import catalog_of

    with project.state() as state:
        plan = state.plan("others")[1]
        state.ask_change(Wish(plan, Outcome.REBUILD, frozenset({"dwd.other_orders"}), environment="dev"), "ann")
    found = catalog_of(project, "dev")
    assert "dwd.other_orders" in found
    assert TABLE not in found
    assert list(found.unreadable) == ["orders"]
    assert TABLE in catalog_of(project, "test")
    code, text = told(capsys, "query", "--env", "dev", f"SELECT * FROM {TABLE}")
    assert (code, spoiled_environment in text) == (3, True)


def test_an_environment_that_cannot_be_read_is_lost_as_a_plan_is(project, spoiled_environment):
    with project.state() as state:
        found = [(one.flow, one.text) for one in lost_tables(project, state).lost]
    [(flow, text)] = found
    assert (flow, spoiled_environment in text) == ("orders", True)
