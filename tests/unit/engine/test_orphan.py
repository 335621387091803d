"""A worker that ends with its driver; the driver here is any process."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from streamhouse.engine.orphan import Driver

WORKER = """\
import sys, time
from streamhouse.engine.orphan import Driver, end_with
end_with(Driver(int(sys.argv[1]), float(sys.argv[2])))
print("watching", flush=True)
time.sleep(60)
"""


@pytest.fixture
def sleeper():
    process = subprocess.Popen(["sleep", "60"])
    yield process
    process.kill()
    process.wait()


def driver_of(process):
    return Driver(process.pid, psutil.Process(process.pid).create_time())


def worker_of(driver):
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(driver.pid), str(driver.started_s)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_driver_is_gone_when_it_ended_though_nobody_asked_for_its_exit_code(sleeper):
    driver = driver_of(sleeper)
    assert not driver.is_gone()
    sleeper.kill()
    until = time.monotonic() + 10
    while not driver.is_gone() and time.monotonic() < until:
        time.sleep(0.01)
    assert driver.is_gone()
    assert psutil.Process(sleeper.pid).status() == psutil.STATUS_ZOMBIE
    sleeper.wait()
    assert driver.is_gone()


def test_another_process_with_the_same_pid_is_not_the_driver(sleeper):
    driver = driver_of(sleeper)
    assert Driver(driver.pid, driver.started_s - 60).is_gone()


def test_a_worker_ends_with_its_driver_and_not_before(sleeper):
    with worker_of(driver_of(sleeper)) as worker:
        assert worker.stdout.readline() == "watching\n"
        time.sleep(0.5)
        assert worker.poll() is None
        sleeper.kill()
        assert worker.wait(10) == -signal.SIGKILL


def test_a_worker_whose_driver_is_gone_does_not_begin(sleeper):
    driver = driver_of(sleeper)
    sleeper.kill()
    sleeper.wait()
    with worker_of(driver) as worker:
        assert worker.wait(10) == -signal.SIGKILL
        assert worker.stdout.read() == ""
