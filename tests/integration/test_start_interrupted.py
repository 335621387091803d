"""A command that is ended while it starts Spark leaves no process behind and says what happened."""

import os
import signal
import subprocess
import sys

import psutil
import pytest

from streamhouse.services.orphans import children_of
from streamhouse.services.process import Process
from tests.command import COMMAND
from tests.gate.levels import deep
from tests.patience import PATIENCE_S, pause, until

pytestmark = [
    pytest.mark.spark,
    deep(
        "each signal at each moment",
        stays=("test_no_process_outlives_a_start_that_is_ended[2-1.2]",),
    ),
]


@pytest.fixture(scope="module")
def environment():
    clean = {key: value for key, value in os.environ.items() if not key.startswith("STREAMHOUSE_ST")}
    return {**clean, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, environment):
    folder = tmp_path_factory.mktemp("interrupted") / "shop"
    subprocess.run([*COMMAND, "init", str(folder)], env=environment, check=True, capture_output=True)
    return folder


@pytest.fixture
def starting(folder, environment):
    """A command that has just started a Java process."""
    words = [*COMMAND, "action", "test", "clean_orders", "--project", str(folder)]
    process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def look():
        found = javas(process)
        assert found or process.poll() is None, process.stdout.read()
        return found

    until(look)
    yield process
    process.kill()
    process.communicate()


def javas(process):
    try:
        return [child for child in psutil.Process(process.pid).children(recursive=True) if child.name() == "java"]
    except psutil.NoSuchProcess:
        return []


def kill(java):
    """Whether it ran until now."""
    try:
        java.kill()
    except psutil.NoSuchProcess:
        return False
    return True


def nothing_is_left(owner, folder):
    def left():
        return children_of(owner, folder / ".streamhouse")

    until(lambda: not left(), saw=left)


@pytest.mark.parametrize("after_s", [0.2, 1.2])
@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_outlives_a_start_that_is_ended(starting, folder, asked, after_s):
    owner = Process.of(starting.pid)
    pause(after_s)
    starting.send_signal(asked)
    output, _ = starting.communicate(timeout=PATIENCE_S)
    if asked != signal.SIGKILL:
        assert starting.returncode == 130, output
    assert "Traceback" not in output
    nothing_is_left(owner, folder)


@pytest.mark.parametrize("after_s", [0.0, 1.0])
def test_a_java_process_that_is_killed_while_it_starts_is_named(starting, folder, after_s):
    owner = Process.of(starting.pid)
    pause(after_s)
    while not sum(kill(java) for java in javas(starting)):  # the first of them ends by itself, and another follows
        assert starting.poll() is None
    output, _ = starting.communicate(timeout=PATIENCE_S)
    assert (starting.returncode, "SH500 Spark's Java process is gone" in output) == (6, True), output
    nothing_is_left(owner, folder)
