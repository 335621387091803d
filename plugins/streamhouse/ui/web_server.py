"""A web server that says when it takes requests, and waits for none that does not come."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any, Literal

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS_S = 10.0
"""How long a client has from its first byte, or from when it connects, to the end of the headers of a request."""


class TellingServer(uvicorn.Server):
    """Reports when it takes requests."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then tell."""
        await super().startup(sockets)
        if self.started:
            self._ready()


class PromptClients(H11Protocol):
    """One connection, which is closed when the headers of a request take longer than `HEADERS_S`.

    uvicorn waits for them without a limit, so a few hundred clients without a token that send half a request take all
    open files of the process.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Wait for the first request."""
        super().connection_made(transport)
        self._await_request()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._await_request()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _await_request(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEADERS_S, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def server_config(app: Any, grace_s: int, lifespan: Literal["on", "off"]) -> uvicorn.Config:
    """How a web application of ours is served.

    Args:
        app: The application.
        grace_s: How long requests in hand may take when the server stops.
        lifespan: Whether the application has work to do when the server begins and ends.
    """
    return uvicorn.Config(
        app,
        http=PromptClients,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=grace_s,
        lifespan=lifespan,
    )
