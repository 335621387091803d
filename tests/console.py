"""The prompts of a page of the manual: what they run, what they show, and a shell for them."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from itertools import takewhile
from pathlib import Path

from tests.patience import PATIENCE_S

_ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_WITH_SPARK = re.compile(r"streamhouse (?:action test|run|query|apply|env|trigger)\b")
_CHANGES_OR_BLOCKS = {10, 11}  # exit codes of `plan` and `trigger`

Call = tuple[str, str]
"""A command, and the output that the page shows for it."""


def calls_of(page: str) -> list[Call]:
    """Each prompt of the `console` blocks of a page; a here-document belongs to its command."""
    calls = []
    for block in _BLOCK.findall(page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            first, _, rest = part.partition("\n")
            if first.endswith("<<'END'"):
                text, _, rest = rest.partition("\nEND\n")
                first = f"{first}\n{text}\nEND"
            calls.append((first, rest))
    return calls


def before_spark(calls: Iterable[Call]) -> list[Call]:
    """The calls before the first one that starts Spark or a server."""
    return list(takewhile(lambda call: not _WITH_SPARK.search(call[0]), calls))


def masked(text: str) -> str:
    """The text without what differs from run to run: durations, rates, times, processes, and widths that follow."""
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?", "CLOCK", text)
    text = re.sub(r"\d+(\.\d+)? (ms|s|min)\b", "TIME", text)
    text = re.sub(r"process \d+ on \S+", "PROCESS", text)
    text = re.sub(r"[\d.,]+ rows written per second", "RATE", text).replace(" slowest ", " ")
    return "\n".join(re.sub(" +", " ", line).strip() for line in text.rstrip().splitlines())


def shell(place: Path) -> Callable[[str], str]:
    """A function that runs a command as a user types it, and returns its output; `cd` carries over to the next one."""
    places = [place]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(_ROOT / "plugins"), "COLUMNS": "200"}

    def run(command: str) -> str:
        moved = re.fullmatch(r"cd (\S+)", command)
        if moved:
            places.append(places[-1] / moved[1])
            return ""
        bash = ["bash", "-c", command]
        done = subprocess.run(
            bash, cwd=places[-1], env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        assert done.returncode in {0} | _CHANGES_OR_BLOCKS, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    return run
