"""Commands about one flow while the applied plan of another one cannot be read (docs/decisions/unreadable-plans.md)."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from streamhouse.autopilot.finding import FaultKind, FlowFault, Means
from streamhouse.autopilot.observe import Observer
from streamhouse.autopilot.rounds import Autopilot
from streamhouse.cli.action_add import _columns
from streamhouse.cli.app import App
from streamhouse.cli.main import main
from streamhouse.errors import StateConflictError
from streamhouse.model.outcome import Outcome
from streamhouse.project.autopilot import AutopilotMode
from streamhouse.project.desired import desired_plans
from streamhouse.project.project import Project
from streamhouse.state.changes import Wish
from tests.composed_cases import asked, dim, measure
from tests.shop_project import make_shop
from tests.two_flows import HOW, spoil_plan

SPARE = """flow: spare
sources: {clicks: {files: {path: data/clicks.csv, columns: {who: string, at: timestamp}}}}
steps:
  - {use: ingest_as_is, reads: {rows: clicks}, writes: ods.spare}
"""
REQUEST = asked(dimensions=(dim("note"),), measures=(measure("n"),))


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The flows `shop` and `spare`, which share no table, both applied."""
    make_shop(tmp_path)
    (tmp_path / "flows/spare.yaml").write_text(SPARE)
    (tmp_path / "request.json").write_text(REQUEST.model_dump_json())
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    found = Project.at(tmp_path)
    with found.state() as state:
        for plan in desired_plans(found).values():
            state.save_plan(plan)
    return found


@pytest.fixture(params=HOW)
def spoiled(request, project):
    """The plan of `spare` cannot be read. What is said of it."""
    spoil_plan(project, request.param, "spare")
    return HOW[request.param].replace("'orders'", "'spare'")


def told(capsys, *words):
    """Exit code, and what a command says."""
    capsys.readouterr()
    code = main(list(words))
    said = capsys.readouterr()
    return code, " ".join(f"{said.out} {said.err}".split())


ASK = ("ask", "--request", "request.json", "--no-examples", "--no-trial")


def test_a_wish_about_one_flow_is_proposed_and_written(project, spoiled, capsys):
    capsys.readouterr()
    assert main([*ASK, "--json"]) == 0
    checks = json.loads(capsys.readouterr().out)["checks"]
    [unknown] = [one["text"] for one in checks if one["name"] == "readers"]
    assert unknown.startswith(f"it is not known what spare reads: {spoiled}")
    assert told(capsys, *ASK, "--write")[0] == 0
    assert (project.root / "flows/shop.yaml").read_text().count("n_by_note")


def test_a_wish_about_the_flow_itself_is_refused(spoiled, capsys):
    code, text = told(capsys, *ASK, "--flow", "spare")
    assert (code, text.count(f"refused: SH504 {spoiled}")) == (4, 1)


def test_a_wish_beside_sound_plans_says_nothing_of_readers(project, capsys):
    capsys.readouterr()
    assert main([*ASK, "--json"]) == 0
    assert "readers" not in {one["name"] for one in json.loads(capsys.readouterr().out)["checks"]}


def test_a_change_with_its_proposal_is_shown(project, capsys):
    assert main([*ASK, "--write"]) == 0
    with project.state() as state:
        state.ask_change(Wish(desired_plans(project)["shop"], Outcome.SWAP), "ann")
    spoil_plan(project, "damaged", "spare")
    assert told(capsys, "changes", "1")[0] == 0


def test_an_action_is_made_over_a_table_of_the_other_flow(project, spoiled):
    app = App(project_dir=project.root)
    assert {one.name for one in _columns(app, "dwd.sales")} >= {"id", "cents"}
    assert [one.name for one in _columns(app, "ods.spare")] == ["who", "at"]


def test_the_autopilot_looks_at_the_other_flow(spoiled, capsys):
    code, text = told(capsys, "autopilot", "suggest")
    assert (code, text.count(spoiled)) == (6, 1)
    assert told(capsys, "autopilot", "suggest", "shop")[0] == 0
    code, text = told(capsys, "autopilot", "suggest", "spare")
    assert (code, text.count(spoiled)) == (6, 1)


def test_the_autopilot_applies_no_edit(project, spoiled):
    edit = FlowFault(FaultKind.SHARED_STEP, "shop", "", "slow", {}, None, Means.EDIT, "wait", {"freshness": "1m"})
    pilot, now = Autopilot(project, AutopilotMode.AUTO), datetime.now(UTC)
    with project.state() as state:
        observer = Observer(project, state)
        evidence = observer.look((), timedelta(minutes=10), now)
        assert list(evidence) == ["shop"]
        proposal = pilot.proposal(state, evidence["shop"], edit, AutopilotMode.AUTO)
        assert proposal.outcome is None
        assert proposal.why_not.startswith(f"it is not known what spare reads: {spoiled}")
        with pytest.raises(StateConflictError):
            observer.look(["shop", "spare"], timedelta(minutes=10), now)
