"""A process that has a name says that it lives, and how it ended."""

from dataclasses import replace
from datetime import timedelta

import pytest

from streamhouse.errors import RunnerHeldError, SourceError
from streamhouse.runtime.claim_beat import beating_as
from streamhouse.runtime.owner import is_alive, this_owner
from streamhouse.state.runners import Life, WantedState
from streamhouse.state.store import StateStore
from tests.patience import until

TTL = timedelta(seconds=15)
SHORT = timedelta(milliseconds=100)


@pytest.fixture
def store(tmp_path):
    with StateStore(f"sqlite:///{tmp_path / 'state.db'}") as opened:
        yield opened


def test_what_changes_is_told_once_and_recorded(store):
    told = []
    with beating_as(store, "main", TTL, log="a.log", tell=told.append) as beating:
        for text in ("starting Java", "starting Java"):
            beating.say(text)
        beating.say("starting Java", Life.RUNNING)
        record = store.runners.runner("main", alive=is_alive)
        assert (record.life, record.stage, record.log) == (Life.RUNNING, "starting Java", "a.log")
        beating.lives(Life.CLOSING, "the last batch")
        record = store.runners.runner("main", alive=is_alive)
        assert (record.life, record.stage) == (Life.CLOSING, "the last batch")
    assert told == ["starting Java", "starting Java"]
    record = store.runners.runner("main", alive=is_alive)
    assert (record.life, record.error) == (Life.STOPPED, None)


def test_it_beats_by_itself(store):
    with beating_as(store, "main", SHORT, log=None, tell=lambda _: None):
        first = store.runners.runner("main").beat_at
        until(lambda: store.runners.runner("main").beat_at > first)


@pytest.mark.parametrize(
    ("raised", "recorded"),
    [(SourceError("no such table"), str(SourceError("no such table"))), (KeyError("slot"), "KeyError: 'slot'")],
)
def test_why_it_failed_is_recorded(store, raised, recorded):
    with pytest.raises(type(raised)), beating_as(store, "main", TTL, log=None, tell=lambda _: None):
        raise raised
    record = store.runners.runner("main", alive=is_alive)
    assert (record.life, record.error) == (Life.FAILED, recorded)


def test_who_loses_its_place_learns_it_and_records_nothing(store):
    rival = replace(this_owner(), pid=this_owner().pid + 1)
    with beating_as(store, "main", SHORT, log=None, tell=lambda _: None) as beating:
        store.runners.claim("main", rival, TTL, alive=lambda _: False)
        until(lambda: beating.lost is not None)
    record = store.runners.runner("main")
    assert (record.owner, record.life) == (rival, Life.STARTING)


def test_a_name_has_one_process(store):
    rival = replace(this_owner(), host="elsewhere")
    store.runners.claim("main", rival, TTL, alive=lambda _: True)
    with pytest.raises(RunnerHeldError), beating_as(store, "main", TTL, log=None, tell=lambda _: None):
        raise AssertionError("two have it")


def test_it_retires_unless_something_is_wanted(store):
    with beating_as(store, "main", TTL, log=None, tell=lambda _: None) as beating:
        store.runners.ask("retail", WantedState.RUNNING, "ann")
        assert not beating.retired()
        store.runners.ask("retail", WantedState.STOPPED, "ann")
        assert beating.retired()
        beating.lives(Life.CLOSING)
        record = store.runners.runner("main", alive=is_alive)
        assert (record.life, record.stage) == (Life.CLOSING, "closing")
