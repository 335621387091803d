"""The comparison that other tests stand on must see every difference."""

from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from tests.oracle import assert_same_rows

AT = datetime(2017, 1, 1, 11, 53, 26, tzinfo=UTC)
TYPES = pa.schema(
    [
        ("k", pa.int64()),
        ("s", pa.string()),
        ("d", pa.float64()),
        ("m", pa.decimal128(9, 2)),
        ("t", pa.timestamp("us", tz="UTC")),
        ("b", pa.bool_()),
        ("l", pa.list_(pa.int64())),
    ]
)
ROWS = [
    (1, "a", 0.1 + 0.2, Decimal("1.50"), AT, True, [1, 2]),
    (2, None, float("nan"), None, None, None, None),
    (3, "c", float("inf"), Decimal("0.00"), AT, False, []),
    (3, "c", float("inf"), Decimal("0.00"), AT, False, []),
]


def table(rows):
    return pa.Table.from_pylist([dict(zip(TYPES.names, row, strict=True)) for row in rows], TYPES)


def test_order_of_rows_and_columns_does_not_matter():
    actual = table(ROWS[::-1]).select(TYPES.names[::-1])
    assert_same_rows(actual, table(ROWS))
    assert_same_rows(table(ROWS[:3][::-1]), table(ROWS[:3]), key=["k"])


def test_doubles_may_be_some_units_in_the_last_place_apart():
    close = [(1, "a", 0.3, *ROWS[0][3:])]
    assert_same_rows(table(close), table(ROWS[:1]), key=["k"])
    with pytest.raises(AssertionError, match=r"k=1: d is 0\.3, expected 0\.3000000000000000"):
        assert_same_rows(table(close), table(ROWS[:1]), key=["k"], ulps=0)


def changed(column, value):
    row = list(ROWS[0])
    row[TYPES.get_field_index(column)] = value
    return [tuple(row), *ROWS[1:3]]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("s", "b"),
        ("s", None),
        ("d", 0.3000001),
        ("d", None),
        ("d", float("nan")),
        ("m", Decimal("1.51")),
        ("t", AT.replace(microsecond=1)),
        ("b", False),
        ("b", None),
        ("l", [2, 1]),
        ("l", None),
    ],
)
def test_any_changed_cell_is_seen(column, value):
    with pytest.raises(AssertionError, match=rf"1 differences\n  k=1: {column} is "):
        assert_same_rows(table(changed(column, value)), table(ROWS[:3]), key=["k"])
    with pytest.raises(AssertionError, match=r"(?s)2 differences\n  missing \(1\): .*\n  unexpected \(1\): "):
        assert_same_rows(table(changed(column, value)), table(ROWS[:3]))


def test_missing_extra_and_repeated_rows_are_seen():
    with pytest.raises(AssertionError, match="rows: 2 rows, expected 3; 1 differences\n  k=3: missing"):
        assert_same_rows(table(ROWS[:2]), table(ROWS[:3]), key=["k"])
    with pytest.raises(AssertionError, match="sales: 3 rows, expected 2; 1 differences\n  k=3: unexpected"):
        assert_same_rows(table(ROWS[:3]), table(ROWS[:2]), key=["k"], name="sales")
    with pytest.raises(AssertionError, match="4 rows, expected 3; 1 differences\n  k=3: 2 rows"):
        assert_same_rows(table(ROWS), table(ROWS[:3]), key=["k"])
    with pytest.raises(AssertionError, match=r"4 rows, expected 3; 1 differences\n  unexpected \(1\): "):
        assert_same_rows(table(ROWS), table(ROWS[:3]))


def test_other_columns_or_types_are_seen():
    with pytest.raises(AssertionError, match="columns differ"):
        assert_same_rows(table(ROWS).drop(["s"]), table(ROWS))
    with pytest.raises(AssertionError, match="columns differ"):
        assert_same_rows(pa.table({"k": pa.array([1], pa.int32())}), pa.table({"k": pa.array([1], pa.int64())}))


def test_a_long_diff_is_cut():
    with pytest.raises(AssertionError, match="… and 90 more"):
        assert_same_rows(pa.table({"n": range(100)}), pa.table({"n": range(1)}).slice(0, 0))
