"""Work that only one process at a time may do."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from streamhouse.errors import EnvironmentProblem
from streamhouse.install.stage import OnStage, Stage

_PATIENCE_S = 1800.0


@contextmanager
def locked(file: Path, waiting: Stage, progress: OnStage, *, patience_s: float = _PATIENCE_S) -> Iterator[None]:
    """Hold the lock `file` for the length of a `with` block; it dies with its holder.

    Args:
        file: In an existing folder; it stays there empty.
        waiting: Shown when another holder makes this one wait.
        progress: Shows it.
        patience_s: How long to wait for the other holder.

    Raises:
        EnvironmentProblem: the other holder kept it for longer.
    """
    # An instance for each call: one shared by threads would count them as one holder.
    lock = FileLock(file)
    try:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            progress(waiting)
            lock.acquire(timeout=patience_s)
    except Timeout as error:
        raise EnvironmentProblem(
            f"{file} has been locked by another process for {patience_s:.0f} s",
            hint="see what that process does, or end it; the lock ends with it",
        ) from error
    try:
        yield
    finally:
        lock.release()
