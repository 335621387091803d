"""Frames between this process and Fluss servers, over plain blocking sockets."""

import os
import re
import socket
import struct
from collections import defaultdict
from threading import Lock
from typing import Self

from streamhouse.errors import (
    LoginRefusedError,
    StoreError,
    StoreUnavailableError,
    TableMissingError,
    WriteRefusedError,
)
from streamhouse.stores.fluss import proto
from streamhouse.stores.fluss.login import Login

Address = tuple[str, int]

_API_VERSIONS, _AUTHENTICATE = 1000, 1038
_OK, _REFUSED = 0, 1
_SYSTEM_ERROR = re.compile(r'"IO Error: ([^"]+)"')
STATUS = "streamhouse services status tells whether it runs"
_HEAD = struct.Struct(">ihhi")  # size, api, version, request
_REPLY = struct.Struct(">ibi")  # size, kind, request
_GONE = (4, 7)  # DATABASE_NOT_EXIST, TABLE_NOT_EXIST
# Schema, leader, bucket or partition not (yet) known to this server; 37: the table was made anew without partitions.
_MOVED = (9, 12, 21, 24, 36, 37, 44)
_SERVER_FAILED, _AWAY = -1, 1
_STARTING = "is not initialized yet"
_UNREADABLE = "Failed to get table"
# Storage, no server up, timeout, replicas, back-pressure; 31 and 33: the server knows another writer, or none.
# 51: it is too busy to let us in.
_TRANSIENT = (10, 11, 17, 25, 26, 27, 28, 29, 31, 33, 51, 64, 65, 70, 72)
OUT_OF_RANGE = 19
_NO_ENTRY = 46


class LeaderMovedError(StoreUnavailableError):
    """A server does not (yet, or any more) hold what was asked: look the table up again."""


class HalfMadeError(LeaderMovedError):
    """A table is being made in this very moment: for some milliseconds Fluss has its name and nothing of it yet."""


def refusal(code: int, message: str, subject: str) -> StoreError:
    """The error that tells a Fluss error code, as client or server reports it.

    Args:
        code: A number of Fluss's `Errors`; -1 is a failure inside the server, -2 one inside its client.
        message: What Fluss says; only its first line is kept, as the rest is a Java stack.
        subject: What the request was about: a table name or an address.
    """
    reason = (message.strip().splitlines() or ["no reason given"])[0]
    reason = reason.removeprefix(reason.split(" ")[0]).strip() if reason.startswith("org.apache.fluss.") else reason
    if code in _GONE or "TableNotExistException" in message:
        return TableMissingError(f"Fluss has no table {subject}", hint="apply the flow's plan to create it")
    if code == _SERVER_FAILED and _STARTING in message:
        return StoreUnavailableError(f"Fluss is starting and cannot serve {subject} yet", hint=STATUS)
    if code == _SERVER_FAILED and _UNREADABLE in message:
        return HalfMadeError(f"Fluss cannot tell what {subject} is", hint=STATUS)
    if code == _AWAY:
        return StoreUnavailableError(f"Fluss does not answer for {subject}: {_plain(reason)}", hint=STATUS)
    if code in _MOVED:
        return LeaderMovedError(f"Fluss is moving {subject}: {reason}")
    if code == _NO_ENTRY:
        return LoginRefusedError(
            f"Fluss does not let us in: {reason}",
            hint="fluss_login.user (STREAMHOUSE_FLUSS_USER) is who logs in, with STREAMHOUSE_FLUSS_PASSWORD",
        )
    if code in _TRANSIENT:
        return StoreUnavailableError(f"Fluss cannot serve {subject} now: {reason}")
    if code in (45, 49):
        return WriteRefusedError(
            f"Fluss makes no further partition of {subject}: {reason}",
            hint="tables that keep their rows for some days only lose old partitions by themselves; else raise "
            "max.partition.num and max.bucket.num of the Fluss servers",
        )
    if code in (13, 14, 35, 43, 57):
        return WriteRefusedError(f"Fluss refuses rows for {subject}: {reason}")
    return StoreError(f"Fluss refuses a request for {subject}: {reason} (code {code})")


def _plain(reason: str) -> str:
    """What the operating system says, without the layers of the client around it."""
    told = _SYSTEM_ERROR.search(reason)
    return told[1] if told else reason


class Link:
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
        self.call(_API_VERSIONS, proto.encode((1, "streamhouse"), (2, "1")), str(self))
        if login is not None:
            self._enter(login)

    def __str__(self) -> str:
        return f"{self.address[0]}:{self.address[1]}"

    def call(self, api: int, body: bytes, subject: str) -> proto.Message:
        """The server's answer.

        Raises:
            StoreUnavailableError: the connection broke; this link cannot be used again.
            StoreError: the server refused; the link stays usable.
        """
        self._request += 1
        try:
            self._socket.sendall(_HEAD.pack(len(body) + 8, api, 0, self._request) + body)
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
            self.call(_AUTHENTICATE, login.request, str(self))
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


class Wire:
    """Idle links to every server of a cluster; safe for threads, and for a child after a fork."""

    def __init__(self, bootstrap: str, timeout_s: float = 30.0, login: Login | None = None) -> None:
        self.bootstrap = [_address(part) for part in bootstrap.split(",")]
        self._timeout_s = timeout_s
        self._login = login
        self._idle: dict[tuple[int, Address], list[Link]] = defaultdict(list)
        self._lock = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, address: Address, api: int, body: bytes, subject: str) -> proto.Message:
        """One request to one server, on an idle link or a new one; it may reach the server twice.

        Raises:
            StoreUnavailableError: the server cannot be reached.
            StoreError: the server refused.
        """
        key = (os.getpid(), address)  # a child must not speak on its parent's sockets
        with self._lock:
            link = self._idle[key].pop() if self._idle[key] else None
        if link is not None:
            try:
                return self._call(key, link, api, body, subject)
            except LeaderMovedError:
                raise
            except StoreUnavailableError:
                self._drop(key)  # servers close links that idle, and a restart breaks all of them
        return self._call(key, Link(address, self._timeout_s, self._login), api, body, subject)

    def call_any(self, api: int, body: bytes, subject: str) -> proto.Message:
        """One request to the first bootstrap server that answers."""
        for address in self.bootstrap[:-1]:
            try:
                return self.call(address, api, body, subject)
            except StoreUnavailableError:
                continue
        return self.call(self.bootstrap[-1], api, body, subject)

    def close(self) -> None:
        """Drop every idle link."""
        for key in list(self._idle):
            self._drop(key)

    def _call(self, key: tuple[int, Address], link: Link, api: int, body: bytes, subject: str) -> proto.Message:
        try:
            return link.call(api, body, subject)
        finally:
            if link.is_open:
                with self._lock:
                    self._idle[key].append(link)

    def _drop(self, key: tuple[int, Address]) -> None:
        with self._lock:
            links = self._idle.pop(key, [])
        for link in links:
            link.close()


def _address(text: str) -> Address:
    host, _, port = text.strip().rpartition(":")
    return host, int(port)
