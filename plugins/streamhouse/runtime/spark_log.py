"""Keeps PySpark from printing JVM stack traces of its own."""


def quiet_python_log() -> None:
    """Switch off the loggers by which PySpark prints each failed query to standard error, stack trace and all.

    The same error is raised as well, and told from there in one line; Spark's own log keeps the trace.
    Calling it again changes nothing.
    """
    from pyspark.logger import PySparkLogger

    # Made here as PySpark would make them: a plain logger of that name would not take its arguments.
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True
