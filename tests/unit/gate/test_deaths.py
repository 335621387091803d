"""A server that tests share dies or hangs: one test fails, and the next one gets a new server."""

import pytest

pytestmark = pytest.mark.proof

CONFTEST = """
import subprocess
import pytest
from tests.gate.shared import Server, looked_after

@pytest.fixture(scope="session")
def server():
    child = subprocess.Popen(["sleep", "600"])
    said = {"answers": True, "number": child.pid}
    with looked_after(Server("Fluss", lambda: child.poll() is None, lambda: said["answers"], child.kill)):
        yield child, said
    child.kill()
    child.wait()

@pytest.fixture(scope="module")
def store(server):
    yield server[0].pid
"""
DEATH = """
def test_before(server, store): assert server[0].pid == store

def test_in_which_it_dies(server):
    server[0].kill()
    server[0].wait()

def test_after(server, store):
    assert server[0].poll() is None
    assert server[0].pid == store, "what was made from the dead one is new, too"
"""
SILENCE = """
def test_in_which_it_hangs(server):
    server[1]["answers"] = False
    assert False, "it gives no rows"

def test_after(server): assert server[1]["answers"]
"""


def test_a_death_fails_the_test_that_was_running_and_no_other(run):
    result = run({"tests/unit/conftest.py": CONFTEST, "tests/unit/test_a.py": DEATH})
    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*Fluss died while this test ran; the next test begins with a new one*",
            "*run it alone:*test_in_which_it_dies*",
        ]
    )


def test_a_second_try_of_the_test_has_a_new_server(run):
    once = DEATH.replace(
        "    server[0].kill()", "    if first.exists(): return\n    first.touch()\n    server[0].kill()"
    )
    text = f"from pathlib import Path\nfirst = Path('first').absolute()\n{once}"
    result = run({"tests/integration/conftest.py": CONFTEST, "tests/integration/test_a.py": text})
    assert result.ret == 0
    result.stdout.fnmatch_lines(["3 passed, 0 failed, 1 flaky, *", "FLAKY *test_in_which_it_dies*", "*Fluss died*"])


def test_a_server_that_stopped_answering_is_killed_and_replaced(run):
    result = run({"tests/unit/conftest.py": CONFTEST, "tests/unit/test_a.py": SILENCE})
    result.assert_outcomes(passed=1, failed=1, errors=1)
    result.stdout.fnmatch_lines(["*Fluss stopped answering while this test ran*"])


def test_a_death_between_two_tests_fails_none_and_is_in_the_report(run):
    between = """
def pytest_runtest_logfinish(nodeid):
    if nodeid.endswith("test_before"):
        import psutil
        for child in psutil.Process().children():
            child.kill()
            child.wait()
"""
    tests = "def test_before(server): pass\ndef test_after(server): assert server[0].poll() is None\n"
    result = run({"tests/unit/conftest.py": CONFTEST + between, "tests/unit/test_a.py": tests})
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["BETWEEN TWO TESTS Fluss died, before tests/unit/test_a.py::test_after"])
