"""A real Airflow, started as `make airflow` does, runs the flow of `streamhouse init` and gets over deaths."""

import json
import signal
import sqlite3
import subprocess
from contextlib import closing
from datetime import UTC, datetime

import psutil
import pytest

from streamhouse.project.project import Project
from streamhouse.state.flow_state import FlowState, see
from streamhouse.state.runners import Life
from streamhouse.state.tier_asks import TierAsk
from tests.airflow.site import ENGINE, eventually, site
from tests.gate.levels import deep
from tests.patience import PATIENCE_S

pytestmark = [
    pytest.mark.airflow,
    deep(
        "parts of Airflow die, and questions there, which test_change_gate.py has of a runner; the flow stays",
        stays=("test_the_flow_fills_its_tables",),
    ),
]
TABLE = "dws.revenue_by_product"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("airflow") / "shop"
    subprocess.run([ENGINE, "init", folder], check=True, capture_output=True)
    flow = folder / "flows" / "orders.yaml"
    flow.write_text(flow.read_text() + "tables:\n  dwd.orders: {tiers: {hot: 7d, warm: 30d}}\n")
    (folder / "streamhouse.yaml").write_text("auto_apply: all\n")  # edits are asked about in Airflow
    return Project.at(folder)


@pytest.fixture(scope="module")
def airflow(project):
    with site(
        project.root, "--run", "orders", AIRFLOW__DAG_PROCESSOR__DAG_VERSION_INFLATION_CHECK_LEVEL="error"
    ) as running:
        yield running


def lines(project, number, quantity):
    """One more file of orders, of a product of its own."""
    rows = f"order_id,product,quantity,price,ordered_at\n{number},p{number},{quantity},1.00,2026-02-01 10:00:00\n"
    new = project.root / f"orders-{number}.new"
    new.write_text(rows)
    new.rename(project.root / "data" / f"orders-2026-02-{number}.csv")


def taken(project):
    """How often the flow read a file."""
    with project.state() as state:
        return state.overview.rows_written().get("ods.orders", 0)


def runner(project):
    with project.state() as state:
        (found,) = state.runners.all()
        return found


def edit(project, pieces):
    """Make another result of the action that the last table is made by."""
    action = project.root / "actions" / "revenue_by_product.sql"
    lines = [
        f"  {pieces}," if line.strip().endswith("AS pieces,") else line
        for line in action.read_text().replace("SUM(quantity) AS pieces, ", "\nSUM(quantity) AS pieces,\n").splitlines()
    ]
    action.write_text("\n".join(lines) + "\n")


def waiting(airflow):
    """The task that waits for a person, if one does."""
    return next((task for task in airflow.tasks("flow_approval") if task["state"] == "deferred"), None)


def stream(airflow):
    """The newest task of the flow."""
    return airflow.tasks("flow__orders")[0]


def test_the_flow_fills_its_tables(airflow, project):
    eventually(lambda: taken(project), "rows in ods")
    assert airflow.get("importErrors")["total_entries"] == 0
    assert stream(airflow)["state"] in ("running", "deferred")


def test_the_flow_goes_on_while_parts_of_airflow_die_and_come_back(airflow, project):
    eventually(lambda: stream(airflow)["state"] == "deferred", "the task waits")
    before, carried = stream(airflow), runner(project)
    killed = {name: airflow.component(name) for name in ("triggerer", "scheduler")}
    for process in killed.values():
        process.kill()
    at = datetime.now(UTC)
    rows = taken(project)
    lines(project, 1, 3)
    eventually(lambda: taken(project) == rows + 1, "a row that came meanwhile")

    def healthy():
        found = airflow.get("monitor/health")
        beats = [found[part][f"latest_{part}_heartbeat"] for part in ("scheduler", "triggerer")]
        return all(beat and datetime.fromisoformat(beat) > at for beat in beats)

    eventually(healthy, "both are there again")
    assert all(airflow.component(name) != process for name, process in killed.items())
    after = stream(airflow)
    assert (after["id"], after["state"]) == (before["id"], "deferred")
    assert runner(project).owner == carried.owner, "a living runner is left alone"


def test_a_runner_that_died_is_replaced_and_no_row_is_lost(airflow, project):
    dead = runner(project)
    psutil.Process(dead.owner.pid).kill()
    rows = taken(project)
    lines(project, 2, 4)
    eventually(lambda: taken(project) == rows + 1, "a row that came meanwhile")
    assert runner(project).fencing == dead.fencing + 1
    eventually(lambda: stream(airflow)["state"] == "deferred", "the task waits again")
    tried = [task for task in airflow.tasks("flow__orders") if task["state"] != "deferred" or task["try_number"] > 1]
    assert tried, "the task tells that it was tried again"


def test_copies_are_filled_and_their_assets_tell_how_many_rows_came(airflow, project):
    airflow.send("POST", "dags/tier__orders/dagRuns", {"logical_date": None, "conf": {}})
    eventually(
        lambda: [task for task in airflow.tasks("tier__orders") if task["state"] == "success"], "rows were moved"
    )
    with project.state() as state:
        assert state.tier_asks.answered(TierAsk("orders", is_check=False, number=1)), "the flow's runner did it"

    def told():
        events = airflow.get("assets/events?limit=100")["asset_events"]
        return {event["name"] for event in events if (event["extra"] or {}).get("rows")}

    eventually(lambda: told() >= {"dwd.orders (warm)", "ods.orders", TABLE}, "an event of each table")


def test_a_question_is_answered_in_airflow_or_by_command_and_both_know(airflow, project):
    action = project.root / "actions" / "revenue_by_product.sql"
    before = action.read_text()
    edit(project, "SUM(quantity) + 0 * COUNT(*) AS pieces")  # its rows mean something else: a person is asked
    task = eventually(lambda: waiting(airflow), "a person is asked in Airflow")
    place = f"dags/flow_approval/dagRuns/{task['dag_run_id']}/taskInstances/decide"
    detail = airflow.get(f"{place}/-1/hitlDetails")
    assert detail["subject"] == "orders: apply a plan that would rebuild"
    assert "the aggregate changed" in detail["body"]
    # The answer comes while the state store takes none, and its task is tried anew: it is not asked again.
    with closing(
        sqlite3.connect(project.state_url.partition(":///")[2], isolation_level=None, timeout=PATIENCE_S)
    ) as other:
        other.execute("BEGIN IMMEDIATE")
        refusal = {"chosen_options": ["Reject"], "params_input": {"reason": "no"}}
        airflow.send("PATCH", f"{place}/-1/hitlDetails", refusal)
        again = {"dry_run": False, "only_failed": False, "dag_run_id": task["dag_run_id"], "task_ids": ["decide"]}
        airflow.send("POST", "dags/flow_approval/clearTaskInstances", again)
        other.execute("ROLLBACK")

    def answered(by, state):
        with project.state() as store:
            held = store.approvals.list(every=True)
        return [(q.state.value, q.reason) for q in held if q.decided_by == by] == [(state, "no")]

    eventually(lambda: answered("admin in Airflow", "refused"), "the state store knows", told=airflow.unfinished)
    eventually(lambda: airflow.get(place)["state"] == "success", "its task ends", told=airflow.unfinished)
    # Airflow may count a third: the clear can end a try that had begun to record the answer.
    assert airflow.get(place)["try_number"] > 1, "the task was tried again"
    edit(project, "SUM(quantity) + 1 * COUNT(*) AS pieces")
    task = eventually(lambda: waiting(airflow), "a person is asked about the next edit")
    name = task["dag_run_id"].removeprefix("approval__")
    subprocess.run([ENGINE, "refuse", name, "--reason", "no", "--project", project.root], check=True)
    place = f"dags/flow_approval/dagRuns/{task['dag_run_id']}/taskInstances/decide"
    eventually(lambda: airflow.get(place)["state"] == "success", "the wait in Airflow is over", told=airflow.unfinished)
    assert airflow.get(f"{place}/-1/hitlDetails")["chosen_options"] == ["Reject"]
    action.write_text(before)


def test_a_proposal_of_ask_is_shown_to_who_decides_and_is_built_after_the_answer(airflow, project):
    def command(*words):
        done = subprocess.run([ENGINE, *words, "--json", "--project", project.root], capture_output=True, text=True)
        assert done.returncode == 0, (done.stdout, done.stderr)
        return json.loads(done.stdout)

    proposal = command("ask", "revenue per product and week", "--no-examples")
    # The proposal alone only adds a table, about which no person is asked.
    edit(project, "SUM(quantity) + 0 * COUNT(*) AS pieces")
    command("proposals", proposal["id"], "--write", "--no-trial")

    def question():
        for task in airflow.tasks("flow_approval"):
            place = f"dags/flow_approval/dagRuns/{task['dag_run_id']}/taskInstances/decide/-1/hitlDetails"
            if task["state"] == "deferred" and proposal["id"] in airflow.get(place)["body"]:
                return place, airflow.get(place)["body"]
        return None

    place, body = eventually(question, "a person is asked about the edit and the proposal", told=airflow.unfinished)
    shown = [
        "wish: revenue per product and week",
        proposal["sentence"],
        *proposal["assumptions"],
        "the first run reads: ",
        f"tiers of {proposal['table']}: ",
        *(f"{one['path']}: " for one in proposal["files"]),
        *proposal["sql"].splitlines(),
        f"streamhouse proposals {proposal['id']}",
    ]
    assert [part for part in shown if part not in body] == []
    airflow.send("PATCH", place, {"chosen_options": ["Approve"], "params_input": {"reason": "as planned"}})

    def rows():
        sql = f"SELECT COUNT(*) AS n FROM {proposal['table']}"
        words = [ENGINE, "query", sql, "--json", "--project", project.root]
        done = subprocess.run(words, capture_output=True, text=True)
        return json.loads(done.stdout)["rows"][0]["n"] if done.returncode == 0 else None

    eventually(rows, "the table of the proposal has rows", told=lambda: command("changes"))


def test_a_task_that_a_person_fails_stops_the_flow_and_the_next_run_takes_it_up(airflow, project):
    eventually(lambda: stream(airflow)["state"] == "deferred", "the task waits")
    task = stream(airflow)
    place = f"dags/flow__orders/dagRuns/{task['dag_run_id']}/taskInstances/stream"
    airflow.send("PATCH", place, {"new_state": "failed"})
    eventually(lambda: stream(airflow)["dag_run_id"] != task["dag_run_id"], "the next run")
    rows = taken(project)
    lines(project, 3, 5)
    eventually(lambda: taken(project) == rows + 1, "a row that came meanwhile")

    def runs():
        with project.state() as state:
            return see(state, "orders").state is FlowState.RUNNING

    # The row may still have been taken by what ends: then the next run takes the flow up behind it.
    eventually(runs, "the flow runs")


def test_every_table_holds_each_row_once(airflow, project):
    def revenue():
        done = subprocess.run(
            [ENGINE, "query", f"SELECT product, pieces FROM {TABLE}", "--json", "--project", project.root],
            capture_output=True,
            text=True,
            check=True,
        )
        found = {row["product"]: row["pieces"] for row in json.loads(done.stdout)["rows"]}
        return {name: pieces for name, pieces in found.items() if name in ("p1", "p2", "p3")}

    eventually(lambda: revenue() == {"p1": 3, "p2": 4, "p3": 5}, "each file counted once")


def test_the_end_leaves_nothing(airflow, project):
    """The fixture's end looks for processes; here, that the runner ends as one that was asked to."""
    airflow.process.send_signal(signal.SIGINT)
    assert airflow.process.wait(PATIENCE_S) == 0
    assert runner(project).life is Life.STOPPED
    with project.state() as state:
        assert see(state, "orders").state is FlowState.STOPPED
