"""The far side of an arm: answers one JSON request after the other, from standard input to standard output."""

import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any

OPERATIONS = ("begin", "end", "zero_ms", "drain", "ods_rows", "board")


def serve(operations: Mapping[str, Callable[..., Any]], replies_fd: int) -> None:
    """Call the operation that each line of standard input names, until there are no more lines."""
    with os.fdopen(replies_fd, "w") as replies:
        for line in sys.stdin:
            request = json.loads(line)
            try:
                answer = {"result": operations[request.pop("operation")](**request)}
            except Exception:  # noqa: BLE001  the near side raises it
                answer = {"error": traceback.format_exc()}
            replies.write(json.dumps(answer) + "\n")
            replies.flush()


def wait_until(done: Callable[[], bool], timeout_s: float = 180.0) -> None:
    """Return when `done` says so.

    Raises:
        TimeoutError: it does not in time.
    """
    deadline = time.monotonic() + timeout_s
    while not done():
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing after {timeout_s:.0f} s")
        time.sleep(0.02)


def private_stdout() -> int:
    """A copy of standard output for replies; what others print goes to standard error from now on."""
    replies = os.dup(1)
    os.dup2(2, 1)
    return replies
