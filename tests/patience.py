"""How long a test waits for what must happen, and the one helper that waits."""

import os
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

T = TypeVar("T")

PATIENCE_S = 180.0 * float(os.environ.get("STREAMHOUSE_TEST_PATIENCE", "1"))
"""Seconds after which a process, a server or a row that did not come counts as hung.

It is far more than anything takes, so no verdict depends on it; STREAMHOUSE_TEST_PATIENCE is a factor for machines that
are much slower than two idle cores.
"""

SOAKING = bool(os.environ.get("STREAMHOUSE_SOAK"))
"""Whether `make soak` runs the tests: the marker `soak` is theirs, and examples are drawn by chance."""

_LOOK_S, _LONGEST_S, _SHARE = 0.02, 0.5, 0.05
"""A look may cost a query: the rests between looks grow with the time that was waited."""


def until(look: Callable[[], T], *, what: str = "", saw: Callable[[], object] | None = None) -> T:
    """Wait until `look()` is true.

    Args:
        look: What is waited for; called again and again. What it raises ends the wait at once.
        what: Words for what is waited for, for the message; the name of `look` by default.
        saw: What there is instead, for the message: a log, rows, states. Called once, at the end; by default the last
            value of `look`.

    Returns:
        The first true value of `look()`.

    Raises:
        AssertionError: nothing of it after `PATIENCE_S`. The message has what was seen instead.
    """
    for found in looks(look, what=what, saw=saw):
        if found:
            return found
    raise AssertionError("`looks` ends with an error")


def looks(look: Callable[[], T], *, what: str = "", saw: Callable[[], object] | None = None) -> Iterator[T]:
    """As `until`, for a test that acts between two looks: each value of `look()`, until its caller breaks."""
    begin = time.monotonic()
    while True:
        found = look()
        yield found
        waited_s = time.monotonic() - begin
        if waited_s >= PATIENCE_S:
            name = what or getattr(look, "__qualname__", repr(look))
            raise AssertionError(f"waited {PATIENCE_S:.0f} s for {name}; instead there is: {saw() if saw else found!r}")
        time.sleep(min(max(_LOOK_S, waited_s * _SHARE), _LONGEST_S))


def pause(seconds: float) -> None:
    """Let time pass before a kill, so that it comes at a moment that nobody chose; `seconds` come from a seed.

    It is never for hoping that something is over by then: that is what `until` is for.
    """
    time.sleep(seconds)
