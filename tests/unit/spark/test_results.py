"""How many rows Spark says that a result has: an answer, no answer in time, or an error of the one who asks."""

from threading import Event

import pytest

from streamhouse.errors import ResultShortError
from streamhouse.spark.results import CountedRows


class Observed:
    def __init__(self, answer):
        self.answer = answer

    @property
    def get(self):
        return {"rows": self.answer()}


def counted(answer):
    found = CountedRows.__new__(CountedRows)
    found._observation = Observed(answer)
    return found


def test_as_many_as_spark_says():
    counted(lambda: 3).check(3)
    counted(lambda: 3).check(2, at_most=2)


def test_other_rows_are_an_error():
    with pytest.raises(ResultShortError, match="2 of 3 rows"):
        counted(lambda: 3).check(2)


def test_no_answer_in_time_is_an_error():
    never = Event()
    with pytest.raises(ResultShortError, match="has not said"):
        counted(never.wait).check(2, within_s=0.01)
    never.set()


def test_a_connection_that_broke_is_an_error_of_the_caller():
    def refused():
        raise ConnectionRefusedError("no Java process is there")

    with pytest.raises(ConnectionRefusedError, match="no Java process"):
        counted(refused).check(2)
