"""`apply`, `changes` and `env` as far as they need no services; the rest is in tests/integration/test_changes*.py."""

import io
import json

import pytest

from streamhouse.cli.init import write_project
from streamhouse.cli.main import main
from streamhouse.model.outcome import Outcome
from streamhouse.project.desired import desired_plan
from streamhouse.project.project import Project
from streamhouse.state.changes import Wish


@pytest.fixture
def project(tmp_path, monkeypatch):
    write_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    return Project.at(tmp_path)


def edit(project, old, new):
    file = project.root / "actions" / "revenue_by_product.sql"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def printed(capsys, *arguments):
    capsys.readouterr()
    code = main([*arguments, "--json"])
    out = capsys.readouterr()
    return code, json.loads(out.out or out.err)


def test_a_flow_that_never_ran_is_recorded_and_its_first_run_makes_the_tables(project, capsys):
    assert main(["apply", "orders", "--yes"]) == 0
    assert "its first run makes the tables: streamhouse run orders" in capsys.readouterr().out
    with project.state() as state:
        assert state.plan("orders") == (1, desired_plan(project, "orders"))
    assert main(["apply"]) == 0
    assert "nothing to apply (revision 1)" in capsys.readouterr().out


def test_a_change_that_blocks_needs_a_choice(project, capsys):
    main(["apply", "orders", "--yes"])
    edit(project, "revenue_cents", "total_cents")
    code, error = printed(capsys, "apply", "orders")
    assert code == 11
    assert error["error"]["code"] == "SH507"
    assert "--choose dws.revenue_by_product=rebuild" in error["error"]["hint"]
    assert printed(capsys, "changes") == (0, {"changes": []})


@pytest.mark.parametrize("choice", ["dwd.orders", "dwd.orders=later", "=rebuild"])
def test_a_choice_that_is_none(project, capsys, choice):
    assert main(["apply", "orders", "--choose", choice]) == 2
    assert "is not TABLE=forward or TABLE=rebuild" in capsys.readouterr().err


def test_a_choice_for_a_table_that_is_not_there(project, capsys):
    main(["apply", "orders", "--yes"])
    code, error = printed(capsys, "apply", "orders", "--choose", "dwd.ordres=rebuild")
    assert (code, error["error"]["code"]) == (3, "SH207")
    assert "dwd.orders" in error["error"]["hint"]


def test_what_was_asked_for_is_listed(project, capsys):
    main(["apply", "orders", "--yes"])
    plan = desired_plan(project, "orders")
    with project.state() as state:
        state.ask_change(Wish(plan, Outcome.REBUILD, frozenset({"dws.revenue_by_product"})), "ann")
    code, found = printed(capsys, "changes", "orders")
    [change] = found["changes"]
    assert (code, change["phase"], change["asked_by"], change["versions"]) == (
        0,
        "asked",
        "ann",
        {"dws.revenue_by_product": 2},
    )
    assert main(["changes"]) == 0
    assert "dws.revenue_by_product" in capsys.readouterr().out
    assert printed(capsys, "changes", "other")[1]["error"]["code"] == "SH213"


@pytest.fixture
def asked(project):
    main(["apply", "orders", "--yes"])
    plan = desired_plan(project, "orders")
    with project.state() as state:
        return state.ask_change(Wish(plan, Outcome.REBUILD, frozenset({"dws.revenue_by_product"})), "ann")


def test_one_change_is_shown_and_given_up(asked, capsys):
    assert main(["changes", str(asked.id)]) == 0
    out = capsys.readouterr().out
    assert "dws.revenue_by_product (v2)" in out
    assert "its audit passes" in out
    code, found = printed(capsys, "changes", str(asked.id))
    assert (code, found["phase"], found["gate"], found["review"]) == (0, "asked", "audit", None)
    assert printed(capsys, "changes", str(asked.id), "--withdraw")[1]["phase"] == "withdrawn"
    for action in ("--withdraw", "--swap"):
        code, error = printed(capsys, "changes", str(asked.id), action)
        assert (code, error["error"]["code"]) == (6, "SH504")


def test_letting_a_change_serve_is_recorded_at_once(asked, capsys):
    code, found = printed(capsys, "changes", str(asked.id), "--swap", "--no-wait")
    assert (code, found["gate"], found["phase"]) == (0, "open", "asked")


def test_a_change_that_is_not_there(project, capsys):
    code, error = printed(capsys, "changes", "7")
    assert (code, error["error"]["code"]) == (6, "SH511")
    main(["apply", "orders", "--yes"])
    assert printed(capsys, "changes", "7", "--swap")[1]["error"]["code"] == "SH511"
    assert main(["changes", "orders", "--swap"]) == 2
    assert "streamhouse changes ID --swap" in capsys.readouterr().err


def test_an_environment_has_no_gate(project, capsys):
    main(["apply", "orders", "--yes"])
    assert main(["apply", "orders", "--env", "dev", "--accept-audit"]) == 2
    assert "streamhouse env promote" in capsys.readouterr().err


def test_environments_are_listed(project, capsys):
    assert main(["env", "list"]) == 0
    assert "streamhouse apply FLOW --env NAME" in capsys.readouterr().out
    main(["apply", "orders", "--yes"])
    wish = Wish(desired_plan(project, "orders"), Outcome.SWAP, frozenset({"dwd.orders"}), environment="dev")
    with project.state() as state:
        state.ask_change(wish, "ann")
    code, found = printed(capsys, "env", "list")
    [listed] = found["environments"]
    assert (code, listed) == (0, {"name": "dev", "flow": "orders", "tables": {"dwd.orders": 2}, "error": None})


def test_an_environment_that_is_not_there(project, capsys):
    main(["apply", "orders", "--yes"])
    code, error = printed(capsys, "env", "promote", "orders", "dev")
    assert (code, error["error"]["code"]) == (6, "SH509")
    assert error["error"]["hint"] == "make one: streamhouse apply orders --env dev"
    code, error = printed(capsys, "query", "--env", "dev", "SELECT 1 FROM dwd.orders")
    assert (code, error["error"]["code"]) == (6, "SH509")


def test_an_environment_is_run_for_one_flow(project, capsys):
    assert main(["run", "a", "b", "--env", "dev"]) == 2
    assert "one FLOW" in capsys.readouterr().err


def test_without_a_terminal_a_person_must_say_yes_beforehand(project, capsys):
    assert main(["apply", "orders"]) == 2
    out = capsys.readouterr()
    assert "orders: never applied" in out.out
    assert "SH518 nothing was applied: there is no terminal to ask on, and --yes is not given" in out.err
    assert "hint: see what it does: streamhouse plan orders; then: streamhouse apply orders --yes" in out.err
    code, error = printed(capsys, "apply")
    assert (code, error["error"]["code"]) == (2, "SH518")
    assert project.existing_state() is None
    assert main(["apply", "--yes"]) == 0
    assert main(["apply"]) == 0, "there is nothing to say yes to"


@pytest.mark.parametrize(("answer", "revision"), [("y\n", 1), ("n\n", None)])
def test_at_a_terminal_a_person_is_asked(project, capsys, monkeypatch, answer, revision):
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    main(["apply", "orders"])
    assert "apply?" in capsys.readouterr().err
    with project.state() as state:
        assert (state.plan("orders") or (None,))[0] == revision


def test_how_a_flow_follows_changes_upstream_is_applied_as_well(project, capsys):
    main(["apply", "orders", "--yes"])
    file = project.root / "flows" / "orders.yaml"
    file.write_text(file.read_text() + "schema_change: freeze\n")
    assert main(["plan", "orders"]) == 0
    assert "what it does when something changes upstream differs" in capsys.readouterr().out
    assert main(["apply", "orders"]) == 0, "no row depends on it"
    assert "it follows changes upstream as its files say" in capsys.readouterr().out
    with project.state() as state:
        assert state.definitions.applied()["orders"].files["flows/orders.yaml"].endswith("schema_change: freeze\n")
        assert state.plan("orders")[0] == 1


def test_an_edit_that_waits_is_told_first_by_status(project, capsys):
    main(["apply", "orders", "--yes"])
    _, found = printed(capsys, "status")
    assert (found["auto_apply"], found["flows"][0]["edit"]) == ("off", None)
    edit(project, "revenue_cents", "total_cents")
    code, found = printed(capsys, "status", "orders")
    assert code == 0
    assert found["flows"][0]["edit"] == {"outcome": "block", "text": "block (dws.revenue_by_product)"}
    assert main(["status"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == (
        "orders: an edit waits: block (dws.revenue_by_product); see: streamhouse plan orders; "
        "take it: streamhouse apply orders"
    )
    (project.root / "flows" / "orders.yaml").write_text("flow: orders\n")
    assert main(["status", "orders"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("orders: its files are wrong: flows/orders.yaml:1:1: SH101")
    assert first.endswith("the flow goes on with what is applied")
