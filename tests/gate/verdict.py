"""What a run says at its end: how many passed, what was flaky, what was left out and why, and what to do next."""

import socket
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.gate.leftovers import LEFT, LEFT_AT_END
from tests.gate.levels import LEFT_OUT
from tests.gate.shared import LOST

_LAST_LINES = 6
_SLOWEST = 10
_SLOWEST_FILES = 30


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Send what pytest-rerunfailures tells the first process of a run at once: else each test waits 40 ms for it."""
    if hasattr(config, "workerinput") and (told := getattr(getattr(config, "failures_db", None), "sock", None)):
        told.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give tests with real servers a second try; unit tests have none."""
    if config.pluginmanager.hasplugin("rerunfailures"):
        for item in items:
            if not item.nodeid.startswith(("tests/unit", "plugins")) and item.get_closest_marker("flaky") is None:
                item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Name a failed test at once: a run takes minutes more."""
    if _TERMINAL and report.outcome in {"failed", "rerun"}:
        words = "FAILED" if report.failed else "failed, is tried once more:"
        last = report.longreprtext.strip().splitlines()[-1:]
        _TERMINAL[0].write_line("")
        case = f" [{report.context.msg}]" if isinstance(report, pytest.SubtestReport) else ""
        _TERMINAL[0].write_line(f"{words} {report.nodeid}{case} {''.join(last)}")


def pytest_sessionstart(session: pytest.Session) -> None:
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    _TERMINAL[:] = [terminal] if terminal is not None and not hasattr(session.config, "workerinput") else []


_TERMINAL: list[Any] = []


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    stats: dict[str, list[Any]] = terminalreporter.stats
    reports = [report for found in stats.values() for report in found if isinstance(report, pytest.TestReport)]
    if not reports:
        return
    failed = {report.nodeid: report for kind in ("failed", "error") for report in stats.get(kind, ())}
    flaky = {report.nodeid: report for report in reversed(stats.get("rerun", [])) if report.nodeid not in failed}
    passed = {report.nodeid for report in stats.get("passed", ())} - set(failed)  # a first try may have passed in part
    say = terminalreporter.write_line
    terminalreporter.section("verdict")
    counts = f"{len(passed)} passed, {len(failed)} failed, {len(flaky)} flaky"
    say(f"{counts}, {len(stats.get('skipped', ()))} skipped, {config.stash.get(LEFT_OUT, 0)} of other levels")
    for line in _skipped(stats.get("skipped", ())):
        say(line)
    whole = [report for report in reports if not isinstance(report, pytest.SubtestReport)]
    for line in [*_slowest(whole, lambda nodeid: nodeid, _SLOWEST), *_slowest(whole, _file_of, _SLOWEST_FILES)]:
        say(line)
    for line in sorted({f"LEFT RUNNING by {r.nodeid}: {text}" for r in reports for text in _said(r, LEFT)}):
        say(line)
    for line in sorted({f"BETWEEN TWO TESTS {text}, before {r.nodeid}" for r in reports for text in _said(r, LOST)}):
        say(line)
    for line in config.stash.get(LEFT_AT_END, []):
        say(line)
    for nodeid, report in sorted(flaky.items()):
        say(f"FLAKY {nodeid}")
        for line in report.longreprtext.strip().splitlines()[-_LAST_LINES:]:
            say(f"      {line}")
    for nodeid in sorted(failed):
        say(f"run it alone: .venv/bin/pytest '{nodeid}'")


def _skipped(reports: Iterable[Any]) -> list[str]:
    reasons = Counter(_reason(report) for report in reports)
    return [f"skipped {count}: {reason}" for reason, count in reasons.most_common()]


def _reason(report: Any) -> str:
    place = report.longrepr
    return str(place[2] if isinstance(place, tuple) else place).removeprefix("Skipped: ")


def _slowest(reports: Iterable[Any], part: Callable[[str], str], count: int) -> list[str]:
    """The parts of a run that took most time, at most `count`, each with its seconds of a wall clock."""
    seconds: dict[str, float] = defaultdict(float)
    for report in reports:
        seconds[part(report.nodeid)] += report.duration
    most = sorted(seconds.items(), key=lambda one: one[1], reverse=True)[:count]
    return [f"slow: {taken:6.1f} s {named}" for named, taken in most]


def _file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def _said(report: Any, what: str) -> list[str]:
    return [str(value) for name, value in report.user_properties if name == what] if report.when == "teardown" else []
