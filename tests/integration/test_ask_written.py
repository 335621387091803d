"""A proposal is written only when its step gave in epochs what it gives as one batch."""

import json

import pytest

from streamhouse.cli.main import main
from streamhouse.errors import ProposalFailedError
from streamhouse.jobs import prove
from streamhouse.jobs.ask import ask, write
from streamhouse.jobs.trial import Trial
from streamhouse.planner.proposals import Proposals
from streamhouse.project.project import Project
from tests.composed_cases import asked, col, dim, measure, where
from tests.shop_project import make_shop

pytestmark = [pytest.mark.spark]

REQUEST = asked(dimensions=(dim("note"),), measures=(measure("n"),), filters=(where(col("cents"), ">", 500),))


@pytest.fixture
def shop(tmp_path):
    return make_shop(tmp_path)


def test_a_proposal_is_tried_on_rows_before_it_is_written(shop, capsys):
    (shop / "request.json").write_text(REQUEST.model_dump_json())
    args = ["ask", "--project", str(shop), "--request", str(shop / "request.json"), "--write", "--json"]
    assert main(args) == 0, capsys.readouterr()
    document = json.loads(capsys.readouterr().out)
    [epochs] = [check for check in document["checks"] if check["name"] == "epochs"]
    assert epochs["verdict"] == "passed"
    assert "in 3 epochs and as one batch: the same" in epochs["text"]
    assert (shop / "actions/aggregate/n_by_note.sql").exists()
    assert main(["validate", "--project", str(shop)]) == 0


def test_what_differs_in_epochs_is_not_written(shop, monkeypatch):
    wrong = Trial(epochs=3, read=9, rows=2, only_batch=("{'n': 2}",))
    monkeypatch.setattr(prove, "try_step", lambda *_: wrong)
    project = Project.at(shop)
    proposal = ask(project, "w", request=REQUEST)
    with pytest.raises(ProposalFailedError, match=r"only in the batch: \{'n': 2\}"):
        write(project, proposal)
    assert not (shop / "actions/aggregate/n_by_note.sql").exists()
    assert [event.what for event in Proposals(project).get(proposal.id).events] == ["asked", "failed"]
