"""The nightly job of `examples/` and the flow that replaces it have the same rows, by the commands of the README."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import COMMAND, clean_environment
from tests.gate.levels import deep
from tests.patience import PATIENCE_S

pytestmark = deep("runs a flow and the job that it replaces, each twice", only=("test_the_nightly_job_and_its_flow",))

JOB = Path(__file__).parents[2] / "examples" / "nightly-job"


def run(words, folder):
    program = {"streamhouse": COMMAND, "python": [sys.executable]}
    if words[0] == "cp":
        for file in folder.glob(words[1]):
            shutil.copy(file, folder / words[2])
        return ""
    command = [*program[words[0]], *words[1:]]
    done = subprocess.run(
        command, cwd=folder, env=clean_environment(), capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == (10 if "plan" in words else 0), f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def test_the_flow_of_the_nightly_job_is_right():
    assert "no errors" in run(["streamhouse", "validate"], JOB)


@pytest.mark.services
@pytest.mark.spark
def test_the_nightly_job_and_its_flow(tmp_path):
    folder = tmp_path / "nightly-job"
    shutil.copytree(JOB, folder, ignore=shutil.ignore_patterns(".streamhouse"))
    block = re.search(r"^```sh\n(.*?)^```$", (folder / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    commands = [shlex.split(line, comments=True) for line in block[1].splitlines()]
    said = [run(words, folder) for words in commands]
    assert [text for text in said if "of the flow" in text] == [
        "daily_sales: 3 rows of the job, 3 of the flow\ntop_categories: 1 rows of the job, 1 of the flow\n",
        "daily_sales: 6 rows of the job, 6 of the flow\ntop_categories: 2 rows of the job, 2 of the flow\n",
    ]
