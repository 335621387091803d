"""Starts Spark's Java process, and leaves none behind when the start is interrupted."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from streamhouse.engine.spark_gone import gone
from streamhouse.errors import EnvironmentProblem
from streamhouse.runtime.interrupt import handlers_kept
from streamhouse.runtime.private_conf import settings_of_java
from streamhouse.runtime.shut import shut
from streamhouse.services.orphans import children_of, marked
from streamhouse.services.process import Process

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_GRACE_S = 2.0
# What Java always says, and what Spark's script says when the Java process that it calls first is killed.
_NO_CAUSE = re.compile(r"^WARNING: |spark-class: line \d+: |^\s*$|Killed$")


@contextmanager
def no_java_left(folder: Path) -> Iterator[None]:
    """What the block starts does not outlive this process, also where the block is interrupted.

    Spark's Java process waits for the end of its standard input only once it has told us where it listens. One that
    is interrupted before that finds the file for this gone, and waits for ever.

    Args:
        folder: `.streamhouse` of the project.
    """
    with marked(folder):
        try:
            yield
        except (KeyboardInterrupt, SystemExit):
            for child in children_of(Process.this(), folder):
                child.stop(_GRACE_S)
            raise


def start(options: Mapping[str, str], *, errors: Path) -> "SparkSession":
    """Start Spark with these settings.

    Args:
        options: Of Spark.
        errors: Gets what Java writes to its standard error.

    Raises:
        EngineError: the Java process was killed while it started.
        EnvironmentProblem: Spark does not start.
    """
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    said = _size(errors)
    try:
        with settings_of_java(options):
            SparkContext._ensure_initialized()  # else PySpark writes all settings on a command line
        # In two steps: the context takes Ctrl-C for itself, and its handler must not interrupt the second one.
        with handlers_kept():
            context = SparkContext.getOrCreate(SparkConf().setAll(list(options.items())))
        session = SparkSession(context, options=dict(options))
        shut(session)
        return session
    except (PySparkException, Py4JError, RuntimeError, OSError, EOFError, TypeError, AttributeError) as error:
        if _was_killed(errors, said):
            raise gone() from error
        raise EnvironmentProblem(
            f"Spark does not start on {options['spark.master']}: {str(error).splitlines()[0]}",
            hint=f"its log: {errors.with_name('spark.log')}",
        ) from error


def _was_killed(errors: Path, said: int) -> bool:
    """Whether the Java process is gone without a word of its own; one that fails says why."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    process = getattr(gateway, "proc", None)
    if gateway is not None and process is None:  # Java started us
        return False
    if process is not None and process.poll() is None:
        return False
    with errors.open("rb") as file:
        file.seek(said)
        words = file.read().decode(errors="replace").splitlines()
    return all(_NO_CAUSE.search(line) for line in words)


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0
