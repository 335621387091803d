"""Words that mean something are written in ASCII, and names in any letters."""

# ruff: noqa: RUF001  the letters are what is tested

import re

import pytest

from streamhouse.doors.setting import Kind, Setting
from streamhouse.errors import FileFormatError, SqlSyntaxError
from streamhouse.model.types import USE
from streamhouse.registry.read_action import read_action
from streamhouse.sql.dialect import parse_query, render
from streamhouse.sql.types import canonical_type
from tests.sql_corpus import AT
from tests.tables import each


@each(
    ("sql", "place", "hint"),
    [
        ("ſELECT a FROM t", "1:1", "write SELECT in ASCII"),
        ("SELECT CAST(a AS ınt) FROM t", "1:18", "write INT in ASCII"),
        ("SELECT CAST(a AS array<ſtring>) FROM t", "1:24", "write STRING in ASCII"),
        ("SELECT a FROM t CROß JOIN t b", "1:17", "write CROSS in ASCII"),
        ("SELECT ſum(a) FROM t", "1:8", "write SUM in ASCII"),
        ("SELECT ran\u212a() OVER (ORDER BY a) FROM t", "1:8", "write RANK in ASCII"),
        ("SELECT a + INTERVAL 1 dayſ FROM t", "1:23", "write DAYS in ASCII"),
        ("SELECT １ FROM t", "1:8", "for a name"),
        ("SELECT a FROM t WHERE a > ١", "1:27", "for a name"),
        ("SELECT CAST(a AS DECIMAL(１2,2)) FROM t", "1:26", "for a name"),
        ("SELECT a² FROM t", "1:8", "for a name"),
    ],
)
def test_other_letters_have_no_meaning(sql: str, place: str, hint: str) -> None:
    with pytest.raises(SqlSyntaxError) as refused:
        parse_query(sql, AT)
    line, column = place.split(":")
    assert f":{AT.line + int(line) - 1}:{column}: SH104" in str(refused.value)
    assert hint in str(refused.value)


@each("sql", ["SELECT DATE '２０２６-01-01'", "SELECT TIME '１0:00:00'", "SELECT INTERVAL '١' DAY"])
def test_digits_of_other_scripts_are_none_in_literals(sql: str) -> None:
    with pytest.raises(SqlSyntaxError):
        parse_query(sql, AT)


@each(
    "sql",
    [
        "SELECT größe, kısım AS straße FROM t AS ſ",
        "SELECT `ınt`, `１`, 'ſELECT' AS \u212a FROM t",
        "WITH größe(a, b) AS (SELECT a, b FROM t) SELECT a FROM größe",
    ],
)
def test_names_have_any_letters(sql: str) -> None:
    assert "(" in sql or render(parse_query(sql, AT)) == sql
    parse_query(sql, AT)


@each("name", ["ınt", "ſtring", "bıgint", "ﬂoat", "timeſtamp", "\u212aint", "array<ınt>", "decimal(１2,2)"])
def test_types_are_written_in_ascii(name: str) -> None:
    with pytest.raises(ValueError, match="is no Spark SQL type"):
        canonical_type(name)


def test_fields_have_any_names() -> None:
    assert canonical_type("struct<größe:int,ı:STRING>") == "struct<größe:int,ı:string>"


@each(
    ("kind", "value"),
    [
        (Kind.SIZE, "512\u212a"),
        (Kind.DURATION, "30ſ"),
        (Kind.DURATION, "٣s"),
    ],
)
def test_sizes_and_durations_are_written_in_ascii(kind: Kind, value: str) -> None:
    assert Setting(kind, "").misfit(value) is not None


def test_versions_are_written_in_ascii() -> None:
    assert re.fullmatch(USE, "keep@1.2") is not None
    assert re.fullmatch(USE, "keep@١.2") is None


def test_a_column_has_the_type_that_was_meant_as_hint() -> None:
    text = "/* ---\naction: x\nstep: ingest\ninputs: {t: {id: ınt}}\n--- */\nSELECT id FROM t\n"
    with pytest.raises(FileFormatError, match="f:4:18: SH101 'ınt' is no Spark SQL type") as refused:
        read_action(text, "f")
    assert refused.value.hint == "did you mean 'int'?"
