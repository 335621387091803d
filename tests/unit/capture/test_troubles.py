"""A capture whose database lets it not in says why, and what a person can do."""

import sqlite3
from contextlib import closing

import pytest

from streamhouse.capture import calls
from streamhouse.capture.database import DatabaseAway
from streamhouse.capture.journal import new_group
from streamhouse.capture.process import _CaptureHost
from streamhouse.capture.readers import readers_of
from streamhouse.errors import CaptureFailedError, StateConflictError
from streamhouse.model.outcome import Outcome
from streamhouse.state.changes import Wish
from streamhouse.state.store import StateStore
from tests.capture import ORDERS, Shop
from tests.two_flows import HOW, spoil_plan

REFUSED = 'FATAL:  password authentication failed for user "me"'


class Database:
    """One that lets nobody in."""

    name = "shop"

    def __init__(self, said):
        self._said = said

    def masked(self, text):
        return text

    def slot(self, *_):
        raise DatabaseAway(self._said)

    check = free = slot


@pytest.fixture
def shop(tmp_path, monkeypatch):
    found = Shop(tmp_path / "shop", "postgresql://me@localhost:1/shop")
    found.reads("a", orders=("public.orders", ORDERS, ["id"]))
    monkeypatch.setattr(calls, "database_of", lambda *_: Database(REFUSED))
    return found


def wanted_of(shop):
    with shop.project.state() as state:
        _, plan = state.plan("a")
    return [calls.wanted_of(source.kind, source.options) for source in plan.sources]


def test_status_names_the_cause_and_the_remedy(shop, monkeypatch):
    shop.folder.mkdir(parents=True, exist_ok=True)
    new_group(shop.folder, "shop", ["public.orders"])
    [status] = calls.status(shop.project)
    assert status.away == f"the server refuses the user or the password: {REFUSED}"
    assert "see 'user', where 'password' is" in status.remedy
    with pytest.raises(CaptureFailedError, match="its slot would stay, as the server refuses the user") as refused:
        calls.reset(shop.project, "shop")
    assert "where 'password' is" in refused.value.hint
    monkeypatch.setattr(calls, "database_of", lambda *_: Database("server closed the connection unexpectedly"))
    assert calls.status(shop.project)[0].away.startswith("the database does not answer: server closed")


@pytest.mark.parametrize("how", HOW)
def test_status_shows_connections_beside_a_plan_that_cannot_be_read(shop, how):
    """It only looks; what the flow has yet to read is not known, and nothing of the journal may go."""
    shop.reads("b", orders=("public.orders", ORDERS, ["id"]))
    spoil_plan(shop.project, how, "a")
    [status] = calls.status(shop.project)
    [warning] = status.warnings
    assert warning.startswith("what flow a has yet to read is not known; ")
    assert "revision 1 of flow 'a'" in warning
    with shop.project.state() as state:
        unreadable = {}
        assert [one.name for one in readers_of(state, "shop", None, lambda _: True, unreadable)] == ["flow b"]
        assert list(unreadable) == ["a"]
        with pytest.raises(StateConflictError, match="revision 1 of flow 'a'"):
            readers_of(state, "shop", None, lambda _: True)


def test_status_shows_connections_beside_a_change_that_cannot_be_read(shop, monkeypatch):
    def damaged(_, flow, environment=None):
        raise StateConflictError(f"the open change of {flow} is damaged")

    monkeypatch.setattr(StateStore, "open_change", damaged)
    [status] = calls.status(shop.project)
    assert status.warnings == ("what flow a has yet to read is not known; the open change of a is damaged",)


def test_status_names_the_environment_whose_change_cannot_be_read(shop):
    """Beside it an environment that has yet to read all."""
    with shop.project.state() as state:
        _, plan = state.plan("a")
        for name in ("dev", "test"):
            state.ask_change(Wish(plan, Outcome.REBUILD, frozenset(plan.tables), environment=name), "ann")
    with closing(sqlite3.connect(shop.project.state_dir / "state.db")) as connection, connection:
        connection.execute("UPDATE streamhouse_change SET body = '{}' WHERE environment = 'dev'")
    [status] = calls.status(shop.project)
    [warning] = status.warnings
    assert warning.startswith("what flow a in environment 'dev' has yet to read is not known; change 1 of flow 'a' in ")
    assert "(give it up: streamhouse env discard a dev; then build it again: " in warning
    with shop.project.state() as state:
        readers = readers_of(state, "shop", None, lambda _: True, {})
        assert [one.name for one in readers] == ["flow a", "change 2 of flow a"]
        with pytest.raises(StateConflictError, match="change 1 of flow 'a' in environment 'dev'"):
            readers_of(state, "shop", None, lambda _: True)


def test_a_start_waits_only_for_what_may_end_by_itself(shop, monkeypatch):
    wanted = wanted_of(shop)
    with pytest.raises(CaptureFailedError, match="connection 'shop': the server refuses the user") as refused:
        calls._check(shop.project, "shop", wanted)
    assert "where 'password' is" in refused.value.hint
    monkeypatch.setattr(calls, "database_of", lambda *_: Database("Connection refused"))
    calls._check(shop.project, "shop", wanted)


class Beating:
    lost = None

    def __init__(self):
        self.said = []

    def say(self, text, *_):
        self.said.append(text)


def test_a_capture_that_waits_says_why(shop):
    calls.note(shop.folder, wanted_of(shop))
    beating = Beating()
    host = _CaptureHost(Database(REFUSED), None, shop.folder, beating, None, 0, None)
    assert host._round() > 0
    assert beating.said[0].startswith(f"the server refuses the user or the password: {REFUSED} (see 'user'")
