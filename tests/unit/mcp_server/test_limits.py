"""Calls have an end, and there are never many."""

import asyncio
import json
import threading

import pytest

from streamhouse.errors import BusyError
from streamhouse.mcp_server.limits import Work
from tests.patience import PATIENCE_S
from tests.unit.mcp_server.conftest import Tools


def test_a_call_that_takes_too_long_is_given_up(project, monkeypatch):
    over, ended = threading.Event(), []
    monkeypatch.setattr("streamhouse.mcp_server.search.search", lambda *_: ended.append(over.wait(PATIENCE_S)))
    told = Tools(project, seconds=0.5)("search", text="x")
    assert ended == [], "it is given up while it works"
    over.set()
    assert told.error["code"] == "SH802"


def test_work_that_nobody_waits_for_keeps_its_place_until_it_ends():
    begun, over, work = threading.Event(), threading.Event(), Work(at_once=1, waiting=1)

    async def run():
        first = asyncio.ensure_future(work.run(lambda: (begun.set(), over.wait())))
        await asyncio.to_thread(begun.wait)
        first.cancel()
        second = asyncio.ensure_future(work.run(lambda: "done"))
        await asyncio.sleep(0.2)
        assert not second.done()
        over.set()
        return await second

    assert asyncio.run(run()) == "done"


def test_too_many_calls_are_refused():
    work = Work(at_once=1, waiting=1)

    async def run():
        async with work.call(), work.call():
            with pytest.raises(BusyError, match="2 calls"):
                async with work.call():
                    pass
        async with work.call():
            return True

    assert asyncio.run(run())


def test_a_client_that_gives_a_call_up_is_let_go(call, monkeypatch):
    begun, over = threading.Event(), threading.Event()
    monkeypatch.setattr("streamhouse.mcp_server.search.search", lambda *_: (begun.set(), over.wait(PATIENCE_S)))

    async def run(client):
        waiting = asyncio.ensure_future(client.call_tool("search", {"text": "x"}))
        await asyncio.to_thread(begun.wait)
        waiting.cancel()
        other = await client.call_tool("validate", {})
        over.set()
        return json.loads(other.content[0].text)["ok"]

    assert call.of(run)
