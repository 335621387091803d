"""The error for a Spark whose Java process has died, or is about to."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from streamhouse.errors import EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_STOPPED = "stopped SparkContext"
_UNANSWERED = re.compile(r"An error occurred while calling \S+")  # what py4j says of a call that broke off, and no more


@contextmanager
def spark_answers() -> Iterator[None]:
    """A block that talks to Spark.

    Raises:
        EngineError: its Java process is gone, or was told to end, as that of a driver's pod is; whoever started it
            has to start another.
    """
    from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError

    try:
        yield
    except (Py4JNetworkError, ConnectionError) as error:
        raise gone() from error
    except Py4JJavaError as error:
        if _STOPPED not in str(error):
            raise
        raise gone() from error
    except Py4JError as error:
        if not _UNANSWERED.fullmatch(str(error).strip()):
            raise
        raise gone() from error


def stop_spark(spark: "SparkSession") -> None:
    """Stop Spark; nothing, where its Java process is gone."""
    from py4j.protocol import Py4JError

    with suppress(Py4JError, ConnectionError):
        spark.stop()


def gone() -> EngineError:
    """The error for it."""
    return EngineError(
        "Spark's Java process is gone",
        hint="nothing is lost; the next run goes on from the same positions. Its log: .streamhouse/logs/spark.log",
    )
