"""Ports of this machine's loopback interface."""

import errno
import random
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from streamhouse.errors import PortTakenError

LOOPBACK = "127.0.0.1"
_HOSTS = "name an IPv4 address of this machine, such as 127.0.0.1; 0.0.0.0 is all of them"
_PORTS = "stop what listens there, choose another port, or leave the port out: a free one is found"
_RANGE_FILE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_IANA_DYNAMIC = 49152
_LOWEST = 10_000  # below are those that programs are known by
_SPAN = 16_384
_KERNEL_TRIES = 64


def free_ports(count: int) -> list[int]:
    """`count` different ports that nothing listens on now, and that no outgoing connection will be given.

    A server that is down for a while finds its port again: the kernel takes those of outgoing connections from a range
    of its own, and these are below it. Chosen at random, so that two who choose at once seldom meet; as another process
    may take one before its user does, who binds it later must be ready to choose again.

    Raises:
        PortTakenError: there are not so many.
    """
    with ExitStack() as stack:
        ports: list[int] = []
        for port in _candidates():
            if len(ports) == count:
                break
            probe = stack.enter_context(socket.socket())
            with suppress(OSError):
                probe.bind((LOOPBACK, port))
                ports.append(probe.getsockname()[1])
        if len(ports) < count:
            raise PortTakenError(f"no {count} ports of {LOOPBACK} are free", hint="stop what listens there")
        return ports


def _candidates() -> Iterator[int]:
    """Ports to try, each once; 0, which leaves the choice to the kernel, where its own range leaves no room."""
    end = _outgoing_from(_RANGE_FILE)
    below = range(max(_LOWEST, end - _SPAN), end)
    yield from random.SystemRandom().sample(below, len(below)) if below else ()
    yield from [0] * _KERNEL_TRIES


def _outgoing_from(file: Path) -> int:
    """The first port that the kernel gives to outgoing connections, from Linux; else the one of IANA."""
    try:
        return int(file.read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return _IANA_DYNAMIC


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


def bound(port: int | None, host: str = LOOPBACK) -> socket.socket:
    """A socket that listens on a port, for its user to close; None: on any that is free.

    Args:
        port: Which.
        host: An IPv4 address or a name of this machine; an empty one, which would be every address, is refused.

    Raises:
        PortTakenError: something else listens there, this user may not, or the host is no address of this machine.
    """
    if not host.strip():
        raise PortTakenError("an empty host is no address to listen on", hint=_HOSTS)
    listening = socket.socket()
    # As servers do: a connection that has just ended there is no reason to refuse.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port or 0))
        listening.listen()
    except (OSError, UnicodeError) as error:
        listening.close()
        reason, hint = _why(error)
        raise PortTakenError(f"port {port or 0} of {host} cannot be used: {reason}", hint=hint) from error
    return listening


def _why(error: OSError | UnicodeError) -> tuple[str, str]:
    """Why a port of a host cannot be used, and the hint for it."""
    if isinstance(error, UnicodeError):
        return "it is no name of a host", _HOSTS
    is_of_host = isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL
    return str(error.strerror), _HOSTS if is_of_host else _PORTS


def answers(port: int) -> bool:
    """Whether something accepts connections on the port."""
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((LOOPBACK, port)) == 0
