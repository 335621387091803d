"""Names that are parts of values: of fields and of keys of maps. Their case is the writer's, and counts."""

import pytest

from streamhouse.errors import Location, StrategyError
from streamhouse.sql.canonical import Canonical, CanonicalInput, canonical
from streamhouse.sql.dialect import parse_query
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.schema import analyse
from tests.sql_corpus import columns

AT = Location("a.sql")
TYPES = {
    "id": "bigint", "i": "int", "v": "int", "m": "map<string,int>", "arr": "array<int>",
    "st": "struct<a:int,B:string>", "ms": "array<struct<X:int>>",
}  # fmt: skip


def planned(sql: str) -> str:
    return analyse(parse_query(sql, AT), {"t": ActionPort(columns(TYPES), {})}, sql, AT).sql


def meaning(sql: str) -> Canonical:
    return canonical(planned(sql), {"t": CanonicalInput("t", columns(TYPES))})


DIFFERENT = [
    ("(i, v)", "(I, v)"),
    ("(i AS Abc, v)", "(i AS abc, v)"),
    ("struct(i)", "struct(I)"),
    ("struct((i))", "struct((I))"),
    ("struct(st.a)", "struct(st.A)"),
    ("array((i, v))", "array((I, v))"),
    ("CAST(st AS STRUCT<x: INT, y: STRING>)", "CAST(st AS STRUCT<X: INT, y: STRING>)"),
    ("st::STRUCT<x: INT, y: STRING>", "st::STRUCT<X: INT, y: STRING>"),
    ("CAST(ms AS ARRAY<STRUCT<x: INT>>)", "CAST(ms AS ARRAY<STRUCT<X: INT>>)"),
    ("map('k', m.Key)", "map('k', m.key)"),
    ("named_struct('a', i)", "named_struct('A', i)"),
    ("transform(arr, x -> struct(x))", "transform(arr, X -> struct(X))"),
    ("transform(arr, x -> (x, 1))", "transform(arr, X -> (X, 1))"),
]
SAME = [
    ("st", "ST"),
    ("struct(i AS a)", "struct(I AS a)"),
    ("array(st.B)", "array(st.b)"),
    ("transform(arr, x -> x + 1)", "transform(arr, X -> X + 1)"),
    ("CAST(ms AS ARRAY<STRUCT<x: INT>>)", "cast(MS as array<struct<x int>>)"),
]


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_another_case_is_another_value(first: str, second: str) -> None:
    one, other = (f"SELECT id, to_json({value}) AS y FROM t" for value in (first, second))
    assert not meaning(one).means(meaning(other))


@pytest.mark.parametrize(("first", "second"), SAME)
def test_names_that_no_value_has_may_have_any_case(first: str, second: str) -> None:
    one, other = (f"SELECT id, to_json({value}) AS y FROM t" for value in (first, second))
    assert meaning(one).means(meaning(other))


@pytest.mark.parametrize(("first", "second"), [*DIFFERENT, *SAME])
def test_spark_reads_the_case_as_written(first: str, second: str) -> None:
    for value in (first, second):
        text = planned(f"SELECT id, to_json({value}) AS y FROM t")
        assert planned(text) == text


@pytest.mark.parametrize(
    ("item", "shown"),
    [
        ("to_json(struct(q.*))", "TO_JSON(STRUCT(q.id, q.oid AS Oid))"),
        ("to_json(struct(*, 1 AS one))", "TO_JSON(STRUCT(q.id, q.oid AS Oid, 1 AS one))"),
        ("hash(*)", "HASH(q.id, q.oid)"),
        ("count(DISTINCT *)", "COUNT(DISTINCT q.id, q.oid)"),
        ("count(*)", "COUNT(*)"),
    ],
)
def test_a_star_among_arguments_is_its_columns(item: str, shown: str) -> None:
    assert shown in planned(f"SELECT {item} AS y FROM (SELECT id, i AS Oid FROM t) AS q")


@pytest.mark.parametrize("call", ["coalesce(*)", "transform(arr, x -> struct(*))"])
def test_a_star_that_is_not_followed_is_refused(call: str) -> None:
    with pytest.raises(StrategyError, match="name the columns"):
        planned(f"SELECT id, {call} AS y FROM t")
