"""`run --once` of several flows: what keeps one of them keeps none of the others."""

import json
from contextlib import contextmanager
from datetime import timedelta
from types import SimpleNamespace

import pytest

from streamhouse.cli.main import main
from streamhouse.errors import BlockedError, ChangeFailedError, LeaseHeldError, UnknownFlowError
from streamhouse.jobs import run
from streamhouse.jobs.progress import FailedFlow, Summary
from streamhouse.project.project import Project

ACTION = "/* ---\naction: take\nstep: ingest\ninputs: {rows: {}}\n--- */\nSELECT * FROM rows\n"
FLOW = """\
flow: {name}
sources: {{rows: {{files: {{path: data/*.csv, columns: {{id: int}}}}}}}}
steps: [{{use: take, reads: {{rows: rows}}, writes: ods.{name}}}]
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    for folder in ("actions", "flows", "data"):
        (tmp_path / folder).mkdir()
    (tmp_path / "actions" / "take.sql").write_text(ACTION)
    (tmp_path / "data" / "1.csv").write_text("id\n1\n")
    for name in "abc":
        (tmp_path / "flows" / f"{name}.yaml").write_text(FLOW.format(name=name))

    @contextmanager
    def opened(*_, **__):
        yield SimpleNamespace(state=SimpleNamespace(troubles=SimpleNamespace(current=lambda _: [])))

    def carry(_, plan, __, **___):
        if plan.flow in fails:
            raise fails[plan.flow]
        return Summary(plan.flow, 1, {}, 1.0)

    fails = {}
    monkeypatch.setattr(run, "opened", opened)
    monkeypatch.setattr(run, "carry", carry)
    monkeypatch.setattr(run, "tier_here", lambda *_: None)
    monkeypatch.setattr(run, "upkeep_once_a_day", lambda *_: None)
    found = Project.at(tmp_path)
    return found, fails


def test_the_others_run_and_what_kept_one_is_told(project):
    found, fails = project
    fails["a"] = BlockedError("a waits for a person's word")
    done = run.run_flows(found, ["a", "b", "c"], once=True)
    assert done[0] == FailedFlow("a", fails["a"])
    assert [one.flow for one in done[1:]] == ["b", "c"]


def test_a_flow_whose_files_are_wrong_keeps_nobody(project):
    found, _ = project
    (found.root / "flows" / "b.yaml").write_text(FLOW.format(name="b").replace("data/*.csv", "nowhere"))
    (found.root / "flows" / "c.yaml").write_text("flow: c\n")
    a, _, c = run.run_flows(found, ["a", "b", "c"], once=True)
    assert isinstance(a, Summary)
    assert isinstance(c, FailedFlow)
    with pytest.raises(UnknownFlowError):
        run.run_flows(found, ["a", "d"], once=True)


def test_what_is_wrong_is_said_before_the_first_flow_runs(project, monkeypatch):
    found, _ = project
    (found.root / "flows" / "b.yaml").write_text(FLOW.format(name="b").replace("use: take", "use: tak"))
    said, carry = [], run.carry

    def carried(open_, plan, *more, **options):
        said.append((plan.flow, "runs"))
        return carry(open_, plan, *more, **options)

    monkeypatch.setattr(run, "carry", carried)
    run.run_flows(
        found,
        ["a", "b"],
        once=True,
        tier_every=timedelta(minutes=1),
        on_progress=lambda flow, progress: said.append((flow, progress.stage)),
    )
    (flow, stage), *then = said
    assert flow == "b"
    assert stage.startswith("does not run: flows/b.yaml:3:15: SH201 unknown action 'tak'")
    assert ("a", "runs") in then
    assert "b" not in [flow for flow, _ in then]


def test_one_flow_alone_fails_as_it_is(project):
    found, fails = project
    fails["a"] = LeaseHeldError("another has it")
    with pytest.raises(LeaseHeldError):
        run.run_flows(found, ["a"], once=True)


@pytest.mark.parametrize("as_json", [False, True])
def test_the_command_tells_all_and_ends_with_the_code_of_the_first(project, capsys, as_json):
    found, fails = project
    fails["b"] = BlockedError("b waits", hint="decide")
    options = ["--json"] if as_json else []
    assert main(["run", "a", "b", "c", "--once", "--project", str(found.root), *options]) == 11
    out = capsys.readouterr()
    if as_json:
        flows = json.loads(out.out)["flows"]
        assert [(one["flow"], one.get("error", {}).get("code")) for one in flows] == [
            ("a", None),
            ("b", "SH507"),
            ("c", None),
        ]
    else:
        assert "b: SH507 b waits" in out.err
        assert "a: 1 epoch" in out.out
        assert "c: 1 epoch" in out.out


def test_a_flow_that_is_left_behind_is_named_and_the_command_does_not_end_green(project, capsys, monkeypatch):
    found, _ = project
    text = "b reads version 1 of dwd.t; streamhouse apply b"
    monkeypatch.setattr(
        run, "carry", lambda _, plan, *__, **___: Summary(plan.flow, 1, {}, 1.0, behind=(text,) * (plan.flow == "b"))
    )
    assert main(["run", "a", "b", "c", "--once", "--project", str(found.root)]) == ChangeFailedError.exit_code
    out = capsys.readouterr().out
    assert f"b gets no newer rows: {text}" in " ".join(out.split())
    assert "edited since" not in out
    assert "c: 1 epoch" in out


def test_what_is_done_for_the_tables_of_one_flow_is_said_of_that_flow_alone(project, monkeypatch):
    found, _ = project
    for name in "ab":
        file = found.root / "flows" / f"{name}.yaml"
        file.write_text(file.read_text() + f"tables: {{ods.{name}: {{tiers: {{hot: 7d, warm: forever}}}}}}\n")
    monkeypatch.setattr(run, "tier_here", lambda _, flows, say: [say(f"ods.{flow} to warm") for flow in flows])
    said = []
    run.run_flows(
        found,
        ["a", "b"],
        once=True,
        tier_every=timedelta(minutes=1),
        on_progress=lambda flow, progress: said.append((flow, progress.stage)),
    )
    assert [one for one in said if "to warm" in one[1]] == [("a", "ods.a to warm"), ("b", "ods.b to warm")]
