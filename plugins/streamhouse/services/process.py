"""Processes that outlive the one that starts them."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from streamhouse.model.types import Frozen

if TYPE_CHECKING:
    import psutil

# Linux counts a start in ticks of 10 ms; what is written as text and read back may be a rounding away.
_SAME_START_S = 0.05
_LOOK_EVERY_S = 0.03
# Python warns of a child that is let go while it runs; these are meant to.
_children: list["subprocess.Popen[bytes]"] = []


class Process(Frozen):
    """One process, told apart from a later one that got the same pid.

    `began_s` is when it began, in seconds since the machine did: setting the clock does not move it,
    and after a reboot it does not match.
    """

    pid: int
    began_s: float

    @classmethod
    def of(cls, pid: int) -> Self | None:
        """The process that has this pid now, or None."""
        import psutil

        try:
            return cls(pid=pid, began_s=_began_s(psutil.Process(pid)))
        except psutil.NoSuchProcess:
            return None

    @classmethod
    def this(cls) -> Self:
        """The process that runs this."""
        found = cls.of(os.getpid())
        assert found is not None
        return found

    @property
    def alive(self) -> bool:
        """Whether one of its threads runs. A zombie, which only waits to be reaped, does not."""
        return self._found() is not None

    def stop(self, grace_s: float) -> bool:
        """Ask it to end, wait `grace_s` seconds, then kill it. Does nothing when it is gone.

        Returns:
            Whether it ended without being killed.
        """
        self.ask_to_end()
        return self.end_within(grace_s)

    def ask_to_end(self) -> None:
        """Send SIGTERM. Does nothing when it is gone."""
        self._send(signal.SIGTERM)

    def end_within(self, seconds: float) -> bool:
        """Wait for its end, at most `seconds`, then kill it; whether it ended without being killed."""
        if self.ended_within(seconds):
            return True
        self._send(signal.SIGKILL)
        self.ended_within(seconds)
        return False

    def ended_within(self, seconds: float) -> bool:
        """Wait for its end, at most so long; whether it came."""
        # psutil's own wait() never ends for a zombie of another process.
        until = time.monotonic() + seconds
        while self.alive:
            if time.monotonic() > until:
                return False
            time.sleep(_LOOK_EVERY_S)
        return True

    def _send(self, number: signal.Signals) -> None:
        import psutil

        found = self._found()
        if found is not None:
            with suppress(psutil.NoSuchProcess):
                found.send_signal(number)

    def _found(self) -> "psutil.Process | None":
        import psutil

        try:
            process = psutil.Process(self.pid)
            same = abs(_began_s(process) - self.began_s) < _SAME_START_S
            return process if same and not _is_over(process) else None
        except psutil.NoSuchProcess:
            return None


def spawn(command: Sequence[str], *, log: Path, folder: Path, environment: Mapping[str, str]) -> Process:
    """Start a process in a session of its own, so that Ctrl-C in this terminal does not reach it.

    Args:
        command: The program and its arguments.
        log: Gets its output, after what is there.
        folder: Its working directory.
        environment: All of its environment variables.
    """
    with log.open("ab") as output:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
    _children[:] = [c for c in _children if c.poll() is None] + [child]
    # It cannot be None: a child that has ended stays a zombie until it is polled.
    process = Process.of(child.pid)
    assert process is not None
    return process


def _is_over(process: "psutil.Process") -> bool:
    """Whether all threads have ended. It is a zombie from the end of the first one on, and has its ports until then."""
    import psutil

    return process.status() == psutil.STATUS_ZOMBIE and process.num_threads() <= 1


def _began_s(process: "psutil.Process") -> float:
    import psutil

    while True:
        booted = psutil.boot_time()
        created = process.create_time()  # of the wall clock, as boot_time() is
        if psutil.boot_time() == booted:  # the clock was not set in between
            return created - booted
