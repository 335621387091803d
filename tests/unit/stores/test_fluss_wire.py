import socket
from time import monotonic

import pytest

from streamhouse.errors import StoreError, StoreUnavailableError, TableMissingError, WriteRefusedError
from streamhouse.stores.fluss.wire import LeaderMovedError, Wire, refusal


def test_nobody_listens() -> None:
    with socket.create_server(("localhost", 0)) as held:
        port = held.getsockname()[1]
    with Wire(f"localhost:{port}") as wire, pytest.raises(StoreUnavailableError, match="does not answer"):
        wire.call_any(1012, b"", "ods.t")


def test_a_server_that_hangs_is_given_up() -> None:
    with socket.create_server(("localhost", 0)) as silent:
        began = monotonic()
        with Wire("unused:1", timeout_s=0.2) as wire, pytest.raises(StoreUnavailableError, match="timed out"):
            wire.call(silent.getsockname()[:2], 1007, b"", "ods.t")
    assert monotonic() - began < 5


@pytest.mark.parametrize(
    ("code", "kind"),
    [(7, TableMissingError), (4, TableMissingError), (12, LeaderMovedError), (21, LeaderMovedError),
     (25, StoreUnavailableError), (17, StoreUnavailableError), (13, WriteRefusedError),
     (-1, StoreError), (15, StoreError)],
)  # fmt: skip
def test_codes_become_errors(code: int, kind: type[StoreError]) -> None:
    error = refusal(code, "org.apache.fluss.SomeException: it failed\n\tat java.lang.Thread", "ods.t")
    assert type(error) is kind
    assert "\tat" not in str(error)
    assert "ods.t" in str(error)


def test_a_server_that_is_gone_is_told_without_the_layers_of_the_client() -> None:
    error = refusal(
        1,
        "Failed to connect destination node 0: Fluss hitting unexpected rpc error connection error: "
        'ConnectionError("IO Error: Connection refused (os error 111)")',
        "ods.t",
    )
    assert type(error) is StoreUnavailableError
    assert error.message == "Fluss does not answer for ods.t: Connection refused (os error 111)"
