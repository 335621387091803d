"""Which process this is, and whether another one of this host still lives."""

import os
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec

from streamhouse.state.records import Owner

# Linux gives the start in ticks since boot; two readings of the same process may differ by a rounding.
_SAME_START = timedelta(seconds=2)


def this_owner() -> Owner:
    """This process, as leases name it."""
    import psutil

    started = datetime.fromtimestamp(psutil.Process().create_time(), UTC)
    return Owner(socket.gethostname(), os.getpid(), started)


def liveness() -> Callable[[Owner], bool] | None:
    """`is_alive`; None where only the control plane is installed: there a process is gone when its lease runs out."""
    return is_alive if find_spec("psutil") else None


def is_alive(owner: Owner) -> bool:
    """Whether `owner` may still run: False only when this is its host and the process is gone.

    A process with the same pid that started at another time is not it; a zombie is gone.
    """
    import psutil

    if owner.host != socket.gethostname():
        return True
    try:
        process = psutil.Process(owner.pid)
        started = datetime.fromtimestamp(process.create_time(), UTC)
        return abs(started - owner.started_at) < _SAME_START and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True
