"""Lines of JSON as Spark 4.1 reads them; tests/integration/spark/test_files_as_spark.py asks Spark itself."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from streamhouse.errors import SourceError
from streamhouse.ingest.files import open_files
from streamhouse.ingest.json_rows import UnreadableRecordError, json_rows
from streamhouse.ingest.kafka import open_kafka
from streamhouse.ingest.message_formats import JsonMessages
from streamhouse.model.table import Column

DEAD = {"action": "dead_letter"}


def column(kind, *values):
    records = [f'{{"v": {value} , "other": 1}}'.encode() for value in values]
    return json_rows(records, (Column(name="v", type=kind),)).column("v").to_pylist()


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('"a"', "a"),
        ("1.50", "1.50"),
        ("1E+2", "1E+2"),
        ("-0", "-0"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("true", "true"),
        ("null", None),
        ("NaN", "NaN"),
        ('{"b": 1,  "c":[1, 2 ]}', '{"b": 1,  "c":[1, 2 ]}'),
        ('[ "\\u00e9" ]', '[ "\\u00e9" ]'),
        ("{'b':1}", "{'b':1}"),
        ("'q'", "q"),
        ('"\\ud83d\\ude00"', "😀"),
        ('"\\ud800"', "?"),
        ('"\\ude00\\ud83d"', "??"),
        ('"NA"', "NA"),
        ('""', ""),
    ],
)
def test_every_value_has_a_text(written, text):
    assert column("string", written) == [text]
    assert column("array<string>", f"[{written}]") == [[text]]
    assert column("map<string,string>", f'{{"k": {written}}}') == [[("k", text)]]
    assert column("struct<s:string>", f'{{"s": {written}}}') == [{"s": text}]


@pytest.mark.parametrize(
    ("kind", "written", "value"),
    [
        ("map<string,int>", '{"x": 1, "": null}', [("x", 1), ("", None)]),
        ("map<string,array<map<string,double>>>", '{"x": [{"y": 1}]}', [("x", [[("y", 1.0)]])]),
        ("decimal(20,2)", "123456789012345678.91", Decimal("123456789012345678.91")),
        ("decimal(10,2)", '"1,234.5"', Decimal("1234.50")),
        ("decimal(10,2)", "1e2", Decimal("100.00")),
        ("double", "9007199254740993", 9007199254740992.0),
        ("double", '"-INF"', float("-inf")),
        ("float", "1.00000017881393432617187501", 1.000000238418579),
        ("bigint", "9007199254740993", 9007199254740993),
        ("binary", '"aGk="', b"hi"),
        ("date", '"2020-1-2"', date(2020, 1, 2)),
        ("timestamp", "1577966400", datetime(2020, 1, 2, 12, tzinfo=UTC)),
        ("timestamp", '"2020-01-02 14:00 "', datetime(2020, 1, 2, 14, tzinfo=UTC)),
        ("timestamp", '"2020-01-02T14:00:00 GMT+2"', datetime(2020, 1, 2, 12, tzinfo=UTC)),
        ("timestamp_ntz", '"2020"', datetime(2020, 1, 1)),
        ("struct<b:int,c:string>", '{"b": 1, "b": 2, "d": []}', {"b": 2, "c": None}),
    ],
)
def test_values(kind, written, value):
    assert column(kind, written, "null") == [value, None]


@pytest.mark.parametrize(
    ("kind", "written", "why"),
    [
        ("map<string,int>", "[]", "column 'v' is no map"),
        ("map<string,int>", '{"x": 1, "x": 2}', "the key is there twice"),
        ("int", "1e3", "no int: 1e3 .it is no whole number"),
        ("int", '"1"', "no int: '1'"),
        ("tinyint", "200", "no tinyint: 200 .it is out of range"),
        ("bigint", "9223372036854775808", "out of range"),
        ("decimal(10,2)", "1.005", "digits behind the point would be lost"),
        ("decimal(10,2)", "100000000", "too many digits"),
        ("decimal(38,18)", "123456789012345678901234567890", "too many digits"),
        ("double", '"1.5"', "no double: '1.5'"),
        ("double", "-1e400", "no double: -1e400 .it is too large"),
        ("float", "1e39", "no float: 1e39 .it is too large; declare a double"),
        ("double", "INF", "it is no JSON"),
        ("boolean", '"true"', "no boolean: 'true'"),
        ("binary", '"aGk"', "base64"),
        ("date", "18262", "write it as a text"),
        ("date", '"2020-01-02 10:00:00"', "would be lost; declare a timestamp"),
        ("timestamp", '"10:00:00"', "no time in the form"),
        ("timestamp", "1577966400000", "a number counts seconds"),
        ("timestamp_ntz", '"2020-01-02T10:00:00Z"', "a local time has no zone"),
        ("struct<b:int>", "[1]", "column 'v' is no struct"),
        ("array<int>", "{}", "column 'v' is no array"),
    ],
)
def test_what_does_not_fit_is_refused(kind, written, why):
    with pytest.raises(UnreadableRecordError, match=why) as refused:
        column(kind, "null", written)
    assert refused.value.number == 1


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("null", "no JSON object, but null"),
        ('{"v": 1} {"v": 2}', "something follows the object"),
        ('{"v":', "a value is missing at character 6: its end"),
        ('{"v": 1,}', "a name is missing"),
        ('{"v": 01}', "it is no JSON"),
        ('{"v": 1, "o": "a\tb"}', "no control character"),
        ('{"v": 1, "o": "\\x"}', "no escape"),
        ('{"v": 1} // c', "something follows"),
        ('{"v": 1, "o": ' + "[" * 1001 + "]" * 1001 + "}", "1000 levels"),
        ('{"v": 1, "o": ' + "[" * 100_000, "1000 levels"),
        ('{"v": ' + "1" * 1001 + "}", "1000 digits"),
    ],
)
def test_lines_that_are_no_objects_are_refused_with_their_line(tmp_path, line, why):
    (tmp_path / "a.json").write_text(f'{{"v": 1}}\n\n{{"v": 2}}\n{line}\n{{"v": 3}}\n')
    with pytest.raises(SourceError, match=rf"a\.json:4:1: SH212 .*{why}") as refused:
        open_files({"path": "a.json", "columns": {"v": "double"}}, tmp_path).available()
    assert refused.value.hint
    source = open_files({"path": "a.json", "columns": {"v": "double"}, "on_bad_rows": DEAD}, tmp_path)
    assert [bad.letter.position for bad in source.bad_rows({}, source.available())] == ["a.json:4"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_blanks_and_byte_order_marks(tmp_path, end):
    text = end.join(['\ufeff{"v": 1}', "", " \t", '\ufeff{"v": 2} ', '{"V": 3}'])
    (tmp_path / "a.json").write_bytes(text.encode())
    source = open_files({"path": "a.json", "columns": {"v": "int"}}, tmp_path)
    assert source.read({}, source.available()).to_pydict() == {"v": [1, 2, None]}


def test_a_line_longer_than_a_block(tmp_path):
    long = "x" * (3 << 20)
    (tmp_path / "a.json").write_text(json.dumps({"v": 1, "s": long}) + "\n" + json.dumps({"v": 2, "s": "y"}))
    for columns in ({"v": "int", "s": "string"}, {}):
        source = open_files({"path": "a.json", "columns": columns}, tmp_path)
        assert source.read({}, source.available()).column("s").to_pylist() == [long, "y"]


def test_other_encodings_are_refused(tmp_path):
    for number, encoding in enumerate(("utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1")):
        (tmp_path / f"{number}.json").write_bytes('{"v": "é"}'.encode(encoding))
        source = open_files({"path": f"{number}.json", "columns": {"v": "string"}}, tmp_path)
        with pytest.raises(SourceError, match=rf"{number}\.json:1:1: SH212 .*it is no UTF-8"):
            source.available()


@pytest.mark.parametrize("others", [[], [b'{\n"id": 1,\n"name": "a"\n}']])
def test_a_line_end_within_a_text_is_refused(others):
    """JSON has none there; the text would have a blank in its place."""
    columns = (Column(name="id", type="int"), Column(name="name", type="string"))
    with pytest.raises(UnreadableRecordError, match="control character") as refused:
        json_rows([*others, b'{"id": 1, "name": "a\nb"}'], columns)
    assert (refused.value.reason, refused.value.number) == ("malformed", len(others))


def test_a_message_may_have_several_lines():
    message = b'{"v": {"a":\n 1},\n "n": 1}'
    columns = (Column(name="v", type="string"), Column(name="n", type="int"))
    assert JsonMessages().rows([message, b"{}"], columns).to_pylist() == [
        {"v": '{"a":\n 1}', "n": 1},
        {"v": None, "n": None},
    ]
    assert JsonMessages().rows([message], columns[1:]).to_pylist() == [{"n": 1}]


def test_a_map_whose_keys_are_no_texts_is_refused_before_anything_is_read(tmp_path):
    for kind in ("map<int,int>", "array<map<date,int>>"):
        with pytest.raises(SourceError, match="the keys are texts"):
            open_files({"path": "*.json", "columns": {"v": kind}}, tmp_path)
        open_files({"path": "*.parquet", "columns": {"v": kind}}, tmp_path)
        with pytest.raises(SourceError, match="the keys are texts"):
            open_kafka({"servers": "localhost:1", "topic": "t", "columns": {"v": kind}}, tmp_path)


@pytest.mark.parametrize("tolerant", [False, True])
def test_columns_that_a_file_lacks_are_null_and_named_once(tmp_path, tolerant):
    (tmp_path / "1.json").write_text('{"a": 1, "b": null}\n{"x": {"c": 1}}\n')
    (tmp_path / "2.json").write_text('{"a": 1, "b": 2, "c": 3}\n')
    options = {"path": "*.json", "columns": {"a": "int", "b": "int", "c": "int"}}
    source = open_files(options | ({"on_bad_rows": DEAD} if tolerant else {}), tmp_path)
    end = source.available()
    assert list(source.lacking({}, end)) == ["1.json lacks the column c: it is NULL in its rows"]
    assert not list(source.lacking({"1.json": 1}, end))
    assert source.read({}, end).column("c").to_pylist() == [None, None, 3]


@pytest.mark.parametrize("tolerant", [False, True])
def test_a_file_that_has_none_of_the_columns_is_refused(tmp_path, tolerant):
    (tmp_path / "1.json").write_text('{}\n{"A": 1, "b": {"a": 2}}\n')
    options = {"path": "*.json", "columns": {"a": "int"}} | ({"on_bad_rows": DEAD} if tolerant else {})
    with pytest.raises(SourceError, match=r"1\.json:1:1: SH212 the file has none of the columns") as refused:
        open_files(options, tmp_path).available()
    assert "A, b" in str(refused.value.hint)
    (tmp_path / "1.json").write_text("{}\n")
    assert open_files(options, tmp_path).available() == {"1.json": 1}
