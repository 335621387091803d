"""Over HTTP: who has the token is let in, and nobody else, from nowhere else."""

import asyncio
import json

import httpx
import pytest

from tests.gate.levels import deep
from tests.integration.mcp.conftest import connected, engines, served
from tests.patience import PATIENCE_S, until

pytestmark = deep("a client that goes away", only=("test_a_client_that_goes_away_stops_its_query",))

REQUEST = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def server(tmp_path_factory, environment, streamhouse):
    from tests.integration.mcp.conftest import write_rides

    project = write_rides(tmp_path_factory.mktemp("http") / "rides")
    token = streamhouse("mcp", "token", cwd=project)["token"]
    with served(project, environment, "--allow-origin", "http://good.example") as url:
        yield url, token, project


@pytest.fixture
def post(server):
    url, token, _ = server

    def posted(body=REQUEST, **headers):
        given = {"Authorization": f"Bearer {token}"} | HEADERS | {k.replace("_", "-"): v for k, v in headers.items()}
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return httpx.post(
            url, content=content, headers={k: v for k, v in given.items() if v is not None}, timeout=PATIENCE_S
        )

    return posted


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
def test_tools_over_http(server, mode):
    url, token, _ = server

    async def work():
        async with connected(url, token, mode) as call:
            names = [tool.name for tool in (await call.client.list_tools()).tools]
            found = await call("describe", name="ods.rides")
            error = await call.error("describe", name="ods.nope")
            [flow] = (await call("plan"))["flows"]
            read = await call.client.read_resource("streamhouse://flow/rides")
            return names, found, error, flow, read

    names, found, error, flow, read = asyncio.run(work())
    assert names[-1] == "diagnose"
    assert found["table"]["description"] == "Every ride as it was reported."
    assert error["code"] == "SH207"
    assert flow["new_tables"] == ["ods.rides"]
    assert json.loads(read.contents[0].text)["flow"]["name"] == "rides"


def test_it_listens_to_this_machine_alone(server):
    assert httpx.URL(server[0]).host == "127.0.0.1"


@pytest.mark.parametrize("given", [None, "", "Bearer", "Bearer wrong", "Basic {token}", "{token}", "Bearer {token}x"])
def test_no_token_or_a_wrong_one(server, post, given):
    answer = post(Authorization=given.format(token=server[1]) if given is not None else None)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert "ods" not in answer.text


@pytest.mark.parametrize("method", ["GET", "DELETE", "OPTIONS", "POST"])
def test_no_method_and_no_path_without_the_token(server, method):
    for path in ("/mcp", "/", "/docs", "/mcp/../x"):
        assert httpx.request(method, httpx.URL(server[0]).join(path)).status_code == 401


def test_the_token_in_the_address_is_none(server):
    assert httpx.post(f"{server[0]}?token={server[1]}", json=REQUEST, headers=HEADERS).status_code == 401


def test_who_has_the_token(post):
    assert post().status_code == 200


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://evil.example", 403),
        ("null", 403),
        ("https://127.0.0.1", 403),
        ("http://127.0.0.1:1", 403),
        ("", 403),
        ("http://good.example", 200),
    ],
)
@pytest.mark.parametrize("era", [None, "2026-07-28"])
def test_pages_of_other_sites(post, origin, status, era):
    answer = post(Origin=origin, MCP_Protocol_Version=era)
    assert answer.status_code == status or (status == 200 and answer.status_code == 400 and era)


@pytest.mark.parametrize("era", [None, "2026-07-28"])
def test_a_name_of_another_site_for_our_address(post, era):
    assert post(Host="evil.example", MCP_Protocol_Version=era).status_code == 421


def test_a_body_that_is_too_large(post):
    assert post(b'{"x": "' + b"y" * 1_000_000 + b'"}').status_code == 413


def test_a_body_that_is_none(post):
    answer = post(b"not json")
    assert answer.status_code == 400
    assert "Traceback" not in answer.text


def test_the_token_is_in_no_file(server):
    _, token, project = server
    assert not [path for path in project.rglob("*") if path.is_file() and token.encode() in path.read_bytes()]


@pytest.mark.spark
def test_a_client_that_goes_away_stops_its_query(ran, environment, streamhouse):
    token = streamhouse("mcp", "token", cwd=ran)["token"]
    slow = "SELECT count(*) FROM " + " CROSS JOIN ".join(f"ods.rides AS r{n}" for n in range(24))

    async def work(url):
        async with connected(url, token, "2026-07-28") as call:
            waiting = asyncio.ensure_future(call.client.call_tool("query", {"sql": slow}))
            await asyncio.to_thread(until, lambda: engines(ran))
            waiting.cancel()
            await asyncio.to_thread(until, lambda: not engines(ran), saw=lambda: engines(ran))

    with served(ran, environment) as url:
        asyncio.run(work(url))
