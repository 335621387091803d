"""Keeps PySpark and py4j from printing stack traces of their own."""

import logging
from pathlib import Path

_NOWHERE = logging.NullHandler()


def quiet_py4j() -> None:
    """Keep what py4j logs with a traceback when Spark's Java process dies; our errors say what comes of it."""
    py4j = logging.getLogger("py4j")
    py4j.propagate = False
    py4j.addHandler(_NOWHERE)
    logging.getLogger().addFilter(_not_of_py4j)  # some of it is logged by no logger of its own


def _not_of_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in Path(record.pathname).parts


def quiet_python_log() -> None:
    """Switch off the loggers by which PySpark prints each failed query to standard error, stack trace and all.

    The same error is raised as well, and reported from there in one line; Spark's own log keeps the trace.
    Calling it again changes nothing.
    """
    from pyspark.logger import PySparkLogger

    # Made here as PySpark would make them: a plain logger of that name would not take its arguments.
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True
