"""Only connections to servers of Fluss are tuned: host and port must both be theirs."""

import socket
from contextlib import ExitStack

import pytest

from streamhouse.stores.fluss.sockets import tune


def connected(stack: ExitStack, host: str, port: int = 0) -> tuple[socket.socket, int]:
    listener = stack.enter_context(socket.create_server((host, port)))
    return stack.enter_context(socket.create_connection(listener.getsockname()[:2])), listener.getsockname()[1]


def is_tuned(connection: socket.socket) -> bool:
    return bool(connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE))


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "::ffff:127.0.0.1"])
def test_a_connection_to_the_same_port_of_another_host_stays_as_it_is(name: str) -> None:
    with ExitStack() as stack:
        ours, port = connected(stack, "127.0.0.1")
        other, _ = connected(stack, "127.0.0.2", port)
        assert tune([(name, port)]) == 1
        assert is_tuned(ours)
        assert not is_tuned(other)


def test_a_server_whose_name_is_unknown_has_no_connection() -> None:
    with ExitStack() as stack:
        ours, port = connected(stack, "127.0.0.1")
        assert tune([("no-such-host.invalid", port)]) == 0
        assert not is_tuned(ours)
