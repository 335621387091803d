"""Types as people write them: what passes is Spark's, and has the meaning that it has in Spark."""

import pytest

from streamhouse.ingest.options import stored_types
from streamhouse.sql.written_type import WrittenTypeError, written_type

TAKEN = {
    "LONG": "bigint",
    " int ": "int",
    "short": "smallint",
    "byte": "tinyint",
    "Integer": "int",
    "real": "float",
    "decimal": "decimal(10,0)",
    "dec(5)": "decimal(5,0)",
    "numeric(38, 38)": "decimal(38,38)",
    "varchar(20)": "string",
    "timestamp_ltz": "timestamp",
    "timestamp": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
    "array<array<int>>": "array<array<int>>",
    "map<string, decimal(12,2)>": "map<string,decimal(12,2)>",
    "struct<a: int NOT NULL COMMENT 'x, y', b string>": "struct<a:int,b:string>",
    "struct<date:date,`int`:map<string,struct<x:int>>>": "struct<date:date,int:map<string,struct<x:int>>>",
}
REFUSED = [
    *("", "<", "int,", "int;", "int --x", "int /* x */", "'int'", "`int`", "int int", "int not null", "int array"),
    *("int[]", "int[3]", "array", "array<>", "array<int", "array<int>>", "array<int,int>", "map<string>"),
    *("map<string,int,int>", "struct", "struct<>", "struct<a>", "struct<a:int,>", "struct<a:int,A:string>"),
    *("decimal()", "decimal(a)", "decimal(0)", "decimal(5,7)", "decimal(39)", "decimal(-1)", "decimal(1,2,3)"),
    *("decimal(1\u00b2)", "decimal(10,2) unsigned", "int(11)", "int unsigned", "timestamp(3)", "string(3)"),
    *("timestamp without time zone", "double precision", "character varying(3)", "\u0131nt", "nullable(int)"),
    *("time", "interval", "interval day to second", "variant", "void", "char(3)", "varchar(max)", "list<int>"),
    *("enum('a')", "null", "object"),
]


@pytest.mark.parametrize("text", TAKEN)
def test_what_spark_takes_is_taken(text):
    assert written_type(text) == TAKEN[text]
    assert stored_types({"a": text}) == {"a": TAKEN[text]}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_type_of_spark_is_refused(text):
    with pytest.raises(WrittenTypeError):
        written_type(text)
    with pytest.raises(ValueError, match="column 'a': "):
        stored_types({"a": text})


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("int8", "write bigint"),  # eight bytes where it comes from; one for the parser of SQL
        ("array<TEXT>", "write string"),
        ("struct<a:datetime>", "write timestamp_ntz, or timestamp for an instant"),
        ("timestamp without time zone", "write timestamp_ntz"),
        ("decimal(40,2)", "write decimal(38,s) with a smaller s, or double"),
    ],
)
def test_a_type_of_another_system_has_a_hint(text, hint):
    with pytest.raises(WrittenTypeError) as refused:
        written_type(text)
    assert refused.value.hint == hint


def test_a_type_within_types_without_end_is_refused():
    with pytest.raises(WrittenTypeError, match="nested deeper than 32 times"):
        written_type("array<" * 5000 + "int" + ">" * 5000)
