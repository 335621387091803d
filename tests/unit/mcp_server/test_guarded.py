"""Who is let in to the server over HTTP, and clients that leave within a request."""

import asyncio

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from streamhouse.mcp_server.access import VARIABLE, known_hash
from streamhouse.mcp_server.web import guarded
from streamhouse.project.project import Project


async def body_of(scope, receive, send):
    await PlainTextResponse(await Request(scope, receive).body())(scope, receive, send)


def answer(app, *messages, **headers):
    """The messages that an app sends for a request in these parts."""
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "headers": [(name.encode(), value.encode()) for name, values in headers.items() for value in values],
    }
    parts, sent = iter(messages), []

    async def receive():
        return next(parts)

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent


TOKEN = "a-token-of-many-characters"


@pytest.fixture
def known(tmp_path):
    (tmp_path / "flows").mkdir()
    return known_hash(Project.at(tmp_path), {VARIABLE: TOKEN})


@pytest.fixture
def app(known):
    return guarded(body_of, known)


WHOLE = {"type": "http.request", "body": b"hello", "more_body": False}


def test_who_has_the_token_is_let_in(app):
    began, ended = answer(app, WHOLE, authorization=[f"Bearer {TOKEN}"])
    assert (began["status"], ended["body"]) == (200, b"hello")


@pytest.mark.parametrize(
    "given", [[], [""], ["Bearer"], [f"Basic {TOKEN}"], ["Bearer x", f"Bearer {TOKEN}"], [f"Bearer {TOKEN}"] * 2]
)
def test_who_has_no_token_or_says_two_is_not(app, given):
    began, *_ = answer(app, authorization=given)
    assert began["status"] == 401


def test_a_client_that_leaves_within_its_request_is_no_error(app):
    part = {"type": "http.request", "body": b"hel", "more_body": True}
    assert answer(app, part, {"type": "http.disconnect"}, authorization=[f"Bearer {TOKEN}"]) == []


def test_what_else_goes_wrong_is_an_error(known):
    async def fails(scope, receive, send):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        answer(guarded(fails, known), authorization=[f"Bearer {TOKEN}"])
