"""The Spark session of a test run: started at the first test that asks for it, one for all."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator["SparkSession"]:
    """The session users get, with two cores and its Iceberg catalog `cold` in a folder of its own."""
    from streamhouse.project.project import Project
    from streamhouse.project.settings import Settings
    from streamhouse.runtime.session import local_session

    settings = Settings.model_validate({"spark": {"master": "local[2]"}})
    session = local_session(Project(tmp_path_factory.mktemp("spark"), settings), name="streamhouse-tests")
    yield session
    session.stop()
