import os
import signal
import threading

import pytest

from streamhouse.services.termination import sigterm_unwinds
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
