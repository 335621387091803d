"""Ports of this machine's loopback interface."""

import socket
from collections.abc import Sequence
from contextlib import ExitStack

from streamhouse.errors import PortTakenError

LOOPBACK = "127.0.0.1"


def free_ports(count: int) -> list[int]:
    """`count` different ports that nothing listens on now.

    Another process may take one before its user does: who binds it later must be ready to choose anew.
    """
    with ExitStack() as held:
        ports = []
        for _ in range(count):
            probe = held.enter_context(socket.socket())
            probe.bind((LOOPBACK, 0))
            ports.append(probe.getsockname()[1])
        return ports


def free_again(wanted: Sequence[int]) -> list[int]:
    """The ports wanted, where they can be had; others that are free in place of those that cannot."""
    spare = free_ports(len(wanted))
    return [port if _is_free(port) else other for port, other in zip(wanted, spare, strict=True)]


def _is_free(port: int) -> bool:
    try:
        require_free(port)
    except PortTakenError:
        return False
    return True


def require_free(port: int) -> None:
    """Refuse a port that a person asked for and that cannot be had.

    Raises:
        PortTakenError: something listens there, or this user may not.
    """
    bound(port).close()


def bound(port: int | None) -> socket.socket:
    """A socket that listens on a port, for its user to close; None: on any that is free.

    Raises:
        PortTakenError: something else listens there, or this user may not.
    """
    listening = socket.socket()
    # As servers do: a connection that has just ended there is no reason to refuse.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port or 0))
        listening.listen()
    except OSError as error:
        listening.close()
        raise PortTakenError(
            f"port {port} of {LOOPBACK} cannot be used: {error.strerror}",
            hint="stop what listens there, choose another port, or leave the port out: a free one is found",
        ) from error
    return listening


def answers(port: int) -> bool:
    """Whether something accepts connections on the port."""
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((LOOPBACK, port)) == 0
