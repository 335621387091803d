"""Code that reads a result asks the JVM what failed there."""

from contextlib import contextmanager

import pytest

from streamhouse.errors import ResultShortError
from streamhouse.spark import arrow_result


class Jvm:
    """A result that the JVM serves, as far as it is asked for."""

    def __init__(self):
        self._jdf = self

    def collectAsArrowToPython(self):  # noqa: N802  Spark's name
        return "address", "secret", self

    def getResult(self):  # noqa: N802  Spark's name
        raise RuntimeError("Broken pipe")


def read(monkeypatch, ended_by):
    @contextmanager
    def served(_address, _secret):
        yield None

    def end(_stream):
        raise ended_by

    monkeypatch.setattr("pyspark.SparkContext._gateway", object())  # as after Spark has started
    monkeypatch.setattr(arrow_result, "served", served)
    monkeypatch.setattr(arrow_result, "read_result", end)
    return arrow_result.arrow_rows(Jvm())


def test_what_failed_in_the_jvm_is_the_error(monkeypatch):
    with pytest.raises(RuntimeError, match="Broken pipe"):
        read(monkeypatch, ResultShortError("a result breaks off"))
