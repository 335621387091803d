"""The last lines of a run."""

import pytest

pytestmark = pytest.mark.proof

FAILS_ONCE = """
from pathlib import Path
first = Path(__file__).with_name("first")

def test_flaky():
    if not first.exists():
        first.touch()
        assert "rows" == "no rows"

def test_red(): assert False

def test_green(): ...
"""
SKIPS = """
import pytest

def test_a(): pytest.skip("no disk that is full")

def test_b(): pytest.skip("no disk that is full")
"""


def test_tests_with_real_servers_have_a_second_try_which_is_shown(run):
    result = run({"tests/contract/test_a.py": FAILS_ONCE})
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "2 passed, 1 failed, 1 flaky, 0 skipped, 0 of other levels",
            "slow: * s tests/contract/test_a.py::test_*",
            "slow: * s tests/contract/test_a.py",
            "FLAKY tests/contract/test_a.py::test_flaky",
            "*assert 'rows' == 'no rows'*",
            "run it alone: .venv/bin/pytest 'tests/contract/test_a.py::test_red'",
        ]
    )


def test_unit_tests_have_no_second_try(run):
    result = run({"tests/unit/test_a.py": FAILS_ONCE})
    result.stdout.fnmatch_lines(["1 passed, 2 failed, 0 flaky, *"])


def test_skipped_tests_are_counted_by_their_reason(run):
    result = run({"tests/unit/test_a.py": SKIPS})
    result.stdout.fnmatch_lines(["0 passed, 0 failed, 0 flaky, 2 skipped, *", "skipped 2: no disk that is full"])
