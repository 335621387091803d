"""The process of a command ends at once, and yet loses neither output nor what was to be done at its end."""

import subprocess
import sys

import pytest

from tests.patience import PATIENCE_S

PROGRAM = """
import atexit, sys, threading, time
from streamhouse.cli import main

def work():
    print("rows" * 100_000)
    print("a warning", file=sys.stderr)
    return {code}

main.main = work
atexit.register(lambda: print("cleaned up"))
{more}
main.entry()
"""
THREAD = "threading.Thread(target=lambda: (time.sleep(0.3), print('the thread is done'))).start()"


def run(code: int, more: str = "") -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(code=code, more=more)
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


@pytest.mark.parametrize("more", ["", THREAD])
@pytest.mark.parametrize("code", [0, 3])
def test_output_and_cleanup_come_before_the_end(code, more):
    done = run(code, more)
    assert done.returncode == code
    assert done.stdout.startswith("rows" * 100_000)
    assert done.stdout.endswith("cleaned up\n")
    assert done.stdout.count("cleaned up") == 1
    assert done.stderr == "a warning\n"


def test_a_thread_that_works_is_waited_for():
    assert "the thread is done\ncleaned up\n" in run(0, THREAD).stdout


@pytest.mark.parametrize("words", [["--help"], ["explain"], ["explain", "--json"], ["nonsense"]])
def test_a_reader_that_left_is_no_traceback(words):
    program = "import time; time.sleep(0.2); from streamhouse.cli.main import entry; entry()"
    command = [sys.executable, "-c", program, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read().decode()
    assert "Traceback" not in said
    assert "Exception ignored" not in said


def test_the_module_is_the_command():
    command = [sys.executable, "-m", "streamhouse"]
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert done.stdout.startswith("streamhouse")
    wrong = subprocess.run([*command, "nonsense"], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert wrong.returncode == 2
    assert "nonsense" in wrong.stderr
    assert "__main__" not in wrong.stderr
