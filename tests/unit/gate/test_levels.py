"""Which tests each level runs."""

import pytest

pytestmark = pytest.mark.proof

FILE = """
import pytest
from tests.gate.levels import deep, soak

pytestmark = deep("tries every store", stays=("test_short", "test_each[fluss]"))

def test_short(): ...

def test_long(): ...

@pytest.mark.parametrize("store", ["fluss", "paimon"])
def test_each(store): ...

@soak
def test_hours(): ...
"""
OTHER = "def test_other(): ..."
FILES = {"tests/unit/test_a.py": FILE, "tests/unit/test_b.py": OTHER}


@pytest.mark.parametrize(
    ("level", "passed", "left"), [("test", 3, 3), ("all", 5, 1), ("soak", 6, 0)], ids=["test", "all", "soak"]
)
def test_a_level_runs_its_tests_and_says_how_many_it_leaves_out(run, level, passed, left):
    result = run(FILES, "--level", level)
    result.assert_outcomes(passed=passed, deselected=left)
    result.stdout.fnmatch_lines([f"{passed} passed, 0 failed, 0 flaky, 0 skipped, {left} of other levels"])


def test_several_processes_count_what_is_left_out_once(run):
    result = run(FILES, "--level", "test", "-n", "2")
    result.stdout.fnmatch_lines(["3 passed, 0 failed, 0 flaky, 0 skipped, 3 of other levels"])


@pytest.mark.parametrize(
    ("marker", "words"),
    [
        ('deep("a reason", stays=("test_gone",))', "names tests that the file does not have: *'test_gone'*"),
        ('deep("")', "takes one argument, its reason"),
        ("pytest.mark.deep", "takes one argument, its reason"),
    ],
)
def test_a_marker_that_is_wrong_ends_the_run(run, marker, words):
    text = f"import pytest\nfrom tests.gate.levels import deep\npytestmark = {marker}\ndef test_short(): ...\n"
    result = run({"tests/unit/test_a.py": text})
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*test_a.py: the marker `deep` {words}*"])


@pytest.mark.parametrize("soaking", [True, False])
def test_only_a_long_form_has_more_time_than_other_tests(run, monkeypatch, soaking):
    monkeypatch.setenv("STREAMHOUSE_SOAK", "1" if soaking else "")
    files = {"tests/unit/test_a.py": "from tests.patience import pause\ndef test_it():\n    pause(1)\n"}
    result = run(files, "-o", "faulthandler_timeout=0.1", "-o", "faulthandler_exit_on_timeout=true")
    assert (result.ret == pytest.ExitCode.OK) is soaking
