"""A table of cases in one test: each case that fails is named, and the others are tried all the same."""

import pytest

CASES = """
import pytest
from tests.tables import each

@pytest.fixture
def least(): return 2

@pytest.mark.parametrize("more", [0, 1])
@each(("name", "number"), [("one", 1), ("three", 3), ("minus", -1)])
def test_large(name, number, least, more): assert number >= least, f"{name} is small"

@each("number", [object()], ids=["odd"])
def test_named(number): assert number is None

@each("number", [1, 2])
def test_good(number): assert number
"""


def test_each_case_that_fails_is_named(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_cases=CASES)
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    done.assert_outcomes(passed=1, failed=8)  # five cases, and the three tests that they are of
    for name in ("0: one-1", "2: minus--1", "odd"):
        done.stdout.fnmatch_lines([f"SUBFAILED?{name}?*"])
    done.stdout.no_fnmatch_line("*three*SUBFAILED*")


def test_a_table_without_a_case_is_refused() -> None:
    from tests.tables import each

    with pytest.raises(ValueError, match="no case"):
        each("name", [])
