"""Settings of sockets that Fluss's client opened and gives no access to."""

import os
import socket
import stat
from collections.abc import Collection
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from typing import Any

from streamhouse.stores.fluss.wire.link import Address

_OPEN_FILES = Path("/proc/self/fd")
_PEER_TIMEOUT_S = 30


def tune(servers: Collection[Address]) -> int:
    """Send small requests at once to `servers`, and notice within half a minute when their machine is gone.

    Does nothing where open files cannot be listed (only Linux lists them here).

    Returns:
        How many connections this process has to them.
    """
    if not _OPEN_FILES.is_dir():
        return 0
    peers = _peers(servers)
    count = 0
    for descriptor in [int(entry.name) for entry in _OPEN_FILES.iterdir()]:
        with suppress(OSError):  # closed since it was listed, or not connected
            if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                continue
            with socket.socket(fileno=os.dup(descriptor)) as connection:
                if connection.family in (socket.AF_INET, socket.AF_INET6) and _peer(connection) in peers:
                    _tune(connection)
                    count += 1
    return count


def _peers(servers: Collection[Address]) -> set[Address]:
    """The network addresses and ports of servers; a name may have several addresses."""
    found: set[Address] = set()
    for host, port in servers:
        with suppress(OSError):  # a name that is unknown now has no connections
            found |= {_plain(entry[4]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
    return found


def _peer(connection: socket.socket) -> Address:
    return _plain(connection.getpeername())


def _plain(address: tuple[Any, ...]) -> Address:
    host = ip_address(str(address[0]).partition("%")[0])
    mapped = host.ipv4_mapped if isinstance(host, IPv6Address) else None  # an IPv4 peer of an IPv6 socket
    return str(mapped or host), int(address[1])


def _tune(connection: socket.socket) -> None:
    # A request of more than one write would wait 40 ms for the server's delayed acknowledgement: 500 rows took
    # 48 ms to append, and take 4 ms so.
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # A machine without power or network never answers, and the client would wait forever. A process that stands
    # still is another thing: its machine answers for it.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _PEER_TIMEOUT_S // 3)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, _PEER_TIMEOUT_S // 6)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 4)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _PEER_TIMEOUT_S * 1000)
