"""A task writes only while it hears its driver; both are processes of their own here."""

import os
import selectors
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from streamhouse.engine import heartbeat
from streamhouse.engine.heartbeat import PORT, Address, Heartbeat, heard
from streamhouse.errors import StateConflictError
from tests.patience import PATIENCE_S, until

DRIVER = """\
import sys
from streamhouse.engine import heartbeat
from tests.unit.engine.test_heartbeat import Context
heartbeat.BEAT_S = float(sys.argv[1])
with heartbeat.Heartbeat(Context()) as driver:
    print(driver.address.port, flush=True)
    sys.stdin.readline()
print("ended", flush=True)
"""
TASK = """\
import sys, threading
from streamhouse.engine import heartbeat

clock_s = 0.0  # of `check`; a connection that is silent is given up by the real one

def now_s():
    if threading.current_thread().name == "driver":
        say(f"heard at {clock_s:.0f}")
    return clock_s

def say(line):  # as a whole: two threads do
    sys.stdout.write(line + "\\n")
    sys.stdout.flush()

heartbeat.now_s, heartbeat.SILENT_S = now_s, float(sys.argv[2])
with heartbeat.heard(heartbeat.Address("127.0.0.1", int(sys.argv[1]))) as check:
    say("hears")
    for line in sys.stdin:
        if line.startswith("at "):
            clock_s = float(line.removeprefix("at "))
            continue
        check()
        say("wrote")
print("done", flush=True)
"""
BEAT_S, RARELY_S = "0.05", "1000"


class Context:
    """What a SparkContext tells of where its driver is."""

    master = "spark://there:7077"

    def __init__(self, **conf):
        self.conf = {"spark.driver.host": "127.0.0.1", **conf}

    def getConf(self):  # noqa: N802  as Spark calls it
        return self.conf


class Clock:
    """Stands for the modules `time` and `selectors`: what waits for nothing moves it on, and is soon done."""

    EVENT_READ = selectors.EVENT_READ

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    def DefaultSelector(self):  # noqa: N802  as `selectors` calls it
        clock = self

        class Selector(selectors.DefaultSelector):
            def select(self, timeout=None):
                found = super().select(min(timeout, 0.01))
                clock.now += 0 if found else timeout
                return found

        return Selector()


def process(code, *given):
    return subprocess.Popen(
        [sys.executable, "-c", code, *given],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path.cwd()), *sys.path])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def driver(request):
    with process(DRIVER, getattr(request, "param", BEAT_S)) as started:
        started.port = started.stdout.readline().strip()
        yield started
        started.kill()


def task_of(driver, silent_s=PATIENCE_S):
    task = process(TASK, driver.port, str(silent_s))
    says(task, "hears")
    return task


def stop(started):
    started.send_signal(signal.SIGSTOP)
    until(lambda: psutil.Process(started.pid).status() == psutil.STATUS_STOPPED)


def tell(task, line):
    task.stdin.write(f"{line}\n")
    task.stdin.flush()


def says(task, line):
    """Wait until a task prints a line, and pass over what it says before."""
    assert any(found == f"{line}\n" for found in task.stdout), f"it ended with {task.wait()}"


def test_a_task_ends_with_its_driver_and_not_before(driver):
    with task_of(driver) as task:
        for now_s in (1_000, 2_000):  # far more than it may be silent
            tell(task, f"at {now_s}")
            for _ in range(2):  # the first one is noted before the next one comes
                says(task, f"heard at {now_s}")
            tell(task, "write")
            says(task, "wrote")
        driver.kill()
        assert task.wait(PATIENCE_S) == -signal.SIGKILL


def test_a_task_ends_when_its_driver_is_silent(driver):
    with task_of(driver, silent_s=2.0) as task:
        driver.send_signal(signal.SIGSTOP)
        assert task.wait(PATIENCE_S) == -signal.SIGKILL


@pytest.mark.parametrize("driver", [RARELY_S], indirect=True)
def test_a_task_that_stood_still_with_its_driver_silent_writes_nothing_more(driver):
    with task_of(driver) as task:
        tell(task, f"at {PATIENCE_S + 1}")  # it is woken, and the connection has not been given up yet
        tell(task, "write")
        assert task.wait(PATIENCE_S) == -signal.SIGKILL
        assert task.stdout.read() == ""


def test_the_block_ends_when_no_task_of_it_lives(driver):
    with task_of(driver) as task, task_of(driver) as other:
        other.stdin.close()
        assert other.stdout.read().endswith("done\n"), "one that ended before is not waited for, nor killed"
        assert other.wait(PATIENCE_S) == 0
        driver.stdin.write("\n")
        driver.stdin.flush()
        assert driver.stdout.readline() == "ended\n"
        assert task.wait(PATIENCE_S) == -signal.SIGKILL


def test_the_block_ends_also_when_a_task_cannot_be_reached(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(heartbeat, "time", clock)
    monkeypatch.setattr(heartbeat, "selectors", clock)
    with Heartbeat(Context()) as driver:
        deaf = process(TASK, str(driver.address.port), str(PATIENCE_S))
        says(deaf, "hears")
        stop(deaf)
        ending = clock.now
    assert clock.now - ending >= heartbeat.SILENT_S, "so long it may go on by itself"
    assert deaf.poll() is None
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
