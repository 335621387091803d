"""Being asked to end: `kill`, a scheduler's time limit, a machine that shuts down."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_EXIT_CODE = 128 + signal.SIGTERM


@contextmanager
def sigterm_unwinds() -> Iterator[None]:
    """Within the block SIGTERM raises `SystemExit(143)`, so that whatever must be cleaned up is.

    By itself SIGTERM ends Python at once. Does nothing where somebody has a handler of their own,
    or outside the main thread, where none can be set.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _unwind)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _unwind(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(_EXIT_CODE)
