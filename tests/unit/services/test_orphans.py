import os
import subprocess
import sys

import pytest

from streamhouse.services.orphans import STARTED_BY, children_of, marked, orphans, servers_below, started_by
from streamhouse.services.process import Process
from tests.patience import until

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]
DEAD = Process(pid=2**22 - 1, began_s=1.5)


@pytest.fixture
def started():
    """Starts processes that end with the test."""
    found = []

    def start(command=SLEEP, **options):
        found.append(subprocess.Popen(command, **options))
        return Process.of(found[-1].pid)

    yield start
    for one in found:
        one.kill()
        one.wait()


def test_what_a_living_process_started_is_its_own_and_no_orphan(started, tmp_path):
    with marked(tmp_path):
        child = started()
    other = started()
    until(lambda: child in children_of(Process.this(), tmp_path))
    assert other not in children_of(Process.this(), tmp_path)
    assert orphans(tmp_path) == []


def test_what_a_dead_process_started_is_an_orphan_of_that_project_alone(started, tmp_path):
    child = started(env={**os.environ, STARTED_BY: started_by(DEAD, tmp_path)})
    until(lambda: orphans(tmp_path) == [child])
    assert children_of(DEAD, tmp_path) == [child]
    assert orphans(tmp_path / "other") == []


def test_servers_are_known_by_the_folder_of_their_scratch_files(started, tmp_path):
    server = started([*SLEEP, f"-Djava.io.tmpdir={tmp_path}/tmp"])
    until(lambda: servers_below(tmp_path) == [server])
    assert servers_below(tmp_path.with_name("elsewhere")) == []
    assert servers_below(tmp_path.parent / tmp_path.name[:-1]) == []  # a name that begins alike


def test_the_mark_of_an_outer_block_comes_back(tmp_path, monkeypatch):
    monkeypatch.delenv(STARTED_BY, raising=False)
    with marked(tmp_path):
        outer = os.environ[STARTED_BY]
        with marked(tmp_path / "inner"):
            assert os.environ[STARTED_BY] != outer
        assert os.environ[STARTED_BY] == outer
    assert STARTED_BY not in os.environ
