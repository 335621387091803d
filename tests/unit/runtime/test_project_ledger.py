"""The ledger of a project stays connected, and is never connected to something else than the project has."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.stores import ProjectLedger
from streamhouse.state.store import StateStore

TABLE = Table(name="dwd.t", columns=(Column(name="k", type="int"),), tiers=Tiers(hot="1d"))


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path, Settings())


def test_a_question_makes_no_state(project):
    assert ProjectLedger(project).known(TABLE, Tier.HOT) is None
    assert not project.state_file.exists()


def test_it_is_opened_once_for_all_questions_of_all_threads(project, monkeypatch):
    ProjectLedger(project).record_table(TABLE, Tier.HOT, "7")
    opened = []
    made = StateStore.__init__
    monkeypatch.setattr(StateStore, "__init__", lambda self, url: (opened.append(url), made(self, url))[1])
    ledger = ProjectLedger(project)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: ledger.known(TABLE, Tier.HOT), range(40)))
    assert {one.identity for one in found} == {"7"}
    ledger.dropped(TABLE.name, Tier.HOT)
    assert ledger.known(TABLE, Tier.HOT) is None
    assert len(opened) == 1


def test_a_state_that_was_put_in_the_place_of_another_is_asked(project, tmp_path):
    other = Project(tmp_path / "other", Settings())
    ProjectLedger(other).record_table(TABLE, Tier.HOT, "8")
    ledger = ProjectLedger(project)
    ledger.record_table(TABLE, Tier.HOT, "7")
    assert ledger.known(TABLE, Tier.HOT).identity == "7"
    for file in project.state_dir.iterdir():
        file.unlink()
    assert ledger.known(TABLE, Tier.HOT) is None
    for file in other.state_dir.iterdir():
        file.rename(project.state_dir / file.name)
    assert ledger.known(TABLE, Tier.HOT).identity == "8"
