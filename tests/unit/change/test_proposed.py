"""Which proposals a change came from, and what a person who approves it sees of them."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from streamhouse.change.proposed import Origins, proposals_behind
from streamhouse.cli.main import main
from streamhouse.model.definition import Definition
from streamhouse.model.outcome import Outcome
from streamhouse.orchestrator.approval_text import MOST_CHARACTERS, approval_body
from streamhouse.planner.proposal import Check, Cost, FileEdit, Proposal, Reuse, Status, StepPlan
from streamhouse.planner.proposal_text import proposal_text
from streamhouse.planner.proposals import Event, Proposals, Stored
from streamhouse.planner.request import Question, Reading
from streamhouse.state.changes import Wish
from streamhouse.ui.changes import approvals
from streamhouse.ui.desk import Desk
from tests.shop import FLOW, made_world

FILE = "flows/shop.yaml"
PROPOSAL = Proposal(
    id="0123456789ab",
    wish="revenue per store",
    status=Status.PROPOSED,
    sentence="Revenue for each store.",
    readings=(Reading(phrase="revenue", became="measure revenue of dwd.sales"),),
    assumptions=("NULL stores go to quarantine",),
    questions=(Question(text="which revenue?", phrase="revenue", choices=("gross", "net")),),
    reuses=(Reuse(kind="table", name="dws.totals", why="equal query"),),
    steps=(StepPlan(table="dws.board", action="board", strategy="merge", reason="sums"),),
    cost=Cost(first_rows=1_200, state="none", notes=("an epoch reads the changed rows",)),
    checks=(Check(name="keys", verdict="passed", text="each key occurs once"),),
    sql="SELECT\n  store_id,\n  SUM(cents) AS revenue\nFROM dwd.sales\nGROUP BY\n  store_id",
    flow="shop",
    files=(FileEdit(path=FILE, before="old", after="new"),),
)
WRITTEN = (Event(at=datetime(2026, 3, 1, tzinfo=UTC), what="written", detail="the project"),)
PARTS = (
    "proposal 0123456789ab: Revenue for each store.",
    "wish: revenue per store",
    "revenue → measure revenue of dwd.sales",
    "NULL stores go to quarantine",
    "which revenue? (gross | net)",
    "table dws.totals: equal query",
    "the first run reads: 1,200 rows",
    "an epoch reads the changed rows",
    "keys: passed: each key occurs once",
    "flows/shop.yaml: edited",
    "dws.board by board: merge: sums",
    "    SUM(cents) AS revenue",
    "see it whole: streamhouse proposals 0123456789ab",
)


@pytest.mark.parametrize(
    ("events", "flow", "wanted", "applied", "is_behind"),
    [
        (WRITTEN, "shop", {FILE: "new"}, {FILE: "old"}, True),
        (WRITTEN, "shop", {FILE: "new"}, {}, True),
        (WRITTEN, "shop", {FILE: "edited"}, {FILE: "old"}, False),
        (WRITTEN, "shop", {FILE: "new"}, {FILE: "new"}, False),
        (WRITTEN, "boards", {FILE: "new"}, {FILE: "old"}, False),
        ((), "shop", {FILE: "new"}, {FILE: "old"}, False),
    ],
)
def test_a_change_came_from_proposals_whose_written_texts_are_wanted_now(events, flow, wanted, applied, is_behind):
    found = proposals_behind([Stored(proposal=PROPOSAL, events=events)], flow, wanted, applied)
    assert found == ((PROPOSAL,) if is_behind else ())


def test_the_text_has_every_part_and_is_bounded():
    text = proposal_text(PROPOSAL)
    assert [part for part in PARTS if part not in text] == []
    many = PROPOSAL.model_copy(update={"assumptions": tuple(f"{n} {'x' * 999}" for n in range(99))})
    assert "… and 79 more" in proposal_text(many)
    assert max(map(len, proposal_text(many).splitlines())) <= 300
    assert "reuse: none" in proposal_text(PROPOSAL.model_copy(update={"reuses": ()}))


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    monkeypatch.chdir(tmp_path)
    with made_world(tmp_path, "off") as made:
        text = FLOW + "max_rows_per_epoch: 7\n"
        made.flow("max_rows_per_epoch: 7\n")
        written = PROPOSAL.model_copy(update={"files": (FileEdit(path=FILE, before=FLOW, after=text),)})
        Proposals(made.project).add(written, "written", "the project")
        made.wanted = made.state.plan("shop")[1].model_copy(update={"max_rows_per_epoch": 7})
        yield made


def asked(world):
    fingerprint = world.wanted.fingerprint
    return world.state.approvals.ask("shop", fingerprint, "apply a plan", "rebuild", {"plan": fingerprint})


def test_a_question_shows_them_by_command_and_in_airflow(world, capsys):
    question = asked(world)
    (found,) = Origins(world.project, world.state).of_question(question)
    body = approval_body(question, [found])
    assert main(["approvals", question.id]) == 0
    out = capsys.readouterr().out
    assert [part for part in PARTS if part not in body or part not in out] == []
    upstream = world.state.approvals.ask("shop", "an event", "follow", "evidence", {"plan": world.wanted.fingerprint})
    assert Origins(world.project, world.state).of_question(upstream) == ()


def test_proposals_are_read_once_for_many_questions(world, capsys, monkeypatch):
    for number in range(3):
        fingerprint = f"{world.wanted.fingerprint}{number}"
        world.state.approvals.ask("shop", fingerprint, "apply a plan", "rebuild", {"plan": fingerprint})
    read = []
    of_all = Proposals.all
    monkeypatch.setattr(Proposals, "all", lambda self: read.append("once") or of_all(self))
    assert main(["approvals", "--json"]) == 0
    assert read == ["once"]
    desk = Desk(world.project)
    assert len(approvals(desk)) == 3
    desk.close()
    assert read == ["once"] * 2
    assert len(json.loads(capsys.readouterr().out)["approvals"]) == 3


def test_airflow_gets_a_bounded_text():
    long = tuple(f"{n} {'x' * 280}" for n in range(99))
    many = [PROPOSAL.model_copy(update={"assumptions": long, "questions": (), "id": f"{n:012}"}) for n in range(50)]
    now = datetime.now(UTC)
    question = type("Asked", (), {"evidence": "e ``` e", "id": "4f2a91c0", "expires_at": now + timedelta(days=1)})()
    body = approval_body(question, many)
    assert len(body) < MOST_CHARACTERS + 1_000
    assert "… more: streamhouse proposals, of 000000000000 " in body
    assert body.startswith("````\ne ``` e\n````"), "evidence does not end its block"
    assert "proposal" not in approval_body(question, [])


def test_an_open_change_shows_them_and_one_that_is_done_does_not(world, capsys):
    texts = {FILE: (world.project.root / FILE).read_text()}
    wish = Wish(world.wanted, Outcome.SWAP, definition=Definition(flow="shop", files=texts))
    change = world.state.ask_change(wish, "ada")
    (world.project.root / FILE).write_text("something else by now")
    assert [one.id for one in Origins(world.project, world.state).of_change(change)] == [PROPOSAL.id]
    assert main(["changes", str(change.id)]) == 0
    assert PARTS[0] in capsys.readouterr().out
    world.state.withdraw_change("shop")
    assert Origins(world.project, world.state).of_change(world.state.change(change.id)) == ()
