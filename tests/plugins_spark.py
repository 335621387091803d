"""The Spark session of a test run: started at the first test that asks for it, one for all."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_STARTED: "list[SparkSession]" = []


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator["SparkSession"]:
    """The session users get, with two cores and its Iceberg catalog `cold` in a folder of its own."""
    from streamhouse.project.project import Project
    from streamhouse.project.settings import Settings
    from streamhouse.runtime.session import local_session

    # `STREAMHOUSE_SPARK_SHORTCUTS=off pytest …` runs tests, and the processes that they start, on Spark's public ways.
    shortcuts = os.environ.get("STREAMHOUSE_SPARK_SHORTCUTS", "auto")
    settings = Settings.model_validate({"spark": {"master": "local[2]", "shortcuts": shortcuts}})
    session = local_session(Project(tmp_path_factory.mktemp("spark"), settings), name="streamhouse-tests")
    _STARTED.append(session)
    yield session
    _STARTED.clear()
    session.stop()


@pytest.fixture(autouse=True)
def _the_session_stays() -> Iterator[None]:
    """Fail the test that stops the session of all tests, and not the tests after it."""
    yield
    assert all(session.sparkContext._jsc is not None for session in _STARTED), "this test stopped the Spark session"
