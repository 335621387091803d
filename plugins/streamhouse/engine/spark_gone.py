"""The error for a Spark whose Java process has died."""

from collections.abc import Iterator
from contextlib import contextmanager

from streamhouse.errors import EngineError


@contextmanager
def spark_answers() -> Iterator[None]:
    """A block that talks to Spark.

    Raises:
        EngineError: its Java process is gone; whoever started it has to start another.
    """
    from py4j.protocol import Py4JNetworkError

    try:
        yield
    except (Py4JNetworkError, ConnectionError) as error:
        raise EngineError(
            "Spark's Java process is gone",
            hint="nothing is lost; the next run goes on from the same positions. Its log: .streamhouse/logs/spark.log",
        ) from error
