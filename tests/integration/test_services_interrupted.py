"""Servers whose start or stop is interrupted, once or twice, at any moment: none of them is left."""

import os
import signal
import subprocess
import sys

import pytest

from streamhouse.services.orphans import servers_below
from streamhouse.services.services import Services
from tests.gate.levels import deep
from tests.patience import PATIENCE_S, SOAKING, pause, until

pytestmark = [
    pytest.mark.services,
    deep("each signal at each moment of a start; test_services.py keeps a killed process"),
]

USES = """
import sys, time
from pathlib import Path
from streamhouse.services.services import running
print("begins", flush=True)
with running(Path(sys.argv[1])):
    time.sleep(600)
"""
BRINGS_UP = """
import sys
from pathlib import Path
from streamhouse.services.services import Services
print("begins", flush=True)
Services(Path(sys.argv[1])).up()
"""
SECONDS = (0.0, 0.3, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0) if SOAKING else (0.0, 0.7, 1.5, 3.0, 5.0)


def begun(code, root):
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(root)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert process.stdout.readline() == "begins\n"
    return process


def left(root):
    return servers_below(Services(root).folder.base)


def nothing_is_left(root):
    until(lambda: not left(root), what="every server ends", saw=lambda: left(root))


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_no_server_is_left_of_a_start_that_is_interrupted(tmp_path, asked, times):
    for after_s in SECONDS:
        process = begun(USES, tmp_path)
        pause(after_s)
        for _ in range(times):
            process.send_signal(asked)
        process.communicate(timeout=PATIENCE_S)
        nothing_is_left(tmp_path)


@pytest.mark.parametrize("between_s", [0.0, 0.2, 1.0])
def test_no_server_is_left_when_its_stop_is_interrupted(tmp_path, between_s):
    process = begun(USES, tmp_path)
    until(lambda: Services(tmp_path).status().endpoints)
    for _ in range(3):
        process.send_signal(signal.SIGINT)
        pause(between_s)
    process.communicate(timeout=PATIENCE_S)
    nothing_is_left(tmp_path)


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=["ctrl-c", "sigterm", "kill"])
def test_no_server_is_left_of_services_that_are_not_up_yet(tmp_path, asked):
    process = begun(BRINGS_UP, tmp_path)
    until(lambda: left(tmp_path))
    process.send_signal(asked)
    process.communicate(timeout=PATIENCE_S)
    nothing_is_left(tmp_path)


def test_services_that_are_up_stay_when_the_process_that_brought_them_up_ends(tmp_path):
    try:
        process = begun(BRINGS_UP, tmp_path)
        process.communicate(timeout=PATIENCE_S)
        assert Services(tmp_path).status().endpoints is not None
    finally:
        Services(tmp_path).down()
    assert not left(tmp_path)
