import itertools

import pytest

from streamhouse.upstream.lattice import change_of, common, loses

CHAIN = ("tinyint", "smallint", "int", "bigint", "decimal(20,0)", "double", "string")


@pytest.mark.parametrize(("a", "b"), [(a, b) for a, b in itertools.combinations_with_replacement(CHAIN, 2)])
def test_the_chain_of_numbers(a: str, b: str) -> None:
    assert common(a, b) == common(b, a) == b


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("float", "double", "double"),
        ("float", "bigint", "double"),
        ("float", "string", "string"),
        ("date", "timestamp_ntz", "timestamp_ntz"),
        ("date", "timestamp", "timestamp"),
        ("timestamp_ntz", "timestamp", "timestamp"),
        ("timestamp", "string", "string"),
        ("decimal(10,2)", "decimal(12,0)", "decimal(14,2)"),
        ("decimal(10,2)", "int", "decimal(12,2)"),
        ("decimal(38,0)", "decimal(38,10)", None),  # 48 digits
        ("decimal(30,20)", "bigint", None),
        ("boolean", "int", "string"),
        ("binary", "int", None),
        ("array<int>", "array<bigint>", "array<bigint>"),
        ("array<int>", "int", None),
        ("map<string,int>", "map<string,double>", "map<string,double>"),
        ("struct<a:int>", "struct<a:bigint,b:string>", "struct<a:bigint,b:string>"),
        ("struct<a:int,c:date>", "struct<b:string>", "struct<a:int,c:date,b:string>"),
        ("struct<a:binary>", "struct<a:int>", None),
    ],
)
def test_what_holds_both(a: str, b: str, expected: str | None) -> None:
    assert common(a, b) == expected


def test_the_order_of_shards_does_not_matter() -> None:
    for types in (("tinyint", "decimal(5,2)", "bigint"), ("date", "timestamp", "timestamp_ntz")):
        assert len({common(*order) for order in itertools.permutations(types)}) == 1


@pytest.mark.parametrize(
    ("was", "now", "expected"),
    [
        ("int", "int", "same"),
        ("int", "bigint", "widen"),
        ("int", "decimal(12,2)", "widen"),
        ("int", "decimal(6,2)", "other"),
        ("bigint", "int", "narrow"),
        ("double", "float", "narrow"),
        ("int", "string", "other"),
        ("string", "int", "other"),
        ("decimal(10,2)", "decimal(10,4)", "other"),
        ("decimal(10,2)", "decimal(12,4)", "widen"),
        ("date", "timestamp", "widen"),
        ("struct<a:int>", "struct<a:int,b:string>", "field"),
        ("struct<a:int>", "struct<b:string>", "other"),
        ("struct<a:int,b:string>", "struct<a:int>", "narrow"),
        ("array<struct<a:int>>", "array<struct<a:int,b:int>>", "field"),
        ("struct<a:int>", "struct<a:bigint>", "widen"),
        ("array<int>", "map<string,int>", "other"),
    ],
)
def test_how_a_type_changed(was: str, now: str, expected: str) -> None:
    assert change_of(was, now) == expected


def test_whole_numbers_may_lose_in_a_double() -> None:
    assert loses("bigint", "double")
    assert loses("decimal(12,2)", "double")
    assert not loses("int", "double")
    assert not loses("bigint", "string")
