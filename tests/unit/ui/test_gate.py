import pytest
from fastapi.testclient import TestClient

from streamhouse.ui.alone import Gate
from streamhouse.ui.app import create_app
from streamhouse.ui.desk import Desk

PORT = 8123
HERE = f"http://127.0.0.1:{PORT}"


@pytest.fixture
def gate():
    return Gate(PORT, "ada@alpha")


@pytest.fixture
def client(gate, project):
    desk = Desk(project)
    app = create_app(lambda: desk, gate.person, where="alone", engine=lambda: None)
    yield TestClient(gate.around(app), base_url=HERE)
    desk.close()


def test_the_token_becomes_a_cookie(client, gate):
    assert client.get("/").status_code == 401
    assert "streamhouse ui" in client.get("/").text
    assert client.get("/api/flows").status_code == 401
    assert client.get("/static/app.css").status_code == 401
    opened = client.get("/", params={"token": gate.token})
    assert opened.status_code == 200
    cookie = opened.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert client.get("/").status_code == 200
    assert client.get("/api/project").json()["person"] == "ada@alpha"


def test_another_token_opens_nothing(client, gate):
    for wrong in ("", "x", gate.token[:-1], "é"):
        assert client.get("/api/flows", params={"token": wrong}).status_code == 401
        assert client.get("/", params={"token": wrong}).status_code == 401
    client.cookies.set(f"streamhouse-{PORT}", "x")
    assert client.get("/api/flows").status_code == 401


def test_a_program_may_send_the_token(client, gate):
    assert client.get("/api/flows", headers={"Authorization": f"Bearer {gate.token}"}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1:1", ""])
def test_under_another_name_there_is_nothing(client, gate, host):
    answer = client.get("/api/flows", params={"token": gate.token}, headers={"Host": host})
    assert answer.status_code == 421
    assert "set-cookie" not in answer.headers


def test_tokens_are_new_at_each_start():
    assert Gate(PORT, "ada").token != Gate(PORT, "ada").token
