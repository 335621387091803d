"""Exceptions of Spark and Iceberg as ours."""

from collections.abc import Iterator
from contextlib import contextmanager

from streamhouse.errors import DiskFullError, StoreError, StoreUnavailableError
from streamhouse.spark.failures import cause, failed_calls, lost_connection

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
    from pyspark.errors import PySparkException

    try:
        yield
    except lost_connection() as error:
        raise StoreUnavailableError(f"{doing} Iceberg table {table} failed: Spark's JVM is gone") from error
    except failed_calls(PySparkException) as error:
        text = str(error)
        said = cause(text)
        if "No space left on device" in text:
            raise DiskFullError(f"no room left while {doing} Iceberg table {table}") from error
        kind = StoreUnavailableError if any(name in text for name in (*_RETRYABLE, *_AWAY)) else StoreError
        raise kind(f"{doing} Iceberg table {table} failed: {said}") from error
