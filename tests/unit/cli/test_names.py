"""Names that people give: one that nothing has is told before anything starts, and none is taken for another."""

import json
from datetime import UTC, datetime

import pytest

from streamhouse.cli.init import write_project
from streamhouse.cli.main import main
from streamhouse.model.schema_change import EventType
from streamhouse.model.upstream import UpstreamEvent
from streamhouse.project.desired import desired_plan
from streamhouse.project.project import Project
from streamhouse.state.identifiers import begin_so

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def project(tmp_path, monkeypatch):
    write_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    for module in ("change.environment", "change.apply", "jobs.backfill", "jobs.tier", "jobs.upkeep", "jobs.run"):
        monkeypatch.setattr(f"streamhouse.{module}.opened", _never)
    return Project.at(tmp_path)


def _never(*_, **__):
    raise AssertionError("Spark was started")


def printed(capsys, *arguments):
    capsys.readouterr()
    code = main([*arguments, "--json"])
    out = capsys.readouterr()
    return code, json.loads(out.out or out.err)


COMMANDS = [
    ("run", "nope"),
    ("run", "orders", "nope", "--once"),
    ("run", "nope", "--env", "dev"),
    ("apply", "nope"),
    ("plan", "nope"),
    ("status", "nope"),
    ("changes", "nope"),
    ("events", "nope"),
    ("backfill", "nope"),
    ("tier", "nope"),
    ("upkeep", "nope"),
    ("trigger", "--once", "nope"),
    ("runner", "start", "nope"),
    ("env", "diff", "nope", "dev"),
    ("env", "discard", "nope", "dev"),
    ("env", "promote", "nope", "dev"),
    ("flow", "show", "nope"),
]


@pytest.mark.parametrize("ran", [False, True])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_flow_that_is_not_there(project, capsys, command, ran):
    if ran:
        with project.state() as state:
            state.save_plan(desired_plan(project, "orders"))
    code, found = printed(capsys, *command)
    assert (code, found["error"]["code"]) == (3, "SH213"), found
    assert "'nope'" in found["error"]["message"]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("env", "diff", "orders", "dev"), "SH509"),
        (("env", "discard", "orders", "dev"), "SH509"),
        (("env", "promote", "orders", "dev"), "SH509"),
        (("run", "orders", "--env", "dev"), "SH509"),
        (("backfill", "orders", "--tables", "dwd.ordres"), "SH207"),
        (("backfill", "orders", "--tables", "dwx.orders"), "SH207"),
        (("backfill", "orders", "--tables", " , "), "usage"),
        (("backfill", "orders", "--from", "2026-02-01", "--to", "2026-01-01"), "usage"),
        (("query", "--env", "dev", "SELECT 1 FROM dwd.orders"), "SH509"),
        (("trigger", "--every", "nan"), "usage"),
        (("tier", "--every", "0s"), "usage"),
        (("upkeep", "--every", "forever"), "usage"),
        (("run", "orders", "--tier", "-5m"), "usage"),
    ],
    ids=str,
)
def test_something_of_a_flow_that_is_not_there(project, capsys, command, code):
    with project.state() as state:
        state.save_plan(desired_plan(project, "orders"))
    assert printed(capsys, *command)[1]["error"]["code"] == code


def event(name):
    return UpstreamEvent(type=EventType.CHANGE_TEXT, object=name, before="1", after="2")


def test_an_event_asked_for_by_its_id_is_no_flow_and_a_flow_no_id(project, capsys):
    with project.state() as state:
        [one] = state.upstream.record("other", [event("a")], NOW)
        flow = one.event.id[:5]  # a flow that is called as the id begins
        [own] = state.upstream.record(flow, [event("b")], NOW)
    ids = [found["id"] for found in printed(capsys, "events", flow)[1]["events"]]
    assert ids == [own.event.id], "the flow's alone"
    assert [f["id"] for f in printed(capsys, "events", one.event.id)[1]["events"]] == [one.event.id]
    assert [f["id"] for f in printed(capsys, "events", one.event.id[:8])[1]["events"]] == [one.event.id]
    code, found = printed(capsys, "events", one.event.id[:3])
    assert (code, found["error"]["code"]) == (3, "SH213"), "too short to be meant"


def test_an_answer_goes_to_the_question_that_was_meant(project, capsys):
    with project.state() as state:
        question = state.approvals.ask("orders", "s", "do it", "because", now=datetime.now(UTC))
        flow = question.id[:5]
        state.approvals.ask(flow, "s2", "do that", "because", now=datetime.now(UTC))
    for name in (flow, question.id[:3], ""):
        code, found = printed(capsys, "refuse", name)
        assert (code, found["error"]["code"]) == (6, "SH512"), name
    assert printed(capsys, "approve", question.id[:6])[0] == 0


def test_an_id_may_be_shortened_as_long_as_it_is_one():
    known = ["4f2a91c0", "4f2b0000", "feed0000"]
    assert begin_so("4f2a", known) == ["4f2a91c0"]
    assert begin_so("4f2", known) == []
    assert begin_so("4f2b0000", known, flows=["4f2b0000"]) == ["4f2b0000"]
    assert begin_so("feed", known, flows=["feed"]) == []
