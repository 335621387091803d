from collections.abc import Iterator
from decimal import Decimal

import pyarrow as pa
import pytest

from streamhouse.errors import StateConflictError
from streamhouse.stores.fluss.exactly_once import not_yet_written, settled_end

ROWS = pa.table(
    {
        "i": pa.array([1, 1, None, 2, 3, 3]),
        "f": pa.array([float("nan"), float("nan"), None, -0.0, 0.0, float("inf")]),
        "d": pa.array([Decimal("1.00"), Decimal("1.00"), None, Decimal("0.10"), None, None], pa.decimal128(5, 2)),
        "s": pa.array(["", "", None, "a", "'", '"']),
        "n": pa.array([[], [], None, [None], [1, 2], [1]], pa.list_(pa.int32())),
        "t": pa.array([0, 0, None, 1, 2, 3], pa.timestamp("us", tz="UTC")),
        "r": pa.array([{"a": None}, {"a": None}, None, {"a": "x"}, {"a": "y"}, {"a": ""}]),
    }
)


def picked(indexes: list[int]) -> pa.Table:
    return ROWS.take(pa.array(indexes, pa.int64()))


@pytest.mark.parametrize("written", [[], [0], [0, 1], [2], [3, 5], [1, 4], [0, 1, 2, 3, 4, 5]])
def test_what_is_there_is_subtracted_as_often_as_it_is_there(written: list[int]) -> None:
    found = not_yet_written("ods.t", ROWS, picked(written))
    left = [index for index in range(6) if index not in written]
    if written == [1]:
        left = [1, *left[1:]]  # rows 0 and 1 are equal
    assert repr(sorted(found.to_pylist(), key=repr)) == repr(sorted(picked(left).to_pylist(), key=repr))


def test_rows_of_another_epoch_are_not_passed_over() -> None:
    stray = pa.concat_tables([ROWS.slice(0, 2), ROWS.slice(0, 1)])
    with pytest.raises(StateConflictError, match=r"ods\.t holds 1 rows"):
        not_yet_written("ods.t", ROWS, stray)
    with pytest.raises(StateConflictError):
        not_yet_written("ods.t", ROWS.slice(0, 0), ROWS.slice(3, 1))


def test_minus_zero_is_not_zero() -> None:
    zeros = pa.table({"f": [0.0, -0.0]})
    assert str(not_yet_written("t", zeros, zeros.slice(1)).column("f").to_pylist()) == "[0.0]"


def test_an_end_that_moves_is_waited_for() -> None:
    ends: Iterator[int] = iter([5, 6, 6, 7, 7, 7, 7, 7, 7])
    assert settled_end(lambda: {"0": next(ends)}) == {"0": 7}
    assert next(ends) == 7
