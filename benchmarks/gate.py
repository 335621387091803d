"""How many wrong flows pass the gate before Spark is started: faults planted into what accepted wishes become.

    python benchmarks/gate.py [--set dev --set third] [--most 40]

Each wish of the sets that becomes files is checked as it is, and once for each fault of `tests/planted_faults.py`:
a dropped filter, another unit, a join that doubles rows, another key, rows twice, a missing column. `refused` counts
faults that were found; the gate must let none through, and refuse no proposal as it is.

Then its query is checked as if a model had written it, as it is and with each fault that SQL shows by itself. Faults
that only a comparison with the wish shows, such as another filter, are not among them.
"""

import argparse
import shutil
import tempfile
from collections import Counter
from pathlib import Path

from sqlglot import exp
from wishes.score import SETS
from wishes.wish import SCHEMAS, Wish, read_wishes

from streamhouse.errors import Location, StreamhouseError
from streamhouse.model.types import Layer
from streamhouse.planner.models.answer import ActionDraft
from streamhouse.planner.models.drafted import drafted
from streamhouse.planner.proposal import FileEdit, Proposal, Status
from streamhouse.planner.propose import propose
from streamhouse.planner.still_meant import request_check
from streamhouse.planner.understand import understand
from streamhouse.planner.workspace import Workspace
from streamhouse.project.project import Project
from streamhouse.sql.dialect import parse_query
from tests.planted_faults import planted, planted_in_sql

_SQL = Location("the SQL")


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
            print(f"{name}, as SQL of a model: {counted['queries']} queries, {counted['sound queries']} pass as "
                  f"they are; {counted['in queries']} faults planted, {counted['found in queries']} refused",
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
    wrong += _tried_as_sql(wish, proposal, space, counted)
    for edit in proposal.files:
        for fault, text in planted(edit.after, edit.path) if edit.path.endswith(".sql") else ():
            counted["planted"] += 1
            if _passes(_with(proposal, edit, text), space):
                wrong.append(f"{wish.id}: {fault} passes")
            else:
                counted["refused"] += 1
    return wrong


def _tried_as_sql(wish: Wish, proposal: Proposal, space: Workspace, counted: Counter[str]) -> list[str]:
    """The same of the query, as if a model had written it."""
    if not proposal.sql:
        return []
    counted["queries"] += 1
    refusal, wrong = _refusal_of_sql(proposal.sql, space), []
    if refusal:
        wrong.append(f"{wish.id}: as SQL of a model, refused as it is: {refusal}")
    counted["sound queries"] += not refusal
    for fault, text in planted_in_sql(proposal.sql, _SQL):
        counted["in queries"] += 1
        if _refusal_of_sql(text, space):
            counted["found in queries"] += 1
        else:
            wrong.append(f"{wish.id}: as SQL of a model, {fault} passes: {' '.join(text.split())}")
    return wrong


def _refusal_of_sql(text: str, space: Workspace) -> str:
    answer = {"name": "answer", "layer": Layer.DWS, "description": "What was asked for.", "sql": text}
    try:
        drafted(ActionDraft(**answer, primary_key=_key_of_query(text)), space.catalog)
    except StreamhouseError as error:
        return str(error).splitlines()[0]
    return ""


def _key_of_query(text: str) -> tuple[str, ...]:
    """The columns that it groups by, as a model would name them."""
    tree = parse_query(text, _SQL)
    group = tree.args.get("group") if isinstance(tree, exp.Select) else None
    names = {one.unalias().sql(): one.alias_or_name for one in tree.selects} if isinstance(tree, exp.Query) else {}
    return tuple(names[one.sql()] for one in group.expressions if one.sql() in names) if group is not None else ()


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
