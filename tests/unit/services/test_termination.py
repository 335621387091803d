import os
import signal
import threading

import pytest

from streamhouse.services.termination import sigterm_unwinds, uninterrupted
from tests.patience import PATIENCE_S


def test_sigterm_unwinds_and_afterwards_is_as_before():
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    cleaned = []

    def work():
        with sigterm_unwinds():
            try:
                os.kill(os.getpid(), signal.SIGTERM)
                threading.Event().wait(PATIENCE_S)
            finally:
                cleaned.append(True)

    with pytest.raises(SystemExit) as ended:
        work()
    assert ended.value.code == 143
    assert cleaned == [True]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_handler_of_somebody_else_stays():
    got = []
    signal.signal(signal.SIGTERM, lambda *_: got.append(True))
    try:
        with sigterm_unwinds():
            os.kill(os.getpid(), signal.SIGTERM)
        assert got == [True]
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def test_another_thread_may_use_it():
    done = []

    def work():
        with sigterm_unwinds():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_for_the_end_of_a_block_that_is_not_interrupted(asked):
    before, steps = signal.getsignal(asked), []

    def work():
        with sigterm_unwinds(), uninterrupted():
            os.kill(os.getpid(), asked)
            steps.append("goes on")
        steps.append("after it")

    with pytest.raises((KeyboardInterrupt, SystemExit)):
        work()
    assert steps == ["goes on"]
    assert signal.getsignal(asked) is before


def test_outside_the_main_thread_signals_are_as_they_were():
    found = []

    def work():
        with uninterrupted():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGINT)]
