import pytest
from fastapi.testclient import TestClient

from streamhouse.cli.init import write_project
from streamhouse.project.desired import desired_plans
from streamhouse.project.project import Project
from streamhouse.ui.app import create_app
from streamhouse.ui.desk import Desk
from streamhouse.ui.person import Person

OURS = {"X-Streamhouse": "1"}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The small shop of `streamhouse init`; nothing ever ran."""
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    write_project(tmp_path)
    return Project.at(tmp_path)


@pytest.fixture
def state(project):
    """Its state store, with the flow applied."""
    with project.state() as opened:
        opened.save_plan(desired_plans(project)["orders"])
        yield opened


@pytest.fixture
def client_of(project):
    """Makes a client of the page for a person; `raises` lets errors of the server through to the test."""
    desk = Desk(project)

    def made(person=None, *, engine=None, raises=True):
        who = person or Person("ada", may_decide=True, may_query=True)
        app = create_app(lambda: desk, lambda: who, where="alone", engine=lambda: engine)
        return TestClient(app, headers=OURS, raise_server_exceptions=raises)

    yield made
    desk.close()


@pytest.fixture
def client(client_of):
    return client_of()
