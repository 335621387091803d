"""What the task of a flow's stream does when its runner is gone, in Airflow's environment, without an Airflow."""

import json
import subprocess

import pytest

from tests.airflow.site import environment
from tests.control_plane import program
from tests.gate.levels import deep

pytestmark = [
    deep(
        "ends of a task; a runner that is replaced stays",
        only=(
            "test_what_a_person_must_mend_fails_it_for_good_however_long_it_went",
            "test_one_that_dies_soon_fails_the_try",
        ),
    ),
    pytest.mark.airflow,
]

RESUMED = """
import json, sys
from datetime import UTC, datetime, timedelta
from airflow.sdk.exceptions import TaskDeferred
from streamhouse.orchestrator.stream import StreamOperator

class Stream(StreamOperator):
    def _ensure_runner(self, by):
        started.append(by)

class Instance:
    dag_id = "flow__retail"

started = []
event = json.loads(sys.argv[1])
since = (datetime.now(UTC) - timedelta(minutes=float(sys.argv[2]))).isoformat()
try:
    Stream(task_id="stream", flow="retail", project="/project").resume({"ti": Instance()}, event, since=since)
    end = "success"
except TaskDeferred as deferred:
    end = f"{deferred.method_name} {sorted(deferred.kwargs)}"
except Exception as error:
    end = f"{type(error).__name__} {error}"
print(json.dumps([started, end]))
"""
LOST = {"flow": "retail", "state": "lost", "error": None, "asked_by": "ann", "runner": None, "log": None}


@pytest.fixture
def resumed(tmp_path):
    def call(minutes, **more):
        command = [program("python"), "-c", RESUMED, json.dumps(LOST | more), str(minutes)]
        settings = environment(AIRFLOW_HOME=str(tmp_path), AIRFLOW__LOGGING__LOGGING_LEVEL="CRITICAL")
        done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout.splitlines()[-1])

    return call


def test_a_runner_that_dies_after_long_is_replaced_within_the_try(resumed):
    # Else tries and failed runs of months add up: each recovery waits longer, and in the end Airflow pauses the DAG.
    assert resumed(11) == [["airflow, flow__retail"], "resume ['since']"]


def test_one_that_dies_soon_fails_the_try(resumed):
    started, end = resumed(9)
    assert started == []
    assert end.startswith("AirflowException SH521 retail has no runner")


def test_what_a_person_must_mend_fails_it_for_good_however_long_it_went(resumed):
    started, end = resumed(11, state="failed", error="SH507 retail: a person must decide")
    assert started == []
    assert end.startswith("AirflowFailException SH507")
