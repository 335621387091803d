"""What a person sees of changes and questions, and how the answers are kept."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from streamhouse.cli.init import write_project
from streamhouse.cli.main import main
from streamhouse.model.outcome import Outcome
from streamhouse.model.schema_change import EventType, Policy
from streamhouse.model.table import Column
from streamhouse.model.upstream import Decision, UpstreamEvent, Values, Verdict
from streamhouse.project.project import Project
from streamhouse.state.upstream import EventStatus
from tests.golden import Golden

GOLDEN = Path(__file__).parents[2] / "fixtures/upstream/messages"
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
EVENT = UpstreamEvent(
    type=EventType.DROP_COLUMN,
    object="orders:rows",
    before="1",
    after="2",
    was=Column(name="price", type="decimal(12,2)"),
)
VERDICT = Verdict(
    flow="orders",
    step="dwd.orders",
    table="dwd.orders",
    policy=Policy.EVOLVE,
    said="default of dwd",
    outcome=Outcome.BLOCK,
    values=Values.WAIT,
    pauses=True,
    asks="drop price, which is used (value)",
    notes=("starving column: dwd.orders.amount_cents, which is made of price",),
)
DECISION = Decision(event=EVENT, verdicts=(VERDICT,))


@pytest.fixture
def project(tmp_path, monkeypatch):
    write_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    return Project.at(tmp_path)


@pytest.fixture
def asked(project):
    with project.state() as state:
        state.upstream.record("orders", [EVENT])
        state.upstream.settle("orders", EVENT.id, EventStatus.WAITING, decision=DECISION, note="price is used")
        return state.approvals.ask("orders", EVENT.id, VERDICT.asks, "the plan\nas text", {"outcome": "block"})


def printed(capsys, *arguments):
    capsys.readouterr()
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out + err


def document(capsys, *arguments):
    code, text = printed(capsys, *arguments, "--json")
    return code, json.loads(text)


def test_nothing_ever_ran(project, capsys):
    assert printed(capsys, "events") == (0, "nothing changed upstream; to look now: streamhouse trigger --once\n")
    assert printed(capsys, "approvals") == (0, "nothing waits for a decision\n")
    assert document(capsys, "events") == (0, {"events": []})
    assert document(capsys, "approvals") == (0, {"approvals": [], "waits": []})
    assert printed(capsys, "approve", "abcd")[0] == 6
    assert not (project.state_dir / "state.db").exists()


def test_changes(asked, capsys):
    code, text = printed(capsys, "events")
    assert code == 0
    assert EVENT.id in text
    assert "orders:rows: drop_column price decimal(12,2)" in text
    assert printed(capsys, "events", "orders")[1] == text
    code, one = printed(capsys, "events", EVENT.id[:8])
    assert "dwd.orders  evolve (default of dwd)  rows wait" in one
    assert "note: starving column: dwd.orders.amount_cents" in one
    code, found = document(capsys, "events", "orders")
    (told,) = found["events"]
    assert (told["id"], told["status"], told["event"]["type"]) == (EVENT.id, "waiting", "drop_column")
    assert told["decision"]["verdicts"][0]["pauses"] is True


@pytest.mark.parametrize(("verb", "state"), [("approve", "granted"), ("refuse", "refused")])
def test_an_answer(asked, project, capsys, verb, state):
    assert asked.id in printed(capsys, "approvals")[1]
    code, text = printed(capsys, "approvals", asked.id)
    assert "the plan\nas text" in text
    assert f"streamhouse approve {asked.id}" in text
    code, done = document(capsys, verb, asked.id[:4], "--reason", "agreed")
    assert (code, done["state"], done["reason"], done["subject"]) == (0, state, "agreed", EVENT.id)
    assert "@" in done["decided_by"]
    with project.state() as store:
        assert store.approvals.get(asked.id).state == state
    found = document(capsys, "approvals")[1]
    assert found["approvals"] == []
    assert [one["waits_for"] for one in found["waits"]] == ["runner"], "no person"
    assert document(capsys, "approvals", "--all")[1]["approvals"][0]["evidence"]["document"] == {"outcome": "block"}


def test_messages(asked, project, capsys, golden: Golden):
    told = []
    with project.state() as state:
        old = state.approvals.ask("orders", "x", "y", "z", now=LONG_AGO, lifetime=timedelta(days=1))
    for arguments in (
        ["approve", "nothing"],
        ["approve"],
        ["approve", old.id],
        ["approvals", "ordrs"],
        ["events", "ordrs"],
        ["refuse", asked.id],
        ["refuse", asked.id],
    ):
        code, text = printed(capsys, *arguments)
        told.append(f"$ streamhouse {' '.join(arguments)}\n{text}exit code {code}\n")
    text = "\n".join(told)
    with project.state() as state:
        done = state.approvals.get(asked.id)
    for known, name in (
        (asked.id, "ID"),
        (old.id, "OLD"),
        (done.decided_by, "WHO"),
        (f"{done.decided_at:%Y-%m-%d %H:%M:%S}", "WHEN"),
    ):
        text = text.replace(known, name)
    golden(text, GOLDEN / "approvals.txt")


@pytest.mark.parametrize("command", ["trigger", "events", "approvals", "approve", "refuse"])
def test_help_teaches(command, capsys, golden: Golden):
    code, text = printed(capsys, command, "--help")
    assert code == 0
    golden(text, GOLDEN / f"{command}.help.txt")


@pytest.fixture
def ran(project):
    from streamhouse.project.check import check_project
    from streamhouse.registry import Registry

    checked = check_project(project, Registry.load(project.root))
    with project.state() as state:
        for plan in checked.plans.values():
            state.save_plan(plan)
    return project


def test_a_look_at_flows_that_never_ran(project, capsys):
    assert printed(capsys, "trigger", "--once") == (0, "no flow ever ran, so there is nothing to compare with\n")
    code, text = printed(capsys, "trigger", "--once", "ordrs")
    assert (code, "did you mean 'orders'?" in text) == (3, True)


def test_a_look_that_finds_nothing(ran, capsys):
    code, text = printed(capsys, "trigger", "--once")
    assert code == 0
    assert text.startswith("orders: nothing changed\n")
    assert "not looked at: ods.orders (the hot tier is not open)" in text


def test_a_look_that_finds_a_change_and_one_that_waits(ran, capsys):
    data = next(iter((ran.root / "data").rglob("*.csv")))
    lines = data.read_text().splitlines()
    wider = [f"{lines[0]},tax", *(f"{line},1" for line in lines[1:])]
    data.with_name("zz_later.csv").write_text("\n".join(wider) + "\n")
    code, found = document(capsys, "trigger", "--once")
    (flow,) = found["flows"]
    (event,) = flow["events"]
    assert (code, event["event"]["type"], flow["paused"]) == (10, "unknown_field", [])
    gone = lines[0].split(",").index("product")  # by which the revenue is grouped
    without = (line.split(",")[:gone] + line.split(",")[gone + 1 :] for line in lines[:2])
    data.with_name("zzz_latest.csv").write_text("".join(f"{','.join(fields)}\n" for fields in without))
    code, text = printed(capsys, "trigger", "--once")
    assert code == 11
    assert "drop_column" in text
    assert "asked: " in text
    assert "waiting at their positions: ods.orders" in text
