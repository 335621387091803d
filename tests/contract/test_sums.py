"""What a store folds equals what Spark aggregates: a sum that overflows is refused, extremes compare as in Spark."""

import math
from decimal import Context, Decimal

import pyarrow as pa
import pytest

from streamhouse.errors import WriteRefusedError
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.sums import SumBounds

MOST = {
    "tinyint": 127,
    "smallint": 2**15 - 1,
    "int": 2**31 - 1,
    "bigint": 2**63 - 1,
    "decimal(38,2)": Decimal(10**38 - 1).scaleb(-2, Context(prec=100)),
    "decimal(12,2)": Decimal("9999999999.99"),
}


@pytest.fixture
def merging(store):
    if not store.capabilities.merge:
        pytest.skip("the store merges nothing")
    return store


def write(store, table, epoch, given, **context):
    rows = pa.Table.from_pylist(
        [dict(zip(table.column_names, row, strict=True)) for row in given], arrow_schema(table.columns)
    )
    return store.write(table, Changes(rows), WriteContext("flow/sums", epoch, **context))


def held(store, table):
    return {row.pop("k"): tuple(row.values()) for row in store.read_state(table).to_pylist()}


@pytest.mark.parametrize("kind", MOST)
@pytest.mark.parametrize("sums", [None, SumBounds()], ids=["unknown", "known"])
def test_a_sum_that_overflows_is_refused_before_the_write(merging, make_table, kind, sums):
    most = MOST[kind]
    table = make_table(k="string", v=kind, key=("k",), merge={"v": "sum"})
    merging.create(table)
    write(merging, table, 0, [("a", most), ("b", 1)], sums=sums)
    end = merging.end(table)
    for _ in range(2):
        with pytest.raises(WriteRefusedError, match=r"overflows .* where k = 'a'"):
            write(merging, table, 1, [("b", 1), ("a", most)], sums=sums)
    assert merging.end(table) == end
    write(merging, table, 1, [("b", 1), ("a", most.copy_negate() if isinstance(most, Decimal) else -most)], sums=sums)
    write(merging, table, 2, [("a", most)], sums=sums)
    assert held(merging, table) == {"a": (most,), "b": (2,)}


def test_a_repeated_epoch_is_not_taken_for_an_overflow(merging, make_table):
    most = MOST["bigint"]
    table = make_table(k="string", v="bigint", key=("k",), merge={"v": "sum"})
    merging.create(table)
    before = write(merging, table, 0, [("a", 1)])
    write(merging, table, 1, [("a", most - 1)])
    write(merging, table, 1, [("a", most - 1), ("b", most)], replay_from=before)
    assert held(merging, table)["a"] == (most,)


def test_extremes_and_truths_fold_as_in_spark(merging, make_table):
    table = make_table(
        k="int",
        low="double",
        high="double",
        first="string",
        last="string",
        all="boolean",
        some="boolean",
        total="bigint",
        key=("k",),
        merge={
            "low": "min",
            "high": "max",
            "first": "min",
            "last": "max",
            "all": "bool_and",
            "some": "bool_or",
            "total": "sum",
        },
    )
    merging.create(table)
    nan = math.nan
    parts = [
        (1, nan, nan, "é", "é", None, None, None),
        (1, 1.0, 1.0, "z", "z", True, False, 5),
        (1, None, -math.inf, "\U0001f600", "\U0001f600", None, None, None),
        (1, nan, 2.0, "\uffff", "\uffff", False, True, -7),
    ]
    for epoch, part in enumerate(parts):
        write(merging, table, epoch, [part])
    low, high, first, last, every, some, total = held(merging, table)[1]
    assert (low, first, last, every, some, total) == (1.0, "z", "\U0001f600", False, True, -2)
    assert math.isnan(high)
