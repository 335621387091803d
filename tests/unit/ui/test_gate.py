import asyncio
from itertools import product

import pytest
from fastapi.testclient import TestClient

from streamhouse.ui.alone import Gate
from streamhouse.ui.app import create_app
from streamhouse.ui.desk import Desk
from streamhouse.ui.person import Person
from tests.tables import each

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


def sent(app, headers, parts, *, leaves_after=None):
    """Status of a request by the bare protocol, and how many parts of its body were read."""
    scope = {
        "type": "http", "http_version": "1.1", "method": "POST", "scheme": "http", "path": "/api/query",
        "raw_path": b"/api/query", "root_path": "", "query_string": b"", "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", PORT), "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }  # fmt: skip
    read, status = [], []

    async def receive():
        read.append(1)
        if leaves_after is not None and len(read) > leaves_after:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": b"x" * 100_000, "more_body": len(read) < parts}

    async def send(message):
        if message["type"] == "http.response.start":
            status.append(message["status"])

    asyncio.run(app(scope, receive, send))
    return status[0], len(read)


def test_nobody_makes_the_page_read_a_body_without_the_token(client, gate, project):
    headers = {"host": f"127.0.0.1:{PORT}", "content-type": "application/json", "x-streamhouse": "1"}
    app = client.app
    assert sent(app, headers, 1_000) == (401, 0)
    assert sent(app, {**headers, "authorization": "Bearer no"}, 1_000) == (401, 0)
    known = {**headers, "authorization": f"Bearer {gate.token}"}
    assert sent(app, {**known, "content-length": "1000001"}, 1_000) == (413, 0)
    assert sent(app, known, 1_000) == (413, 11)
    assert sent(app, known, 1)[0] == 422
    assert sent(app, known, 9, leaves_after=2) == (400, 3), "who leaves is no fault of ours"


def test_who_may_not_query_makes_nobody_read_a_body(project):
    async def guard():
        return Person("eve", may_decide=False, may_query=False)

    desk = Desk(project)
    app = create_app(lambda: desk, guard, where="airflow", engine=lambda: None)
    headers = {"host": "airflow", "content-type": "application/json", "x-streamhouse": "1"}
    assert sent(app, headers, 1_000) == (403, 0)
    desk.close()


def bare(app, path=b"/", query=b"", more=(), **headers):
    """Status of a request whose bytes are as they are."""
    given = {"host": f"127.0.0.1:{PORT}".encode(), **headers}
    scope = {
        "type": "http", "http_version": "1.1", "method": "GET", "scheme": "http", "path": path.decode("latin-1"),
        "raw_path": path, "root_path": "", "query_string": query, "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", PORT), "headers": [*more, *((name.encode(), value) for name, value in given.items())],
    }  # fmt: skip
    status = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        if message["type"] == "http.response.start":
            status.append(message["status"])

    asyncio.run(app(scope, receive, send))
    return status[0]


BYTES = (b"\xff\xfe", b"\xc3\x28", b"\xc3\xa9", b"\x80", b"\x00", b"x" * 10_000)
PLACES = ("host", "cookie", "authorization", "query", "sec-fetch-site", "content-type")


@each("where, odd", product(PLACES, BYTES), ids=lambda one: one if isinstance(one, str) else repr(one[:2]))
def test_bytes_that_are_no_text_are_refused_and_no_fault_of_ours(client, gate, where, odd):
    app, secret = client.app, gate.token.encode()
    assert bare(app, b"/api/flows", authorization=b"Bearer " + secret) == 200
    given = {"host": odd, "cookie": b"streamhouse-%d=%b" % (PORT, odd), "authorization": b"Bearer " + odd}
    if where == "query":
        assert bare(app, b"/api/flows", b"token=" + odd) == 401
    elif where in given:
        assert bare(app, b"/api/flows", **{where: given[where]}) == (421 if where == "host" else 401)
    else:
        assert bare(app, b"/api/flows", authorization=b"Bearer " + secret, **{where: odd}) == 200


def test_a_request_names_one_host(client, gate):
    ours = b"127.0.0.1:%d" % PORT
    for more in ([(b"host", b"evil.example")], [(b"host", ours)]):
        assert bare(client.app, b"/api/flows", more=more, authorization=b"Bearer " + gate.token.encode()) == 421


@each("path", [b"/static/\x00", b"/api/tables/\x00", b"/api/flows/a\x00/graph", b"/static/%00"], ids=repr)
def test_an_address_with_a_nul_is_refused(client, gate, path):
    assert bare(client.app, path, authorization=b"Bearer " + gate.token.encode()) == 400
