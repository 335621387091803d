"""Send small requests at once on sockets that Fluss's client opened."""

import os
import socket
import stat
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from streamhouse.stores.fluss.wire import Address

_OPEN_FILES = Path("/proc/self/fd")


def send_at_once(servers: Collection[Address]) -> int:
    """Set TCP_NODELAY on this process's connections to `servers`, and return how many there are.

    Fluss's client does not, so a request of more than one write waits 40 ms for the server's
    delayed acknowledgement: 500 rows took 48 ms to append, and take 4 ms so. Does nothing where
    open files cannot be listed (only Linux lists them here).
    """
    ports = {port for _, port in servers}
    count = 0
    descriptors = [int(entry.name) for entry in _OPEN_FILES.iterdir()] if _OPEN_FILES.is_dir() else []
    for descriptor in descriptors:
        with suppress(OSError):  # closed since it was listed, or not connected
            if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                continue
            with socket.socket(fileno=os.dup(descriptor)) as connection:
                if connection.family in (socket.AF_INET, socket.AF_INET6) and connection.getpeername()[1] in ports:
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    count += 1
    return count
