"""What ends a stream, in words for people."""

from typing import TYPE_CHECKING

from streamhouse.errors import DiskFullError, EngineError, EpochFailedError, StreamhouseError
from streamhouse.spark.failures import first_line

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery


def translated(failure: BaseException) -> BaseException:
    """What an epoch raised, as an error for people."""
    if isinstance(failure, StreamhouseError):
        return failure
    if "No space left on device" in str(failure):
        return DiskFullError("the disk is full", hint="free some space; the flow goes on where it stopped")
    return EpochFailedError(
        f"an epoch failed: {type(failure).__name__}: {first_line(failure)}",
        hint="nothing is lost; the epoch runs again at the next start. Spark's log: .streamhouse/logs/spark.log",
    ).with_traceback(failure.__traceback__)


def error_of(query: "StreamingQuery") -> EngineError | None:
    """The reason why a query ended by itself, in one line."""
    error = query.exception()
    if error is None:
        return None
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else "no reason given"
    return EngineError(f"the stream ended: {text}", hint="Spark's log has more: .streamhouse/logs/spark.log")
