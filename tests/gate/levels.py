"""Levels of tests: `make test`, `make test-all`, `make soak`. CONTRIBUTING.md has the table.

A test belongs to `make test` unless its file or class says otherwise:

    pytestmark = deep("tries each kind of table; a log table stays", stays=("test_it[log]",))
    pytestmark = deep("a whole cluster takes minutes", only=("test_a_cluster",))
"""

import faulthandler
import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import pytest

from tests.gate.handover import hand_over, handed_over
from tests.patience import SOAKING

TEST, ALL, SOAK = "test", "all", "soak"
LEFT_OUT = pytest.StashKey[int]()
"""How many tests the level left out."""
_LEFT_OUT = "left out"
_LONGEST_S = 6 * 3600
"""After so long a test of a long form counts as hung in native code; others have `faulthandler_timeout`."""
_STDERR = pytest.StashKey[TextIO]()
soak = pytest.mark.soak
"""A long form of what another test tries in a short one: hours in all, only `make soak` runs it."""


def deep(reason: str, *, stays: Sequence[str] = (), only: Sequence[str] = ()) -> pytest.MarkDecorator:
    """Leave a file or class, or a part of it, out of `make test`; `make test-all` runs it.

    A test is named `test_it`, or `test_it[case]` for one case.

    Args:
        reason: What the tests try beyond those that stay in `make test`, or why they take long.
        stays: Tests that `make test` runs all the same.
        only: The tests that are left out, where most stay.
    """
    return pytest.mark.deep(reason, stays=tuple(stays), only=tuple(only))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--level",
        choices=(TEST, ALL, SOAK),
        default=SOAK if SOAKING else ALL,
        help="test: without what is marked `deep`; all: without what is marked `soak`; soak: everything",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "deep(reason, stays): left out of `make test`; see tests/gate/levels.py")
    config.addinivalue_line("markers", "soak: a long form that only `make soak` runs")
    if SOAKING:
        config.stash[_STDERR] = os.fdopen(os.dup(2), "w")  # while a test runs, what is written to 2 is captured


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A long form has more time than pytest gave it when the test began; it takes that back at the end, as its own."""
    if SOAKING:
        faulthandler.dump_traceback_later(_LONGEST_S, file=item.config.stash[_STDERR], exit=True)


def pytest_unconfigure(config: pytest.Config) -> None:
    if _STDERR in config.stash:
        config.stash[_STDERR].close()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    level = config.getoption("--level")
    _refuse_unknown(config, items)
    kept, left = [], []
    for item in items:
        wanted = level == SOAK or (item.get_closest_marker("soak") is None and (level == ALL or not is_deep(item)))
        (kept if wanted else left).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept
    config.stash[LEFT_OUT] = len(left)


def pytest_sessionfinish(session: pytest.Session) -> None:
    hand_over(session.config, _LEFT_OUT, session.config.stash.get(LEFT_OUT, 0))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Each process of a run collects all tests, so each leaves out as many."""
    known = node.config.stash.get(LEFT_OUT, 0)
    node.config.stash[LEFT_OUT] = handed_over(node, _LEFT_OUT, known)


def is_deep(item: pytest.Item) -> bool:
    """Whether `make test` leaves the test out."""
    return any(_leaves_out(mark, _names(item)) for mark in item.iter_markers("deep"))


def _leaves_out(mark: pytest.Mark, names: set[str]) -> bool:
    if only := mark.kwargs.get("only"):
        return bool(names & set(only))
    return not names & set(mark.kwargs.get("stays", ()))


def _names(item: pytest.Item) -> set[str]:
    return {item.name, getattr(item, "originalname", item.name)}


def _refuse_unknown(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse a mark without a reason, and one that names a test that is not there: it was renamed, perhaps."""
    names: dict[Path, set[str]] = defaultdict(set)
    marks = set()
    for item in items:
        names[item.path] |= _names(item)
        for mark in item.iter_markers("deep"):
            marks.add((item.path, mark.args, (*mark.kwargs.get("stays", ()), *mark.kwargs.get("only", ()))))
    whole = not any("::" in argument for argument in config.args)
    for path, args, named in marks:
        if len(args) != 1 or not str(args[0]).strip():
            raise pytest.UsageError(f"{path}: the marker `deep` takes one argument, its reason")
        if whole and (unknown := sorted(set(named) - names[path])):
            raise pytest.UsageError(f"{path}: the marker `deep` names tests that the file does not have: {unknown}")
