"""The Spark session of a test run: started at the first test that asks for it, one for all tests of a process."""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.gate.leftovers import LEFT
from tests.gate.shared import Server, looked_after
from tests.spark_cache import forget_rows, has_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator["SparkSession"]:
    """The session users get, with two cores and its Iceberg catalog `cold` in a folder of its own."""
    from streamhouse.project.project import Project
    from streamhouse.project.settings import Settings
    from streamhouse.runtime.session import local_session
    from streamhouse.spark.java_process import end_java, pid_of, stop_spark

    # `STREAMHOUSE_SPARK_SHORTCUTS=off pytest …` runs tests, and the processes that they start, on Spark's public ways.
    shortcuts = os.environ.get("STREAMHOUSE_SPARK_SHORTCUTS", "auto")
    settings = Settings.model_validate({"spark": {"master": "local[2]", "shortcuts": shortcuts}})
    session = local_session(Project(tmp_path_factory.mktemp("spark"), settings), name="streamhouse-tests")
    java = psutil.Process(pid_of(session))
    server = Server("Spark", lambda: _lives(session, java), lambda: session.range(3).count() == 3, lambda: _kill(java))
    with looked_after(server):
        yield session
    stop_spark(session)
    end_java()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """What a test leaves in Spark's cache is forgotten, and its report names it: no test sees the rows of another.

    Spark is asked last, when one that does not answer has been killed (`tests.gate.shared`).
    """
    try:
        return (yield)
    finally:
        if _forget_rows():
            item.user_properties.append((LEFT, "rows in Spark's cache"))


def _forget_rows() -> bool:
    """Whether there were any in the session of this process."""
    from py4j.protocol import Py4JError

    session = sys.modules["pyspark.sql"].SparkSession._instantiatedSession if "pyspark.sql" in sys.modules else None
    if session is None or session.sparkContext._jsc is None:
        return False
    try:
        if had_rows := has_rows(session):
            forget_rows(session)
    except (Py4JError, OSError):  # Spark has died, and its cache with it
        return False
    return had_rows


def _lives(session: "SparkSession", java: psutil.Process) -> bool:
    running: bool = java.is_running() and java.status() != psutil.STATUS_ZOMBIE
    return running and session.sparkContext._jsc is not None


def _kill(java: psutil.Process) -> None:
    with suppress(psutil.Error):
        java.kill()
