"""Rounds of tiering asked of a runner."""

from streamhouse.state.runners import WantedState
from streamhouse.state.tier_asks import TierAsk


def test_a_round_is_due_until_it_is_answered(store):
    store.runners.ask("retail", WantedState.RUNNING, "ann")
    ask = store.tier_asks.ask("retail", is_check=False)
    assert ask == TierAsk("retail", is_check=False, number=1)
    assert store.tier_asks.due("main") == [ask]
    assert store.tier_asks.answered(ask) is None
    store.tier_asks.answer(ask, "done")
    assert store.tier_asks.due("main") == []
    assert store.tier_asks.answered(ask) == "done"


def test_a_round_that_began_before_it_was_asked_again_answers_the_first_ask_only(store):
    store.runners.ask("retail", WantedState.RUNNING, "ann")
    first = store.tier_asks.ask("retail", is_check=False)
    second = store.tier_asks.ask("retail", is_check=False)
    store.tier_asks.answer(first, "one")
    assert (store.tier_asks.answered(first), store.tier_asks.answered(second)) == ("one", None)
    assert store.tier_asks.due("main") == [second]
    store.tier_asks.answer(second, "two")
    store.tier_asks.answer(first, "late")
    assert (store.tier_asks.answered(first), store.tier_asks.answered(second)) == ("two", "two")


def test_looking_and_moving_are_asked_apart_and_of_the_runner_of_the_flow(store):
    store.runners.ask("retail", WantedState.RUNNING, "ann", runner="big")
    move, look = (store.tier_asks.ask("retail", is_check=one) for one in (False, True))
    store.tier_asks.ask("nobodys", is_check=False)
    assert store.tier_asks.due("main") == []
    assert store.tier_asks.due("big") == [move, look]
    store.tier_asks.answer(look, "fine")
    assert store.tier_asks.due("big") == [move]
