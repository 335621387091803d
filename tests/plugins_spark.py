"""The Spark session of a test run: started at the first test that asks for it, one for all tests of a process."""

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.gate.shared import Server, looked_after

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


def _lives(session: "SparkSession", java: psutil.Process) -> bool:
    running: bool = java.is_running() and java.status() != psutil.STATUS_ZOMBIE
    return running and session.sparkContext._jsc is not None


def _kill(java: psutil.Process) -> None:
    with suppress(psutil.Error):
        java.kill()
