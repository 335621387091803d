"""Values in another type: what does not fit is NULL, and never another value."""

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.stores.arrow import arrow_type
from streamhouse.stores.fitted import can_fit, fits, fitted


def done(values, was, now):
    assert can_fit(was, now)
    return fitted(pa.chunked_array([pa.array(values, arrow_type(was))]), arrow_type(now)).to_pylist()


@pytest.mark.parametrize(
    ("was", "now", "values", "expected"),
    [
        ("bigint", "int", [1, 2**40, None], [1, None, None]),
        ("int", "bigint", [1, None], [1, None]),
        ("double", "int", [1.0, 1.5, float("inf"), 1e300], [1, None, None, None]),
        ("double", "float", [1.0, 1e300, None], [1.0, None, None]),
        ("double", "decimal(12,2)", [1.05, 1.234], [Decimal("1.05"), None]),
        ("bigint", "decimal(12,2)", [1, 10**12], [Decimal("1.00"), None]),
        ("decimal(12,2)", "int", [Decimal("1.25"), Decimal("2.00")], [None, 2]),
        ("decimal(12,2)", "string", [Decimal("1.25")], ["1.25"]),
        ("string", "int", ["1", " 2 ", "x", "1.0", "", "99999999999", "1_000", None], [1, 2] + [None] * 6),
        ("string", "double", ["1.5", "-3e2", "nan", "x"], [1.5, -300.0, None, None]),
        ("string", "decimal(12,2)", ["1.25", "1.255", "x"], [Decimal("1.25"), None, None]),
        ("int", "string", [5, None], ["5", None]),
    ],
)
def test_values(was, now, values, expected):
    assert done(values, was, now) == expected


@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), max_size=20))
def test_a_whole_number_stays_itself_or_is_gone(values):
    for kind, bits in (("tinyint", 8), ("smallint", 16), ("int", 32)):
        kept = [v if v is not None and -(2 ** (bits - 1)) <= v < 2 ** (bits - 1) else None for v in values]
        assert done(values, "bigint", kind) == kept


IN_STRUCTS = [
    ({"a": 1, "b": None, "in": {"x": "3"}}, {"a": 1, "in": {"x": 3}, "new": None}, True),
    ({"a": 2**40, "b": None, "in": {"x": "3"}}, {"a": None, "in": {"x": 3}, "new": None}, False),
    ({"a": 1, "b": "more", "in": None}, {"a": 1, "in": None, "new": None}, False),
    ({"a": None, "b": None, "in": {"x": "no"}}, {"a": None, "in": {"x": None}, "new": None}, False),
    ({"a": None, "b": None, "in": None}, {"a": None, "in": None, "new": None}, True),
    (None, None, True),
]


def test_of_a_struct_the_fields_that_fit_are_there():
    was, now = "struct<a:bigint,b:string,in:struct<x:string>>", "struct<a:int,in:struct<x:int>,new:date>"
    values = pa.chunked_array([pa.array([value for value, _, _ in IN_STRUCTS], arrow_type(was))])
    assert done(values.to_pylist(), was, now) == [kept for _, kept, _ in IN_STRUCTS]
    assert fits(values, fitted(values, arrow_type(now))).to_pylist() == [whole for _, _, whole in IN_STRUCTS]
    assert fitted(values.slice(2, 2), arrow_type(now)).to_pylist() == [kept for _, kept, _ in IN_STRUCTS[2:4]]
    empty = values.slice(0, 0)
    assert fits(empty, fitted(empty, arrow_type(now))).to_pylist() == []
    assert not can_fit("struct<a:array<int>>", "struct<a:array<bigint>>"), "elements are not looked into"


@pytest.mark.parametrize(
    ("was", "now"), [("boolean", "int"), ("double", "string"), ("timestamp", "date"), ("array<int>", "string")]
)
def test_what_nobody_can_tell(was, now):
    assert not can_fit(was, now)
