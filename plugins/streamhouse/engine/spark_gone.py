"""The error for a Spark whose Java process has died, or is about to."""

from collections.abc import Iterator
from contextlib import contextmanager

from streamhouse.errors import EngineError

_STOPPED = "stopped SparkContext"


@contextmanager
def spark_answers() -> Iterator[None]:
    """A block that talks to Spark.

    Raises:
        EngineError: its Java process is gone, or was told to end, as that of a driver's pod is; whoever started it
            has to start another.
    """
    from py4j.protocol import Py4JJavaError, Py4JNetworkError

    try:
        yield
    except (Py4JNetworkError, ConnectionError) as error:
        raise _gone() from error
    except Py4JJavaError as error:
        if _STOPPED not in str(error):
            raise
        raise _gone() from error


def _gone() -> EngineError:
    return EngineError(
        "Spark's Java process is gone",
        hint="nothing is lost; the next run goes on from the same positions. Its log: .streamhouse/logs/spark.log",
    )
