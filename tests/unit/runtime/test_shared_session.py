"""A process has one Spark session: it stops with the last block that uses it, if a block started it."""

import pytest

from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime import session
from streamhouse.runtime.session import spark_session


@pytest.fixture
def stopped(monkeypatch):
    """The sessions that were stopped, in a process without Spark."""
    from pyspark import SparkContext

    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    found = []

    def start(*_, **__):
        if SparkContext._active_spark_context is None:
            SparkContext._active_spark_context = object()
        return SparkContext._active_spark_context

    def stop(spark):
        found.append(spark)
        SparkContext._active_spark_context = None

    monkeypatch.setattr(session, "local_session", start)
    monkeypatch.setattr(session, "stop_spark", stop)
    return found


def test_a_session_that_was_there_before_stays(tmp_path, stopped):
    from pyspark import SparkContext

    SparkContext._active_spark_context = mine = object()
    with spark_session(Project(tmp_path, Settings())) as spark:
        assert spark is mine
    assert not stopped


def test_what_a_block_started_stops_with_it_also_after_an_error(tmp_path, stopped):
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), spark_session(Project(tmp_path, Settings())):
            raise ZeroDivisionError
    assert len(stopped) == 2


def test_two_blocks_share_it_and_the_last_of_them_stops_it(tmp_path, stopped):
    first, second = spark_session(Project(tmp_path, Settings())), spark_session(Project(tmp_path, Settings()))
    with first as one:
        two = second.__enter__()
        assert one is two
    assert not stopped
    second.__exit__(None, None, None)
    assert stopped == [one]


def test_a_session_that_does_not_start_is_used_by_nobody(tmp_path, stopped, monkeypatch):
    start = session.local_session
    monkeypatch.setattr(session, "local_session", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError), spark_session(Project(tmp_path, Settings())):
        pass
    monkeypatch.setattr(session, "local_session", start)
    with spark_session(Project(tmp_path, Settings())):
        pass
    assert len(stopped) == 1
