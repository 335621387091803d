"""Runs of pytest inside a test: small files of tests under the plugins of `tests/gate`."""

from collections.abc import Callable
from pathlib import Path

import pytest

_PLUGINS = ("levels", "shared", "leftovers", "verdict")
_TOP = Path(__file__).parents[3]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pytest.RunResult]:
    """`run({"tests/integration/test_a.py": text}, "--level", "test")` in a folder and a process of its own."""
    monkeypatch.setenv("PYTHONPATH", f"{_TOP}:{_TOP / 'plugins'}")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def _run(files: dict[str, str], *arguments: str) -> pytest.RunResult:
        pytester.makeini("[pytest]\naddopts = --import-mode=importlib --strict-markers\n")
        for name, text in files.items():
            file = pytester.path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        plugins = [word for name in _PLUGINS for word in ("-p", f"tests.gate.{name}")]
        return pytester.runpytest_subprocess(*plugins, *arguments)

    return _run
