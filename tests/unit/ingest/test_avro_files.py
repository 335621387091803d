"""Files of Avro as a source: the rows that their writer wrote, or an error that says what is wrong with the file."""

import json
from base64 import b64decode
from contextlib import suppress
from datetime import UTC, date, datetime, time
from decimal import Decimal
from io import BytesIO

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.errors import SourceError
from streamhouse.ingest import avro_file as reader
from streamhouse.ingest.avro_file import AvroFile
from streamhouse.ingest.files import open_files
from streamhouse.ingest.inferred_columns import infer_files

CODECS = ("null", "deflate", "snappy", "zstandard", "bzip2", "xz")
SCHEMA = {
    "type": "record",
    "name": "order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "city", "type": ["null", "string"]},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "state", "type": {"type": "enum", "name": "state", "symbols": ["new", "paid"]}},
        {"name": "items", "type": {"type": "array", "items": "int"}},
    ],
}
TYPES = {
    "id": "bigint",
    "city": "string",
    "amount": "decimal(9,2)",
    "at": "timestamp",
    "day": "date",
    "state": "string",
    "items": "array<int>",
}
OF_SPARK = (
    "T2JqAQYWYXZyby5zY2hlbWGoEnsidHlwZSI6InJlY29yZCIsIm5hbWUiOiJ0b3BMZXZlbFJlY29yZCIsImZpZWxkcyI6W3sibmFt"
    "ZSI6ImIiLCJ0eXBlIjpbImJvb2xlYW4iLCJudWxsIl19LHsibmFtZSI6ImkiLCJ0eXBlIjpbImludCIsIm51bGwiXX0seyJuYW1l"
    "IjoibCIsInR5cGUiOlsibG9uZyIsIm51bGwiXX0seyJuYW1lIjoiZiIsInR5cGUiOlsiZmxvYXQiLCJudWxsIl19LHsibmFtZSI6"
    "ImQiLCJ0eXBlIjpbImRvdWJsZSIsIm51bGwiXX0seyJuYW1lIjoicyIsInR5cGUiOlsic3RyaW5nIiwibnVsbCJdfSx7Im5hbWUi"
    "OiJ4IiwidHlwZSI6WyJieXRlcyIsIm51bGwiXX0seyJuYW1lIjoiZGF5IiwidHlwZSI6W3sidHlwZSI6ImludCIsImxvZ2ljYWxU"
    "eXBlIjoiZGF0ZSJ9LCJudWxsIl19LHsibmFtZSI6ImF0IiwidHlwZSI6W3sidHlwZSI6ImxvbmciLCJsb2dpY2FsVHlwZSI6InRp"
    "bWVzdGFtcC1taWNyb3MifSwibnVsbCJdfSx7Im5hbWUiOiJudHoiLCJ0eXBlIjpbeyJ0eXBlIjoibG9uZyIsImxvZ2ljYWxUeXBl"
    "IjoibG9jYWwtdGltZXN0YW1wLW1pY3JvcyJ9LCJudWxsIl19LHsibmFtZSI6ImMiLCJ0eXBlIjpbeyJ0eXBlIjoiZml4ZWQiLCJu"
    "YW1lIjoiZml4ZWQiLCJuYW1lc3BhY2UiOiJ0b3BMZXZlbFJlY29yZC5jIiwic2l6ZSI6NCwibG9naWNhbFR5cGUiOiJkZWNpbWFs"
    "IiwicHJlY2lzaW9uIjo5LCJzY2FsZSI6Mn0sIm51bGwiXX0seyJuYW1lIjoiYmlnIiwidHlwZSI6W3sidHlwZSI6ImZpeGVkIiwi"
    "bmFtZSI6ImZpeGVkIiwibmFtZXNwYWNlIjoidG9wTGV2ZWxSZWNvcmQuYmlnIiwic2l6ZSI6MTMsImxvZ2ljYWxUeXBlIjoiZGVj"
    "aW1hbCIsInByZWNpc2lvbiI6MzAsInNjYWxlIjoyfSwibnVsbCJdfSx7Im5hbWUiOiJpdGVtcyIsInR5cGUiOlt7InR5cGUiOiJh"
    "cnJheSIsIml0ZW1zIjpbImludCIsIm51bGwiXX0sIm51bGwiXX0seyJuYW1lIjoibSIsInR5cGUiOlt7InR5cGUiOiJtYXAiLCJ2"
    "YWx1ZXMiOiJpbnQifSwibnVsbCJdfSx7Im5hbWUiOiJxIiwidHlwZSI6W3sidHlwZSI6InJlY29yZCIsIm5hbWUiOiJxIiwibmFt"
    "ZXNwYWNlIjoidG9wTGV2ZWxSZWNvcmQiLCJmaWVsZHMiOlt7Im5hbWUiOiJ4IiwidHlwZSI6ImludCJ9LHsibmFtZSI6IlkiLCJ0"
    "eXBlIjoic3RyaW5nIn1dfSwibnVsbCJdfSx7Im5hbWUiOiJzbWFsbCIsInR5cGUiOlsiaW50IiwibnVsbCJdfV19MG9yZy5hcGFj"
    "aGUuc3BhcmsudmVyc2lvbgo0LjEuNBRhdnJvLmNvZGVjDHNuYXBweQBFu0rm/VMg5r2/U7mfM5r6BLgBaiwAAQACAAQAAADAPwAJ"
    "AWQEQAAKS8O2bG4ABAD/AJ36FACMzefk3tejBhkJFAAAAH0A/x0BKIMABAACAgAAAgJhBQZIYgAGAgICAgICAgICAgICAgICAutA"
    "biNFu0rm/VMg5r2/U7mfM5r6"
)
"""Two rows that Spark 4.1.4 wrote with `spark-avro` 4.1.1: one of values, and one of nulls."""
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.integers(-(1 << 63), (1 << 63) - 1),
            "city": st.none() | st.text(max_size=5),
            "amount": st.integers(-(10**9) + 1, 10**9 - 1).map(lambda cents: Decimal(cents).scaleb(-2)),
            "at": st.integers(-(10**12), 10**12).map(lambda ms: datetime.fromtimestamp(ms // 1000, UTC)),
            "day": st.dates(date(1700, 1, 1), date(2300, 1, 1)),
            "state": st.sampled_from(["new", "paid"]),
            "items": st.lists(st.integers(-5, 5), max_size=3),
        }
    ),
    max_size=30,
)
ONE = {
    "id": 7,
    "city": "Köln",
    "amount": Decimal("1.50"),
    "at": datetime(2026, 1, 2, tzinfo=UTC),
    "day": date(2026, 1, 2),
    "state": "paid",
    "items": [1, 2],
}
NUMBERS = {"type": "record", "name": "n", "fields": [{"name": "n", "type": "long"}, {"name": "word", "type": "string"}]}


def written(rows, schema=SCHEMA, codec="null", block_bytes=16_000):
    file = BytesIO()
    fastavro.writer(file, schema, rows, codec=codec, sync_interval=block_bytes)
    return file.getvalue()


def project(tmp_path, data, name="rows.avro"):
    (tmp_path / "data").mkdir(exist_ok=True)
    (tmp_path / "data" / name).write_bytes(data)
    return tmp_path


def rows_of(source):
    return source.read({}, source.available()).to_pylist()


@given(rows=ROWS, codec=st.sampled_from(CODECS), block_bytes=st.sampled_from([1, 60, 16_000]))
def test_each_row_is_as_it_was_written(tmp_path_factory, rows, codec, block_bytes):
    root = project(tmp_path_factory.mktemp("avro"), written(rows, codec=codec, block_bytes=block_bytes))
    assert rows_of(open_files({"path": "data/*.avro", "columns": TYPES}, root)) == rows


def test_a_file_that_spark_wrote(tmp_path):
    source = open_files({"path": "data/rows.avro"}, project(tmp_path, b64decode(OF_SPARK)))
    assert [(column.name, column.type) for column in source.columns()] == [
        ("b", "boolean"),
        ("i", "int"),
        ("l", "bigint"),
        ("f", "float"),
        ("d", "double"),
        ("s", "string"),
        ("x", "binary"),
        ("day", "date"),
        ("at", "timestamp"),
        ("ntz", "timestamp_ntz"),
        ("c", "decimal(9,2)"),
        ("big", "decimal(30,2)"),
        ("items", "array<int>"),
        ("m", "map<string,int>"),
        ("q", "struct<x:int,Y:string>"),
        ("small", "int"),
    ]
    full, empty = rows_of(source)
    assert full == {
        "b": True,
        "i": 1,
        "l": 2,
        "f": 1.5,
        "d": 2.5,
        "s": "Köln",
        "x": b"\x00\xff",
        "day": date(1500, 1, 2),
        "at": datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
        "ntz": datetime(2026, 1, 2, 3, 4, 5, 6),
        "c": Decimal("1.25"),
        "big": Decimal("-1.25"),
        "items": [1, None],
        "m": [("a", 1)],
        "q": {"x": 1, "Y": "b"},
        "small": 3,
    }
    assert set(empty.values()) == {None}


@pytest.mark.parametrize(
    ("schema", "value", "type_", "read"),
    [
        ({"type": "long", "logicalType": "timestamp-nanos"}, 1_700_000_000_123_456_789, "bigint", None),
        ({"type": "long", "logicalType": "local-timestamp-nanos"}, 1_700_000_000_123_456_789, "bigint", None),
        ({"type": "fixed", "name": "u", "size": 16, "logicalType": "uuid"}, bytes(16), "binary", None),
        ({"type": "string", "logicalType": "uuid"}, "0b4c1f3e-0000-4000-8000-000000000001", "string", None),
        ({"type": "int", "logicalType": "time-millis"}, time(1, 2, 3), "int", 3_723_000),
        ({"type": "fixed", "name": "d", "size": 12, "logicalType": "duration"}, bytes(12), "binary", None),
        (["int"], 4, "int", None),
    ],
)
def test_types_are_those_of_sparks_reader_of_avro(tmp_path, schema, value, type_, read):
    """Asked of Spark 4.1.4 with the reader `spark-avro` 4.1.1."""
    record = {"type": "record", "name": "r", "fields": [{"name": "v", "type": schema}]}
    source = open_files({"path": "data/rows.avro"}, project(tmp_path, written([{"v": value}], record)))
    assert [column.type for column in source.columns()] == [type_]
    assert rows_of(source) == [{"v": value if read is None else read}]


def test_days_that_an_old_spark_wrote_are_refused(tmp_path):
    schema = {
        "type": "record",
        "name": "r",
        "fields": [{"name": "day", "type": {"type": "int", "logicalType": "date"}}],
    }
    for version, is_read in (("2.4.8", False), ("3.5.0", True)):
        file = BytesIO()
        fastavro.writer(file, schema, [{"day": date(1500, 1, 1)}], metadata={"org.apache.spark.version": version})
        source = open_files({"path": "data/rows.avro"}, project(tmp_path, file.getvalue()))
        if is_read:
            assert rows_of(source) == [{"day": date(1500, 1, 1)}]
        else:
            with pytest.raises(SourceError, match="Julian calendar"):
                rows_of(source)


def test_the_columns_are_those_of_the_schema(tmp_path):
    source = open_files({"path": "data/rows.avro"}, project(tmp_path, written([ONE])))
    assert {column.name: column.type for column in source.columns()} == TYPES
    assert rows_of(source) == [ONE]


@given(st.integers(0, 25), st.integers(0, 25))
def test_any_range_is_that_of_the_file(tmp_path_factory, start, end):
    root = project(
        tmp_path_factory.mktemp("avro"), written([{"n": n, "word": str(n)} for n in range(25)], NUMBERS, "deflate", 20)
    )
    source = open_files({"path": "data/rows.avro"}, root)
    found = source.read({"data/rows.avro": start}, {"data/rows.avro": end}, ("word",))
    assert found["word"].to_pylist() == [str(n) for n in range(start, end)]


def test_columns_are_found_by_name_whatever_their_case_and_an_absent_one_is_null(tmp_path):
    root = project(tmp_path, written([{"n": 3, "word": "a"}], NUMBERS))
    source = open_files({"path": "data/rows.avro", "columns": {"WORD": "string", "N": "int", "more": "date"}}, root)
    assert rows_of(source) == [{"WORD": "a", "N": 3, "more": None}]
    assert list(source.lacking({}, source.available())) != []


def test_a_file_with_none_of_the_columns_is_refused(tmp_path):
    source = open_files({"path": "data/rows.avro", "columns": {"x": "int"}}, project(tmp_path, written([ONE])))
    with pytest.raises(SourceError, match="none of the columns"):
        source.available()


def test_a_type_that_no_column_has_is_refused_where_it_is_wanted(tmp_path):
    schema = {**NUMBERS, "fields": [*NUMBERS["fields"], {"name": "odd", "type": ["int", "string"]}]}
    root = project(tmp_path, written([{"n": 1, "word": "a", "odd": 2}], schema))
    assert rows_of(open_files({"path": "data/rows.avro", "columns": {"n": "bigint"}}, root)) == [{"n": 1}]
    with pytest.raises(SourceError, match="union of int and string"):
        rows_of(open_files({"path": "data/rows.avro", "columns": {"odd": "int"}}, root))


def test_a_value_that_does_not_fit_its_column_has_its_row(tmp_path):
    root = project(tmp_path, written([{"n": n, "word": "a"} for n in (1, 2, 1 << 40)], NUMBERS))
    source = open_files({"path": "data/rows.avro", "columns": {"n": "int"}}, root)
    with pytest.raises(SourceError, match="row 3 does not fit") as error:
        rows_of(source)
    assert str(error.value.at) == "data/rows.avro:3:1"


def test_a_row_that_does_not_fit_goes_to_the_dead_letters_and_back(tmp_path):
    root = project(tmp_path, written([{"n": n, "word": "a"} for n in (1, 1 << 40, 3)], NUMBERS, "deflate"))
    options = {"path": "data/rows.avro", "on_bad_rows": "dead_letter"}
    source = open_files({**options, "columns": {"n": "int"}}, root)
    found = source.read_split({}, source.available())
    assert found.rows["n"].to_pylist() == [1, 3]
    assert [bad.letter.position for bad in found.bad] == ["data/rows.avro:2"]
    again = open_files({**options, "columns": {"n": "bigint"}}, root).read_again([found.bad[0].letter], None)
    assert again.rows["n"].to_pylist() == [1 << 40]


def test_the_columns_are_inferred(tmp_path):
    project(tmp_path, written([ONE]))
    found = infer_files("data/*.avro", tmp_path)
    assert {column.name: column.type for column in found.columns} == TYPES
    assert (found.rows, found.is_proved) == (1, True)


@pytest.mark.parametrize("codec", CODECS)
def test_a_file_that_is_cut_anywhere_is_refused_or_has_all_rows_before_the_cut(tmp_path, codec):
    rows = [{"n": n, "word": "abc" * n} for n in range(12)]
    whole = written(rows, NUMBERS, codec, 40)
    path = tmp_path / "rows.avro"
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        try:
            found = AvroFile(path)
        except SourceError:
            continue
        words = found.slice(0, found.rows, ("n",))["n"].to_pylist()
        assert words == list(range(found.rows)), "between two blocks it is a whole file"
        assert whole[end - 16 : end] == whole[-16:]


@pytest.mark.parametrize("codec", CODECS)
def test_no_changed_byte_ends_in_another_error(tmp_path, codec):
    whole = written([{"n": n, "word": "abc" * n} for n in range(5)], NUMBERS, codec)
    path = tmp_path / "rows.avro"
    for at in range(len(whole)):
        for bit in (1, 128):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
            with suppress(SourceError):
                AvroFile(path)


def head(codec="null", schema=NUMBERS):
    return written([], schema, codec)


def number(value):
    file = BytesIO()
    fastavro.schemaless_writer(file, "long", value)
    return file.getvalue()


@pytest.mark.parametrize(
    ("count", "size", "said"),
    [
        (1 << 60, 0, "is said to have"),
        (-1, 4, "ends within block 1"),
        (1, 1 << 50, "ends within block 1"),
        (1, -5, "ends within block 1"),
    ],
)
def test_a_block_that_says_what_cannot_be_is_refused(tmp_path, count, size, said):
    path = tmp_path / "rows.avro"
    data = head()
    path.write_bytes(data + number(count) + number(size) + data[-16:])
    with pytest.raises(SourceError, match=said):
        AvroFile(path)


@pytest.mark.parametrize("codec", [one for one in CODECS if one != "null"])
def test_a_block_that_grows_without_bounds_is_refused(tmp_path, monkeypatch, codec):
    monkeypatch.setattr(reader, "MOST_BYTES", 100_000)
    path = tmp_path / "rows.avro"
    path.write_bytes(written([{"n": 1, "word": "a" * 90_000}], NUMBERS, codec))
    assert AvroFile(path).rows == 1
    path.write_bytes(written([{"n": 1, "word": "a" * 110_000}], NUMBERS, codec))
    with pytest.raises(SourceError, match="unpacked, it has more than"):
        AvroFile(path)


def test_symbols_that_are_longer_than_a_file_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "MOST_BYTES", 1_000_000)
    schema = {
        "type": "record",
        "name": "r",
        "fields": [{"name": "e", "type": {"type": "enum", "name": "e", "symbols": ["a" * 10_000]}}],
    }
    path = tmp_path / "rows.avro"
    path.write_bytes(written([{"e": "a" * 10_000}] * 50, schema))
    assert AvroFile(path).rows == 50
    path.write_bytes(written([{"e": "a" * 10_000}] * 200, schema))
    with pytest.raises(SourceError, match="unpacked, it has more than"):
        AvroFile(path)


@pytest.mark.parametrize(
    ("begins", "said", "hint"),
    [
        (b"PAR1\x15\x04", "a file of Parquet", "format: parquet"),
        (b"\x1f\x8b\x08\x00", "compressed with gzip", "gunzip"),
        (b"id,name\n1,a\n", "does not begin as a file of Avro", "damaged"),
        (b"", "does not begin as a file of Avro", "damaged"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path, begins, said, hint):
    source = open_files({"path": "data/rows.avro", "columns": {"n": "int"}}, project(tmp_path, begins))
    if not begins:
        assert source.available() == {}, "a file without a byte is passed over"
        return
    with pytest.raises(SourceError, match=said) as error:
        source.available()
    assert hint in error.value.hint


def test_a_file_of_avro_where_another_is_expected_is_refused(tmp_path):
    for name in ("rows.csv", "rows.json", "rows.parquet"):
        source = open_files(
            {"path": f"data/{name}", "columns": {"n": "bigint"}},
            project(tmp_path, written([{"n": 1, "word": "a"}], NUMBERS), name),
        )
        with pytest.raises(SourceError) as error:
            rows_of(source)
        assert "a file of Avro" in str(error.value)
        assert error.value.hint == "format: avro"


def test_a_codec_that_is_not_known_is_named(tmp_path):
    path = tmp_path / "rows.avro"
    data = head().replace(b"\x08null", b"\x08nail")
    path.write_bytes(data + number(1) + number(1) + b"a" + data[-16:])
    with pytest.raises(SourceError, match="compressed with 'nail', which is none of null, deflate"):
        AvroFile(path)


def test_the_schema_may_have_anything_beside_it(tmp_path):
    text = json.loads(json.dumps(NUMBERS))
    text["doc"] = "numbers"
    text["fields"][0]["aliases"] = ["number"]
    assert rows_of(open_files({"path": "data/rows.avro"}, project(tmp_path, written([{"n": 1, "word": "a"}], text))))
