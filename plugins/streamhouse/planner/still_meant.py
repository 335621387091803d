"""Checks that the files of a proposal compute what its Request says, and nothing else: they are composed again."""

from collections.abc import Iterable, Mapping
from typing import Any

from streamhouse.errors import StreamhouseError
from streamhouse.model.action import Action
from streamhouse.planner.compose import composed
from streamhouse.planner.proposal import Check, FileEdit, Proposal
from streamhouse.planner.propose import propose
from streamhouse.planner.request import Understood
from streamhouse.planner.reuse import same_action
from streamhouse.planner.roll_up import RolledUp, rolled_up
from streamhouse.planner.try_files import with_edits
from streamhouse.planner.workspace import Workspace
from streamhouse.registry.read_action import read_action
from streamhouse.sql.dialect import parse_query

NAME = "request"


def request_check(proposal: Proposal, space: Workspace) -> Check | None:
    """Whether the files say what the Request says; None: it has no Request, or its files are there already.

    Args:
        proposal: Proposed, with files.
        space: The project as it is now; none of its files is newer than the proposal.
    """
    now = {file.name: file.text() for file in (*space.files.actions, *space.files.flows) if file.content is not None}
    if proposal.request is None or any(now.get(edit.path) == edit.after for edit in proposal.files):
        return None
    try:
        again = propose(
            Understood(request=proposal.request),
            proposal.wish,
            space,
            flow=proposal.flow or None,
            alone=not proposal.flow,
        ).proposal
        differs = _difference(proposal, again, space)
    except StreamhouseError as error:
        differs = str(error).splitlines()[0]
    if not differs:
        return Check(name=NAME, verdict="passed", text="the files compute what the Request says")
    return Check(name=NAME, verdict="failed", text=f"the files do not compute what the Request says: {differs}")


def _difference(proposal: Proposal, again: Proposal, space: Workspace) -> str:
    """What the files of a proposal have that those of the same Request do not; empty: nothing."""
    if again.refusal:
        return again.refusal.splitlines()[0]
    mine, theirs = _actions(proposal.files), _actions(again.files)
    for name, action in mine.items():
        if name not in theirs or _meant(action) != _meant(theirs[name]):
            if _is_proven(action, proposal, space):
                continue
            return f"action {name} is another one than the Request gives"
    if not proposal.flow:
        return ""
    flows = [_flow(one, space, proposal.flow) for one in (proposal, again)]
    return "" if flows[0] == flows[1] else f"flow {proposal.flow} is changed in another way than the Request gives"


def _actions(files: Iterable[FileEdit]) -> dict[str, Action]:
    found = (read_action(edit.after, edit.path).action for edit in files if edit.path.endswith(".sql"))
    return {action.action: action for action in found}


def _meant(action: Action) -> Mapping[str, Any]:
    """What rows follow from: texts for people and examples do not count."""
    kept = {"sql", "inputs", "params", "output", "expect", "step", "strategy", "version"}
    return {name: value for name, value in action if name in kept}


def _is_proven(action: Action, proposal: Proposal, space: Workspace) -> bool:
    """Whether the SQL of an action is proven to mean the Request, whatever its text is.

    A person who may see less of the project gets another spelling of the same.
    """
    request = proposal.request
    assert request is not None
    for form in (RolledUp(request, space.catalog, "", ""), *rolled_up(request, space.catalog, space.plans)):
        wanted = composed(form.request, form.catalog, parametrise=True)
        found = same_action(wanted, {action.action: action}, form.catalog)
        if found is not None and dict(found.values) == proposal.values:
            made = {name.lower() for name in parse_query(action.sql, action.sql_at).named_selects}
            if made != set(found.columns.values()):  # another column may change though no input does
                return False
            return set(action.output.primary_key) == {
                found.columns[part] for part in wanted.key if part in found.columns
            }
    return False


def _flow(proposal: Proposal, space: Workspace, name: str) -> dict[str, Any]:
    flow = space.registry.edited(with_edits(space.files, proposal.files)).flow(name)
    return flow.model_dump(exclude={"description"})
