import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from streamhouse.change.change_request import begin
from streamhouse.cli.init import write_project
from streamhouse.cli.main import main
from streamhouse.errors import TableLostError
from streamhouse.model.bad_rows import DEAD_LETTER, count_text
from streamhouse.model.outcome import Outcome
from streamhouse.model.plan import fingerprint_of
from streamhouse.model.schema_change import EventType, Policy
from streamhouse.model.types import Tier
from streamhouse.model.upstream import Decision, UpstreamEvent, Values, Verdict
from streamhouse.project.desired import desired_plan
from streamhouse.project.project import Project
from streamhouse.runtime.owner import this_owner
from streamhouse.state.damage import DamagedStateError, OtherVersionError
from streamhouse.state.records import EpochRecord, Owner, RunnerState
from streamhouse.state.runners import WantedState
from streamhouse.state.upstream import EventStatus
from streamhouse.state.waits import waits_of

TTL = timedelta(minutes=1)


@pytest.fixture
def project(tmp_path, monkeypatch):
    write_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    return Project.at(tmp_path)


@pytest.fixture
def state(project):
    with project.state() as opened:
        yield opened


def flows(capsys, *arguments):
    assert main(["status", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["flows"]


def test_a_flow_that_never_ran(project, capsys):
    (flow,) = flows(capsys)
    assert (flow["flow"], flow["state"], flow["epochs"]) == ("orders", "stopped", 0)
    assert not project.state_dir.exists()


def test_what_waits_is_read_once(project, state, capsys, monkeypatch):
    state.save_plan(desired_plan(project, "orders"))
    read = []

    def counted(state, flow):
        read.append(flow)
        return waits_of(state, flow)

    monkeypatch.setattr("streamhouse.state.waits.waits_of", counted)
    flows(capsys)
    assert read == ["orders"]


def test_tables_that_wait_for_a_person(project, state, capsys):
    plan = desired_plan(project, "orders")
    state.save_plan(plan)
    verdict = Verdict(
        flow="orders",
        step=plan.steps[0].id,
        table=plan.steps[0].id,
        policy=Policy.FREEZE,
        said="",
        outcome=Outcome.BLOCK,
        values=Values.WAIT,
        pauses=True,
        asks="follow",
    )
    event = UpstreamEvent(type=EventType.CHANGE_KEY, object="orders:orders", before="1", after="2")
    state.upstream.record("orders", [event])
    (flow,) = flows(capsys)
    assert flow["waiting"] == []
    state.upstream.settle("orders", event.id, EventStatus.WAITING, decision=Decision(event=event, verdicts=(verdict,)))
    (flow,) = flows(capsys)
    assert flow["waiting"] == list(plan.tables)
    assert main(["status"]) == 0
    assert f"{plan.steps[0].id}, " in capsys.readouterr().out.replace("\n", " ")
    assert main(["status", "orders"]) == 0
    assert "streamhouse approvals orders" in capsys.readouterr().out.replace("\n", " ")


def test_rows_that_could_not_be_read(state, capsys):
    table = "ods.orders__dead_letters"
    now = datetime.now(UTC)
    lease = state.acquire("orders", this_owner(), TTL, now)
    state.begin_epoch(lease, "main", 0, 1_000, now)
    state.finish_epoch(lease, EpochRecord("orders", "main", 0, 1_000, 1_000, 1_001, rows={table: 5}))
    assert flows(capsys)[0]["dead_letters"] == {table: 5}
    state.append_event("orders", DEAD_LETTER, count_text(table, 4, 4, 0))
    state.append_event("orders", DEAD_LETTER, count_text(table, 3, 0, 1))
    assert flows(capsys)[0]["dead_letters"] == {table: 3}
    assert main(["status"]) == 0
    told = capsys.readouterr().out.replace("\n", " ")
    assert "3 rows could not be read" in told
    assert "streamhouse quarantine show" in told


def test_a_running_flow(state, capsys):
    now = datetime.now(UTC)
    owner = this_owner()
    lease = state.acquire("orders", owner, TTL, now)
    state.begin_epoch(lease, "main", 0, 1_000, now)
    record = EpochRecord(
        "orders", "main", 0, 1_000, 1_000, 1_500, rows={"ods.orders": 7}, layer_visible_ms={"ods": 1_040, "dws": 1_090}
    )
    state.finish_epoch(lease, record)
    state.append_event("orders", "run", "began", now)
    (flow,) = flows(capsys, "orders")
    assert flow["state"] == "running"
    assert flow["owner"] == {"host": owner.host, "pid": owner.pid}
    assert (flow["epochs"], flow["rows"]) == (1, {"ods.orders": 7})
    assert flow["freshness"]["dws"] == {"last_ms": 90, "p50_ms": 90, "p95_ms": 90, "epochs": 1}
    assert [e["text"] for e in flow["events"]] == ["began"]
    assert main(["status"]) == 0
    assert capsys.readouterr().out.split("\n")[1].split()[:4] == ["orders", "running", "1", "7"]
    assert main(["status", "orders"]) == 0
    assert "90 ms" in capsys.readouterr().out


def test_a_tier_that_fails_is_told_first(state, capsys):
    state.acquire("orders", this_owner(), TTL, datetime.now(UTC))
    error = TableLostError("dwd.orders in the warm tier is gone", hint="bring it back")
    assert state.troubles.failed("orders", "dwd.orders", Tier.WARM, "tiering", error)
    assert not state.troubles.failed("orders", "dwd.orders", Tier.WARM, "tiering", error), "it is known already"
    (trouble,) = flows(capsys)[0]["troubles"]
    assert (trouble["table"], trouble["tier"], trouble["code"], trouble["times"]) == ("dwd.orders", "warm", "SH406", 2)
    for arguments in (["status"], ["status", "orders"]):
        assert main(arguments) == 0
        out = " ".join(capsys.readouterr().out.split())
        assert "orders: tiering of dwd.orders to warm fails: SH406 dwd.orders in the warm tier is gone" in out
        assert out.index("SH406") < (out.index("epochs") if "epochs" in out else len(out))
    assert state.troubles.mended("orders", "dwd.orders", Tier.WARM, "tiering")
    assert flows(capsys)[0]["troubles"] == []


def test_a_failed_flow_shows_its_error(state, capsys):
    lease = state.acquire("orders", this_owner(), TTL, datetime.now(UTC))
    state.set_runner_state(lease, RunnerState.FAILED, "SH405 a null key")
    state.release(lease)
    for arguments in (["status"], ["status", "orders"]):
        assert main(arguments) == 0
        out = capsys.readouterr().out
        assert "failed" in out
        assert "SH405 a null key" in out


def test_a_runner_that_died_is_lost(state, capsys):
    here = this_owner()
    state.acquire("orders", Owner(here.host, here.pid, here.started_at - TTL), TTL, datetime.now(UTC))
    (flow,) = flows(capsys)
    assert flow["state"] == "lost"


def test_a_flow_that_was_asked_of_a_runner_is_what_the_runner_makes_of_it(state, capsys):
    now = datetime.now(UTC)
    asked = state.runners.ask("orders", WantedState.RUNNING, "airflow")
    assert flows(capsys, "orders")[0]["state"] == "lost"
    claim = state.runners.claim("main", this_owner(), TTL, alive=lambda _: True, now=now)
    assert flows(capsys, "orders")[0]["state"] == "starting"
    state.runners.give_up(claim, asked, "SH401 Fluss does not answer")
    (flow,) = flows(capsys, "orders")
    assert (flow["state"], flow["error"]) == ("failed", "SH401 Fluss does not answer")
    lease = state.acquire("orders", this_owner(), TTL, now)
    state.runners.ask("orders", WantedState.STOPPED, "ann")
    assert flows(capsys, "orders")[0]["state"] == "stopping"
    state.release(lease)
    assert flows(capsys, "orders")[0]["state"] == "stopped"


def test_a_flow_whose_file_is_gone_or_broken_is_still_shown(project, state, capsys):
    state.acquire("old", this_owner(), TTL, datetime.now(UTC))
    (project.root / "flows" / "orders.yaml").write_text("flow: [")
    assert [f["flow"] for f in flows(capsys)] == ["old"]
    assert flows(capsys, "old")[0]["state"] == "running"


def test_an_unknown_flow(project, capsys):
    assert main(["status", "ordrs"]) == 3
    assert capsys.readouterr().err == "SH213 unknown flow 'ordrs'\n  hint: did you mean 'orders'?\n"


def test_a_damaged_state_store(project, capsys):
    project.state_dir.mkdir()
    (project.state_dir / "state.db").write_text("no database" * 500)
    assert main(["status"]) == 6
    err = capsys.readouterr().err
    assert err.startswith("SH504 ")
    assert "hint: " in err


def rewritten(project, body, fingerprint):
    with closing(sqlite3.connect(project.state_dir / "state.db")) as connection, connection:
        connection.execute("UPDATE streamhouse_plan SET body = ?, fingerprint = ?", (body, fingerprint))


def test_a_damaged_plan_is_no_plan_of_another_version(project, state, capsys):
    plan = desired_plan(project, "orders")
    state.save_plan(plan)
    rewritten(project, plan.model_dump_json().replace("orders", "orderz"), plan.fingerprint)
    for words in (["status"], ["status", "orders"], ["plan"]):
        assert main(words) == 6
        told = " ".join("".join(capsys.readouterr()).split())
        assert "SH504 the state store is damaged: revision 1 of flow 'orders'" in told
        assert "another version" not in told
    with pytest.raises(DamagedStateError):
        begin(state, plan, "ann")


def test_a_plan_of_another_version_hides_no_other_flow(project, state, capsys):
    plan = desired_plan(project, "orders")
    state.save_plan(plan)
    rewritten(project, '{"flow": 1}', fingerprint_of('{"flow": 1}'))
    state.save_plan(plan.model_copy(update={"flow": "others"}))
    named = "orders: SH504 revision 1 of flow 'orders' was recorded by another version"
    assert main(["status"]) == 6
    told = " ".join(capsys.readouterr().out.split())
    assert named in told
    assert "orders stopped" in told
    assert "others stopped" in told
    assert "edits of files were not looked at: SH504 revision 1" in told
    assert main(["status", "orders"]) == 6
    assert named in " ".join(capsys.readouterr().out.split())
    assert main(["status", "others"]) == 0
    assert named not in " ".join(capsys.readouterr().out.split())
    assert main(["status", "--json"]) == 6
    document = json.loads(capsys.readouterr().out)
    assert [(one["flow"], [lost["kind"] for lost in one["lost"]]) for one in document["flows"]] == [
        ("orders", ["state store"]),
        ("others", []),
    ]
    assert "another version" in document["edits_not_looked_at"]
    with pytest.raises(OtherVersionError):
        begin(state, plan, "ann")


def test_a_damaged_record_of_an_epoch_is_a_loss_beside_the_others(project, state, capsys):
    plan = desired_plan(project, "orders")
    state.save_plan(plan)
    now = datetime.now(UTC)
    lease = state.acquire("orders", this_owner(), TTL, now)
    state.begin_epoch(lease, plan.segments[0].name, 0, 1_000, now)
    state.finish_epoch(lease, EpochRecord("orders", plan.segments[0].name, 0, 1_000, 1_005, 1_090))
    state.release(lease)
    with closing(sqlite3.connect(project.state_dir / "state.db")) as connection, connection:
        connection.execute("UPDATE streamhouse_epoch SET at_ms = at_ms + 1")
    assert main(["plan"]) == 6
    assert "orders: SH504 the state store is damaged: epoch 0" in " ".join("".join(capsys.readouterr()).split())


def test_a_tier_that_is_gone_is_seen_by_status_and_plan(project, state, capsys):
    plan = desired_plan(project, "orders")
    state.save_plan(plan)
    table = next(one for one in plan.tables.values() if one.tiers.target is Tier.HOT)
    database, name = table.name.split(".")
    folder = project.state_dir / "services" / "data" / database / f"{name}-1"
    folder.mkdir(parents=True)
    listing = project.state_dir / "services" / "zookeeper" / "log.1"  # what lists the tables of the tier
    listing.parent.mkdir()
    listing.touch()
    state.stored_tables.record_table(table, Tier.HOT, "1@1")
    assert main(["status"]) == main(["plan"]) == 0
    capsys.readouterr()
    folder.rmdir()
    for command in ("status", "plan"):
        assert main([command]) == 6
        told = " ".join(capsys.readouterr().out.split())
        assert f"SH504 {table.name} in the hot tier is gone; see what is lost" in told
        assert "streamhouse restore orders --dry-run" in told
        assert main([command, "--json"]) == 6
        [flow] = json.loads(capsys.readouterr().out)["flows"]
        [lost] = flow["lost"]
        assert (lost["tier"], lost["tables"], lost["code"]) == ("hot", [table.name], "SH504")
        assert flow["not_looked_at"] == {}
