import os
import signal
import subprocess
import sys

import psutil
import pytest

from streamhouse.services.ports import answers
from streamhouse.services.process import Process, spawn
from tests.patience import until

STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(60)"
)


LEADERLESS = """
import ctypes, socket, threading, time
listening = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=time.sleep, args=(60,)).start()
print(listening.getsockname()[1], flush=True)
ctypes.CDLL(None).pthread_exit(None)
"""


@pytest.fixture
def sleeper(tmp_path):
    process = spawn(["sleep", "60"], log=tmp_path / "log", folder=tmp_path, environment=os.environ)
    yield process
    process.stop(5)


def test_a_process_is_known_again_from_its_text_until_it_ends(sleeper):
    again = Process.model_validate_json(sleeper.model_dump_json())
    assert again.alive
    assert again.stop(5)
    assert not sleeper.alive


def test_a_later_process_with_the_same_pid_is_another_one_and_is_not_stopped(sleeper):
    earlier = sleeper.model_copy(update={"began_s": sleeper.began_s - 1})
    assert not earlier.alive
    assert earlier.stop(5)
    assert sleeper.alive


def test_a_pid_that_nobody_has_is_not_alive():
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert Process.of(gone.pid) is None
    assert not Process(pid=gone.pid, began_s=1.0).alive


def test_a_zombie_is_gone():
    child = subprocess.Popen(["sleep", "60"])
    process = Process.of(child.pid)
    child.kill()  # not waited for, so it stays a zombie
    assert process.ended_within(5)
    assert psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE
    assert not process.alive
    child.wait()


def test_a_process_lives_as_long_as_one_of_its_threads_also_when_the_first_has_ended():
    # A killed server of many threads is so for a moment on a busy machine, and still has its port.
    child = subprocess.Popen([sys.executable, "-c", LEADERLESS], stdout=subprocess.PIPE)
    assert child.stdout is not None
    port = int(child.stdout.readline())
    process = Process.of(child.pid)
    until(lambda: psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE)
    assert answers(port)
    assert process.alive
    assert not process.ended_within(0)
    child.kill()
    assert process.ended_within(5)
    assert not answers(port)
    child.wait()
    child.stdout.close()


def test_what_ignores_the_request_is_killed_and_told_so(tmp_path):
    log = tmp_path / "log"
    process = spawn([sys.executable, "-c", STUBBORN], log=log, folder=tmp_path, environment=os.environ)
    while "ready" not in log.read_text():
        assert process.alive
    assert not process.stop(0.3)
    assert not process.alive


def test_a_spawned_process_has_its_own_session_and_appends_to_its_log(tmp_path):
    log = tmp_path / "log"
    log.write_text("before\n")
    command = [sys.executable, "-c", "import os; print(os.getcwd(), os.environ['X'], os.getsid(0) == os.getpid())"]
    process = spawn(command, log=log, folder=tmp_path, environment={"X": "1"})
    assert process.ended_within(10)
    assert log.read_text() == f"before\n{tmp_path} 1 True\n"


def test_ctrl_c_in_the_group_of_the_starter_does_not_reach_it(sleeper):
    assert os.getpgid(sleeper.pid) != os.getpgid(0)
    assert os.getpgid(sleeper.pid) == sleeper.pid
    os.kill(sleeper.pid, signal.SIGCONT)  # it may be signalled, only not through our group
    assert sleeper.alive
