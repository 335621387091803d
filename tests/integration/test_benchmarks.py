"""The benchmarks run, and every arm, ours and the peers', holds the right rows at the end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gate.levels import soak
from tests.patience import PATIENCE_S

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@soak  # three minutes of five arms
@pytest.mark.services
@pytest.mark.spark
def test_a_drain_is_compared_with_both_peers():
    path = os.pathsep.join([str(BENCHMARKS.parent / "plugins"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "drain.py"), "--quick"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stdout + done.stderr  # it ends with an error when a table is wrong
    figures = [line for line in done.stdout.splitlines() if line.startswith("drain of 100,000 rows")]
    assert len(figures) == 2
    assert all(f" {arm} " in line for line in figures for arm in ("ours", "stock", "tuned")), figures
