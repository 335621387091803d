import socket
from pathlib import Path

import pytest

from streamhouse.errors import PortTakenError
from streamhouse.services import ports as chosen
from streamhouse.services.ports import answers, bound, free_again, free_ports, require_free


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


def outgoing():
    """The port that the kernel gave to a connection."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        return client.getsockname()[1]


def test_no_outgoing_connection_can_be_given_one():
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert all(10_000 <= port < lowest for port in free_ports(50))
    assert outgoing() >= lowest


def test_two_who_choose_at_once_seldom_choose_the_same():
    rounds = [frozenset(free_ports(3)) for _ in range(20)]
    assert len(set().union(*rounds)) > 50


def test_of_ports_that_are_taken_none_is_chosen(monkeypatch):
    first = free_ports(1)[0]
    with socket.socket() as other:
        other.bind(("127.0.0.1", first))
        monkeypatch.setattr(chosen, "_candidates", lambda: iter([first, first, 0, 0]))
        assert first not in free_ports(2)
        monkeypatch.setattr(chosen, "_candidates", lambda: iter([first]))
        with pytest.raises(PortTakenError, match=r"no 2 ports of 127\.0\.0\.1 are free"):
            free_ports(2)


@pytest.mark.parametrize("text", ["1024\t65535\n", "9000 60999", "\n", None])
def test_where_the_kernel_leaves_no_room_or_tells_nothing_there_are_ports_all_the_same(tmp_path, monkeypatch, text):
    file = tmp_path / "range"
    if text is not None:
        file.write_text(text)
    monkeypatch.setattr(chosen, "_RANGE_FILE", file)
    found = free_ports(5)
    assert len(set(found)) == 5
    if text is None or not text.strip():
        assert all(port < 49152 for port in found)


@pytest.mark.parametrize("host", ["", " ", "::1", "bad host", "256.1.1.1", "a" * 70, "192.0.2.1"])
def test_a_host_that_is_no_address_of_this_machine_is_refused(host):
    """An empty one would be every address."""
    with pytest.raises(PortTakenError) as refused:
        bound(None, host)
    assert refused.value.hint.startswith("name an IPv4 address of this machine")
