"""Proposals are in the state store of their project; those that an earlier release has in files are taken over once."""

import json

import pytest

from streamhouse.cli.main import main
from streamhouse.errors import UnknownProposalError
from streamhouse.planner.models.sent import newest, sent_for
from streamhouse.planner.proposal import Proposal, Status
from streamhouse.planner.proposals import Asked, Proposals
from streamhouse.project.project import Project

ONE = Proposal(id="a1b2c3d4e5f6", wish="sales per day", status=Status.PROPOSED, flow="shop")
OTHER = Proposal(id="0123456789ab", wish="no idea", status=Status.REFUSED)
REQUESTS = [{"model": "m", "messages": [], "answers": {}}]


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    (tmp_path / "flows").mkdir()
    return Project.at(tmp_path)


@pytest.fixture
def folder(project):
    """As an earlier release left it."""
    made = project.state_dir / "proposals"
    made.mkdir(parents=True)

    def stored(proposal, *events, **asked):
        found = {
            "proposal": proposal.model_dump(mode="json"),
            "events": [{"at": f"2026-03-01T12:00:0{second}Z", "what": what, "detail": detail}
                       for second, (what, detail) in enumerate(events)],
            "asked": asked,
        }  # fmt: skip
        (made / f"{proposal.id}.json").write_text(json.dumps(found, indent=2))

    stored(ONE, ("asked", ""), ("written", "the project"), flow="shop", assumptions=["x"])
    stored(OTHER, ("asked", ""))
    sent = [{"at": "2026-03-01T12:00:00+00:00", "requests": REQUESTS}]
    (made / f"{ONE.id}.sent.json").write_text(json.dumps({"sent": sent}))
    unfinished = [{"at": "2026-03-01T13:00:00+00:00", "unfinished": True, "requests": REQUESTS}]
    (made / "feedfeedfeed.sent.json").write_text(json.dumps({"sent": unfinished}))
    (made / f"{ONE.id}.17.new").write_text("{")
    return made


def test_looking_makes_no_state_store(project):
    assert Proposals(project).all() == []
    with pytest.raises(UnknownProposalError):
        Proposals(project).get("a1")
    assert (sent_for(project, "a1"), newest(project)) == ([], None)
    assert not project.state_dir.exists()


def test_the_first_proposal_needs_no_state_store(project):
    Proposals(project).add(ONE, asked=Asked(flow="shop"))
    found = Proposals(project).get(ONE.id)
    assert (found.proposal, found.asked, [one.what for one in found.events]) == (ONE, Asked(flow="shop"), ["asked"])
    assert not (project.state_dir / "proposals").exists()


def test_what_becomes_of_it_keeps_what_another_one_recorded(project):
    Proposals(project).add(ONE)
    newer = ONE.model_copy(update={"sentence": "newer"})
    Proposals(project).add(newer, "failed", "epochs")
    Proposals(project).note(ONE.id, "revised", OTHER.id)
    found = Proposals(project).get(ONE.id)
    assert found.proposal == newer
    assert [one.what for one in found.events] == ["asked", "failed", "revised"]
    with pytest.raises(UnknownProposalError, match="unknown proposal 'a1b2c3d4e5f7'") as refused:
        Proposals(project).note("a1b2c3d4e5f7", "revised", OTHER.id)
    assert ONE.id in refused.value.hint


@pytest.mark.parametrize("first", ["all", "get", "add", "sent_for", "newest"])
def test_an_old_folder_is_taken_over_once_by_whatever_comes_first(project, folder, first):
    {"all": lambda: Proposals(project).all(), "get": lambda: Proposals(project).get(ONE.id),
     "add": lambda: Proposals(project).add(OTHER), "sent_for": lambda: sent_for(project, ONE.id),
     "newest": lambda: newest(project)}[first]()  # fmt: skip
    assert not folder.exists()
    found = Proposals(project).get(ONE.id)
    assert found.proposal == ONE
    assert [(one.what, one.detail) for one in found.events] == [("asked", ""), ("written", "the project")]
    assert found.asked == Asked(flow="shop", assumptions=("x",))
    assert {one.proposal.id for one in Proposals(project).all()} == {ONE.id, OTHER.id}
    assert sent_for(project, ONE.id) == [{"at": "2026-03-01T12:00:00+00:00", "requests": REQUESTS}]
    assert [one["unfinished"] for one in sent_for(project, "feedfeedfeed")] == [True]
    assert not list(project.state_dir.glob("proposals*"))


def test_a_folder_that_was_taken_over_by_half_is_taken_over_again(project, folder, monkeypatch):
    def cut(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("streamhouse.planner.proposal_folder._remove", cut)
        with pytest.raises(KeyboardInterrupt):
            Proposals(project).all()
    assert len(Proposals(project).all()) == 2
    assert len(Proposals(project).get(ONE.id).events) == 2
    assert len(sent_for(project, ONE.id)) == 1
    assert not folder.exists()


@pytest.mark.parametrize("text", ["{", "[]", '{"proposal": {}}', '{"proposal": 7, "events": []}', "[" * 5_000])
def test_a_file_that_cannot_be_read_is_moved_aside_and_the_others_are_taken_over(project, folder, text):
    (folder / "bad.json").write_text(text)
    (folder / "bad.sent.json").write_text(text)
    assert len(Proposals(project).all()) == 2
    aside = project.state_dir / "proposals.unreadable"
    assert sorted(file.name for file in aside.iterdir()) == ["bad.json", "bad.sent.json"]
    assert (aside / "bad.json").read_text() == text
    assert not folder.exists()


def test_a_folder_that_cannot_be_removed_is_read_all_the_same(project, folder, monkeypatch):
    def fails(*_):
        raise PermissionError("read-only")

    monkeypatch.setattr("streamhouse.planner.proposal_folder._remove", fails)
    for _ in range(2):
        assert len(Proposals(project).all()) == 2
    assert len(Proposals(project).get(ONE.id).events) == 2


def test_a_proposal_of_another_version_is_as_none(project):
    from streamhouse.state.proposals import RecordedProposal

    with project.state() as state:
        state.proposals.add(RecordedProposal("a1", "shop", '{"other": 1}', "{}"))
    assert Proposals(project).all() == []
    with pytest.raises(UnknownProposalError):
        Proposals(project).get("a1")


def test_what_is_removed_is_gone(project):
    Proposals(project).add(ONE)
    Proposals(project).remove(ONE.id)
    assert Proposals(project).all() == []
    with pytest.raises(UnknownProposalError):
        Proposals(project).remove(ONE.id)


def test_another_machine_with_the_same_state_store_shows_them(project, tmp_path_factory, monkeypatch, capsys):
    monkeypatch.setenv("STREAMHOUSE_STATE", f"sqlite:///{tmp_path_factory.mktemp('shared')}/state.db")
    other = tmp_path_factory.mktemp("other")
    (other / "flows").mkdir()
    mine = Project.at(project.root)
    Proposals(mine).add(ONE)
    assert main(["proposals", "--project", str(other), "--json"]) == 0
    assert [one["id"] for one in json.loads(capsys.readouterr().out)["proposals"]] == [ONE.id]
    assert main(["proposals", ONE.id, "--remove", "--project", str(other), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"removed": ONE.id}
    assert Proposals(mine).all() == []
    for wrong in (["--remove"], [ONE.id, "--remove", "--write"], [ONE.id, "--remove", "--preview", "2"]):
        assert main(["proposals", *wrong, "--project", str(other)]) == 2
    assert main(["proposals", ONE.id, "--remove", "--project", str(other)]) == 4
    assert "SH706 unknown proposal" in capsys.readouterr().err
