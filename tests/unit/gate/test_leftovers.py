"""What a test leaves running is ended, and the report names the test."""

import psutil
import pytest

pytestmark = pytest.mark.proof

FILE = """
import subprocess, sys
from pathlib import Path
import pytest

CHILD = "import os, time; os.fork() and os._exit(0); os.setsid(); time.sleep(600)"

@pytest.fixture(scope="session")
def shared():
    child = subprocess.Popen(["sleep", "601"])
    yield child
    child.kill()
    child.wait()

def test_uses(shared): assert shared.poll() is None

def test_leaves(shared):
    subprocess.run([sys.executable, "-c", CHILD])

def test_after(shared): assert shared.poll() is None, "what others share stays"
"""


def test_a_process_of_a_session_of_its_own_is_found_ended_and_named(run):
    result = run({"tests/integration/test_a.py": FILE})
    result.assert_outcomes(passed=3)
    [line] = [line for line in result.outlines if line.startswith("LEFT RUNNING")]
    by, _, rest = line.removeprefix("LEFT RUNNING by ").partition(": ")
    assert by == "tests/integration/test_a.py::test_leaves"
    assert "time.sleep(600)" in rest
    assert not psutil.pid_exists(int(rest.split()[0]))


@pytest.mark.parametrize("processes", [(), ("-n", "2")])
def test_what_unit_tests_leave_is_ended_at_the_end_of_the_run(run, processes):
    text = 'import subprocess\n\ndef test_leaves(): subprocess.Popen(["sleep", "602"])\n'
    result = run({"tests/unit/test_a.py": text}, *processes)
    result.assert_outcomes(passed=1)
    [line] = [line for line in result.outlines if line.startswith("LEFT RUNNING")]
    assert line.startswith("LEFT RUNNING at the end of the run: ")
    assert line.endswith(" sleep 602")
    assert not psutil.pid_exists(int(line.rpartition(": ")[2].split()[0]))


RESTARTED = """
import subprocess
import pytest
from tests.gate.leftovers import owned_by, owner

@pytest.fixture(scope="session")
def shared():
    running = [owner(), subprocess.Popen(["sleep", "603"])]
    yield running
    running[1].kill()
    running[1].wait()

def test_starts_it_again(shared):
    shared[1].kill()
    shared[1].wait()
    with owned_by(shared[0]):
        shared[1] = subprocess.Popen(["sleep", "603"])

def test_after(shared): assert shared[1].poll() is None, "it belongs to the fixture"
"""


def test_what_a_test_starts_again_for_a_fixture_outlives_the_test(run):
    result = run({"tests/integration/test_a.py": RESTARTED})
    result.assert_outcomes(passed=2)
    assert [line for line in result.outlines if line.startswith("LEFT RUNNING")] == []
