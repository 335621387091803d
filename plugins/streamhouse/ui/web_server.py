"""A web server that says when it takes requests."""

import socket
from collections.abc import Callable

import uvicorn


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
