import threading

import pytest

from streamhouse.errors import EnvironmentProblem
from streamhouse.install.only_one import locked
from streamhouse.install.stage import Stage
from tests.patience import PATIENCE_S

WAITING = Stage("waiting")


def test_one_after_the_other_and_the_one_that_waits_says_so(tmp_path):
    order, shown = [], []

    def second():
        with locked(tmp_path / "lock", WAITING, lambda stage: (shown.append(stage), saw.set())):
            order.append("second")

    saw = threading.Event()
    with locked(tmp_path / "lock", WAITING, shown.append):
        assert shown == []
        other = threading.Thread(target=second)
        other.start()
        assert saw.wait(PATIENCE_S)
        order.append("first")
    other.join(PATIENCE_S)
    assert order == ["first", "second"]
    assert shown == [WAITING]


def test_a_holder_that_never_ends_is_told(tmp_path):
    waiter = locked(tmp_path / "lock", WAITING, print, patience_s=0.2)
    with locked(tmp_path / "lock", WAITING, print), pytest.raises(EnvironmentProblem, match="has been locked"), waiter:
        pass


def test_an_error_inside_frees_it(tmp_path):
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "lock", WAITING, print):
        raise ZeroDivisionError
    with locked(tmp_path / "lock", WAITING, print, patience_s=0):
        pass
