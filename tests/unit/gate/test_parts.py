"""`make check` and `make test` run unit tests in parts: each room, each file above the rooms and the doctests, once."""

import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
UNIT = ROOT / "tests" / "unit"


def asked(target: str) -> list[list[str]]:
    """The commands of a target that run unit tests, each as its words."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS", "LEVEL"))}
    done = subprocess.run(["make", "-n", target], cwd=ROOT, env=clean, capture_output=True, text=True, check=True)
    commands = [line.split() for line in done.stdout.splitlines() if "/pytest " in line]
    return [words for words in commands if any(word.startswith(("tests/unit", "plugins")) for word in words)]


@pytest.mark.parametrize("target", ["check", "test", "test-all"])
def test_each_is_run_once(target: str) -> None:
    ran = Counter(word for words in asked(target) for word in words if word.startswith(("tests/unit", "plugins")))
    rooms = {path.parent.relative_to(UNIT).parts[0] for path in UNIT.rglob("*/test_*.py")}
    files = {path.name for path in UNIT.glob("test_*.py")}
    assert ran == Counter({"plugins", *(f"tests/unit/{name}" for name in rooms | files)})


def test_only_check_leaves_proofs_out() -> None:
    assert all("-m not proof" in " ".join(words).replace('"', "") for words in asked("check"))
    assert not any("-m" in words for target in ("test", "test-all") for words in asked(target))
