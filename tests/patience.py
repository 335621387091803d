"""How long a test waits for what must happen, and which tests only `make soak` runs."""

import os
import time
from collections.abc import Callable

import pytest

PATIENCE_S = 600.0
"""Seconds after which a process, a server or a row that did not come counts as hung, on a slow and busy machine too."""

SOAKING = bool(os.environ.get("STREAMHOUSE_SOAK"))
"""Whether `make soak` runs the tests."""

long = pytest.mark.skipif(not SOAKING, reason="a long form of what other tests try in a short one: make soak")
"""Of tests that take a minute or more, or that try with one more store or policy what others try."""


def until(holds: Callable[[], object]) -> None:
    """Wait for what must become true."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def slowness() -> float:
    """How many times slower than an idle machine of the reference this one is now; at least 1.

    A limit in seconds holds on that machine (two cores); a test multiplies it by this number, so that it says the same
    on a slow and busy one. Speed itself is measured in `benchmarks/`.
    """
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        sum(number * number % 7 for number in range(1_000_000))
        seconds.append(time.perf_counter() - began)
    return max(1.0, sorted(seconds)[1] / _REFERENCE_S)


_REFERENCE_S = 0.08
"""Seconds of that piece of work on the idle machine."""
