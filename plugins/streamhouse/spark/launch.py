"""Starts Spark with its Java process."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from streamhouse.errors import EnvironmentProblem
from streamhouse.spark.interrupt import preserve_handlers
from streamhouse.spark.java_process import is_child_alive, is_started_by_java, java_lost_error
from streamhouse.spark.settings_file import settings_of_java
from streamhouse.spark.shut import shut

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_JARS = "spark.jars"
_CLASS_PATH = "SPARK_DIST_CLASSPATH"  # what Spark's launcher puts at the end of the class path
_LOCAL = re.compile(r"local(\[.*\])?$")  # and not `local-cluster`
# What Java always says, and what Spark's script says when the Java process that it calls first is killed.
_NO_CAUSE = re.compile(r"^WARNING: |spark-class: line \d+: |^\s*$|Killed$", re.ASCII)


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
        is_new = SparkContext._gateway is None
        with settings_of_java(options), on_class_path(options.get(_JARS, "").split(",")):
            SparkContext._ensure_initialized()  # else PySpark writes all settings on a command line
        # In two steps: the context takes Ctrl-C for itself, and its handler must not interrupt the second one.
        with preserve_handlers():
            context = SparkContext.getOrCreate(SparkConf().setAll(list(of_context(options, is_new=is_new).items())))
        session = SparkSession(context, options=dict(options))
        shut(session)
        return session
    except (PySparkException, Py4JError, RuntimeError, OSError, EOFError, TypeError, AttributeError) as error:
        if _was_killed(errors, said):
            raise java_lost_error() from error
        raise EnvironmentProblem(
            f"Spark does not start on {options['spark.master']}: {str(error).splitlines()[0]}",
            hint=f"its log: {errors.with_name('spark.log')}",
        ) from error


@contextmanager
def on_class_path(jars: Sequence[str]) -> Iterator[None]:
    """Let the Java process that is started within the block have these jars on its class path, after Spark's own.

    Java finds classes of `spark.jars` too, but it reads and checks them at each start; those of its class path come
    from the archive. What the user has on the class path stays before them.
    """
    before = os.environ.get(_CLASS_PATH)
    try:
        if path := os.pathsep.join(filter(None, [before, *jars])):
            os.environ[_CLASS_PATH] = path
        yield
    finally:
        os.environ.pop(_CLASS_PATH, None)
        if before is not None:
            os.environ[_CLASS_PATH] = before


def of_context(options: Mapping[str, str], *, is_new: bool) -> dict[str, str]:
    """The settings of a Spark context, whose executors copy each jar that is named in them.

    The executor of `local` is in the driver's process, which has the jars since its start: Spark would copy a hundred
    megabytes for nothing.

    Args:
        options: The settings that the Java process was started with.
        is_new: It was started with these, and not for a session before.
    """
    return {**options, _JARS: ""} if is_new and _LOCAL.match(options["spark.master"]) else dict(options)


def _was_killed(errors: Path, said: int) -> bool:
    """Whether the Java process is gone without a word of its own; one that fails says why."""
    if is_started_by_java() or is_child_alive():
        return False
    with errors.open("rb") as file:
        file.seek(said)
        words = file.read().decode(errors="replace").splitlines()
    return all(_NO_CAUSE.search(line) for line in words)


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0
