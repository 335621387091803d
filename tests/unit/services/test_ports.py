import socket

import pytest

from streamhouse.errors import PortTakenError
from streamhouse.services.ports import answers, free_again, free_ports, require_free


def test_free_ports_are_different_and_free():
    ports = free_ports(20)
    assert len(set(ports)) == 20
    for port in ports:
        require_free(port)


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0"])
def test_a_port_where_something_listens_is_refused(address):
    with socket.socket() as other:
        other.bind((address, 0))
        other.listen()
        port = other.getsockname()[1]
        assert answers(port)
        with pytest.raises(PortTakenError, match=f"port {port} of 127.0.0.1 cannot be used") as told:
            require_free(port)
        assert "choose another port" in told.value.hint
    assert not answers(port)
    require_free(port)


def test_ports_are_had_again_but_for_one_that_is_taken():
    first, taken, last = free_ports(3)
    with socket.socket() as other:
        other.bind(("127.0.0.1", taken))
        other.listen()
        again = free_again([first, taken, last])
    assert (again[0], again[2]) == (first, last)
    assert again[1] != taken
