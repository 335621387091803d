"""Named points of an epoch at which a test may end the process as `kill -9` would."""

import os
import signal
from typing import Final

KILL_AT: Final = "STREAMHOUSE_KILL_AT"
"""Environment variable: `name`, or `name#2` for the second time the point is reached."""

POINTS: Final = (
    "after_offset_log",  # Spark logged the vector, nothing else happened
    "after_begin",  # the state store knows that the epoch began
    "during_write",  # a store is about to write a table; its name follows: during_write:dwd.sales
    "between_writes",  # one table is written, its name follows; others may not be
    "after_last_write",  # every table is written, the state store does not know
    "before_commit_log",  # the state store knows, Spark's commit log does not
    "during_recovery",  # a replayed epoch is about to run
    # Of a change of a flow:
    "apply_expanded",  # a table has the columns that the plan brings; its name follows
    "apply_filled",  # a new version of a table holds its history; its name follows
    "apply_caught_up",  # new versions of tables are where the flow is
    "apply_audited",  # they were looked at, and that is recorded: they may serve, or wait for a person
    "apply_prepared",  # everything is ready, nothing is recorded
    "apply_completed",  # the state store knows, the runner does not
)

_reached: dict[str, int] = {}


def reach(point: str, detail: str = "") -> None:
    """Do nothing, unless the environment asks to die here."""
    wanted = os.environ.get(KILL_AT)
    if wanted is None:
        return
    name = f"{point}:{detail}" if detail else point
    for candidate in {name, point}:
        _reached[candidate] = _reached.get(candidate, 0) + 1
        if wanted in (candidate, f"{candidate}#{_reached[candidate]}"):
            os.kill(os.getpid(), signal.SIGKILL)
