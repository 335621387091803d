"""Ctrl-C and SIGTERM in a process that talks to Spark's JVM.

Python raises what a signal asks for at any point of the main thread, also while it waits for an answer of the JVM.
The answer then comes later, and the next call takes it for its own; PySpark's own handler even calls the JVM in the
middle of a call. So an interrupt waits for the call in hand.
"""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from types import FrameType

from streamhouse.errors import StreamhouseError

_LOOK_S = 0.02
_CANCEL_AFTER_S = 2.0
_GIVE_UP_S = 30.0  # the JVM hangs: from here on a broken connection to it is the smaller trouble

Handler = Callable[[int, FrameType | None], None]


class _Deferred:
    """Raises `KeyboardInterrupt`, once the main thread does not wait for the JVM."""

    def __init__(self) -> None:
        self._since_s: float | None = None
        self._cancelled = False

    @property
    def waits(self) -> bool:
        """Whether a signal came that has raised nothing yet."""
        return self._since_s is not None

    def __call__(self, _number: int, frame: FrameType | None) -> None:
        now_s = time.monotonic()
        since_s = now_s if self._since_s is None else self._since_s
        if not _calls_jvm(frame) or now_s - since_s > _GIVE_UP_S:
            self._since_s, self._cancelled = None, False
            raise KeyboardInterrupt
        self._since_s = since_s
        if now_s - since_s > _CANCEL_AFTER_S and not self._cancelled:
            self._cancelled = True
            threading.Thread(target=_cancel_jobs, name="cancel", daemon=True).start()
        signal.setitimer(signal.ITIMER_REAL, _LOOK_S)  # comes back here as SIGALRM


@contextmanager
def interruptible() -> Iterator[None]:
    """Within the block Ctrl-C and SIGTERM raise `KeyboardInterrupt`, but never in the middle of a call of the JVM.

    A Spark job that goes on for more than two seconds after that is cancelled. An error that ends the block while an
    interrupt waits is what the interrupt made, such as a job that was cancelled; so is one that a `finally` of the
    interrupted code raised, except an error of Streamhouse, which says what could not be cleaned up. Does nothing
    outside the main thread, where no handler can be set, and leaves Ctrl-C alone where it is ignored (`nohup`).

    Raises:
        KeyboardInterrupt: a signal came, also where the block ends with another error.
    """
    if not _sets_handlers():
        yield
        return
    handler = _Deferred()
    before = {number: signal.signal(number, handler) for number in (signal.SIGTERM, signal.SIGALRM)}
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        before[signal.SIGINT] = signal.signal(signal.SIGINT, handler)
    try:
        yield
    except Exception as error:
        if handler.waits or (_follows_interrupt(error) and not isinstance(error, StreamhouseError)):
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, old in before.items():
            signal.signal(number, old)


@contextmanager
def ending(stop: Callable[[], None]) -> Iterator[None]:
    """Within the block the first Ctrl-C or SIGTERM calls `stop`, from another thread, instead of raising.

    The block is to come to its end by itself then; `KeyboardInterrupt` is raised after it. A second one is what it
    was before the block. Outside the main thread nothing is changed.

    Args:
        stop: Asks for the end; called once at most.

    Raises:
        KeyboardInterrupt: the block came to its end after a signal.
    """
    if not _sets_handlers():
        yield
        return
    stop_requests: SimpleQueue[bool] = SimpleQueue()  # unlike an event, a signal handler may put into it at any moment
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    before = {number: old for number, old in before.items() if callable(old)}
    stop_requested = False

    def restore() -> None:
        for number, old in before.items():
            signal.signal(number, old)

    def ask(_number: int, _frame: FrameType | None) -> None:
        nonlocal stop_requested
        stop_requested = True
        restore()
        stop_requests.put(True)

    def wait() -> None:
        if stop_requests.get():
            stop()

    waiting = threading.Thread(target=wait, name="ending", daemon=True)
    waiting.start()
    for number in before:
        signal.signal(number, ask)
    try:
        yield
    finally:
        restore()
        stop_requests.put(False)
        waiting.join()
    if stop_requested:
        raise KeyboardInterrupt


@contextmanager
def preserve_handlers() -> Iterator[None]:
    """After the block Ctrl-C does what it did before: a `SparkContext` takes it for itself."""
    if not _sets_handlers():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _follows_interrupt(error: BaseException) -> bool:
    """Whether an error was raised while an interrupt ended the code around it."""
    earlier = error.__context__
    while earlier is not None and not isinstance(earlier, KeyboardInterrupt):
        earlier = earlier.__context__
    return earlier is not None


def _sets_handlers() -> bool:
    return threading.current_thread() is threading.main_thread()


def _calls_jvm(frame: FrameType | None) -> bool:
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith("py4j."):
            return True
        frame = frame.f_back
    return False


def _cancel_jobs() -> None:
    if "pyspark" not in sys.modules:
        return
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    if context is not None and hasattr(context, "_jsc"):  # one that is being made has no jobs
        context.cancelAllJobs()
