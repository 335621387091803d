"""Fields, elements and common types that Spark does not find are refused wherever they stand."""

import pytest

from streamhouse.errors import DefinitionErrors, StreamhouseError
from tests.spark_verdicts import checked
from tests.tables import each

PLACES = (
    "SELECT k FROM t WHERE {} IS NULL",
    "SELECT k, count(*) AS n FROM t GROUP BY k, {}",
    "SELECT t.k FROM t JOIN (SELECT id AS i FROM u) AS q ON t.id = q.i AND {} IS NULL",
    "SELECT k FROM t ORDER BY {} LIMIT 1",
)


@each(
    ("value", "message"),
    [
        ("s.nope", "t.s has no field 'nope'"),
        ("(s).nope", "(t.s) has no field 'nope'"),
        ("named_struct('a', v).nope", "has no field 'nope'"),
        ("items[0].nope", "t.items[0] has no field 'nope'"),
        ("items.nope", "t.items has no field 'nope'"),
        ("arr.a", "t.arr is array<int>, which has no field 'a'"),
        ("v.a", "t.v is int, which has no field 'a'"),
        ("v[0]", "t.v is int, which has no elements"),
        ("coalesce(s, 0)", "coalesce() takes values of one type, and struct<a:int,b:string> and int have none"),
        ("coalesce(v, true)", "coalesce() takes values of one type, and int and boolean have none"),
        ("coalesce(INTERVAL '1' DAY, js)", "coalesce() takes values of one type, and day"),
        ("greatest(d, 0)", "greatest() takes values of one type, and date and int have none"),
        ("array(s, 1)", "array() takes values of one type, and struct<a:int,b:string> and int have none"),
        ("if(b, d, v)", "if() takes values of one type, and date and int have none"),
        ("CASE WHEN b THEN d ELSE v END", "CASE takes values of one type, and date and int have none"),
    ],
)
def test_refused(value: str, message: str) -> None:
    for place in PLACES:
        with pytest.raises((StreamhouseError, DefinitionErrors)) as refused:
            checked(place.format(value))
        assert message in str(refused.value), place
        assert "hint: " in str(refused.value), place


@each(
    "value",
    [
        "s.A",
        "s['a']",
        "items.sku",
        "items.sku[0]",
        "m.zz",
        "from_json(js, 'a INT').a",
        "coalesce(v, js)",
        "coalesce(d, '2020-01-01')",
        "coalesce(d, ts)",
        "coalesce(NULL, v, NULL)",
        "greatest(v, x, dec, 1L)",
        "if(b, v, js)",
        "CASE js WHEN 'a' THEN v WHEN 'b' THEN x END",
    ],
)
def test_taken(value: str) -> None:
    checked(f"SELECT k FROM t WHERE {value} IS NULL")
