"""Ports that tests take for servers."""

import socket
import subprocess
import sys

from streamhouse.services.ports import LOOPBACK
from tests import ports
from tests.ports import take_ports


def test_no_port_is_given_twice_and_a_server_can_listen_there():
    first, second = take_ports(50), take_ports(50)
    assert len({*first, *second}) == 100
    with socket.create_server((LOOPBACK, first[0])) as server:
        assert server.getsockname()[1] == first[0]


def test_no_other_process_gets_a_port_that_this_one_took(monkeypatch):
    own = take_ports(3)
    monkeypatch.setattr(ports, "_NUMBERS", own)
    code = f"from tests import ports; ports._NUMBERS = {own}; print([ports._taken(port) for port in {own}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[False, False, False]\n"


def test_a_port_on_which_something_listens_is_not_given(monkeypatch):
    [port] = take_ports(1)
    with socket.create_server((LOOPBACK, port)):
        ports._TAKEN.pop().close()
        monkeypatch.setattr(ports, "_NUMBERS", [port])
        assert not ports._taken(port)
