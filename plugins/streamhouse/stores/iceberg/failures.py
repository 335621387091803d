"""Exceptions of Spark and Iceberg as ours."""

from collections.abc import Iterator
from contextlib import contextmanager

from streamhouse.errors import DiskFullError, StoreError, StoreUnavailableError

_RETRYABLE = ("CommitFailedException", "CommitStateUnknownException", "ServiceUnavailableException")
_AWAY = ("ConnectException", "SocketTimeoutException", "NoHttpResponseException", "UnknownHostException")


@contextmanager
def translated(doing: str, table: str) -> Iterator[None]:
    """Turn what Spark and Iceberg raise in the block into a `StoreError`.

    Args:
        doing: What failed, to stand before the table's name: "reading", "writing".
        table: `layer.name`.

    Raises:
        DiskFullError: no room is left.
        StoreUnavailableError: the session ended, the catalog or the object store does not answer, or a commit lost a
            race; the call may be repeated.
        StoreError: anything else Iceberg refuses.
    """
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JNetworkError, ConnectionError) as error:
        raise StoreUnavailableError(f"{doing} Iceberg table {table} failed: Spark's JVM is gone") from error
    except (Py4JError, PySparkException) as error:
        text = str(error)
        said = cause(text)
        if "No space left on device" in text:
            raise DiskFullError(f"no room left while {doing} Iceberg table {table}") from error
        kind = StoreUnavailableError if any(name in text for name in (*_RETRYABLE, *_AWAY)) else StoreError
        raise kind(f"{doing} Iceberg table {table} failed: {said}") from error


def cause(text: str) -> str:
    """The innermost cause in the text of a Java exception, without its stack."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    if causes:
        return causes[-1]
    return next((line.lstrip(": ") for line in lines if not line.startswith("An error occurred while")), text)
