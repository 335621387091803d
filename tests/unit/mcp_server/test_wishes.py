"""Wishes over the server: proposals are kept and nothing else, and tell no more than tables let out."""

import json
import subprocess
import sys

import pytest

from streamhouse.planner.proposals import Proposals
from streamhouse.planner.request import Block, ColumnRef, Dimension, Measure, Question, Request, Understood
from tests.patience import PATIENCE_S
from tests.unit.mcp_server.test_hostile import HOSTILE, files_of

pytestmark = pytest.mark.proof

WISH = "pieces per order"
STATE = ".streamhouse/state.db"


def request(measure="quantity", base="dwd.orders"):
    return Request(
        wish=WISH,
        block=Block(
            base=base,
            dimensions=(Dimension(name="order_id", of=ColumnRef(column="order_id")),),
            measures=(Measure(name="pieces", function="sum", of=ColumnRef(column=measure)),),
        ),
    )


@pytest.fixture
def reads(monkeypatch):
    """How wishes are read, in the place of the planner's grammar; keeps what it was given."""
    seen = []

    def becomes(understood):
        def read(wish, space):
            seen.append((wish, space.catalog))
            return understood(wish) if callable(understood) else understood

        monkeypatch.setattr("streamhouse.jobs.ask.read_wish", read)
        return seen

    return becomes


def test_a_slip_of_the_planner_is_a_refusal_and_the_log_names_the_wish(call, monkeypatch, caplog):
    def slip(*_):
        raise KeyError("slip")

    monkeypatch.setattr("streamhouse.planner.understand.tokenize", slip)
    error = call("ask", wish=WISH).error
    assert (error["code"], error["message"]) == ("SH000", "internal error: KeyError")
    assert f"while this wish was read: {WISH}" in caplog.text


def test_a_wish_becomes_a_proposal_that_is_kept_and_nothing_else(call, project, reads):
    reads(Understood(request=request()))
    call("validate")
    before = files_of(project.root)
    told = call("ask", wish=WISH)
    found = told.document
    assert not told.is_error
    assert told.structured == found
    assert (found["status"], found["wish"]) == ("proposed", WISH)
    assert found["sentence"]
    new = {file["path"]: file for file in found["files"]}
    assert new["flows/orders.yaml"]["new"] is False
    assert f"+  - {{use: {found['table'].partition('.')[2]}" in new["flows/orders.yaml"]["diff"]
    after = files_of(project.root)
    added = {path.as_posix() for path in after.keys() - before.keys()}
    assert STATE in added
    assert all(one.startswith(STATE) for one in added)
    assert [one.proposal.id for one in Proposals(project).all()] == [found["proposal"]]
    assert {path: after[path] for path in before} == before


def test_the_same_wish_gives_the_same_proposal(call, reads):
    reads(Understood(request=request()))
    assert call("ask", wish=WISH).document == call("ask", wish=WISH).document


def test_a_proposal_is_validated_and_planned(call, reads):
    reads(Understood(request=request()))
    found = call("ask", wish=WISH).document
    assert call("validate", proposal=found["proposal"]).document["ok"]
    [flow] = call("plan", proposal=found["proposal"]).document["flows"]
    assert found["table"] in flow["new_tables"]
    assert found["table"] not in call("plan").document["flows"][0]["new_tables"]


def test_a_proposal_of_files_that_changed_since(call, edit, reads):
    reads(Understood(request=request()))
    found = call("ask", wish=WISH).document
    edit("flows/orders.yaml", "flow: orders", "flow: orders\nowner: somebody")
    assert call("plan", proposal=found["proposal"]).error["code"] == "SH707"


def test_edits_and_answers_make_another(call, project, reads):
    question = Question(text="which?", phrase="pieces", choices=("quantity", "order lines"))

    def read(wish):
        return Understood(questions=(question,)) if "pieces" in wish else Understood(request=request())

    seen = reads(read)
    asked = call("ask", wish=WISH).document
    assert (asked["status"], asked["questions"][0]["phrase"]) == ("question", "pieces")
    answered = call("revise", proposal=asked["proposal"], answers={"pieces": "quantity"}).document
    assert seen[-1][0] == "quantity per order"
    assert answered["status"] == "proposed"
    edited = call("revise", proposal=answered["proposal"], edits={"name": "order_pieces"}).document
    assert edited["table"] == "dws.order_pieces"
    assert {one.proposal.id for one in Proposals(project).all()} == {
        one["proposal"] for one in (asked, answered, edited)
    }


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({}, "SH801"),
        ({"answers": {"a": "b"}, "edits": {"name": "x"}}, "SH801"),
        ({"edits": {"nope.nope": 1}}, "SH705"),
        ({"edits": {"ranking": "first"}}, "SH705"),
        ({"edits": {"block.filter": []}}, "SH705"),
        ({"answers": {"pieces": "quantity"}}, "SH711"),
    ],
)
def test_a_revision_that_does_not_fit(call, reads, given, code):
    reads(Understood(request=request()))
    found = call("ask", wish=WISH).document
    assert call("revise", proposal=found["proposal"], **given).error["code"] == code


def test_a_refusal_is_an_answer(call, reads):
    reads(Understood(refusal="no column is called 'weather'"))
    found = call("ask", wish="weather per day")
    assert not found.is_error
    assert (found.document["status"], found.document["refusal"]) == ("refused", "no column is called 'weather'")


def test_the_planner_knows_no_more_than_may_be_told(call, edit, reads):
    edit("actions/clean_orders.sql", "output:", "ai: {schema: denied}\noutput:")
    seen = reads(Understood(request=request()))
    found = call("ask", wish=WISH).document
    assert found["status"] == "refused"
    [(_, catalog)] = seen
    assert catalog.tables.keys() == {"ods.orders", "dws.revenue_by_product"}
    assert all(not column.values for table in catalog.tables.values() for column in table.columns)


def test_a_persons_proposal_tells_nothing_of_a_hidden_table(call, project, edit, reads):
    from streamhouse.jobs.ask import ask

    edit("actions/clean_orders.sql", "output:", "ai: {schema: denied}\noutput:")
    reads(Understood(request=request()))
    made = ask(project, WISH)
    assert made.status == "proposed"
    error = call.refused(lambda client: client.read_resource(f"streamhouse://proposal/{made.id}"))
    assert error.data["error"]["code"] == "SH805"
    for tool in ("validate", "plan"):
        assert call(tool, proposal=made.id).error["code"] == "SH805"
    assert call("revise", proposal=made.id, edits={"name": "other"}).error["code"] == "SH805"
    for shown in (str(error), str(call("plan", proposal=made.id).document)):
        assert "dwd.orders" not in shown
        assert "clean_orders" not in shown


def test_examples_of_a_persons_proposal_stay(call, project, reads):
    reads(Understood(request=request()))
    found = call("ask", wish=WISH).document
    stored = Proposals(project).get(found["proposal"]).proposal
    rows = "examples:\n- given:\n    orders:\n    - {order_id: 7777, quantity: 2}\n  expect:\n  - {order_id: 7777}\n"
    files = tuple(
        edit.model_copy(update={"after": edit.after.replace("--- */", f"{rows}--- */")}) for edit in stored.files
    )
    Proposals(project).add(stored.model_copy(update={"files": files}))
    read = call.of(lambda client: client.read_resource(f"streamhouse://proposal/{found['proposal']}"))
    shown = json.loads(read.contents[0].text)
    assert "7777" not in json.dumps(shown)
    assert "+--- */" in shown["files"][0]["diff"]
    assert shown["withheld"][0].startswith("examples")
    assert shown["became"] == "asked"
    Proposals(project).add(stored, "written", "the project")
    read = call.of(lambda client: client.read_resource(f"streamhouse://proposal/{found['proposal']}"))
    assert json.loads(read.contents[0].text)["became"] == "written: and the files here say something else"


def test_a_hostile_wish_is_a_wish(call, project, reads):
    reads(lambda wish: Understood(refusal=f"nothing is called '{wish}'"))
    call("validate")
    before, tools = files_of(project.root), call.of(lambda client: client.list_tools())
    found = call("ask", wish=HOSTILE).document
    assert (found["status"], found["files"], found["for_a_person"]) == ("refused", [], [])
    assert found["wish"] == HOSTILE
    added = {path.as_posix() for path in files_of(project.root).keys() - before.keys()}
    assert STATE in added
    assert all(one.startswith(STATE) for one in added)
    assert call.of(lambda client: client.list_tools()) == tools


def test_the_server_imports_no_engine():
    program = "import sys, streamhouse.mcp_server.server; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=PATIENCE_S
    )
    assert not {"pyspark", "fluss", "pypaimon", "fastapi", "pyarrow"} & set(done.stdout.split())
