"""The commands of each template's README do what it says."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from streamhouse.cli.init import TEMPLATES, write_project
from tests.command import COMMAND, clean_environment, document_of
from tests.gate.levels import deep, soak
from tests.patience import PATIENCE_S

pytestmark = deep("the commands of each template's README; test_first_hour.py stays")

ROWS = {
    "orders": lambda rows: rows[0]["revenue_cents"] >= rows[-1]["revenue_cents"] > 0,
    "cdc": lambda rows: {row["city"] for row in rows} == {"Lille", "Lyon", "Metz", "Nantes", "unknown"},
    "iot": lambda rows: [row["sensor_id"] for row in rows] == ["s02", "s02"],
    "attribution": lambda rows: len(rows) == 4,
}


def commands_of(readme: Path) -> list[list[str]]:
    block = re.search(r"^```\n(.*?)^```$", readme.read_text(), re.DOTALL | re.MULTILINE)
    assert block is not None
    return [shlex.split(line, comments=True)[1:] for line in block[1].splitlines()]


@pytest.mark.services
@pytest.mark.parametrize("name", ["cdc", *(pytest.param(one, marks=soak) for one in ("orders", "iot", "attribution"))])
def test_the_readme_of_a_template(tmp_path, name):
    write_project(tmp_path, name)
    environment = clean_environment()
    commands = commands_of(tmp_path / "README.md")
    assert ["run", TEMPLATES[name].flow, "--once"] in commands
    rows = []
    for words in commands:
        if words[0] == "query":
            rows = document_of(*words, cwd=tmp_path, environment=environment)["rows"]
        else:
            done = subprocess.run(
                [*COMMAND, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE_S
            )
            assert done.returncode == (10 if words[0] == "plan" else 0), f"{words}: {done.stdout}{done.stderr}"
    assert ROWS[name](rows), rows
