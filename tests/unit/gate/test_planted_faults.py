"""Faults that `scripts/plant_faults.py` plants fit the code as it is."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "plant_faults.py"))


@pytest.mark.parametrize("fault", SCRIPT["FAULTS"], ids=lambda fault: fault.promise)
def test_a_fault_can_be_planted(fault):
    text = (ROOT / SCRIPT["CODE"] / fault.file).read_text()
    assert text.count(fault.before) == 1
    assert fault.before != fault.after
    for tests in fault.tests:
        assert (ROOT / tests.partition("::")[0]).exists(), tests
