"""Looks at what is upstream that streams ask the steward's thread for, and wait for."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Condition

from streamhouse.engine.execution import FlowExecution

_CHECK_S = 0.1  # between two checks whether a look is still worth the wait


@dataclass
class Looks:
    """How many looks streams asked for, and how many of them were taken; for any thread."""

    _request_count: int = 0  # only rises
    _answered: int = 0
    _building: bool = False
    _changed: Condition = field(default_factory=Condition)  # guards these three

    @property
    def request_count(self) -> int:
        """How many were asked for so far; give it to `answer` after a look that began later."""
        return self._request_count

    def is_due(self, request_count: int) -> bool:
        """Whether one of the first `request_count` looks was not taken yet."""
        return request_count > self._answered

    def answer(self, request_count: int) -> None:
        """Let those go on who wait for one of the first `request_count` looks."""
        with self._changed:
            self._answered = request_count
            self._changed.notify_all()

    def wait_for_rows(self, execution: FlowExecution) -> None:
        """Ask for a look before rows are read; does not wait for tables that are rebuilt meanwhile."""
        self._ask(execution, lambda: not self._building)

    def wait_for_answer(self, execution: FlowExecution) -> None:
        """Ask for a look, and wait for it however long it takes."""
        self._ask(execution, lambda: True)

    @contextmanager
    def building(self) -> Iterator[None]:
        """Meanwhile tables are filled beside those that serve, which may take hours."""
        self._building = True
        try:
            yield
        finally:
            self._building = False

    def _ask(self, execution: FlowExecution, waits: Callable[[], bool]) -> None:
        with self._changed:
            self._request_count = mine = self._request_count + 1
            execution.wake()
            while self._answered < mine and waits() and not execution.is_ending:
                self._changed.wait(_CHECK_S)
