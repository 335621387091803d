"""One connection to one Fluss server: frames over a plain blocking socket."""

import socket
import struct

from streamhouse.errors import StoreError, StoreUnavailableError
from streamhouse.stores.fluss.wire import proto
from streamhouse.stores.fluss.wire.api import Api, OfferedVersions
from streamhouse.stores.fluss.wire.login import Login
from streamhouse.stores.fluss.wire.refusal import STATUS, refusal

Address = tuple[str, int]

_OK, _REFUSED = 0, 1
_HEAD = struct.Struct(">ihhi")  # size, api, version, request
_REPLY = struct.Struct(">ibi")  # size, kind, request


class ServerLink:
    """One connection to one server; one request at a time."""

    def __init__(self, address: Address, timeout_s: float, login: Login | None = None) -> None:
        self.address = address
        self.is_open = True
        self._request = 0
        try:
            self._socket = socket.create_connection(address, timeout=timeout_s)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            raise self._lost(error) from error
        # A server answers nothing else before it was asked for its versions.
        self._offered = OfferedVersions({Api.API_VERSIONS.key: (0, 0)})
        self._offered = OfferedVersions.read(
            self.call(Api.API_VERSIONS, proto.encode((1, "streamhouse"), (2, "1")), str(self))
        )
        if login is not None:
            self._enter(login)

    def __str__(self) -> str:
        return f"{self.address[0]}:{self.address[1]}"

    def call(self, api: Api, body: bytes, subject: str) -> proto.Message:
        """The server's answer.

        Raises:
            StoreUnavailableError: the connection broke; this link cannot be used again.
            StoreError: the server refused, or speaks no version of the request that we speak; the link stays usable.
        """
        version = self._offered.version(api, str(self))
        self._request += 1
        try:
            self._socket.sendall(_HEAD.pack(len(body) + 8, api.key, version, self._request) + body)
            size, kind, request = _REPLY.unpack(self._receive(_REPLY.size))
            if kind not in (_OK, _REFUSED):  # a server failure has no request number
                raise ConnectionError("the server failed")
            if request != self._request:
                raise ConnectionError("an answer to another request came")
            answer = proto.decode(self._receive(size - 5))
        except (OSError, ValueError, IndexError) as error:
            self.close()
            raise self._lost(error) from error
        if kind == _REFUSED:
            raise refusal(proto.number(answer, 1), proto.text(answer, 2), subject)
        return answer

    def _enter(self, login: Login) -> None:
        try:
            self.call(Api.AUTHENTICATE, login.request, str(self))
        except StoreError:
            self.close()
            raise

    def close(self) -> None:
        """Drop the connection."""
        self.is_open = False
        self._socket.close()

    def _receive(self, size: int) -> memoryview:
        data = bytearray(size)
        view, got = memoryview(data), 0
        while got < size:
            count = self._socket.recv_into(view[got:])
            if not count:
                raise ConnectionError("the server closed the connection")
            got += count
        return view

    def _lost(self, error: Exception) -> StoreUnavailableError:
        return StoreUnavailableError(f"Fluss does not answer at {self}: {error}", hint=STATUS)
