"""No answer, error or resource has a secret of the project in it, whatever the place is called that it is read from."""

import json

import pytest

from streamhouse.project.project import Project
from tests.unit.mcp_server.conftest import Tools

SECRET = "horse-battery"
CONNECTION = """
connections:
  shop: {kind: postgres, host: db, database: shop, user: me, password: {file: private/shop.txt}}
"""


@pytest.fixture
def project(project):
    (project.root / "private").mkdir()
    (project.root / "private/shop.txt").write_text(f"{SECRET}\n")
    with (project.root / "streamhouse.yaml").open("a") as file:
        file.write(CONNECTION)
    action = project.root / "actions/clean_orders.sql"
    action.write_text(action.read_text().replace("Drop returns", f"Drop {SECRET} returns"))
    return Project.at(project.root)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {"text": "clean orders"}),
        ("describe", {"name": "clean_orders"}),
        ("describe", {"name": SECRET}),
        ("ask", {"wish": f"orders called {SECRET}"}),
        ("query", {"sql": f"SELECT '{SECRET}' AS a FROM dwd.orders"}),
    ],
)
def test_no_answer_has_a_secret(project, tool, arguments):
    found = Tools(project)(tool, **arguments)
    assert SECRET not in json.dumps(found.document)
    assert SECRET not in json.dumps(found.structured)


def test_no_resource_has_a_secret(project):
    call = Tools(project)
    [content] = call.of(lambda client: client.read_resource("streamhouse://action/clean_orders")).contents
    assert "***" in content.text
    assert SECRET not in content.text
    error = call.refused(lambda client: client.read_resource(f"streamhouse://action/{SECRET}"))
    assert SECRET not in f"{error.message} {json.dumps(error.data)}"
