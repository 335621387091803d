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


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Within the block Ctrl-C and SIGTERM wait; what they do comes at its end. For blocks of milliseconds.

    Outside the main thread nothing is changed: no signal interrupts it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    ours = [number for number, handler in before.items() if handler not in (None, signal.SIG_IGN)]
    for number in ours:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])
        for one in came:
            signal.raise_signal(one)


def _unwind(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(_EXIT_CODE)
