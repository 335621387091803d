"""A steward's thread asks for a turn; it acts again only when the plan was changed, and no turn is lost."""

import threading
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from streamhouse.engine.execution import FlowExecution
from streamhouse.state.records import Owner
from streamhouse.state.store import StateStore
from tests.patience import PATIENCE_S

OWNER = Owner("here", 1, datetime(2026, 1, 1, tzinfo=UTC))


class Execution(FlowExecution):
    """Of a flow without segments, whose streams run until they are ended."""

    def _refuse_loss(self):
        pass

    def _tell_refused_shortcuts(self):
        pass

    def _carry(self, streams, *, once, bounds):
        if not once:
            assert self._halt.wait(PATIENCE_S)


class Steward:
    """Asks for turns one after the other, and notes what happens in which order."""

    def __init__(self, turns):
        self.turns, self.noted = turns, []

    def between(self, execution):
        self.noted.append("between")
        execution.drain()
        self.noted.append("over")

    def beside(self, execution):
        for number in range(self.turns):
            self.noted.append(f"turn {number}")
            execution.turn()
        execution.stop()


@pytest.fixture
def execution(tmp_path):
    with StateStore(f"sqlite:///{tmp_path}/state.db") as state:
        yield Execution(
            SimpleNamespace(flow="sales", segments=(), readable=()),
            None,
            {},
            lambda _: None,
            state,
            OWNER,
            alive=lambda _: True,
            checkpoints=tmp_path,
            cache=tmp_path,
        )


def test_the_steward_acts_again_when_the_turn_is_over(execution):
    steward = Steward(20)
    runner = threading.Thread(target=execution.run, kwargs={"once": False, "steward": steward}, daemon=True)
    runner.start()
    runner.join(PATIENCE_S)
    assert not runner.is_alive()
    turns = [note for number in range(20) for note in (f"turn {number}", "between", "over")]
    assert steward.noted == ["between", "over", *turns]


def test_a_turn_ends_with_the_execution(execution):
    class Failing(Steward):
        def between(self, execution):
            if self.noted:
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        execution.run(once=False, steward=Failing(2))
