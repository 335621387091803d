"""Is every answer the same, byte for byte, whatever process gives it?

python -m benchmarks.wishes.repeat --set dev --planner offline --rounds 20
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence

from .catalogs import schema
from .planners import PLANNERS
from .wish import HERE, Wish, read_wishes

PROCESSES = 5


def repeat(name: str, planner: str, times: int, only: Sequence[str] = ()) -> list[str]:
    """Plan each wish `times` times, shared by five processes with different seeds of hashes.

    Returns:
        Ids of wishes whose answers are not all equal, each with how many different ones there are.
    """
    rounds = -(-times // PROCESSES)
    command = [sys.executable, "-m", f"{__package__}.repeat", "--set", name, "--planner", planner]
    command += ["--rounds", str(rounds), *(["--only", *only] if only else [])]
    root = str(HERE.parents[len(__package__.split(".")) - 1])
    paths = os.pathsep.join([root, *sys.path])
    digests: dict[str, set[str]] = {}
    for seed in range(PROCESSES):
        environment = os.environ | {"PYTHONHASHSEED": str(seed * 1009), "PYTHONPATH": paths}
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        for id_, found in json.loads(done.stdout).items():
            digests.setdefault(id_, set()).update(found)
    return [f"{id_} ({len(found)} answers)" for id_, found in digests.items() if len(found) > 1]


def _digests(wish: Wish, planner: str, rounds: int) -> list[str]:
    found = set()
    for _ in range(rounds):
        answer = PLANNERS[planner](wish.wish, schema(wish.schema_name).catalog)
        text = json.dumps([answer.understood, answer.sql, answer.said, answer.error])
        found.add(hashlib.sha256(text.encode()).hexdigest())
    return sorted(found)


def main() -> None:
    """Plan in this process, and print each wish's digests."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--set", default="dev")
    parser.add_argument("--planner", default="offline")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", nargs="*", default=[])
    given = parser.parse_args()
    wishes = [wish for wish in read_wishes(given.set) if not given.only or wish.id in given.only]
    print(json.dumps({wish.id: _digests(wish, given.planner, given.rounds) for wish in wishes}))


if __name__ == "__main__":
    main()
