"""How many wrong flows pass the gate before Spark is started: faults planted into what accepted wishes become.

    python benchmarks/gate.py [--set dev --set third] [--most 40]

Each wish of the sets that becomes files is checked as it is, and once for each fault of `tests/planted_faults.py`:
a dropped filter, another unit, a join that doubles rows, another key, rows twice, a missing column. `refused` counts
faults that were found; the gate must let none through, and refuse no proposal as it is.
"""

import argparse
import shutil
import tempfile
from collections import Counter
from pathlib import Path

from wishes.score import SETS
from wishes.wish import SCHEMAS, Wish, read_wishes

from streamhouse.errors import StreamhouseError
from streamhouse.planner.proposal import FileEdit, Proposal, Status
from streamhouse.planner.propose import propose
from streamhouse.planner.still_meant import request_check
from streamhouse.planner.understand import understand
from streamhouse.planner.workspace import Workspace
from streamhouse.project.project import Project
from tests.planted_faults import planted


def main() -> None:
    """Print what the gate let through, set by set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", action="append", choices=SETS)
    parser.add_argument("--most", type=int, default=1_000_000, help="wishes of each set")
    given = parser.parse_args()
    through: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        spaces: dict[str, Workspace] = {}
        for name in given.set or ("dev", "more"):
            counted, found = Counter[str](), list[str]()
            for wish in read_wishes(name)[: given.most]:
                space = spaces.get(wish.schema_name) or _space(wish.schema_name, Path(folder))
                spaces[wish.schema_name] = space
                found += _tried(wish, space, counted)
            planted_count, refused = counted["planted"], counted["refused"]
            print(f"{name}: {counted['files']} wishes became files, {counted['sound']} pass as they are; "
                  f"{planted_count} faults planted, {refused} refused, {planted_count - refused} let through",
                  flush=True)  # fmt: skip
            through += found
    if through:
        raise SystemExit("\n".join(through))


def _space(schema: str, folder: Path) -> Workspace:
    shutil.copytree(SCHEMAS / schema, folder / schema, ignore=shutil.ignore_patterns(".streamhouse"))
    return Workspace.of(Project.at(folder / schema))


def _tried(wish: Wish, space: Workspace, counted: Counter[str]) -> list[str]:
    """What the gate let through, and what it refused although nothing was planted."""
    understood = understand(wish.wish, space.catalog)
    if understood.request is None:
        return []
    proposal = propose(understood, wish.wish, space).proposal
    if proposal.status is not Status.PROPOSED or not proposal.files:
        return []
    counted["files"] += 1
    wrong = [] if _passes(proposal, space) else [f"{wish.id}: refused as it is"]
    counted["sound"] += not wrong
    for edit in proposal.files:
        for fault, text in planted(edit.after, edit.path) if edit.path.endswith(".sql") else ():
            counted["planted"] += 1
            if _passes(_with(proposal, edit, text), space):
                wrong.append(f"{wish.id}: {fault} passes")
            else:
                counted["refused"] += 1
    return wrong


def _with(proposal: Proposal, edit: FileEdit, text: str) -> Proposal:
    files = tuple(one.model_copy(update={"after": text}) if one is edit else one for one in proposal.files)
    return proposal.model_copy(update={"files": files})


def _passes(proposal: Proposal, space: Workspace) -> bool:
    try:
        found = request_check(proposal, space)
    except StreamhouseError:
        return False
    return found is None or found.verdict != "failed"


if __name__ == "__main__":
    main()
