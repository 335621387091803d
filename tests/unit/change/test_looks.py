"""A stream that asks for a look waits until one that began later was taken."""

from threading import Thread

import pytest

from streamhouse.change.looks import Looks


class Ringing:
    """A runner that only counts how often the steward was woken."""

    def __init__(self):
        self.is_ending = False
        self.woken = 0

    def wake(self):
        self.woken += 1


@pytest.fixture
def runner():
    return Ringing()


def test_a_look_is_due_until_it_is_answered(runner):
    looks = Looks()
    runner.is_ending = True
    looks.wait_for_answer(runner)
    assert (looks.request_count, looks.is_due(looks.request_count), runner.woken) == (1, True, 1)
    looks.answer(looks.request_count)
    assert not looks.is_due(looks.request_count)


def test_who_waits_goes_on_once_a_look_was_taken(runner):
    looks = Looks()
    stream = Thread(target=looks.wait_for_answer, args=(runner,))
    stream.start()
    while not looks.request_count:
        pass
    looks.answer(0)
    assert stream.is_alive(), "a look that began before it was asked for answers nothing"
    looks.answer(1)
    stream.join()


def test_rows_do_not_wait_for_tables_that_are_rebuilt(runner):
    looks = Looks()
    with looks.building():
        looks.wait_for_rows(runner)
    assert looks.is_due(looks.request_count)
