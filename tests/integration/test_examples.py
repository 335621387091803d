"""The stories of `examples/`, by the commands of their READMEs: a flow has the rows that its story computes itself."""

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

pytestmark = deep("runs each flow twice, with what it is compared with", only=("test_each_story",))

EXAMPLES = Path(__file__).parents[2] / "examples"
SAID = {
    "nightly-job": [
        "daily_sales: 3 rows of the job, 3 of the flow\ntop_categories: 1 rows of the job, 1 of the flow\n",
        "daily_sales: 6 rows of the job, 6 of the flow\ntop_categories: 2 rows of the job, 2 of the flow\n",
    ],
    "customer-history": [
        "revenue_by_city: 4 rows in the files, 4 in the flow\n",
        "revenue_by_city: 7 rows in the files, 7 in the flow\n",
    ],
    "cold-chain": [f"warm_minutes: {rows} rows in the files, {rows} in the flow\n" for rows in (2, 2, 2, 6)],
}
"""Story → what its comparison says after each day."""


def run(words, folder):
    program = {"streamhouse": COMMAND, "python": [sys.executable]}
    if words[0] == "cp":
        for file in sorted(folder.glob(words[1])):
            shutil.copy(file, folder / words[2])
        return ""
    command = [*program[words[0]], *words[1:]]
    done = subprocess.run(
        command, cwd=folder, env=clean_environment(), capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == (10 if "plan" in words else 0), f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("story", SAID)
def test_the_flow_of_each_story_is_right(story):
    assert "no errors" in run(["streamhouse", "validate"], EXAMPLES / story)


@pytest.mark.services
@pytest.mark.spark
@pytest.mark.parametrize("story", SAID)
def test_each_story(story, tmp_path):
    folder = tmp_path / story
    shutil.copytree(EXAMPLES / story, folder, ignore=shutil.ignore_patterns(".streamhouse"))
    block = re.search(r"^```sh\n(.*?)^```$", (folder / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    commands = [shlex.split(line, comments=True) for line in block[1].splitlines()]
    said = [run(words, folder) for words in commands]
    assert [text for text in said if "in the flow" in text or "of the flow" in text] == SAID[story]
