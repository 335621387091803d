import pytest

from streamhouse.engine.spark_gone import spark_answers
from streamhouse.errors import EngineError


@pytest.mark.parametrize("error", [ConnectionRefusedError(111, "Connection refused"), ConnectionResetError()])
def test_that_spark_is_gone_is_told_in_our_words(error):
    with pytest.raises(EngineError, match="Spark's Java process is gone") as told, spark_answers():
        raise error
    assert "goes on from the same positions" in told.value.hint


def test_what_else_is_wrong_is_left_as_it_is():
    with pytest.raises(ValueError, match="another"), spark_answers():
        raise ValueError("another")
