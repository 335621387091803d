import socket
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psutil

from streamhouse.runtime.owner import is_alive, this_owner
from streamhouse.state.records import Owner
from tests.patience import until


def test_this_process_lives():
    owner = this_owner()
    assert is_alive(owner)
    assert not is_alive(replace(owner, started_at=owner.started_at - timedelta(minutes=1)))


def test_a_process_that_ended_is_dead_also_while_it_is_a_zombie():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    started = datetime.fromtimestamp(psutil.Process(child.pid).create_time(), UTC)
    owner = Owner(socket.gethostname(), child.pid, started)
    assert is_alive(owner)
    child.kill()
    until(lambda: psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE)  # not waited for yet
    assert not is_alive(owner)
    child.communicate()
    assert not is_alive(owner)


def test_nothing_is_known_of_other_hosts():
    assert is_alive(Owner("elsewhere.invalid", 1, datetime(2020, 1, 1, tzinfo=UTC)))
