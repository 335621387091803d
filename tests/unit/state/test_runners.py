from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from streamhouse.errors import LeaseLostError, RunnerHeldError, StreamhouseError
from streamhouse.state.runners import Life, WantedState
from streamhouse.state.store import StateStore

TTL = timedelta(seconds=15)
SECOND = timedelta(seconds=1)


@pytest.fixture
def claim(store, owner, now):
    return claimed(store, owner, now)


@pytest.fixture
def rival(owner):
    return replace(owner, pid=owner.pid + 1)


def claimed(store, owner, now, lives=True):
    return store.runners.claim("main", owner, TTL, alive=lambda _: lives, now=now)


# --- what is wanted ---------------------------------------------------------------------------


def test_nothing_is_wanted_until_it_is_asked(store):
    assert store.runners.wanted("retail") is None
    assert store.runners.all_wanted() == []


def test_what_is_asked_is_remembered(store, now):
    asked = store.runners.ask("retail", WantedState.RUNNING, "ann", now=now)
    assert (asked.wanted, asked.runner, asked.ask, asked.requested_by, asked.requested_at) == (
        WantedState.RUNNING,
        "main",
        1,
        "ann",
        now,
    )
    assert store.runners.wanted("retail") == asked
    assert asked.is_due


def test_to_ask_for_what_is_wanted_changes_nothing(store, now):
    first = store.runners.ask("retail", WantedState.RUNNING, "ann", now=now)
    assert store.runners.ask("retail", WantedState.RUNNING, "bob", now=now + SECOND) == first
    stopped = store.runners.ask("retail", WantedState.STOPPED, "bob", now=now + SECOND)
    assert (stopped.ask, stopped.is_due) == (2, False)
    assert store.runners.ask("retail", WantedState.STOPPED, "ann", now=now + 2 * SECOND) == stopped


def test_a_flow_that_was_given_up_is_due_again_when_it_is_asked(store, claim):
    asked = store.runners.ask("retail", WantedState.RUNNING, "ann")
    store.runners.give_up(claim, asked, "SH503 it broke")
    given_up = store.runners.wanted("retail")
    assert (given_up.is_due, given_up.error, given_up.wanted) == (False, "SH503 it broke", WantedState.RUNNING)
    again = store.runners.ask("retail", WantedState.RUNNING, "ann")
    assert (again.is_due, again.error, again.ask) == (True, None, 2)


def test_an_old_failure_does_not_end_what_was_asked_since(store, claim):
    first = store.runners.ask("retail", WantedState.RUNNING, "ann")
    store.runners.ask("retail", WantedState.STOPPED, "ann")
    latest = store.runners.ask("retail", WantedState.RUNNING, "ann")
    store.runners.give_up(claim, first, "SH503 it broke")
    assert store.runners.wanted("retail") == latest


def test_a_flow_stays_with_its_runner_unless_another_is_named(store):
    assert store.runners.ask("retail", WantedState.RUNNING, "ann", runner="big").runner == "big"
    assert store.runners.ask("retail", WantedState.STOPPED, "ann").runner == "big"
    moved = store.runners.ask("retail", WantedState.RUNNING, "ann", runner="main")
    assert (moved.runner, moved.is_due) == ("main", True)
    assert [one.flow for one in store.runners.all_wanted("big")] == []


# --- the process ------------------------------------------------------------------------------


def test_a_living_runner_keeps_its_name(store, claim, rival, now):
    with pytest.raises(RunnerHeldError, match="process 100 on alpha"):
        claimed(store, rival, now + SECOND)
    assert store.runners.claim("big", rival, TTL, alive=lambda _: True, now=now).fencing == 1


def test_a_dead_process_of_this_host_is_replaced_at_once(store, claim, rival, now):
    assert claimed(store, rival, now + SECOND, lives=False).fencing == 2
    with pytest.raises(LeaseLostError, match="taken over by process 101"):
        store.runners.beat(claim, Life.RUNNING, "carrying", now + SECOND)


def test_a_process_of_another_host_is_replaced_when_it_falls_silent(store, claim, rival, now):
    elsewhere = replace(rival, host="beta")
    with pytest.raises(RunnerHeldError):
        claimed(store, elsewhere, now + SECOND, lives=False)
    store.runners.beat(claim, Life.RUNNING, "carrying", now + 10 * SECOND)
    with pytest.raises(RunnerHeldError):
        claimed(store, elsewhere, now + 20 * SECOND)
    assert claimed(store, elsewhere, now + 25 * SECOND).fencing == 2


def test_of_many_that_claim_at_once_one_is_the_runner(store, url, owner, now):
    def claim(pid):
        with StateStore(url) as mine:
            try:
                return claimed(mine, replace(owner, pid=pid), now).owner.pid
            except RunnerHeldError:
                return None

    with ThreadPoolExecutor(8) as pool:
        won = [pid for pid in pool.map(claim, range(8)) if pid is not None]
    assert len(won) == 1
    assert store.runners.runner(now=now).owner.pid == won[0]


def test_a_runner_tells_where_it_is(store, claim, now):
    store.runners.beat(claim, Life.RUNNING, "carrying retail", now + SECOND)
    store.runners.beat(claim, Life.RUNNING, "carrying retail, returns", now + 3 * SECOND)
    found = store.runners.runner(now=now + 4 * SECOND)
    assert (found.life, found.stage) == (Life.RUNNING, "carrying retail, returns")
    assert (found.since, found.beat_at) == (now + SECOND, now + 3 * SECOND)


def test_one_that_falls_silent_is_lost_and_one_that_ended_is_not(store, claim, now):
    assert store.runners.runner(now=now + 14 * SECOND).life is Life.STARTING
    assert store.runners.runner(now=now + TTL).life is Life.LOST
    assert store.runners.runner(now=now, alive=lambda _: False).life is Life.LOST
    store.runners.end(claim, now=now + SECOND)
    assert store.runners.runner(now=now + 60 * SECOND, alive=lambda _: False).life is Life.STOPPED


def test_one_that_failed_says_why_and_is_replaced(store, claim, rival, now):
    store.runners.end(claim, "SH301 no Java", now)
    assert (store.runners.runner(now=now).life, store.runners.runner(now=now).error) == (Life.FAILED, "SH301 no Java")
    claimed(store, rival, now + SECOND)
    assert (store.runners.runner(now=now).life, store.runners.runner(now=now).error) == (Life.STARTING, None)


def test_the_end_of_one_that_was_replaced_is_not_recorded(store, claim, rival, now):
    claimed(store, rival, now + TTL)
    store.runners.end(claim, "SH301 no Java", now + TTL)
    assert store.runners.runner(now=now + TTL).life is Life.STARTING


def test_a_runner_closes_only_when_nothing_is_due(store, claim, now):
    asked = store.runners.ask("retail", WantedState.RUNNING, "ann")
    assert not store.runners.retire(claim, now)
    store.runners.give_up(claim, asked, "SH503 it broke")
    assert store.runners.retire(claim, now)
    assert store.runners.runner(now=now).life is Life.CLOSING
    assert not store.runners.runner(now=now).life.takes_up


def test_whoever_asks_while_it_closes_is_heard_or_sees_that_it_closes(store, url, owner, now):
    """Many times over: never is a flow due, and its runner believed to take it up, when it has begun to close."""

    def ask(_):
        with StateStore(url) as mine:
            mine.runners.ask("retail", WantedState.RUNNING, "ann")
            return mine.runners.runner(now=now).life

    for turn in range(5):
        store.runners.ask("retail", WantedState.STOPPED, "ann")
        claim = claimed(store, replace(owner, pid=turn), now, lives=False)
        store.runners.beat(claim, Life.RUNNING, "waiting", now)
        with ThreadPoolExecutor(2) as pool:
            asking = pool.submit(ask, turn)
            closing = pool.submit(store.runners.retire, claim, now)
        assert closing.result() == (asking.result() is Life.CLOSING)


def test_a_runner_that_was_replaced_can_give_nothing_up(store, claim, rival, now):
    asked = store.runners.ask("retail", WantedState.RUNNING, "ann")
    claimed(store, rival, now + TTL)
    with pytest.raises(StreamhouseError):
        store.runners.give_up(claim, asked, "SH503 it broke")
    with pytest.raises(LeaseLostError):
        store.runners.retire(claim, now)
    assert store.runners.wanted("retail").is_due


def test_all_runners_are_listed_by_name(store, claim, owner, now):
    store.runners.claim("big", owner, TTL, alive=lambda _: True, log="/logs/runner-big.log", now=now)
    assert [(one.name, one.log) for one in store.runners.all(now)] == [("big", "/logs/runner-big.log"), ("main", None)]
