"""`streamhouse runner` as a person uses it: real processes that outlive their start, and are killed."""

import csv
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from streamhouse.project.project import Project
from streamhouse.runtime.owner import is_alive
from streamhouse.services.services import Services
from streamhouse.state.flow_state import FlowState, see
from streamhouse.state.records import RunnerState
from streamhouse.state.runners import Life
from streamhouse.state.tier_asks import TierAsk
from tests.gate.levels import deep, soak
from tests.patience import PATIENCE_S, until

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep("ends of a runner; tests/airflow/test_stream.py has one that is replaced"),
]

HEADER = ["order_id", "product", "quantity", "price", "ordered_at"]


@pytest.fixture(scope="module")
def environment():
    clean = {key: value for key, value in os.environ.items() if not key.startswith("STREAMHOUSE_")}
    return {**clean, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}


@pytest.fixture(scope="module")
def streamhouse(tmp_path_factory, environment):
    """Calls the command in a project of its own, whose services and runner end with this file."""
    folder = tmp_path_factory.mktemp("runner") / "shop"
    command = [sys.executable, "-c", "import sys; from streamhouse.cli.main import main; sys.exit(main())"]

    def call(*arguments, code=0):
        done = subprocess.run(
            [*command, *arguments, "--project", str(folder)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
        log = folder / ".streamhouse/logs/runner-main.log"
        assert done.returncode == code, f"{arguments}\n{done.stdout}\n{done.stderr}\n{log.read_text()}"
        assert "Traceback" not in done.stderr
        return json.loads(done.stdout) if "--json" in arguments else done.stdout

    call.folder = folder
    subprocess.run([*command, "init", str(folder)], env=environment, check=True, capture_output=True)
    with (folder / "flows" / "orders.yaml").open("a") as file:
        file.write("tables:\n  dwd.orders: {tiers: {hot: 7d, warm: 30d}}\n")
    call("services", "up")
    yield call
    call("runner", "stop")
    call("services", "down")


@pytest.fixture
def stopped(streamhouse):
    """The runner ends with the test; without this the next test goes on with it, which saves a start of Spark."""
    yield
    streamhouse("runner", "stop")


def add(folder: Path, name: str, orders: list[tuple[int, str, int, str]]) -> None:
    """Put a file of orders into the source, whole from the moment it is seen."""
    new = folder / f"{name}.new"
    with new.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows([*order, "2026-02-01 10:00:00"] for order in orders)
    new.rename(folder / "data" / f"{name}.csv")


def revenue(folder: Path) -> dict[str, int]:
    """What the table must say, computed from the files."""
    totals: dict[str, int] = {}
    for path in sorted((folder / "data").glob("*.csv")):
        with path.open() as file:
            for line in csv.DictReader(file):
                if int(line["quantity"]) >= 1 and line["price"]:
                    cents = int(line["quantity"]) * round(float(line["price"]) * 100)
                    totals[line["product"]] = totals.get(line["product"], 0) + cents
    return totals


def table(streamhouse):
    rows = streamhouse("query", "SELECT product, revenue_cents FROM dws.revenue_by_product", "--json")["rows"]
    return {row["product"]: row["revenue_cents"] for row in rows}


def state(streamhouse):
    """Of the project; looked at here, since a process for each look would take most of the time."""
    return Project.at(streamhouse.folder).state()


def flow(streamhouse, name="orders"):
    with state(streamhouse) as store:
        return see(store, name, alive=is_alive)


def epochs(streamhouse, name="orders"):
    with state(streamhouse) as store:
        return store.progress(name).epochs


def rows_arrive(streamhouse):
    """All lines of the files are in every layer, and the table says what they say."""
    lines = sum(len(path.read_text().splitlines()) - 1 for path in (streamhouse.folder / "data").glob("*.csv"))

    def arrived():
        with state(streamhouse) as store:
            return store.progress("orders").rows.get("ods.orders", 0) >= lines

    until(arrived)
    assert table(streamhouse) == revenue(streamhouse.folder)


def runners_of(folder):
    """Processes that are, or want to be, a runner of the project."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if "--foreground" in words and str(folder) in words:
            found.append(process.pid)
    return found


def told(streamhouse):
    """What people are told befell the runner of the flow."""
    with Project.at(streamhouse.folder).state() as store:
        return [event.text for event in store.events("orders", 1000) if event.kind == "runner"]


@pytest.mark.usefixtures("stopped")
def test_a_killed_runner_is_replaced_and_its_flow_goes_on(streamhouse):
    first = streamhouse("runner", "start", "orders", "--json")
    assert not first["adopted"]
    rows_arrive(streamhouse)
    before = epochs(streamhouse)

    java = [child for child in psutil.Process(first["pid"]).children(recursive=True) if child.name() == "java"]
    os.kill(first["pid"], signal.SIGKILL)
    add(streamhouse.folder, "while-nothing-ran", [(9001, "lamp", 2, "10.00"), (9002, "lamp", 0, "10.00")])
    until(lambda: flow(streamhouse).state is FlowState.LOST)
    assert psutil.wait_procs(java, timeout=PATIENCE_S)[1] == []  # Spark goes with it

    second = streamhouse("runner", "start", "--json")
    assert (second["adopted"], second["flows"]) == (False, ["orders"])
    assert second["pid"] != first["pid"]
    (text,) = told(streamhouse)
    assert text.startswith(f"runner main: process {first['pid']} on ")
    assert "fell silent without a word (last heard at " in text
    assert f"; process {second['pid']} on " in text
    rows_arrive(streamhouse)
    assert epochs(streamhouse) > before
    assert table(streamhouse)["lamp"] >= 2000
    assert streamhouse("query", "SELECT count(*) AS n FROM ods.orders WHERE order_id = 9001", "--json")["rows"] == [
        {"n": 1}
    ]


@pytest.mark.usefixtures("stopped")
def test_started_twice_at_once_there_is_one_and_it_is_stopped_gracefully(streamhouse):
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: streamhouse("runner", "start", "orders", "--json"), range(2)))
    assert len({one["pid"] for one in both}) == 1
    assert until(lambda: runners_of(streamhouse.folder) == [both[0]["pid"]])
    again = streamhouse("runner", "start", "orders", "--json")
    assert (again["adopted"], again["pid"]) == (True, both[0]["pid"])

    add(streamhouse.folder, "graceful", [(9101, "chair", 1, "5.00")])
    assert streamhouse("runner", "stop", "--json") == {"stopped": ["orders"]}
    assert runners_of(streamhouse.folder) == []
    assert (flow(streamhouse).state, flow(streamhouse).error) == (FlowState.STOPPED, None)
    assert streamhouse("services", "status", "--json")["fluss"]  # it stops only what it started
    # Whatever epoch it was in is whole: the next run repeats none of its rows.
    streamhouse("run", "orders", "--once")
    assert table(streamhouse) == revenue(streamhouse.folder)


@soak
@pytest.mark.usefixtures("stopped")
def test_a_flow_that_fails_leaves_the_other_alone_and_is_tried_again_when_asked(streamhouse):
    folder = streamhouse.folder
    (folder / "actions" / "strict_orders.sql").write_text(
        """/* ---
action: strict_orders
version: 1.0.0
step: ingest
description: Orders, none of them by the devil.
inputs:
  lines: {order_id: bigint, product: string, quantity: int}
output: {primary_key: [order_id]}
expect:
  no_devil: {check: "quantity < 666", on_violation: fail}
--- */
SELECT order_id, product, quantity FROM lines
"""
    )
    columns = "{order_id: bigint, product: string, quantity: int, price: string, ordered_at: string}"
    (folder / "flows" / "strict.yaml").write_text(
        f"""flow: strict
description: Fails on a row.
sources:
  lines: {{files: {{path: "strict/*.csv", columns: {columns}}}}}
steps:
  - {{use: strict_orders, reads: {{lines: lines}}, writes: ods.strict_orders}}
"""
    )
    (folder / "strict").mkdir()
    (folder / "strict" / "bad.csv").write_text("order_id,product,quantity,price,ordered_at\n1,lamp,666,1.00,x\n")
    try:
        started = streamhouse("runner", "start", "orders", "strict", "--json")
        assert started["flows"] == ["orders", "strict"]
        error = until(
            lambda: flow(streamhouse, "strict").state is FlowState.FAILED and flow(streamhouse, "strict").error
        )
        assert "SH503" in error
        assert "no_devil" in error
        assert streamhouse("status", "strict", "--json")["flows"][0]["state"] == "failed"

        until(lambda: flow(streamhouse).state is FlowState.RUNNING)
        add(folder, "beside-a-failure", [(9201, "table", 3, "7.00")])
        rows_arrive(streamhouse)
        (told,) = [one for one in streamhouse("runner", "status", "--json")["flows"] if one["flow"] == "strict"]
        assert (told["state"], told["wanted"], told["error"]) == ("failed", "running", error)  # nobody asked again

        streamhouse("runner", "start", "strict")
        until(lambda: (wanted := flow(streamhouse, "strict").wanted).ask == wanted.over == 2)
        assert runners_of(folder) == [started["pid"]]
    finally:
        (folder / "flows" / "strict.yaml").unlink()
        (folder / "actions" / "strict_orders.sql").unlink()


def test_when_sparks_java_dies_the_runner_ends_and_the_next_goes_on(streamhouse):
    first = streamhouse("runner", "start", "orders", "--json")
    rows_arrive(streamhouse)
    (java, *_) = [child for child in psutil.Process(first["pid"]).children() if child.name() == "java"]
    java.kill()
    error = until(lambda: flow(streamhouse).state is FlowState.FAILED and flow(streamhouse).error)
    assert error.startswith("SH522 Spark's Java process ended (exit code -9)")
    until(lambda: runners_of(streamhouse.folder) == [])

    add(streamhouse.folder, "after-java", [(9301, "bench", 1, "3.00")])
    second = streamhouse("runner", "start", "--json")
    assert second["pid"] != first["pid"]
    failed, replaced = told(streamhouse)[-2:]
    assert f"process {first['pid']} on " in failed
    assert failed.endswith("failed: SH522 Spark's Java process ended (exit code -9)")
    assert f" failed; process {second['pid']} on " in replaced
    rows_arrive(streamhouse)


@soak
def test_services_that_die_are_brought_up_again(streamhouse):
    streamhouse("runner", "start", "orders", "--json")
    rows_arrive(streamhouse)
    (tablet,) = [s for s in streamhouse("services", "status", "--json")["services"] if "tablet" in s["name"]]
    os.kill(tablet["pid"], signal.SIGKILL)
    add(streamhouse.folder, "after-fluss", [(9401, "stool", 1, "4.00")])
    until(lambda: Services(streamhouse.folder).status().endpoints)
    rows_arrive(streamhouse)
    assert flow(streamhouse).state is FlowState.RUNNING
    assert told(streamhouse)[-2:] == [
        "Fluss: tablet died; it is started again, and the flow waits",
        "Fluss is up again",
    ]


@soak
@pytest.mark.usefixtures("stopped")
def test_a_runner_that_is_asked_to_end_finishes_its_epochs_and_stays_wanted(streamhouse):
    started = streamhouse("runner", "start", "orders", "--json")
    until(lambda: flow(streamhouse).state is FlowState.RUNNING)
    os.kill(started["pid"], signal.SIGTERM)  # as a machine that shuts down does
    until(lambda: runners_of(streamhouse.folder) == [])
    seen = flow(streamhouse)
    assert (seen.state, seen.progress.state, seen.runner.life) == (FlowState.LOST, RunnerState.STOPPED, Life.STOPPED)


@soak
@pytest.mark.usefixtures("stopped")
def test_a_round_of_tiering_is_done_by_the_runner_that_lives(streamhouse):
    streamhouse("runner", "start", "orders", "--tier", "never", "--json")
    rows_arrive(streamhouse)
    add(streamhouse.folder, "tiered", [(9351, "shelf", 1, "3.00")])
    rows_arrive(streamhouse)
    done = streamhouse("tier", "orders", "--json")
    (told,) = [one for flow in done["flows"] for one in flow["moved"] if one["table"] == "dwd.orders"]
    assert (told["table"], told["target"]) == ("dwd.orders", "warm")
    assert told["rows"] > 0
    with Project.at(streamhouse.folder).state() as store:
        assert '"warm"' in store.tier_asks.answered(TierAsk("orders", is_check=False, number=1))
    assert streamhouse("tier", "orders", "--check", "--json")["overdue"] == []
    streamhouse("runner", "stop")
    assert [one["flow"] for one in streamhouse("tier", "orders", "--json")["flows"]] == ["orders"]


def test_what_nobody_asked_for_is_refused(streamhouse):
    text = streamhouse("runner", "stop", "nope", "--json", code=6)
    assert text["error"]["code"] == "SH523"
    text = streamhouse("runner", "start", "ordrs", "--json", code=3)
    assert (text["error"]["code"], text["error"]["hint"]) == ("SH213", "did you mean 'orders'?")
