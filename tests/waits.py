"""Ends a test that waits for a pipe."""

from collections.abc import Iterator
from contextlib import contextmanager
from signal import ITIMER_REAL, SIGALRM, setitimer, signal

MOST_S = 20.0


@contextmanager
def at_most(seconds: float = MOST_S) -> Iterator[None]:
    """An error where the block waits for a pipe, in place of a test that never ends."""

    def late(*_: object) -> None:
        raise AssertionError("it waits for a pipe")

    before = signal(SIGALRM, late)
    setitimer(ITIMER_REAL, seconds)
    try:
        yield
    finally:
        setitimer(ITIMER_REAL, 0)
        signal(SIGALRM, before)
