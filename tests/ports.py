"""Ports for the servers of tests, each taken before its server starts.

Kafka, PostgreSQL and others want their port in a setting, so a test cannot bind it for them. It binds the UDP port of
the same number instead, for as long as its process lives: no other test gets that number, and the server's own TCP
port stays free for it. The numbers are below those that Streamhouse chooses for itself, and those of outgoing
connections.
"""

import random
import socket

from streamhouse.services.ports import LOOPBACK

_NUMBERS = range(10_000, 16_000)
_TAKEN: list[socket.socket] = []


def take_ports(count: int) -> list[int]:
    """Different ports that nothing listens on, and that no other call gives while this process lives."""
    ports: list[int] = []
    for port in random.SystemRandom().sample(_NUMBERS, len(_NUMBERS)):
        if len(ports) == count:
            return ports
        if _taken(port):
            ports.append(port)
    raise AssertionError(f"no {count} ports of {LOOPBACK} are free")


def _taken(port: int) -> bool:
    claim = socket.socket(type=socket.SOCK_DGRAM)
    try:
        claim.bind((LOOPBACK, port))
        with socket.socket() as probe:
            probe.bind((LOOPBACK, port))
    except OSError:
        claim.close()
        return False
    _TAKEN.append(claim)
    return True
