"""One death is one failure: what tests share is looked after, and replaced once it died or stopped answering.

A fixture of a larger scope that stands for a server says how one sees that it lives:

    with looked_after(Server("Spark", lives=…, answers=…, kill=…)):
        yield spark

After each test, servers that are gone fail the test that was running, by name. Then all fixtures of larger scopes end,
so the next test gets new ones: what holds a connection to the dead server goes with it.
"""

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pytest

from tests.patience import PATIENCE_S

_ANSWER_S = PATIENCE_S / 3
LOST = "lost before it"
"""The user property of a report that names a server which was found dead before the test."""


@dataclass(frozen=True)
class Server:
    """What tests share.

    Attributes:
        name: For people.
        lives: Whether its processes are there; asked after each test.
        answers: Whether it takes work; asked after a test that failed, in a thread of its own, as it may hang.
        kill: End its processes at once; one that hangs cannot be asked to stop.
    """

    name: str
    lives: Callable[[], bool]
    answers: Callable[[], object]
    kill: Callable[[], None]


_SERVERS: list[Server] = []


@contextmanager
def looked_after(server: Server) -> Iterator[None]:
    """Look after a server while a block runs."""
    _SERVERS.append(server)
    try:
        yield
    finally:
        _SERVERS.remove(server)


def lost(*, failed: bool) -> list[str]:
    """What happened to which servers, which are killed; after a test that failed each is asked whether it answers."""
    dead = [server for server in _SERVERS if not server.lives()]
    silent = [server for server in _SERVERS if failed and server not in dead and not _answers(server)]
    for server in (*dead, *silent):
        server.kill()
    return [f"{one.name} died" for one in dead] + [f"{one.name} stopped answering" for one in silent]


def _answers(server: Server) -> bool:
    said: list[bool] = []

    def ask() -> None:
        with suppress(Exception):
            said.append(bool(server.answers()))

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(_ANSWER_S)
    return said == [True]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin a second try with new fixtures, and look once more: a server may die between two tests, and fails none."""
    gone = lost(failed=False)
    item.user_properties.extend((LOST, words) for words in gone)
    if gone or getattr(item, "execution_count", 1) > 1:
        renew(item)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[_FAILED] = item.stash.get(_FAILED, False) or report.failed
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Fail the test in which a server died, and let the others begin with a new one."""
    try:
        result = yield
    finally:
        what = lost(failed=item.stash.get(_FAILED, False))
        item.stash[_FAILED] = False
        if what:
            renew(item)
    if what:
        pytest.fail(f"{' and '.join(what)} while this test ran; the next test begins with a new one", pytrace=False)
    return result


def is_large(fixture: pytest.FixtureDef[Any]) -> bool:
    """Whether it is a fixture of ours that several tests share."""
    return fixture.scope != "function" and str(fixture.func.__module__).startswith("tests.")


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
    try:
        return (yield)
    finally:
        if is_large(fixturedef) and fixturedef not in _OPENED:
            _OPENED.append(fixturedef)


def pytest_fixture_post_finalizer(fixturedef: pytest.FixtureDef[Any]) -> None:
    if fixturedef in _OPENED:
        _OPENED.remove(fixturedef)


def renew(item: pytest.Item) -> None:
    """End every fixture of the tests that is larger than one test; who asks next gets a new one.

    pytest has no public way to end a fixture early: `finish` is what it calls at the end of the scope.
    """
    for fixture in reversed(_OPENED.copy()):
        # What is made from a dead server cannot end in order; only that it is forgotten matters.
        with suppress(Exception):
            fixture.finish(item._request)  # type: ignore[attr-defined]


_OPENED: list[pytest.FixtureDef[Any]] = []
_FAILED = pytest.StashKey[bool]()
