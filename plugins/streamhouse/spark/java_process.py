"""The Java process of Spark: whether it runs, who it is, how it ends, and the error for one that is gone."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from streamhouse.errors import EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_STOPPED = "stopped SparkContext"
_END_S = 60.0
_UNANSWERED = re.compile(r"An error occurred while calling \S+")  # what py4j says of a call that broke off, and no more


@contextmanager
def spark_answers() -> Iterator[None]:
    """A block that talks to Spark.

    Raises:
        EngineError: its Java process is gone, or got a signal to end, as in a driver's pod; the process that started it
            has to start another.
    """
    from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError

    try:
        yield
    except (Py4JNetworkError, ConnectionError) as error:
        raise java_lost_error() from error
    except Py4JJavaError as error:
        if _STOPPED not in str(error):
            raise
        raise java_lost_error() from error
    except Py4JError as error:
        if not _UNANSWERED.fullmatch(str(error).strip()):
            raise
        raise java_lost_error() from error


def stop_spark(spark: "SparkSession") -> None:
    """Stop Spark; nothing, where its Java process is gone."""
    from py4j.protocol import Py4JError

    with suppress(Py4JError, ConnectionError):
        spark.stop()


def java_lost_error() -> EngineError:
    """The error for it."""
    return EngineError(
        "Spark's Java process is gone",
        hint="nothing is lost; the next run goes on from the same positions. Its log: .streamhouse/logs/spark.log",
    )


def is_running() -> bool:
    """Whether this process has a Spark context now."""
    from pyspark import SparkContext

    return SparkContext._active_spark_context is not None


def is_started_by_java() -> bool:
    """Whether Java started this process, as `spark-submit` does in a cluster; this one ends with it then."""
    from pyspark import SparkContext

    return SparkContext._gateway is not None and _child() is None


def is_child_alive() -> bool:
    """Whether a Java process that this one started runs."""
    child = _child()
    return child is not None and child.poll() is None


def exit_code() -> int | None:
    """With which code the Java process that this one started has ended; None: it runs, or there is none."""
    child = _child()
    code: int | None = None if child is None else child.poll()
    return code


def end_java(patience_s: float = _END_S) -> None:
    """End the Java process that this one started, and wait for that; the next session of this process starts another.

    Args:
        patience_s: Java ends by itself after Spark is stopped. It is killed where that takes longer.
    """
    child = _child()
    if child is not None:
        with suppress(OSError):
            child.stdin.close()  # what it waits for
        try:
            child.wait(patience_s)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        _forget_java()


def _forget_java() -> None:
    """Let this process start another Java process: PySpark talks only to its first one, also where that is gone."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    context: Any = SparkContext
    session: Any = SparkSession
    context._active_spark_context = context._gateway = context._jvm = None
    session._instantiatedSession = session._activeSession = None


def pid_of(spark: "SparkSession") -> int:
    """The number of the Java process, also of one that another process started."""
    return _pid(spark._jvm)


@lru_cache(maxsize=4)
def _pid(jvm: Any) -> int:
    return int(jvm.java.lang.ProcessHandle.current().pid())


def _child() -> Any:
    from pyspark import SparkContext

    return getattr(SparkContext._gateway, "proc", None)
