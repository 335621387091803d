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


@each(
    ("value", "message"),
    [
        ("exists(items, i -> i.nope = 1)", "i has no field 'nope'"),
        ("exists(items, i -> i.nope)", "i has no field 'nope'"),
        ("filter(items, i -> i.nope IS NULL)[0].sku", "i has no field 'nope'"),
        ("transform(items, i -> i.qty.nope)", "i.qty is int, which has no field 'nope'"),
        ("transform(items, (i, n) -> n.a)", "n is int, which has no field 'a'"),
        ("transform(arr, v -> v.a)", "v is int, which has no field 'a'"),
        ("aggregate(items, 0, (acc, i) -> acc + i.nope)", "i has no field 'nope'"),
        ("aggregate(items, 0, (acc, i) -> acc + i.qty, acc -> acc.a)", "acc is int, which has no field 'a'"),
        ("zip_with(arr, items, (a, i) -> i.nope)", "i has no field 'nope'"),
        ("transform_values(m, (a, b) -> b.x)", "b is int, which has no field 'x'"),
        ("map_filter(m, (a, b) -> b[0] = 1)", "b is int, which has no elements"),
        ("array_sort(items, (l, r) -> l.nope - r.nope)", "l has no field 'nope'"),
        ("transform(items, i -> transform(arr, e -> i.nope + e))", "i has no field 'nope'"),
        (
            "exists(items, i -> coalesce(i.qty, true) = true)",
            "coalesce() takes values of one type, and int and boolean",
        ),
        ("transform(items, i -> i.qty + b)", "there is no arithmetic of int and boolean"),
        ("exists(items, i -> i.sku = array(1))", "string and array<int> cannot be compared"),
        ("filter(items, i -> i.qty)", "the function in filter() gives int, and no boolean"),
        ("forall(arr, e -> e + 1)", "the function in forall() gives int, and no boolean"),
        (
            "map_zip_with(map('1', 2), map(1L, 3), (a, x, y) -> a)",
            "map_zip_with() takes maps of one type of keys, and string and bigint have none",
        ),
        ("map_filter(m, (a, b) -> b)", "the function in map_filter() gives int, and no boolean"),
    ],
)
def test_bodies_of_lambda_functions_are_checked(value: str, message: str) -> None:
    for place in PLACES[:2]:
        with pytest.raises((StreamhouseError, DefinitionErrors)) as refused:
            checked(place.format(value))
        assert message in str(refused.value), (place, str(refused.value))


@each(
    "value",
    [
        "exists(items, i -> i.SKU = 's1' AND i.qty > v)",
        "transform(items, (i, n) -> i.qty + n)",
        "transform(items, i -> struct(i.qty AS a, i.sku AS b).a)",
        "aggregate(items, CAST(0 AS BIGINT), (acc, i) -> acc + i.qty)",
        "aggregate(items, named_struct('n', 0), (acc, i) -> named_struct('n', acc.n + i.qty), acc -> acc.n)",
        "transform(transform(items, i -> array(i)), a -> a[0].qty)",
        "map_filter(m, (a, b) -> NULL)",
        "map_zip_with(map(1, 2), map(1L, 3), (a, x, y) -> a + x)",
        "map_zip_with(map(X'01', 2), map('a', 3), (a, x, y) -> y)",
        "zip_with(arr, items, (a, i) -> a + i.qty)",
        "filter(arr, e -> b)",
    ],
)
def test_bodies_of_lambda_functions_are_taken(value: str) -> None:
    checked(f"SELECT k FROM t WHERE {value} IS NULL")
