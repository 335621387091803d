"""Requests to the servers of a Fluss cluster."""

import os
from collections import defaultdict
from threading import Lock
from typing import Self

from streamhouse.errors import StoreUnavailableError
from streamhouse.stores.fluss.wire import proto
from streamhouse.stores.fluss.wire.api import Api
from streamhouse.stores.fluss.wire.link import Address, ServerLink
from streamhouse.stores.fluss.wire.login import Login
from streamhouse.stores.fluss.wire.refusal import LeaderMovedError


class Wire:
    """Idle links to every server of a cluster; safe for threads, and for a child after a fork."""

    def __init__(self, bootstrap: str, timeout_s: float = 30.0, login: Login | None = None) -> None:
        self.bootstrap = [_address(part) for part in bootstrap.split(",")]
        self._timeout_s = timeout_s
        self._login = login
        self._idle: dict[tuple[int, Address], list[ServerLink]] = defaultdict(list)
        self._lock = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, address: Address, api: Api, body: bytes, subject: str) -> proto.Message:
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
        return self._call(key, ServerLink(address, self._timeout_s, self._login), api, body, subject)

    def call_any(self, api: Api, body: bytes, subject: str) -> proto.Message:
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

    def _call(self, key: tuple[int, Address], link: ServerLink, api: Api, body: bytes, subject: str) -> proto.Message:
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
