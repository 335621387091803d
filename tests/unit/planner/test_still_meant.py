"""Files that do not compute what their Request says pass no gate; what Spark would find is tried elsewhere."""

from pathlib import Path

import pytest

from streamhouse.errors import ProposalFailedError, StreamhouseError
from streamhouse.jobs.ask import ask, write
from streamhouse.planner.proposal import FileEdit, Proposal
from streamhouse.planner.proposals import Proposals
from streamhouse.planner.propose import propose
from streamhouse.planner.request import Request, Understood
from streamhouse.planner.still_meant import request_check
from streamhouse.planner.workspace import Workspace
from streamhouse.project.project import Project
from tests.planted_faults import PLANTS, planted
from tests.shop_project import make_shop
from tests.shop_requests import FOLDS, SOUND

pytestmark = pytest.mark.proof

ALL = {**SOUND, **{f"fold: {name}": one for name, one in FOLDS.items()}}


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return Workspace.of(Project.at(make_shop(tmp_path_factory.mktemp("shop"))))


def _proposed(space: Workspace, request: Request, *, alone: bool = False) -> Proposal:
    return propose(Understood(request=request), "a wish", space, alone=alone).proposal


def _with(proposal: Proposal, path: str, text: str) -> Proposal:
    files = tuple(FileEdit(path=e.path, before=e.before, after=text) if e.path == path else e for e in proposal.files)
    return proposal.model_copy(update={"files": files})


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("name", ALL)
def test_what_is_proposed_is_what_is_meant(space: Workspace, name: str, alone: bool) -> None:
    found = request_check(_proposed(space, ALL[name], alone=alone), space)
    assert found is not None
    assert found.verdict == "passed", found.text


@pytest.mark.parametrize("name", ALL)
def test_no_planted_fault_passes(space: Workspace, name: str) -> None:
    proposal = _proposed(space, ALL[name])
    faults = [
        (fault, edit.path, text)
        for edit in proposal.files
        if edit.path.endswith(".sql")
        for fault, text in planted(edit.after, edit.path)
    ]
    assert faults or not any(edit.path.endswith(".sql") for edit in proposal.files)
    passed = []
    for fault, path, text in faults:
        try:
            found = request_check(_with(proposal, path, text), space)
        except StreamhouseError:
            continue
        if found is None or found.verdict != "failed":
            passed.append(fault)
    assert passed == []


def test_every_fault_is_planted_somewhere(space: Workspace) -> None:
    met = {
        fault
        for request in ALL.values()
        for edit in _proposed(space, request).files
        if edit.path.endswith(".sql")
        for fault, _ in planted(edit.after, edit.path)
    }
    assert met == {*PLANTS, "another key"}


def test_a_step_of_a_flow_that_goes_is_found(space: Workspace) -> None:
    proposal = _proposed(space, next(iter(SOUND.values())))
    (flow,) = [edit for edit in proposal.files if edit.path.endswith(".yaml")]
    kept = flow.after.splitlines(keepends=True)
    steps = [n for n, line in enumerate(kept) if line.lstrip().startswith("- {use:")]
    less = "".join(line for n, line in enumerate(kept) if n != steps[-2])
    found = request_check(_with(proposal, flow.path, less), space)
    assert found is not None
    assert found.verdict == "failed"


def test_nothing_of_a_planted_fault_is_written(tmp_path: Path) -> None:
    project = Project.at(make_shop(tmp_path))
    proposal = ask(project, "w", request=SOUND["aggregate"])
    (path,) = [edit.path for edit in proposal.files if edit.path.endswith(".sql")]
    text = next(edit.after for edit in proposal.files if edit.path == path)
    for fault, wrong in planted(text, path):
        with pytest.raises(StreamhouseError):
            write(project, _with(proposal, path, wrong), trial=False)
        assert not (tmp_path / path).exists(), fault
    with pytest.raises(ProposalFailedError, match="the files do not compute what the Request says"):
        write(project, _with(proposal, path, dict(planted(text, path))["rows twice"]), trial=False)
    assert Proposals(project).get(proposal.id).events[-1].what == "failed"
    assert write(project, proposal, trial=False)
