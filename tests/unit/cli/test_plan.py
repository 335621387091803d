import json
import re
import sqlite3
from contextlib import closing

import pytest

from streamhouse.cli.init import write_project
from streamhouse.cli.main import main
from streamhouse.model.plan import fingerprint_of
from streamhouse.project.check import check_project
from streamhouse.project.project import Project


@pytest.fixture
def project(tmp_path, monkeypatch):
    write_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    return Project.at(tmp_path)


@pytest.fixture
def apply(project):
    from streamhouse.registry import Registry

    def apply():
        (plan,) = check_project(project, Registry.load(project.root)).plans.values()
        with project.state() as state:
            return state.save_plan(plan)

    return apply


def document(capsys, *arguments):
    capsys.readouterr()
    code = main(["plan", *arguments, "--json"])
    (flow,) = json.loads(capsys.readouterr().out)["flows"]
    return code, flow


def change(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_a_flow_that_was_never_applied(project, capsys):
    code, flow = document(capsys)
    assert code == 10
    assert (flow["applied"], flow["changes"]) == (None, True)
    assert set(flow["steps"].values()) == {"new"}
    assert main(["plan", "orders"]) == 10
    assert "never applied" in capsys.readouterr().out
    assert not (project.state_dir / "state.db").exists()


def test_rows_that_are_deleted_for_good(project, apply, capsys):
    flow = project.root / "flows" / "orders.yaml"
    text = "rows of ods.orders older than 30d are deleted for good"
    assert document(capsys)[1]["notices"] == []
    flow.write_text(f"{flow.read_text()}tables:\n  ods.orders: {{tiers: {{hot: 30d}}}}\n")
    apply()
    at = len(flow.read_text().splitlines())
    for line in (at, at + 1):  # also of a step that is remembered, and stands elsewhere now
        place = {"file": "flows/orders.yaml", "line": line, "column": 16}
        (notice,) = document(capsys)[1]["notices"]
        assert {**notice, **place, "message": text} == notice
        assert main(["plan"]) == 0
        assert f"flows/orders.yaml:{line}:16: note {text}" in capsys.readouterr().out
        flow.write_text(f"# the shop\n{flow.read_text()}")


def test_nothing_to_do(project, apply, capsys):
    apply()
    code, flow = document(capsys, "orders")
    assert code == 0
    assert (flow["applied"]["revision"], flow["changes"]) == (1, False)
    assert set(flow["steps"].values()) == {"same"}
    assert main(["plan"]) == 0
    assert "nothing to apply (revision 1)" in capsys.readouterr().out


def test_a_comment_is_no_change(project, apply, capsys):
    apply()
    change(project.root / "actions" / "clean_orders.sql", "FROM orders\n", "FROM orders  -- all of them\n")
    assert document(capsys)[0] == 0


def test_steps_that_changed_came_or_went(project, apply, capsys):
    apply()
    change(project.root / "actions" / "clean_orders.sql", "default: 1", "default: 2")
    change(project.root / "flows" / "orders.yaml", "writes: dws.revenue_by_product", "writes: dws.revenue")
    code, flow = document(capsys, "orders")
    assert code == 10
    assert flow["steps"] == {
        "ods.orders": "same",
        "dwd.orders": "changed",
        "dws.revenue": "new",
        "dws.revenue_by_product": "removed",
    }
    assert main(["plan", "orders"]) == 10
    lines = [line.split()[:4] for line in capsys.readouterr().out.splitlines()[2:]]
    assert lines[:3] == [
        ["forward", "13", "changed", "dwd.orders"],
        ["swap", "-", "new", "dws.revenue"],
        ["swap", "5", "removed", "dws.revenue_by_product"],
    ]
    assert ["swap", "dws.revenue", "hot", "create"] in lines


def test_a_setting_of_the_flow_changed(project, apply, capsys):
    apply()
    change(project.root / "flows" / "orders.yaml", "sources:\n", "freshness: 9s\nsources:\n")
    code, flow = document(capsys, "orders")
    assert (code, set(flow["steps"].values())) == (10, {"same"})
    assert main(["plan", "orders"]) == 10
    assert "freshness: 1s → 9s" in capsys.readouterr().out


def test_an_edit_that_means_the_same_is_nothing_to_apply(project, apply, capsys):
    apply()
    change(project.root / "actions" / "clean_orders.sql", "FROM orders\n", "FROM (SELECT * FROM orders) AS o\n")
    code, flow = document(capsys, "orders")
    assert (code, flow["outcome"], flow["changes"]) == (0, "no-op", False)
    assert flow["steps"]["dwd.orders"] == "changed"
    assert flow["fingerprint"] != flow["applied"]["fingerprint"]
    assert main(["plan"]) == 0
    assert "only text differs" in capsys.readouterr().out


def test_what_a_person_must_decide(project, apply, capsys):
    apply()
    file = project.root / "actions" / "revenue_by_product.sql"
    change(file, "revenue_cents", "total_cents")
    code, flow = document(capsys, "orders")
    (step,) = [s for s in flow["diff"]["steps"] if s["outcome"] != "no-op"]
    assert (code, step["outcome"], step["findings"][0]["rule"]) == (11, "block", 12)
    assert main(["plan", "orders"]) == 11
    assert "renamed: {total_cents: revenue_cents}" in capsys.readouterr().out


def test_explain_shows_strategies_with_their_reasons(project, capsys):
    assert main(["plan", "orders", "--explain"]) == 10
    out = capsys.readouterr().out
    for word in ("dws.revenue_by_product", "merge", "map"):
        assert word in out


def test_a_broken_flow_is_refused_as_validate_does(project, capsys):
    change(project.root / "flows" / "orders.yaml", "use: clean_orders", "use: clean_oders")
    assert main(["plan"]) == 3
    assert capsys.readouterr().err.startswith("flows/orders.yaml:11:11: SH201 ")


def test_an_unknown_flow(project, capsys):
    assert main(["plan", "ordrs"]) == 3
    assert "did you mean 'orders'?" in capsys.readouterr().err


def _flows_with_one_action(root, number):
    columns = "{id: bigint, a: bigint}"
    for name in ("actions", "flows", "data"):
        (root / name).mkdir(parents=True, exist_ok=True)
    (root / "streamhouse.yaml").write_text("{}\n")
    (root / "data" / "rows.csv").write_text("id,a\n1,1\n")
    header = f"/* ---\naction: shared\nversion: 1.0.0\nstep: ingest\ninputs: {{t: {columns}}}\n--- */\n"
    (root / "actions" / "shared.sql").write_text(f"{header}SELECT id, a + 1 AS a FROM t\n")
    for at in range(number):
        (root / "flows" / f"f{at}.yaml").write_text(
            f"flow: f{at}\nsources:\n  rows: {{files: {{path: data/rows.csv, columns: {columns}}}}}\nsteps:\n"
            f"  - {{use: shared, reads: {{t: rows}}, writes: ods.t_{at}}}\n"
            f"  - {{use: shared, reads: {{t: ods.t_{at}}}, writes: ods.u_{at}}}\n"
        )


def test_an_action_of_many_flows_opens_the_state_store_once_and_is_looked_at_once(tmp_path, monkeypatch, capsys):
    from streamhouse.sql import made_of

    opened, traced = [], []
    original, origins_of = Project.state, made_of.origins_of
    monkeypatch.setattr(Project, "state", lambda self: opened.append(self) or original(self))
    monkeypatch.setattr(made_of, "origins_of", lambda tree: traced.append(tree) or origins_of(tree))
    counts = []
    for number in (1, 4):
        root = tmp_path / str(number)
        _flows_with_one_action(root, number)
        project = Project.at(root)
        with project.state() as state:
            for plan in check_project(project).plans.values():
                state.save_plan(plan)
        change(root / "actions" / "shared.sql", "a + 1", f"a + {number + 1}")
        monkeypatch.chdir(root)
        opened.clear()
        traced.clear()
        assert main(["plan", "--json"]) == 10
        flows = json.loads(capsys.readouterr().out)["flows"]
        assert [flow["outcome"] for flow in flows] == ["forward"] * number
        counts.append((len(opened), len(traced)))
    assert counts[0] == counts[1]
    assert counts[0][1] == 1


@pytest.fixture
def of_another_version(project, apply):
    """Two flows that run; the plan of `orders` was recorded by another version."""
    apply()
    flow = (project.root / "flows" / "orders.yaml").read_text()
    other = flow.replace("flow: orders", "flow: others").replace("ods.orders", "ods.others")
    other = re.sub(r"(dw[ds]|ads)\.(\w+)", r"\1.other_\2", other)
    (project.root / "flows" / "others.yaml").write_text(other)
    plan = check_project(project).plans["others"]
    with project.state() as state:
        state.save_plan(plan)
    body = '{"flow": 1}'
    with closing(sqlite3.connect(project.state_dir / "state.db")) as connection, connection:
        update = "UPDATE streamhouse_plan SET body = ?, fingerprint = ? WHERE flow = 'orders'"
        connection.execute(update, (body, fingerprint_of(body)))
    return "orders: SH504 revision 1 of flow 'orders' was recorded by another version of Streamhouse; finish the run"


def told(capsys, *words):
    capsys.readouterr()
    return main(list(words)), " ".join(capsys.readouterr().out.split())


def test_a_plan_of_another_version_hides_no_other_flow(project, of_another_version, capsys):
    code, text = told(capsys, "plan")
    assert (code, text.count(of_another_version)) == (6, 1)
    assert "others: nothing to apply (revision 1)" in text
    assert "orders: never applied" not in text
    assert told(capsys, "plan", "orders") == (
        6,
        text.split("move the state store away")[0] + "move the state store away",
    )
    code, text = told(capsys, "plan", "others")
    assert (code, "another version" in text) == (0, False)
    assert "nothing to apply" in told(capsys, "apply", "others", "--yes")[1]
    change(project.root / "flows" / "others.yaml", "description: Order", "description: All order")
    assert told(capsys, "plan", "others")[0] == 0
    for flow, why in (("others", "others is not applied: it is not known what orders reads; revision 1"), (None, "")):
        capsys.readouterr()
        assert main(["apply", *([flow] if flow else []), "--yes"]) == 6
        refused = " ".join(capsys.readouterr().err.split())
        assert refused.startswith(f"SH504 {why}")
        assert "hint: finish the run with the version that wrote it" in refused


def test_trigger_looks_beside_a_plan_of_another_version(of_another_version, capsys):
    code, text = told(capsys, "trigger", "--once")
    assert (code, text.count(of_another_version)) == (6, 1)
    assert "others: nothing changed" in text
    code, text = told(capsys, "trigger", "--once", "others")
    assert (code, "another version" in text) == (0, False)


def test_a_plan_of_another_version_in_json(of_another_version, capsys):
    capsys.readouterr()
    assert main(["plan", "--json"]) == 6
    documents = {one["flow"]: one for one in json.loads(capsys.readouterr().out)["flows"]}
    assert documents["others"]["changes"] is False
    assert documents["others"]["lost"] == []
    unknown = documents["orders"]
    assert (unknown["changes"], unknown["outcome"], "applied" in unknown) == (None, None, False)
    assert [(one["kind"], one["code"]) for one in unknown["lost"]] == [("state store", "SH504")]
    assert unknown["not_looked_at"] == {}


def test_a_plan_of_another_version_beside_an_environment(of_another_version, capsys):
    code, text = told(capsys, "plan", "--env", "dev")
    assert (code, of_another_version in text) == (6, True)
    assert "others: has not run" in text


def test_an_edit_beside_a_plan_of_another_version_is_shown_by_status(project, of_another_version, capsys):
    change(project.root / "flows" / "others.yaml", "description: Order", "description: All order")
    code, text = told(capsys, "status")
    assert (code, of_another_version in text) == (6, True)
    assert "others: an edit waits: text that changes no row" in text
    assert "edits of files were not looked at: SH504 revision 1" in text
