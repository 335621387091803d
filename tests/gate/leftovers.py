"""Ends what a test leaves running, and names the test.

Each process that is started below a test inherits the variable `PYTEST_PROCESS_OWNER`: the test, or the fixture of a
larger scope that was set up then. What still runs when its owner is over was left behind.
"""

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.gate.shared import is_large

_RUN, _OWNER = "PYTEST_PROCESS_RUN", "PYTEST_PROCESS_OWNER"
_GRACE_S = 5.0
_SHOWN = 200  # characters of a command
LEFT = "left running"
"""The user property of a report that names a process."""
# What Python starts for itself, and what ends the services of a process that was killed: both end with their process.
_WITH_ITS_PROCESS = ("multiprocessing.resource_tracker", "multiprocessing.forkserver", "streamhouse.services.guardian")
_FOUND: list[str] = []  # fixtures end within the tear-down of a test, whose report names what they left
_LOOKED_AT_EACH_TEST = ("tests/contract", "tests/integration", "tests/airflow")


def pytest_configure(config: pytest.Config) -> None:
    os.environ[_RUN] = uuid.uuid4().hex


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest) -> Iterator[None]:
    """What a fixture of a larger scope starts belongs to it, and not to the test that asked first."""
    before = os.environ.get(_OWNER, "")
    if is_large(fixturedef):
        os.environ[_OWNER] = _fixture(fixturedef)
    try:
        return (yield)
    finally:
        os.environ[_OWNER] = before


def pytest_fixture_post_finalizer(fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest) -> None:
    if is_large(fixturedef):
        _FOUND.extend(end(_fixture(fixturedef)))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    os.environ[_OWNER] = item.nodeid
    try:
        return (yield)
    finally:
        os.environ[_OWNER] = ""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    try:
        return (yield)
    finally:
        if item.nodeid.startswith(_LOOKED_AT_EACH_TEST):
            _FOUND.extend(end(item.nodeid))
        item.user_properties.extend((LEFT, line) for line in _FOUND)
        _FOUND.clear()


def end(owner: str) -> list[str]:
    """End the processes of an owner that is over; their command lines. One that ends by itself was not left behind."""
    found = [process for process in running(os.environ[_RUN]) if _variable(process, _OWNER) == owner]
    _, left = psutil.wait_procs(found, timeout=_GRACE_S) if found else ([], [])
    lines = [f"{process.pid} {_command(process)[:_SHOWN]}" for process in left]
    for process in left:
        _killed(process)
    return lines


def running(run: str) -> list[psutil.Process]:
    """What this run started, at any depth, and still runs; without what ends with its process, and this process."""
    found = []
    for process in psutil.process_iter():
        if process.pid == os.getpid() or _variable(process, _RUN) != run:
            continue
        command = _command(process)
        if command and not any(name in command for name in _WITH_ITS_PROCESS):
            found.append(process)
    return found


def _variable(process: psutil.Process, name: str) -> str:
    # psutil makes a dictionary of all; this is looked for in each process after each test.
    try:
        content = Path(f"/proc/{process.pid}/environ").read_bytes()
    except OSError:
        return ""
    mark = f"\0{name}=".encode()
    _, found, rest = (b"\0" + content).partition(mark)
    return rest.partition(b"\0")[0].decode(errors="replace") if found else ""


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline()) if process.status() != psutil.STATUS_ZOMBIE else ""
    except psutil.Error:
        return ""


def _killed(process: psutil.Process) -> None:
    try:
        process.kill()
        process.wait(_GRACE_S)
    except psutil.Error:
        return


def _fixture(fixturedef: pytest.FixtureDef[object]) -> str:
    return f"fixture {fixturedef.argname} of {fixturedef.func.__module__}"
