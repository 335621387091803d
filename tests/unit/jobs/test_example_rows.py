from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from streamhouse.jobs.example_rows import arrow_rows, comparable, inferred_columns
from streamhouse.model.table import Column
from streamhouse.sql.values import typed_value

NOON = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "type_", "typed"),
    [
        (None, "int", None),
        (3, "bigint", 3),
        ("3", "int", 3),
        (3.0, "int", 3),
        (3, "double", 3.0),
        (3.5, "decimal(10,2)", Decimal("3.50")),
        ("0.1", "decimal(10,2)", Decimal("0.10")),
        (True, "boolean", True),
        (7, "string", "7"),
        ("2026-01-05", "date", date(2026, 1, 5)),
        ("2026-01-05 12:00:00", "timestamp", NOON),
        ("2026-01-05T13:00:00+01:00", "timestamp", NOON),
        ("2026-01-05 12:00:00", "timestamp_ntz", NOON.replace(tzinfo=None)),
        ("ab", "binary", b"ab"),
        ([1, None], "array<decimal(4,1)>", [Decimal("1.0"), None]),
        ({"a": 1}, "struct<a:int,b:string>", {"a": 1, "b": None}),
        ({"k": "1"}, "map<string,int>", [("k", 1)]),
    ],
)
def test_values_take_their_type(value, type_, typed):
    found = typed_value(value, type_)
    assert found == typed
    assert type(found) is type(typed)


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        ("x", "int"),
        (1.5, "int"),
        (True, "int"),
        (1, "boolean"),
        ("1.005", "decimal(10,2)"),
        ("nan", "decimal(10,2)"),
        ("today", "timestamp"),
        ("2026-01-05T13:00:00+01:00", "timestamp_ntz"),
        ([1], "string"),
        ("a", "array<int>"),
        ({"c": 1}, "struct<a:int>"),
    ],
)
def test_values_of_another_type_are_refused(value, type_):
    with pytest.raises(ValueError, match=r"is no|has no field"):
        typed_value(value, type_)


def test_rows_become_arrow_with_nulls_for_what_is_absent():
    columns = (Column(name="id", type="int"), Column(name="tags", type="map<string,array<int>>"))
    rows = arrow_rows([{"id": 1}, {"tags": {"a": [1, 2]}}], columns)
    assert rows.schema.types == [pa.int32(), pa.map_(pa.string(), pa.list_(pa.int32()))]
    assert rows.to_pylist() == [{"id": 1, "tags": None}, {"id": None, "tags": [("a", [1, 2])]}]


def test_a_misfit_names_row_and_column():
    with pytest.raises(ValueError, match="row 2, column 'id': 'x' is no int"):
        arrow_rows([{"id": 1}, {"id": "x"}], (Column(name="id", type="int"),))


def test_columns_are_inferred_from_the_first_value():
    rows = [{"a": None, "b": True}, {"a": 1, "c": [None, 1.5]}, {"d": {"x": "y"}, "e": None}]
    assert {c.name: c.type for c in inferred_columns(rows)} == {
        "a": "bigint",
        "b": "boolean",
        "c": "array<double>",
        "d": "struct<x:string>",
        "e": "string",
    }


def test_comparable_hides_what_people_do_not_see():
    assert comparable(0.1 + 0.2) == comparable(0.3)
    assert comparable(1.0) != comparable(1.001)
    assert comparable(Decimal("1.50")) == comparable(Decimal("1.5"))
    assert comparable([("b", 1), ("a", 2)]) == comparable([("a", 2), ("b", 1)])
    assert comparable([1, 2]) != comparable([2, 1])
    hash(comparable({"a": [1, {"b": [("k", 1.0)]}]}))
