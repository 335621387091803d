"""Parameter values as typed literals."""

from datetime import date, datetime
from typing import Any

import pytest

from streamhouse.errors import MissingParameterError, TypeMismatchError
from streamhouse.model.action import Parameter
from streamhouse.sql.dialect import parse_query, render
from streamhouse.sql.parameters import fill_parameters, typed_literal
from tests.sql_corpus import AT


@pytest.mark.parametrize(
    ("kind", "value", "literal"),
    [
        ("int", 5, "5"),
        ("int", -5, "-5"),
        ("bigint", 5, "CAST(5 AS BIGINT)"),
        ("double", 1.5, "CAST('1.5' AS DOUBLE)"),
        ("double", 1, "CAST('1.0' AS DOUBLE)"),
        ("decimal(12,2)", 3.5, "CAST('3.5' AS DECIMAL(12, 2))"),
        ("decimal(12,2)", "100.25", "CAST('100.25' AS DECIMAL(12, 2))"),
        ("string", "it's", "'it\\'s'"),
        ("boolean", True, "TRUE"),
        ("date", date(2024, 1, 31), "CAST('2024-01-31' AS DATE)"),
        ("date", "2024-01-31", "CAST('2024-01-31' AS DATE)"),
        ("timestamp", datetime(2024, 1, 31, 12), "CAST('2024-01-31 12:00:00Z' AS TIMESTAMP)"),
        ("timestamp", "2024-01-31 12:00:00+01:00", "CAST('2024-01-31 11:00:00Z' AS TIMESTAMP)"),
        ("timestamp_ntz", "2024-01-31 12:00:00", "CAST('2024-01-31 12:00:00' AS TIMESTAMP_NTZ)"),
        ("array<string>", ["a", "b"], "CAST(ARRAY('a', 'b') AS ARRAY<STRING>)"),
    ],
)
def test_literal(kind: str, value: Any, literal: str) -> None:
    assert render(typed_literal("p", kind, value, AT)) == literal


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int", "5"),
        ("int", 5.5),
        ("int", True),
        ("int", 2**31),
        ("tinyint", 200),
        ("boolean", 1),
        ("string", 5),
        ("decimal(4,2)", 100),
        ("decimal(4,2)", "1.234"),
        ("decimal(4,2)", "nan"),
        ("date", "yesterday"),
        ("date", "2024-01-31 12:00:00"),
        ("timestamp", 5),
        ("array<int>", [1, "x"]),
        ("array<int>", 1),
        ("map<string,int>", {"a": 1}),
    ],
)
def test_wrong_value(kind: str, value: Any) -> None:
    with pytest.raises(TypeMismatchError):
        typed_literal("p", kind, value, AT)


def test_filled_in_everywhere() -> None:
    sql = "SELECT :least AS m FROM t WHERE a >= :least AND b IN (SELECT c FROM u WHERE d = :least)"
    tree = parse_query(sql, AT)
    fill_parameters(tree, {"least": Parameter(type="int")}, {"least": typed_literal("least", "int", 3, AT)}, sql, AT)
    assert render(tree) == "SELECT 3 AS m FROM t WHERE a >= 3 AND b IN (SELECT c FROM u WHERE d = 3)"


def test_undeclared_parameter_has_a_place() -> None:
    sql = "SELECT a FROM t\nWHERE a > :leats"
    with pytest.raises(MissingParameterError, match="did you mean 'least'") as refused:
        fill_parameters(parse_query(sql, AT), {"least": Parameter(type="int")}, {}, sql, AT)
    assert str(refused.value.at) == "action.sql:11:11"
