"""Ends what a test leaves running, and names the test.

Each process that is started below a test inherits the variable `PYTEST_PROCESS_OWNER`: this run, and the test or the
fixture of a larger scope that was set up then. What still runs when its owner is over was left behind. Unit tests are
many and start few processes: those that they leave are looked for once, at the end of the run.
"""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.gate.handover import hand_over, handed_over
from tests.gate.shared import is_large

_OWNER = "PYTEST_PROCESS_OWNER"
_RUN = uuid.uuid4().hex
_GRACE_S = 5.0
_SHOWN = 200  # characters of a command
LEFT = "left running"
"""The user property of a report that names a process."""
LEFT_AT_END = pytest.StashKey[list[str]]()
"""Lines for the processes that were found at the end of the run."""
# What Python starts for itself, and what ends the services of a process that was killed: both end with their process.
_WITH_ITS_PROCESS = ("multiprocessing.resource_tracker", "multiprocessing.forkserver", "streamhouse.services.guardian")
_FOUND: list[str] = []  # fixtures end within the tear-down of a test, whose report names what they left
_LOOKED_AT_EACH_TEST = ("tests/contract", "tests/integration", "tests/airflow")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[LEFT_AT_END] = []


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest) -> Iterator[None]:
    """What a fixture of a larger scope starts belongs to it, and not to the test that asked first."""
    before = owner()
    if is_large(fixturedef):
        _own(_fixture(fixturedef))
    try:
        return (yield)
    finally:
        os.environ[_OWNER] = before


def pytest_fixture_post_finalizer(fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest) -> None:
    if is_large(fixturedef):
        _FOUND.extend(end(_fixture(fixturedef)))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _own(item.nodeid)
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


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Every test and every fixture is over: nothing that they started may run."""
    lines = [f"LEFT RUNNING at the end of the run: {line}" for line in end()]
    if not hand_over(session.config, LEFT, lines):
        session.config.stash[LEFT_AT_END] += lines


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[LEFT_AT_END] += handed_over(node, LEFT, [])


def end(owner: str = "") -> list[str]:
    """End the processes of an owner that is over, or of all owners; their command lines.

    One that ends by itself within a few seconds was not left behind.
    """
    found = list(_running(owner))
    _, left = psutil.wait_procs(found, timeout=_GRACE_S) if found else ([], [])
    lines = [f"{process.pid} {_command(process)[:_SHOWN]}" for process in left]
    for process in left:
        _killed(process)
    return lines


def _running(owner: str) -> Iterator[psutil.Process]:
    """What an owner started, at any depth, and still runs; without what ends with its process, and this process."""
    mark = f"\0{_OWNER}={_RUN} {owner}".encode() + (b"\0" if owner else b"")
    for process in psutil.process_iter():
        if process.pid == os.getpid():
            continue
        try:  # psutil makes a dictionary of all variables; this looks at each process after each test
            variables = Path(f"/proc/{process.pid}/environ").read_bytes()
        except OSError:
            continue
        if mark in b"\0" + variables:
            command = _command(process)
            if command and not any(name in command for name in _WITH_ITS_PROCESS):
                yield process


def owner() -> str:
    """To whom a process belongs that is started now."""
    return os.environ.get(_OWNER, "")


@contextmanager
def owned_by(owner_then: str) -> Iterator[None]:
    """What the block starts belongs to an earlier `owner`: a server of a fixture that a test starts again."""
    before = owner()
    os.environ[_OWNER] = owner_then
    try:
        yield
    finally:
        os.environ[_OWNER] = before


def _own(owner: str) -> None:
    os.environ[_OWNER] = f"{_RUN} {owner}"


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
