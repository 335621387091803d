"""Whom a change upstream waits for: every state of it and of its question, at every place that tells about it."""

import json
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient

from streamhouse.autopilot.observe import Observer
from streamhouse.cli.main import main
from streamhouse.errors import ApprovalClosedError, BlockedError, ChangeFailedError
from streamhouse.jobs.run import _stands
from streamhouse.model.outcome import Outcome
from streamhouse.model.schema_change import EventType, Policy
from streamhouse.model.table import Column
from streamhouse.model.upstream import Decision, UpstreamEvent, Values, Verdict
from streamhouse.orchestrator.approval_text import waiting_texts
from streamhouse.state.approvals import ApprovalState
from streamhouse.state.changes import Wish
from streamhouse.state.records import Phase
from streamhouse.state.upstream import EventStatus
from streamhouse.state.waits import WaitsFor, waits_of
from streamhouse.ui.app import create_app
from streamhouse.ui.desk import Desk
from streamhouse.ui.person import Person
from tests.shop import FLOW, made_world

pytestmark = pytest.mark.proof

STEP = "dws.totals"
WIDER = UpstreamEvent(
    type=EventType.WIDEN_TYPE,
    object="shop:rows",
    before="1",
    after="2",
    was=Column(name="price", type="int"),
    now=Column(name="price", type="bigint"),
)
VERDICT = Verdict(
    flow="shop",
    step=STEP,
    table=STEP,
    policy=Policy.EVOLVE,
    said="",
    outcome=Outcome.BLOCK,
    values=Values.WAIT,
    pauses=True,
    asks="widen price",
)
DECISION = Decision(event=WIDER, verdicts=(VERDICT,))
WHY = "SH409 the warm tier cannot widen price"


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    monkeypatch.chdir(tmp_path)
    with made_world(tmp_path, "all") as made:
        made.state.upstream.record("shop", [WIDER])
        yield made


def settled(state, status, answer, *, about="event", pauses=True, note=None):
    """The event in a state, with its question in a state; None: nobody was asked."""
    question, decision = None, DECISION
    if answer is not None:
        subject, document = (WIDER.id, {}) if about == "event" else ("f" * 64, {"plan": "f" * 64})
        old = datetime.now(UTC) - timedelta(days=30) if answer is ApprovalState.EXPIRED else None
        question = state.approvals.ask("shop", subject, "widen price", "evidence", document, now=old)
        if answer in (ApprovalState.GRANTED, ApprovalState.REFUSED):
            state.approvals.decide(question.id, grant=answer is ApprovalState.GRANTED, by="ada")
    if not pauses or (answer is None and status is EventStatus.WAITING):
        decision = Decision(event=WIDER, verdicts=(VERDICT.model_copy(update={"asks": "", "pauses": pauses}),))
    if note is None and about == "plan" and status is EventStatus.WAITING and question is not None:
        note = f"approval {question.id}: widen price"
    state.upstream.settle("shop", WIDER.id, status, decision=decision, note=note)
    return question


S, A, W = EventStatus, ApprovalState, WaitsFor
STATES = [
    (S.SEEN, None, W.RUNNER, "was seen"),
    (S.SEEN, A.GRANTED, W.RUNNER, "was seen"),
    (S.WAITING, A.OPEN, W.PERSON, "waits for a person: widen price"),
    (S.WAITING, A.GRANTED, W.RUNNER, "was granted by ada"),
    (S.WAITING, A.REFUSED, W.RUNNER, "was refused by ada"),
    (S.WAITING, A.EXPIRED, W.PERSON, "the question expired"),
    (S.WAITING, None, W.SOURCE, "holds up its readers"),
    (S.FAILED, None, W.REPAIR, f"could not be carried out: {WHY}"),
    (S.FAILED, A.GRANTED, W.REPAIR, f"was granted by ada, and could not be carried out: {WHY}"),
    (S.FAILED, A.REFUSED, W.REPAIR, f"could not be carried out: {WHY}"),
    (S.REFUSED, A.REFUSED, W.REPAIR, "was refused by ada, and its readers cannot go on without it"),
    (S.APPLIED, A.GRANTED, None, ""),
    (S.NOTED, None, None, ""),
    (S.OUTDATED, A.EXPIRED, None, ""),
]
NOTES = {S.FAILED: WHY, S.REFUSED: "refused by ada"}


def run_text(world):
    """What a run says at its end, and with which error."""
    steps = world.state.upstream.waiting("shop")
    return _stands(SimpleNamespace(state=world.state), "shop", steps) if steps else None


def airflow_text(waits):
    """What the log of the task that looks says."""
    return " ".join(text for text, _ in waiting_texts({"flow": "shop", "waits": [one.document() for one in waits]}))


def told_everywhere(world, capsys):
    """Place → what it says of the flow."""
    texts = {"run": str(run_text(world) or "")}
    for name in (("status",), ("status", "shop"), ("approvals",), ("approvals", "shop")):
        capsys.readouterr()
        assert main(list(name)) == 0
        texts[" ".join(name)] = capsys.readouterr().out
    assert main(["status", "shop", "--json"]) == 0
    [flow] = json.loads(capsys.readouterr().out)["flows"]
    texts["status --json"] = json.dumps(flow["waits"])
    assert main(["approvals", "shop", "--json"]) == 0
    texts["approvals --json"] = json.dumps(json.loads(capsys.readouterr().out))
    desk = Desk(world.project)
    try:
        who = Person("ada", may_decide=True, may_query=True)
        client = TestClient(create_app(lambda: desk, lambda: who, where="alone", engine=lambda: None))
        texts["page of the flow"] = json.dumps(client.get("/api/flows/shop").json()["summary"]["waits"])
        texts["page of changes"] = json.dumps([q["failed"] for q in client.get("/api/approvals").json()])
    finally:
        desk.close()
    found = Observer(world.project, world.state).look(["shop"], window=timedelta(hours=1), now=datetime.now(UTC))
    texts["autopilot"] = json.dumps(list(found["shop"].upstream))
    texts["Airflow"] = airflow_text(waits_of(world.state, "shop"))
    return {name: " ".join(text.split()) for name, text in texts.items()}


@pytest.mark.parametrize("about", ["event", "plan"])
@pytest.mark.parametrize(
    ("status", "answer", "whom", "why"), STATES, ids=lambda one: str(getattr(one, "value", one))[:12]
)
def test_every_state_has_one_answer(world, status, answer, whom, why, about):
    settled(world.state, status, answer, about=about, note=NOTES.get(status))
    found = waits_of(world.state, "shop")
    if whom is None:
        assert found == ()
        return
    [one] = found
    if about == "plan" and status is S.WAITING and answer is None:
        why = "holds up its readers"
    assert (one.whom, why in one.why) == (whom, True), one
    assert one.remedy
    assert one.steps == {STEP}


@pytest.mark.parametrize(
    ("status", "answer", "whom", "why"), STATES, ids=lambda one: str(getattr(one, "value", one))[:12]
)
def test_every_place_says_the_same(world, status, answer, whom, why, capsys):
    question = settled(world.state, status, answer, note=NOTES.get(status))
    told = told_everywhere(world, capsys)
    if whom is None:
        assert told["approvals"].startswith("nothing waits for a decision")
        assert told["run"] == ""
        assert (told["status --json"], told["page of the flow"], told["autopilot"]) == ("[]", "[]", "[]")
        return
    places = {*told} - {"page of changes"}
    places -= {"autopilot"} if whom is W.RUNNER else set()
    if whom is W.PERSON and answer is A.OPEN:
        places -= {"approvals", "approvals shop"}  # the question itself stands there
        assert question.id in told["approvals"]
        why = "widen price"
    if status is S.SEEN:
        places -= {"run"}  # its readers go on
    for place in sorted(places):
        assert why in told[place], place
    if whom is not W.PERSON:
        assert "waits for a person" not in " ".join(told.values()).replace("waits for a person's word", "")
    assert "nothing waits" not in told["approvals"]
    [one] = waits_of(world.state, "shop")
    for place in ("run", "status", "approvals", "page of the flow", "Airflow"):
        if place in places:
            assert " ".join(one.remedy.split()) in told[place].replace('\\"', '"'), place
    if status is S.FAILED and answer is A.GRANTED:
        assert why in told["page of changes"]
        assert f"streamhouse refuse {question.id}" in told["page of changes"]


@pytest.mark.parametrize(("status", "error"), [(S.FAILED, ChangeFailedError), (S.WAITING, BlockedError)])
def test_a_run_ends_with_the_error_of_what_waits(world, status, error):
    settled(world.state, status, A.OPEN if status is S.WAITING else A.GRANTED, note=NOTES.get(status))
    assert type(run_text(world)) is error


@pytest.mark.parametrize("about", ["event", "plan"])
def test_a_grant_whose_change_failed_may_be_taken_back_and_no_other(world, about):
    question = settled(world.state, S.FAILED, A.GRANTED, about=about, note=WHY)
    approvals = world.state.approvals
    with pytest.raises(ApprovalClosedError, match="what was granted failed") as error:
        approvals.decide(question.id, grant=True, by="bob")
    assert f"streamhouse refuse {question.id}" in str(error.value)
    assert [one.id for one in approvals.failed("shop")] == [question.id]
    assert approvals.list("shop") == [], "it waits for no answer"
    done = approvals.decide(question.id, grant=False, by="bob", reason="no")
    assert (done.state, done.decided_by) == (A.REFUSED, "bob")
    assert approvals.failed("shop") == []
    with pytest.raises(ApprovalClosedError, match="was refused by bob"):
        approvals.decide(question.id, grant=True, by="ada")


@pytest.mark.parametrize("status", [S.APPLIED, S.WAITING, S.SEEN, S.OUTDATED])
def test_a_grant_that_did_not_fail_stays(world, status):
    question = settled(world.state, status, A.GRANTED)
    with pytest.raises(ApprovalClosedError, match="was granted by ada"):
        world.state.approvals.decide(question.id, grant=False, by="bob")


def test_a_plan_that_was_granted_and_is_applied_is_not_the_one_that_failed(world):
    plan = world.state.plan("shop")[1]
    question = world.state.approvals.ask("shop", plan.fingerprint, "apply", "", {"plan": plan.fingerprint})
    world.state.approvals.decide(question.id, grant=True, by="ada")
    settled(world.state, S.FAILED, None, note=WHY)
    assert world.state.approvals.failed("shop") == []
    [one] = waits_of(world.state, "shop")
    assert (one.question, "ignore" in one.remedy) == (None, True)


def test_what_was_granted_and_failed_is_tried_again_or_given_up(tmp_path, monkeypatch):
    """A used column goes; a person grants that, and nothing can carry it out."""
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    with made_world(tmp_path, "all") as made:
        made.without_price()
        (question,) = made.look().approvals
        made.state.approvals.decide(question.id, grant=True, by="ada")
        made.fails = True
        found = made.look()
        assert found.approvals == ()
        [one] = found.waits
        assert (one.whom, one.question) == (W.REPAIR, question.id)
        assert "was granted by ada, and could not be carried out: SH" in one.why
        assert "the flow does not run" in one.why
        made.fails = False
        made.look()
        assert waits_of(made.state, "shop") == (), "the next look tried it again"


def test_what_failed_and_is_refused_goes_on_without_it(tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    with made_world(tmp_path, "all") as made:
        made.without_price()
        (question,) = made.look().approvals
        made.state.approvals.decide(question.id, grant=True, by="ada")
        made.fails = True
        made.look()
        made.fails = False
        made.state.approvals.decide(question.id, grant=False, by="ada")
        found = made.look()
        assert (found.waits, found.paused) == ((), frozenset())
        assert list(made.events().values()) == [S.REFUSED]


@pytest.mark.parametrize(
    ("phase", "whom"),
    [(Phase.ASKED, W.RUNNER), (Phase.BUILDING, W.RUNNER), (Phase.WAITING, W.PERSON), (Phase.FAILED, None),
     (Phase.WITHDRAWN, None)],
)  # fmt: skip
def test_every_phase_of_a_change_of_the_journal(tmp_path, monkeypatch, phase, whom):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    with made_world(tmp_path, "all") as made:
        plan = made.state.plan("shop")[1].model_copy(update={"description": "another"})
        change = made.state.ask_change(Wish(plan, Outcome.SWAP), "ada")
        if phase is Phase.WITHDRAWN:
            made.state.withdraw_change("shop")
        elif phase is not Phase.ASKED:
            from streamhouse.runtime.owner import this_owner

            lease = made.state.acquire("shop", this_owner(), timedelta(minutes=1), datetime.now(UTC))
            made.state.move_change(lease, change, phase, "why" if phase is Phase.WAITING else None)
        found = waits_of(made.state, "shop")
        assert [(one.what, one.whom) for one in found] == ([(f"change {change.id}", whom)] if whom else [])


def parquet(world, name, kind):
    rows = pa.table({"id": pa.array([1]), "price": pa.array([1]), "extra": pa.array([1], kind)})
    pq.write_table(rows, world.project.root / "data" / f"{name}.parquet")


def test_readers_of_what_was_granted_stand_still_while_an_edit_beside_it_waits(tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    with made_world(tmp_path, "all") as made:
        made.flow("schema_change: freeze\n", text=FLOW.replace("json", "parquet"))
        (made.project.root / "flows" / "boards.yaml").unlink()
        parquet(made, "1", pa.int32())
        made.run()
        made.look()
        parquet(made, "2", pa.int64())
        (question,) = made.look().approvals
        made.state.approvals.decide(question.id, grant=True, by="ada")
        made.action("totals", "price * 2", "price * 3")
        found = made.look()
        assert made.applied == []
        (about_plan,) = found.approvals
        assert about_plan.asks == "apply a plan that would rebuild"
        assert found.paused == {"ods.rows"}
        assert {(w.whom, w.question) for w in found.waits} == {(W.PERSON, about_plan.id)}
        made.state.approvals.decide(about_plan.id, grant=True, by="ada")
        found = made.look()
        assert (found.waits, found.paused, len(made.applied)) == ((), frozenset(), 1)
