"""Golden files: a test's text stands in a file beside its input, so a change shows in review as text.

`pytest --update-golden` writes the files anew instead of comparing; read the diff before committing it.
"""

import difflib
from collections.abc import Callable
from pathlib import Path

import pytest

Golden = Callable[[str, Path], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--update-golden`."""
    parser.addoption("--update-golden", action="store_true", help="write golden files instead of comparing")


@pytest.fixture(scope="session")
def golden(request: pytest.FixtureRequest) -> Golden:
    """`golden(text, path)` fails, showing a diff, unless the file at `path` holds exactly `text`."""
    update = request.config.getoption("--update-golden")

    def compare(text: str, path: Path) -> None:
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        if not path.exists():
            pytest.fail(f"{path} does not exist; run pytest --update-golden and read what it wrote", pytrace=False)
        expected = path.read_text(encoding="utf-8")
        if text != expected:
            diff = difflib.unified_diff(
                expected.splitlines(), text.splitlines(), str(path), "what the test produced", lineterm=""
            )
            pytest.fail("\n".join(diff) or "only line endings differ", pytrace=False)

    return compare
