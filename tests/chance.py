"""Seeds of what tests draw at random."""

import os
import time

from tests.patience import SOAKING


def drawn_seed(usual: int) -> int:
    """`STREAMHOUSE_SEED`, or `usual`; while `make soak` runs it is another one each time. It is printed, so that a
    report of a failure tells with which seed the test fails again.
    """
    given = os.environ.get("STREAMHOUSE_SEED")
    seed = int(given) if given else time.time_ns() % 10**6 if SOAKING else usual
    print(f"STREAMHOUSE_SEED={seed}")  # noqa: T201  pytest shows it with a failure
    return seed
