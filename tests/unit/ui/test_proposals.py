"""The page "Ask": wishes, chips, answers, files; who may do what; nothing of it needs an engine."""

import json
import os
import re
import subprocess
import sys

import pytest

from streamhouse.jobs.ask import ask, write
from streamhouse.model.outcome import Outcome
from streamhouse.planner.proposal import Preview
from streamhouse.planner.proposals import Proposals
from streamhouse.project.check import check_project
from streamhouse.project.desired import desired_plans
from streamhouse.project.project import Project
from streamhouse.runtime.command import Command
from streamhouse.state.changes import Wish
from streamhouse.state.records import EpochRecord
from streamhouse.ui.person import Person
from tests.shop_project import FLOW, make_shop

pytestmark = pytest.mark.proof

WISH = "number of sales per note where cents is above 500"
HOSTILE = "<img src=x onerror=alert(1)>"


ENGINE = """
import sys
from pathlib import Path
from streamhouse.jobs.ask import revise
from streamhouse.project.project import Project
words = sys.argv[1:]
assert words[0] == "proposals" and words[2] == "--preview", words
project = Project.at(Path(words[words.index("--project") + 1]))
print(revise(project, words[1], {}).model_dump_json())
"""


WRITE = """
import json, sys
from pathlib import Path
from streamhouse.jobs.ask import write
from streamhouse.planner.proposals import Proposals
from streamhouse.project.project import Project
words = sys.argv[1:]
assert words[0] == "proposals" and words[2] == "--write", words
project = Project.at(Path(words[words.index("--project") + 1]))
print("running the step in epochs", file=sys.stderr, flush=True)
files = write(project, Proposals(project).get(words[1]).proposal, trial=False)
built = words[words.index("--env") + 1] if "--env" in words else None
print(json.dumps({"proposal": words[1], "written": [str(file) for file in files], "built": built}))
"""
_PATHS = {"PYTHONPATH": os.pathsep.join(sys.path)}
TRIER = Command((sys.executable, "-c", ENGINE), _PATHS)
WRITER = Command((sys.executable, "-c", WRITE), _PATHS)
OWN = Command((sys.executable, "-c", "import sys; from streamhouse.cli.main import main; sys.exit(main())"), _PATHS)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Sales, stores and clicks; nothing ever ran."""
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    return Project.at(make_shop(tmp_path))


@pytest.fixture
def asked(client):
    def call(wish=WISH):
        answer = client.post("/api/ask", json={"wish": wish})
        assert answer.status_code == 200, answer.text
        return answer.json()

    return call


def removal(page, text):
    return next(chip["removal"] for chip in page["chips"] if chip["text"] == text)


def test_a_wish_becomes_files_and_nothing_is_written(asked, project):
    page = asked()
    proposal = page["proposal"]
    assert proposal["status"] == "proposed"
    assert (
        proposal["sentence"] == "Number of rows (sale_count) of dwd.sales per note, only rows where cents is above 500."
    )
    assert {reading["phrase"] for reading in proposal["readings"]} >= {"note", "number of sales"}
    action, flow = page["diffs"]
    assert (action["path"], action["is_new"]) == ("actions/aggregate/sale_count_by_note.sql", True)
    assert (flow["path"], flow["is_new"], flow["added"], flow["removed"]) == ("flows/shop.yaml", False, 1, 0)
    (line,) = [line["text"] for line in flow["lines"] if line["sign"] == "+"]
    assert "writes: dws.sale_count_by_note" in line
    assert page["apply"] == ["streamhouse plan shop", "streamhouse apply shop"]
    assert not page["written"]
    assert (project.root / "flows/shop.yaml").read_text() == FLOW


def test_a_slip_of_the_planner_is_a_problem_and_the_log_names_the_wish(client_of, monkeypatch, caplog):
    def slip(_):
        raise KeyError("slip")

    monkeypatch.setattr("streamhouse.planner.language.doubtful._CHECKS", (slip,))
    answer = client_of(raises=False).post("/api/ask", json={"wish": WISH})
    assert (answer.status_code, answer.json()["code"]) == (500, "SH000")
    assert "Traceback" not in answer.text
    assert f"while this wish was read: {WISH}" in caplog.text


def test_a_chip_away_is_one_call(asked, client):
    page = asked()
    edits = removal(page, "cents is above 500")
    name = page["proposal"]["id"]
    found = client.post(f"/api/proposals/{name}/revise", json={"edits": edits}).json()
    assert found["proposal"]["sentence"] == "Number of rows (sale_count) of dwd.sales per note."
    assert found["proposal"]["wish"] == WISH
    assert "above 500" not in str([reading["phrase"] for reading in found["proposal"]["readings"]])
    assert {reading["phrase"] for reading in found["proposal"]["readings"]} == {"note", "number of sales"}
    assert client.get(f"/api/proposals/{found['proposal']['id']}").json() == found
    assert [(e["what"], e["detail"]) for e in client.get(f"/api/proposals/{name}").json()["events"]] == [
        ("asked", ""),
        ("revised", found["proposal"]["id"]),
    ]


def test_an_edit_that_does_not_fit_is_told(asked, client):
    name = asked()["proposal"]["id"]
    refused = client.post(f"/api/proposals/{name}/revise", json={"edits": {"block.nothing.3": 1}})
    assert (refused.status_code, refused.json()["code"]) == (422, "SH705")
    refused = client.post(f"/api/proposals/{name}/revise", json={"edits": {"name": "Not A Name"}})
    assert (refused.status_code, refused.json()["code"]) == (422, "SH705")
    page = client.post(f"/api/proposals/{name}/revise", json={"edits": {"block.dimensions.0.of.column": "nte"}}).json()
    assert page["proposal"]["status"] == "refused"
    assert "did you mean 'note'?" in page["proposal"]["refusal"]


def test_a_question_is_answered(asked, client):
    page = asked("top stores by revenue")
    (question,) = page["proposal"]["questions"]
    assert "top 5 stores" in question["choices"]
    name = page["proposal"]["id"]
    answers = {question["phrase"]: "top 5 stores"}
    found = client.post(f"/api/proposals/{name}/answer", json={"answers": answers}).json()
    assert (found["proposal"]["status"], found["proposal"]["wish"]) == ("proposed", "top 5 stores by revenue")
    became = {one["id"]: one for one in client.get("/api/proposals").json()}
    assert (became[name]["became"], became[name]["detail"]) == ("revised", found["proposal"]["id"])


def test_a_word_without_a_place_is_named(asked):
    page = asked("flubber per note")
    assert page["proposal"]["status"] == "refused"
    assert "flubber" in page["proposal"]["refusal"]
    assert page["chips"] == page["diffs"] == []


def test_the_graph_marks_what_would_be_new(asked, client):
    name = asked()["proposal"]["id"]
    nodes = client.get(f"/api/proposals/{name}/graph").json()["nodes"]
    assert [node["id"] for node in nodes if node["new"]] == ["dws.sale_count_by_note"]
    assert "dwd.sales" in {node["id"] for node in nodes}
    refused = asked("flubber per note")["proposal"]["id"]
    assert client.get(f"/api/proposals/{refused}/graph").json() is None


def test_files_are_written_once_a_person_says_so(asked, client_of, project):
    name = asked()["proposal"]["id"]
    client = client_of(engine=WRITER)
    done = client.post(f"/api/proposals/{name}/write", json={}).json()
    assert done == {
        "files": ["actions/aggregate/sale_count_by_note.sql", "flows/shop.yaml"],
        "built": None,
        "said": "running the step in epochs",
    }
    assert "dws.sale_count_by_note" in (project.root / "flows/shop.yaml").read_text()
    assert client.get(f"/api/proposals/{name}").json()["written"]
    assert client.get(f"/api/proposals/{name}/progress").json() == {"said": ""}
    assert client.get("/api/flows/shop").json()["summary"]["revision"] is None, "nothing was applied"
    (one,) = client.get("/api/proposals").json()
    assert (one["became"], one["detail"]) == ("written", "waits for: streamhouse apply shop")
    with project.state() as state:
        state.save_plan(desired_plans(project)["shop"])
    (one,) = client.get("/api/proposals").json()
    assert (one["became"], one["detail"]) == ("applied", "in revision 1 of shop")
    client.post(f"/api/proposals/{name}/revise", json={"edits": {"name": "notes"}})
    kept = {one["id"]: one["became"] for one in client.get("/api/proposals").json()}
    assert kept.pop(name) == "applied", "a revision takes nothing back"
    assert list(kept.values()) == ["asked"]


def test_an_environment_is_named_to_the_command(asked, client_of):
    name = asked()["proposal"]["id"]
    done = client_of(engine=WRITER).post(f"/api/proposals/{name}/write", json={"environment": "review"}).json()
    assert done["built"] == "review"


def test_what_an_environment_has_is_told(asked, client, project):
    with project.state() as state:
        state.save_plan(desired_plans(project)["shop"])
        name = asked()["proposal"]["id"]
        write(project, Proposals(project).get(name).proposal, trial=False)
        plan = desired_plans(project)["shop"]
        state.ask_change(Wish(plan, Outcome.SWAP, frozenset({"dws.sale_count_by_note"}), environment="review"), "ann")
        (change,) = state.environments()
        (one,) = client.get("/api/proposals").json()
        assert (one["became"], one["detail"]) == ("written", "waits for: streamhouse apply shop"), "nothing filled it"
        page = client.get(f"/api/proposals/{name}").json()
        assert (page["built"], page["apply"]) == (None, ["streamhouse plan shop", "streamhouse apply shop"])
        state.begin_at([EpochRecord(change.candidate, "main", 0, 1_000, 1_000, 1_001)])
    (one,) = client.get("/api/proposals").json()
    assert (one["became"], one["detail"]) == ("built", "in review; streamhouse env promote shop review")
    page = client.get(f"/api/proposals/{name}").json()
    assert page["built"] == "review"
    assert page["apply"] == ["streamhouse env diff shop review", "streamhouse env promote shop review"]


@pytest.mark.parametrize("environment", ["", "--yes", "Review", "a b", "../x"])
def test_an_environment_has_a_plain_name(asked, client_of, environment):
    name = asked()["proposal"]["id"]
    refused = client_of(engine=WRITER).post(f"/api/proposals/{name}/write", json={"environment": environment})
    assert refused.status_code == 422


def test_a_file_that_changed_since_is_not_overwritten(asked, client_of, project):
    name = asked()["proposal"]["id"]
    flow = project.root / "flows/shop.yaml"
    flow.write_text(FLOW.replace("30s", "40s"))
    refused = client_of(engine=OWN).post(f"/api/proposals/{name}/write", json={})
    assert (refused.status_code, refused.json()["code"]) == (409, "SH707"), refused.text
    assert refused.json()["hint"]
    assert "40s" in flow.read_text()


def test_what_failed_when_it_was_tried_is_told(asked, client, project):
    name = asked()["proposal"]["id"]
    Proposals(project).add(Proposals(project).get(name).proposal, "failed", "trial: other rows came out")
    (one,) = client.get("/api/proposals").json()
    assert (one["became"], one["detail"]) == ("failed", "trial: other rows came out")


def test_without_an_engine_nothing_is_written_untried(asked, client, project):
    name = asked()["proposal"]["id"]
    refused = client.post(f"/api/proposals/{name}/write", json={})
    assert (refused.status_code, refused.json()["code"]) == (503, "SH306")
    assert (project.root / "flows/shop.yaml").read_text() == FLOW
    assert "STREAMHOUSE_COMMAND" in client.get("/api/project").json()["engine_note"]


def test_what_changed_after_it_was_written_is_told(asked, client, project):
    name = asked()["proposal"]["id"]
    write(project, Proposals(project).get(name).proposal, trial=False)
    flow = project.root / "flows/shop.yaml"
    flow.write_text(flow.read_text().replace("30s", "40s"))
    (one,) = client.get("/api/proposals").json()
    assert (one["became"], one["detail"]) == ("written", "and the files here say something else")


def test_an_unknown_proposal(client):
    for path in ("/api/proposals/0123456789ab", "/api/proposals/0123456789ab/graph"):
        assert client.get(path).status_code == 404
    assert client.get("/api/proposals/0123456789ab/progress").json() == {"said": ""}
    told = client.post("/api/proposals/0123456789ab/write", json={})
    assert (told.status_code, told.json()["code"]) == (404, "SH706")
    assert client.get("/api/proposals/..%2f..%2fsecret").status_code == 404


def test_wrong_files_are_told_and_old_proposals_are_there(asked, client, project):
    name = asked()["proposal"]["id"]
    (project.root / "flows/shop.yaml").write_text("flow: [")
    refused = client.post("/api/ask", json={"wish": WISH})
    assert refused.status_code == 422
    assert refused.json()["file"] == "flows/shop.yaml"
    page = client.get(f"/api/proposals/{name}").json()
    assert [chip["text"] for chip in page["chips"]][:2] == ["number of rows (sale_count)", "per note"]


def test_a_failed_write_is_told(client, project, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", "proposals/x")

    monkeypatch.setattr(Proposals, "add", full)
    refused = client.post("/api/ask", json={"wish": WISH})
    assert (refused.status_code, refused.json()["code"]) == (503, "SH300")
    assert "No space left on device" in refused.json()["detail"]


@pytest.mark.parametrize("body", [{}, {"wish": ""}, {"wish": "w", "more": 1}])
def test_malformed_wishes(client, body):
    assert client.post("/api/ask", json=body).status_code == 422


def test_a_wish_that_is_too_long_is_refused_as_everywhere(client):
    refused = client.post("/api/ask", json={"wish": "x" * 2_001}).json()
    assert (refused["code"], refused["detail"]) == ("SH700", "the wish has 2,001 characters, and a wish may have 2,000")
    assert refused["hint"] == "ask for one result in a sentence or two"


LOOKER = Person("eve", may_decide=False, may_query=False)
ANALYST = Person("ann", may_decide=False, may_query=True)
EDITOR = Person("ed", may_decide=True, may_query=False)


def test_who_only_looks_asks_nothing(asked, client_of):
    name = asked()["proposal"]["id"]
    eve = client_of(LOOKER)
    assert not eve.get("/api/project").json()["may_ask"]
    for path in ("/api/proposals", f"/api/proposals/{name}", f"/api/proposals/{name}/graph"):
        assert eve.get(path).status_code == 403
    for path in (
        "ask",
        f"proposals/{name}/revise",
        f"proposals/{name}/answer",
        f"proposals/{name}/write",
        f"proposals/{name}/try",
    ):
        assert eve.post(f"/api/{path}", json={}).status_code == 403


def test_who_may_query_asks_and_writes_nothing(asked, client_of, project):
    name = asked()["proposal"]["id"]
    ann = client_of(ANALYST)
    assert ann.get("/api/project").json()["may_ask"]
    assert ann.post("/api/ask", json={"wish": WISH}).status_code == 200
    assert ann.post(f"/api/proposals/{name}/write", json={}).status_code == 403
    assert (project.root / "flows/shop.yaml").read_text() == FLOW


def test_rows_are_for_who_may_query(client_of, project):
    made = ask(project, WISH, keep=False)
    made = made.model_copy(update={"preview": Preview(columns=("note", "n"), rows=(("x", 2**60),))})
    Proposals(project).add(made)
    shown = client_of(ANALYST).get(f"/api/proposals/{made.id}").json()["proposal"]["preview"]
    assert shown["rows"] == [["x", str(2**60)]], "JavaScript would round it"
    hidden = client_of(EDITOR).get(f"/api/proposals/{made.id}").json()["proposal"]["preview"]
    assert (hidden["rows"], hidden["columns"]) == ([], [])
    assert hidden["why_not"]
    assert client_of(EDITOR).post(f"/api/proposals/{made.id}/try", json={}).status_code == 403


@pytest.mark.parametrize(
    "path", ["ask", "proposals/x/revise", "proposals/x/answer", "proposals/x/write", "proposals/x/try"]
)
@pytest.mark.parametrize(
    "headers",
    [
        {"X-Streamhouse": ""},
        {"Content-Type": "text/plain"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_another_sites_page_asks_nothing(client, path, headers):
    refused = client.post(
        f"/api/{path}", content=b'{"wish": "w"}', headers={"Content-Type": "application/json"} | headers
    )
    assert refused.status_code == 403
    assert "does not come from the page" in refused.json()["detail"]


def test_without_an_engine_the_planner_works_and_rows_are_refused_with_a_reason(asked, client):
    page = asked()
    assert page["proposal"]["preview"]["why_not"]
    told = client.post(f"/api/proposals/{page['proposal']['id']}/try", json={})
    assert (told.status_code, told.json()["code"]) == (503, "SH306")
    assert "STREAMHOUSE_COMMAND" in told.json()["hint"]


def test_examples_are_computed_by_the_engines_command(asked, client_of):
    page = asked()
    found = client_of(engine=TRIER).post(f"/api/proposals/{page['proposal']['id']}/try", json={})
    assert found.status_code == 200, found.text
    assert found.json()["proposal"] == page["proposal"]
    assert found.json()["proposal"]["readings"], "they stay"
    assert [one["what"] for one in found.json()["events"]] == ["asked"]


def test_hostile_text_stays_text(asked, client, project):
    action = project.root / "actions/clean/clean_sales.sql"
    action.write_text(action.read_text().replace("step: clean", f"step: clean\ndescription: '{HOSTILE}'"))
    page = asked(f"number of {HOSTILE} per note")
    assert page["proposal"]["wish"] == f"number of {HOSTILE} per note"
    answer = client.get(f"/api/proposals/{page['proposal']['id']}")
    assert answer.headers["content-type"] == "application/json"
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert json.loads(answer.text) == page


def test_the_page_takes_no_text_as_markup():
    from streamhouse.ui.app import STATIC

    sites = [
        (path.name, line.strip())
        for path in (STATIC / "js").rglob("*.js")
        for line in path.read_text().splitlines()
        if re.search(r"innerHTML|dangerouslySetInnerHTML|insertAdjacent|document\.write|outerHTML", line)
    ]
    assert [name for name, _ in sites] == ["code.js"], "highlight.js escapes what it marks"


NO_ENGINE = """
import subprocess
import sys
from pathlib import Path
for name in ("pyspark", "pyarrow", "duckdb", "fluss", "pypaimon", "psutil", "fastavro", "pyiceberg", "pydantic_ai"):
    sys.modules[name] = None  # an import of it fails
from fastapi.testclient import TestClient
from streamhouse.project.project import Project
from streamhouse.ui.app import create_app
from streamhouse.ui.desk import Desk
from streamhouse.ui.person import Person
desk = Desk(Project.at(Path(sys.argv[1])))
person = Person("ada", may_decide=True, may_query=True)
app = create_app(lambda: desk, lambda: person, where="airflow", engine=lambda: None)
client = TestClient(app, headers={"X-Streamhouse": "1"})
answer = client.post("/api/ask", json={"wish": sys.argv[2]})
page = answer.json()
if answer.status_code != 200:
    sys.exit(f"{answer.status_code} {page['code']} {page['detail']}")
name = page["proposal"]["id"]
chip = next(chip for chip in page["chips"] if chip["group"] == "filter")
print(page["proposal"]["status"], page["proposal"]["table"])
print(client.post(f"/api/proposals/{name}/revise", json={"edits": chip["removal"]}).json()["proposal"]["status"])
print(len(client.get(f"/api/proposals/{name}/graph").json()["nodes"]))
print(client.post(f"/api/proposals/{name}/write", json={}).json()["code"])
"""


def without_engine(project):
    command = [sys.executable, "-c", NO_ENGINE, str(project.root), WISH]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_where_no_engine_is_installed_wishes_are_read(project):
    check_project(project)  # somebody with an engine looked up which columns the files have
    done = without_engine(project)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["proposed dws.sale_count_by_note", "proposed", "9", "SH306"]


def test_where_no_engine_is_installed_the_page_tells_what_is_missing(project):
    assert "503 SH306 the Python package 'pyarrow' is not installed" in without_engine(project).stderr
