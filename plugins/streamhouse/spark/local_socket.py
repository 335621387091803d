"""Sockets on which the JVM serves one result to this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any


@contextmanager
def served(address: Any, secret: Any) -> Iterator[IO[bytes]]:
    """Connect before anything else: a server without a client waits forever, and so does a request for its result."""
    from pyspark.util import local_connect_and_auth

    stream, line = local_connect_and_auth(address, secret)
    try:
        line.settimeout(None)  # how long a query takes nobody knows
        yield stream
    finally:
        stream.close()
        line.close()
