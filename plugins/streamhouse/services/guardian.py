"""Ends what a process started when the process itself dies, whatever killed it.

A process that is killed cannot clean up. So it starts a guardian first: a Python process that loads nothing and reads
a pipe, whose other end the kernel closes when its starter dies, or that its starter closes when it ends before it has
cleaned up. The guardian then ends the Spark that the dead process left and, after a grace in which another process may
take them over, the services that no process needs any more.
"""

import atexit
import os
import subprocess
import sys
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path

from streamhouse.install.stage import silent
from streamhouse.services.orphans import children_of, servers_below
from streamhouse.services.process import Process

CHILDREN_GRACE_S = 3.0
"""What was started with a pipe of its own to the dead process ends by itself within this time."""

SERVICES_GRACE_S = 20.0
"""A process that replaces the dead one and takes its services over has so long to come."""

_PROCEED = b"."
_WAIT = f"import os, sys\nif os.read(0, 1) != {_PROCEED!r}: os.execv(sys.argv[1], sys.argv[1:])"
_PID = os.getpid()
_guards: dict[Path, "subprocess.Popen[bytes]"] = {}
_due: Counter[Path] = Counter()
_lock = threading.Lock()


def watch(root: Path) -> None:
    """Have what this process starts for the project at `root` ended, should this process be killed. Again: nothing."""
    root = root.resolve()
    with _lock:
        guard = _guards.get(root)
        if guard is not None and guard.poll() is None:
            return
        ours = Process.this()
        then = [sys.executable, "-m", __name__, str(root), str(ours.pid), repr(ours.began_s)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        _guards[root] = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _WAIT, *then],  # isolated: it needs 8 MB and starts in 10 ms
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )


def begin(root: Path) -> None:
    """From now on services of the project at `root` may be left when this process ends, until `done` is called."""
    _due[root.resolve()] += 1


def done(root: Path) -> None:
    """What `begin` was called for is over: it left no services, or they are meant to stay."""
    _due[root.resolve()] -= 1


@atexit.register
def _let_go() -> None:
    """This process ends by itself. The guardian has nothing to do, unless the cleaning was interrupted, too."""
    if os.getpid() != _PID:  # a fork that ends
        return
    with _lock:
        for root, guard in _guards.items():
            assert guard.stdin is not None
            is_clean = _due[root] <= 0
            if is_clean:
                with suppress(OSError):
                    os.write(guard.stdin.fileno(), _PROCEED)
            guard.stdin.close()
            if is_clean:
                guard.wait()
        _guards.clear()


def end_what_is_left(root: Path, dead: Process) -> None:
    """What the guardian does after the death of `dead`."""
    import time

    from streamhouse.services.services import Services

    services = Services(root)
    time.sleep(CHILDREN_GRACE_S)
    for child in children_of(dead, services.folder.base.parent):
        child.stop(CHILDREN_GRACE_S)
    if not services.folder.state.exists() and not servers_below(services.folder.base):
        return
    time.sleep(SERVICES_GRACE_S - CHILDREN_GRACE_S)
    services.stop_unneeded(silent)


if __name__ == "__main__":
    end_what_is_left(Path(sys.argv[1]), Process(pid=int(sys.argv[2]), began_s=float(sys.argv[3])))
