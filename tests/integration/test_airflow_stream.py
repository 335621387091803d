"""The task of a stream in a real Airflow, over a real runner that lives in the engine's environment."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from streamhouse.project.project import Project
from streamhouse.runtime.owner import is_alive
from streamhouse.state.flow_state import FlowState, see
from streamhouse.state.runners import WantedState
from tests import patience
from tests.control_plane import ROOT, program
from tests.gate.levels import deep
from tests.patience import PATIENCE_S

SCRIPT = Path(__file__).parent / "airflow_stream.py"

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep("runners that start, die and are taken over; test_flow_in_airflow.py has the flow"),
]


@pytest.fixture(scope="module")
def environment():
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("STREAMHOUSE_", "AIRFLOW"))}
    program = "import sys; from streamhouse.cli.main import main; sys.exit(main())"
    plugins = str(ROOT / "plugins")
    # The same path for both environments: each finds its own packages beside its own interpreter.
    return {**clean, "PYTHONPATH": plugins, "STREAMHOUSE_COMMAND": shlex.join([sys.executable, "-c", program])}


@pytest.fixture(scope="module")
def streamhouse(tmp_path_factory, environment):
    folder = tmp_path_factory.mktemp("airflow") / "shop"

    def call(*arguments):
        words = [*shlex.split(environment["STREAMHOUSE_COMMAND"]), *arguments]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=PATIENCE_S)
        assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
        return json.loads(done.stdout) if "--json" in arguments else done.stdout

    call.folder = folder
    call.home = folder.parent / "home"
    call("init", str(folder))
    call("services", "up", "--project", str(folder))
    yield call
    call("runner", "stop", "--project", str(folder))
    call("services", "down", "--project", str(folder))


TRIGGER = """\
import asyncio, json, sys
from streamhouse.orchestrator.flow_trigger import FlowStateTrigger
from importlib import import_module

place, arguments = FlowStateTrigger(sys.argv[1], "orders", 0.1).serialize()
module, _, name = place.rpartition(".")
again = getattr(import_module(module), name)(**json.loads(json.dumps(arguments)))

async def first():
    async for event in again.run():
        return event.payload

lost = asyncio.run(first())
asyncio.run(again.on_kill())
print(json.dumps([lost, asyncio.run(first())]))
"""


def test_a_trigger_is_made_again_elsewhere_and_stops_the_flow_that_a_person_ends(tmp_path, environment):
    (tmp_path / "flows").mkdir()
    with Project.at(tmp_path).state() as store:
        store.runners.ask("orders", WantedState.RUNNING, "ann")
    done = subprocess.run(
        [str(program("python")), "-c", TRIGGER, str(tmp_path)],
        env=environment | {"AIRFLOW_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    lost, killed = json.loads(done.stdout.splitlines()[-1])
    assert (lost["state"], lost["asked_by"]) == ("lost", "ann")
    assert (killed["state"], killed["asked_by"]) == ("stopped", "airflow")


@pytest.fixture
def dag_run(streamhouse, environment):
    """Starts a run of the DAG; a finished one gives what it said, its log first."""
    started = []

    def start(flow="orders", **added):
        words = [program("python"), SCRIPT, streamhouse.home, streamhouse.folder, flow]
        process = subprocess.Popen(
            [str(word) for word in words],
            env=environment | added,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def ended(process):
    log, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, log
    return log, json.loads(log.splitlines()[-1])


def flow(streamhouse, name="orders"):
    with Project.at(streamhouse.folder).state() as store:
        return see(store, name, alive=is_alive)


def until(holds, process=None):
    def look():
        found = holds()
        assert found or process is None or process.poll() is None, process.communicate()[0]
        return found

    return patience.until(look)


def carried(streamhouse, process):
    """The process that carries the flow, once the task of this run waits for its end."""
    until(lambda: (seen := flow(streamhouse)).state is FlowState.RUNNING and seen.progress.epochs, process)
    return flow(streamhouse).runner.owner.pid


def waits(process, log):
    """Read the log of a run until its task has deferred."""
    for line in process.stdout:
        log.append(line)
        if "running trigger in line" in line:
            return
    pytest.fail("".join(log))


def test_a_run_starts_a_runner_loses_it_and_the_next_takes_one_over(streamhouse, dag_run):
    run = dag_run()
    log: list[str] = []
    waits(run, log)
    assert any("no runner lives; starting one for orders" in line for line in log)
    first = carried(streamhouse, run)
    os.kill(first, signal.SIGKILL)
    rest, told = ended(run)
    assert told == {"errors": {}, "heavy": [], "state": "failed"}
    assert "SH521 orders has no runner: process" in rest
    assert "is gone without a word" in rest
    assert "the next run starts one, which goes on from the same positions" in rest

    # The next @continuous run; meanwhile somebody started the runner by hand: it is taken over, there is no second.
    by_hand = streamhouse("runner", "start", "orders", "--project", str(streamhouse.folder), "--json")
    assert by_hand["pid"] != first
    epochs = flow(streamhouse).progress.epochs
    run = dag_run()
    log = []
    waits(run, log)
    assert any(f"carried by the runner that lives: process {by_hand['pid']}" in line for line in log)
    assert carried(streamhouse, run) == by_hand["pid"]
    assert flow(streamhouse).progress.epochs >= epochs  # it goes on, it does not begin anew

    streamhouse("runner", "stop", "orders", "--by", "ann", "--project", str(streamhouse.folder))
    rest, told = ended(run)
    assert told["state"] == "success"
    assert "orders was stopped by ann" in rest


def test_errors_of_the_flow_and_of_the_start_read_as_the_command_prints_them(streamhouse, dag_run):
    (streamhouse.folder / "flows" / "wrong.yaml").write_text(
        "flow: wrong\nsources:\n  lines: {files: {path: data/*.csv}}\nsteps:\n"
        "  - {use: ingest_ordrs, reads: {lines: lines}, writes: ods.wrong}\n"
    )
    try:
        log, told = ended(dag_run("wrong"))
    finally:
        (streamhouse.folder / "flows" / "wrong.yaml").unlink()
    assert told["state"] == "failed"
    assert "flows/wrong.yaml:5:11: SH201 unknown action 'ingest_ordrs'" in log
    assert "hint: did you mean 'ingest_orders'?" in log
    assert "AirflowFailException" in log  # a wrong definition burns no retries

    log, told = ended(dag_run("orders", STREAMHOUSE_COMMAND="/nowhere/streamhouse"))
    assert told["state"] == "failed"
    assert "SH300 the engine's command does not start: No such file or directory: /nowhere/streamhouse" in log

    with Project.at(streamhouse.folder).state() as store:
        store.runners.ask("wrong", WantedState.STOPPED, "test")
