import subprocess
from io import StringIO
from types import SimpleNamespace

import pytest
from py4j.protocol import Py4JError, Py4JJavaError

from streamhouse.errors import EngineError
from streamhouse.runtime import exercise
from streamhouse.spark import java_process
from streamhouse.spark.java_process import spark_answers, stop_spark


class _ThrownError(Py4JJavaError):
    """As Java threw it; the real one asks Java for its text."""

    def __init__(self, text):
        self._text = text

    def __str__(self):
        return self._text


BROKEN = "An error occurred while calling o275.values_$eq"
ENDING = "calling o171.stop. : java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext."


@pytest.mark.parametrize(
    "error",
    [
        ConnectionRefusedError(111, "Connection refused"),
        ConnectionResetError(),
        _ThrownError(ENDING),
        Py4JError(BROKEN),
    ],
)
def test_that_spark_is_gone_is_told_in_our_words(error):
    with pytest.raises(EngineError, match="Spark's Java process is gone") as told, spark_answers():
        raise error
    assert "goes on from the same positions" in told.value.hint


def test_what_else_is_wrong_is_left_as_it_is():
    with pytest.raises(ValueError, match="another"), spark_answers():
        raise ValueError("another")
    with pytest.raises(Py4JJavaError, match="No such file"), spark_answers():
        raise _ThrownError("java.io.FileNotFoundException: No such file")
    with pytest.raises(Py4JError, match="does not exist"), spark_answers():
        raise Py4JError(
            "An error occurred while calling o1.x. Trace:\npy4j.Py4JException: Method x([]) does not exist\n"
        )


@pytest.mark.parametrize("error", [ConnectionRefusedError(111, "Connection refused"), Py4JError(BROKEN)])
def test_a_spark_that_is_gone_needs_no_stop(error):
    class Gone:
        def stop(self):
            raise error

    stop_spark(Gone())


class _Busy:
    """A Java process that ends only if it is waited for a minute and more."""

    def __init__(self):
        self.stdin = StringIO()
        self.killed = False

    def wait(self, timeout=None):
        if timeout is not None and timeout <= 60:
            raise subprocess.TimeoutExpired("java", timeout)

    def kill(self):
        self.killed = True


@pytest.mark.parametrize(("end", "killed"), [(java_process.end_java, True), (exercise.exercise, False)])
def test_a_java_process_that_writes_an_archive_may_take_its_time(monkeypatch, end, killed):
    busy = _Busy()
    monkeypatch.setattr(java_process, "_child", lambda: busy)
    monkeypatch.setattr(java_process, "_forget_java", lambda: None)
    for name in ("_answer", "_stream"):
        monkeypatch.setattr(exercise, name, lambda *_: None)
    monkeypatch.setattr(exercise, "local_session", lambda _: SimpleNamespace(stop=lambda: None))
    end()
    assert busy.killed is killed
    assert busy.stdin.closed
