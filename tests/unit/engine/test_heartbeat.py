"""A task writes only while it hears its driver; both are processes of their own here."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from streamhouse.engine import heartbeat
from streamhouse.engine.heartbeat import PORT, Address, Heartbeat, heard
from streamhouse.errors import StateConflictError
from tests.patience import PATIENCE_S

DRIVER = """\
import sys
from streamhouse.engine import heartbeat
from tests.unit.engine.test_heartbeat import Context
heartbeat.BEAT_S = 0.1
with heartbeat.Heartbeat(Context()) as driver:
    print(driver.address.port, flush=True)
    sys.stdin.readline()
print("ended", flush=True)
"""
TASK = """\
import sys
from streamhouse.engine import heartbeat
heartbeat.SILENT_S = float(sys.argv[2])
with heartbeat.heard(heartbeat.Address("127.0.0.1", int(sys.argv[1]))) as check:
    print("hears", flush=True)
    for line in sys.stdin:
        check()
        print("wrote", flush=True)
print("done", flush=True)
"""


class Context:
    """What a SparkContext tells of where its driver is."""

    master = "spark://there:7077"

    def __init__(self, **conf):
        self.conf = {"spark.driver.host": "127.0.0.1", **conf}

    def getConf(self):  # noqa: N802  as Spark calls it
        return self.conf


def process(code, *given):
    return subprocess.Popen(
        [sys.executable, "-c", code, *given],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path.cwd()), *sys.path])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def driver():
    with process(DRIVER) as started:
        started.port = started.stdout.readline().strip()
        yield started
        started.kill()


def task_of(driver, silent_s=10.0):
    task = process(TASK, driver.port, str(silent_s))
    assert task.stdout.readline() == "hears\n"
    return task


def stop(started):
    started.send_signal(signal.SIGSTOP)
    while psutil.Process(started.pid).status() != psutil.STATUS_STOPPED:
        time.sleep(0.01)


def write(task):
    task.stdin.write("\n")
    task.stdin.flush()
    return task.stdout.readline()


def test_a_task_ends_with_its_driver_and_not_before(driver):
    with task_of(driver) as task:
        time.sleep(0.5)
        assert write(task) == "wrote\n"
        driver.kill()
        assert task.wait(PATIENCE_S) == -signal.SIGKILL


def test_a_task_ends_when_its_driver_is_silent(driver):
    with task_of(driver, silent_s=0.7) as task:
        time.sleep(1.0)
        assert write(task) == "wrote\n", "it hears the driver all the time"
        driver.send_signal(signal.SIGSTOP)
        assert task.wait(PATIENCE_S) == -signal.SIGKILL


def test_a_task_that_stood_still_with_its_driver_silent_writes_nothing_more(driver):
    with task_of(driver, silent_s=0.7) as task:
        stop(task)
        stop(driver)
        time.sleep(1.5)
        task.stdin.write("\n")
        task.stdin.flush()
        task.send_signal(signal.SIGCONT)
        assert task.wait(PATIENCE_S) == -signal.SIGKILL
        assert "done" not in task.stdout.read()


def test_the_block_ends_when_no_task_of_it_lives(driver):
    with task_of(driver) as task, task_of(driver) as other:
        other.stdin.close()
        assert other.stdout.read() == "done\n", "one that ended before is not waited for, nor killed"
        assert other.wait(PATIENCE_S) == 0
        driver.stdin.write("\n")
        driver.stdin.flush()
        assert driver.stdout.readline() == "ended\n"
        assert task.wait(PATIENCE_S) == -signal.SIGKILL


def test_the_block_ends_also_when_a_task_cannot_be_reached(monkeypatch):
    monkeypatch.setattr(heartbeat, "SILENT_S", 0.3)
    monkeypatch.setattr(heartbeat, "BEAT_S", 0.1)
    with Heartbeat(Context()) as driver:
        deaf = process(TASK, str(driver.address.port), "60")
        assert deaf.stdout.readline() == "hears\n"
        stop(deaf)
        ending = time.monotonic()
    assert 0.3 < time.monotonic() - ending < 5, "so long it may go on by itself"
    deaf.kill()
    deaf.wait()


def test_a_task_begins_only_where_it_hears_a_driver_that_may_write():
    with Heartbeat(Context()) as ended:
        pass
    with (
        pytest.raises(StateConflictError, match="does not hear its driver at") as told,
        heard(ended.address),
    ):
        pass
    assert PORT in told.value.hint

    with Heartbeat(Context()) as driver, heard(driver.address) as check:
        check()


def test_a_driver_that_lost_its_flow_says_nothing(monkeypatch):
    monkeypatch.setattr(heartbeat, "SILENT_S", 0.3)
    with (
        Heartbeat(Context(), lambda: False) as driver,
        pytest.raises(StateConflictError, match="does not hear"),
        heard(driver.address),
    ):
        pass


def test_the_port_can_be_set():
    with Heartbeat(Context()) as driver:
        taken = driver.address.port
    with Heartbeat(Context(**{PORT: str(taken), "spark.driver.bindAddress": "127.0.0.1"})) as driver:
        assert driver.address == Address("127.0.0.1", taken)
