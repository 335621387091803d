"""The lock of a lake table: who comes after a process that was killed waits for the JVM that it left."""

import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

from streamhouse.model.types import Tier
from streamhouse.stores import lock
from streamhouse.stores.lock import TableLocks

# Takes the lock as if this process' child, which outlives it, were its JVM; then both the lock and the child are left.
KILLED = """
import os, signal, subprocess, sys
from pathlib import Path
from streamhouse.model.types import Tier
from streamhouse.stores import lock

child = subprocess.Popen(["sleep", sys.argv[2]])
lock.pid_of = lambda _: child.pid
with lock.TableLocks(Path(sys.argv[1])).hold(Tier.COLD, "ods.t", type("Spark", (), {"_jvm": None})()):
    print(child.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def is_running(pid):
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(found) and not found.startswith("Z")


def left_by_a_kill(folder, seconds):
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(folder), str(seconds)], stdout=subprocess.PIPE, text=True
    )
    pid = int(process.stdout.readline())
    process.wait()
    return pid


@dataclass
class Session:
    _jvm: str


def test_the_next_holder_waits_for_the_jvm_of_one_that_was_killed(tmp_path):
    pid = left_by_a_kill(tmp_path, 1)
    assert is_running(pid)
    with TableLocks(tmp_path).hold(Tier.COLD, "ods.other"):
        assert is_running(pid), "another table is free"
    with TableLocks(tmp_path).hold(Tier.COLD, "ods.t"):
        assert not is_running(pid)


def test_a_jvm_that_hangs_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "_ORPHAN_S", 0.2)
    pid = left_by_a_kill(tmp_path, 60)
    with TableLocks(tmp_path).hold(Tier.COLD, "ods.t"):
        assert not is_running(pid)


def test_nobody_waits_after_a_block_that_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "_ORPHAN_S", 0.2)
    child = subprocess.Popen(["sleep", "600"])
    monkeypatch.setattr(lock, "pid_of", lambda _: child.pid)
    with TableLocks(tmp_path).hold(Tier.COLD, "ods.t", Session("a")):
        pass
    with pytest.raises(ZeroDivisionError), TableLocks(tmp_path).hold(Tier.COLD, "ods.t", Session("a")):
        _ = 1 / 0
    with TableLocks(tmp_path).hold(Tier.COLD, "ods.t"):
        pass
    assert child.poll() is None, "who waits for it ends it at last"
    child.kill()
    child.wait()


def test_a_process_that_has_the_number_of_a_jvm_now_is_left_alone(tmp_path):
    (tmp_path / "cold.ods.t.jvm").write_text("")  # its writer was killed before it wrote
    with TableLocks(tmp_path).hold(Tier.COLD, "ods.t"):
        pass
    pid = left_by_a_kill(tmp_path, 0)
    child = subprocess.Popen(["sleep", "600"])
    note = tmp_path / "cold.ods.t.jvm"
    stamp = note.stat()
    note.write_text(note.read_text().replace(str(pid), str(child.pid)))
    os.utime(note, (stamp.st_atime - 9, stamp.st_mtime - 9))
    with TableLocks(tmp_path).hold(Tier.COLD, "ods.t"):
        assert child.poll() is None
    child.kill()
    child.wait()
