import socket
import struct
from threading import Thread
from typing import Self

import pytest

from streamhouse.errors import StoreError, StoreUnavailableError, TableMissingError, WriteRefusedError
from streamhouse.stores.fluss.wire import proto
from streamhouse.stores.fluss.wire.api import Api, OfferedVersions
from streamhouse.stores.fluss.wire.cluster import Wire
from streamhouse.stores.fluss.wire.refusal import LeaderMovedError, refusal
from tests.patience import PATIENCE_S


def test_nobody_listens() -> None:
    with socket.create_server(("localhost", 0)) as held:
        port = held.getsockname()[1]
    with Wire(f"localhost:{port}") as wire, pytest.raises(StoreUnavailableError, match="does not answer"):
        wire.call_any(Api.GET_METADATA, b"", "ods.t")


def test_a_server_that_hangs_is_given_up() -> None:
    with (
        socket.create_server(("localhost", 0)) as silent,
        Wire("unused:1", timeout_s=0.2) as wire,
        pytest.raises(StoreUnavailableError, match="timed out"),
    ):
        wire.call(silent.getsockname()[:2], Api.GET_TABLE_INFO, b"", "ods.t")


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


def answer(*offered: tuple[int, int, int]) -> proto.Message:
    return proto.decode(proto.encode(*((1, proto.encode(*enumerate(one, start=1))) for one in offered)))


@pytest.mark.parametrize(("lowest", "highest"), [(0, 0), (0, 7)])
def test_the_highest_version_that_both_speak_is_sent(lowest: int, highest: int) -> None:
    offered = OfferedVersions.read(answer((1015, lowest, highest), (4711, 3, 3)))
    assert offered.version(Api.FETCH_LOG, "h:1") == 0


@pytest.mark.parametrize(
    ("offered", "why"),
    [([], "does not offer it"), ([(1012, 0, 0)], "does not offer it"),
     ([(1015, 1, 1)], "speaks version 1, we speak version 0"),
     ([(1015, 2, 3)], "speaks versions 2 to 3, we speak version 0")],
)  # fmt: skip
def test_a_request_without_a_common_version_is_refused(offered: list[tuple[int, int, int]], why: str) -> None:
    with pytest.raises(StoreError, match=r"Fluss at h:1 cannot answer FETCH_LOG \(1015\): it " + why) as caught:
        OfferedVersions.read(answer(*offered)).version(Api.FETCH_LOG, "h:1")
    assert "0.9.1" in str(caught.value.hint)


def test_what_a_server_does_not_offer_is_not_sent_and_the_link_stays_usable() -> None:
    with Server([(1012, 0, 0)]) as server, Wire("unused:1", timeout_s=PATIENCE_S) as wire:
        with pytest.raises(StoreError, match="FETCH_LOG"):
            wire.call(server.address, Api.FETCH_LOG, b"", "ods.t")
        wire.call(server.address, Api.GET_METADATA, b"", "ods.t")
    assert server.received == [(1000, 0), (1012, 0)]


class Server:
    """Answers one connection: with the versions it offers, and then with nothing in it.

    Attributes:
        received: Key and version of each request.
    """

    def __init__(self, offered: list[tuple[int, int, int]]) -> None:
        self._answers = proto.encode(*((1, proto.encode(*enumerate(one, start=1))) for one in offered))
        self._listener = socket.create_server(("localhost", 0))
        self.address = self._listener.getsockname()[:2]
        self.received: list[tuple[int, int]] = []
        self._thread = Thread(target=self._serve)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join(PATIENCE_S)
        self._listener.close()

    def _serve(self) -> None:
        connection, _ = self._listener.accept()
        with connection, connection.makefile("rb") as stream:
            while head := stream.read(4):
                frame = stream.read(struct.unpack(">i", head)[0])
                key, version, request = struct.unpack_from(">hhi", frame)
                self.received.append((key, version))
                body = self._answers if key == Api.API_VERSIONS.key else b""
                connection.sendall(struct.pack(">ibi", len(body) + 5, 0, request) + body)
