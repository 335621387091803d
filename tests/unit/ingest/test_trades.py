"""Files as people of several trades have them: the rows that Spark 4.1.4 reads, or a refusal with place and remedy."""

import bz2
import gzip
import io
import zipfile
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamhouse.errors import SourceError
from streamhouse.ingest.files import open_files
from streamhouse.ingest.files_options import FilesOptions
from streamhouse.ingest.inferred_columns import infer_files
from streamhouse.ingest.inferred_texts import TextFacts
from tests.tables import each

BANK = (
    'Buchungstag;Empfänger;Zweck;Betrag\n31.01.2026;Müller;"Miete; Mai";-1050,00\n02.02.2026;"Café ""Korn""";€;3,20\n'
)
GERMAN = {"separator": ";", "decimal": ",", "date_format": "dd.MM.yyyy", "escape": '"'}


def zipped():
    with zipfile.ZipFile(found := io.BytesIO(), "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return found.getvalue()


READ = {
    # name of the file, its bytes, options, columns, rows
    "a bank of Germany": (
        "bank.csv",
        BANK.encode("cp1252"),
        GERMAN | {"encoding": "windows-1252"},
        {"Buchungstag": "date", "Empfänger": "string", "Zweck": "string", "Betrag": "decimal(18,2)"},
        [
            (date(2026, 1, 31), "Müller", "Miete; Mai", Decimal("-1050.00")),
            (date(2026, 2, 2), 'Café "Korn"', "€", Decimal("3.20")),
        ],
    ),
    "stops of GTFS": (
        "stops.txt",
        '\ufeffstop_id,stop_name,stop_lat,zone_id,kind\nS1,"Main St, North",59.911491,,\n0023,Skøyen,59.9,1,0\n',
        {"format": "csv"},
        {
            "stop_id": "string",
            "stop_name": "string",
            "stop_lat": "double",
            "zone_id": "bigint",
            "kind": "bigint",
        },
        [("S1", "Main St, North", 59.911491, None, None), ("0023", "Skøyen", 59.9, 1, 0)],
    ),
    "times beyond a day": (
        "stop_times.csv",
        "trip_id,arrival_time\nT1,23:59:00\nT1,24:05:00\n",
        {},
        {"trip_id": "string", "arrival_time": "string"},
        [("T1", "23:59:00"), ("T1", "24:05:00")],
    ),
    "notes of a clinic": (
        "visits.csv",
        'patient,visit,note,bp\n001,2026-01-02,"Feels ""dizzy"",\nno fever",120/80\n002,2026-01-03,"ok\n\nsee me",\n',
        {"escape": '"'},
        {"patient": "string", "visit": "date", "note": "string", "bp": "string"},
        [
            ("001", date(2026, 1, 2), 'Feels "dizzy",\nno fever', "120/80"),
            ("002", date(2026, 1, 3), "ok\n\nsee me", None),
        ],
    ),
    "logs with lists in lists": (
        "logs.ndjson",
        '{"ts":"2026-01-01T10:00:00Z","tags":["a"],"ctx":{"roles":[{"r":"x"},{"r":null}]}}\n{"tags":[],"ctx":null}\n',
        {},
        {"ts": "timestamp", "tags": "array<string>", "ctx": "struct<roles:array<struct<r:string>>>"},
        [
            (datetime(2026, 1, 1, 10, tzinfo=UTC), ["a"], {"roles": [{"r": "x"}, {"r": None}]}),
            (None, [], None),
        ],
    ),
    "lines of an old Mac": (
        "mac.csv",
        b"id,name\r1,a\r2,b\r",
        {},
        {"id": "bigint", "name": "string"},
        [(1, "a"), (2, "b")],
    ),
    "JSON with lines of an old Mac": ("mac.jsonl", b'{"id":1}\r{"id":2}\r', {}, {"id": "bigint"}, [(1,), (2,)]),
    "JSON with a byte order mark": ("bom.jsonl", b'\xef\xbb\xbf{"id":1}\n', {}, {"id": "bigint"}, [(1,)]),
    "tabs": (
        "t.tsv",
        'id\tname\n1\t"x"\n2\t\n',
        {"format": "csv", "separator": "\\t"},
        {"id": "bigint", "name": "string"},
        [(1, "x"), (2, None)],
    ),
    "tabs in UTF-16, as Excel writes them": (
        "x.csv",
        "id\tname\r\n1\tÅse\r\n".encode("utf-16"),
        {"encoding": "utf-16", "separator": "\\t"},
        {"id": "bigint", "name": "string"},
        [(1, "Åse")],
    ),
    "numbers that are written for people": (
        "n.csv",
        'id,thousands,percent,price,loss\n1,"1,234.50",12.5%,$12.50,(12.50)\n',
        {},
        {"id": "bigint", "thousands": "string", "percent": "string", "price": "string", "loss": "string"},
        [(1, "1,234.50", "12.5%", "$12.50", "(12.50)")],
    ),
    "numbers that are none": (
        "z.csv",
        "zip,phone,ean,ip\n01234,+4712345678,0012345678905,10.0.0.1\n98765,+4787654321,4012345678901,10.0.0.2\n",
        {},
        {"zip": "string", "phone": "string", "ean": "string", "ip": "string"},
        [
            ("01234", "+4712345678", "0012345678905", "10.0.0.1"),
            ("98765", "+4787654321", "4012345678901", "10.0.0.2"),
        ],
    ),
    "numbers that a double has not": (
        "i.jsonl",
        '{"id":9007199254740993,"u":18446744073709551615}\n{"id":9007199254740995,"u":1}\n',
        {},
        {"id": "bigint", "u": "decimal(38,0)"},
        [(9007199254740993, Decimal(18446744073709551615)), (9007199254740995, Decimal(1))],
    ),
    "days of six kinds": (
        "d.csv",
        "a,b,c,d,e,f\n2026-01-31,31.01.2026,01/31/2026,31-Jan-2026,Jan 31 2026,2026-W05\n",
        {},
        {"a": "date", "b": "string", "c": "string", "d": "string", "e": "string", "f": "string"},
        [(date(2026, 1, 31), "31.01.2026", "01/31/2026", "31-Jan-2026", "Jan 31 2026", "2026-W05")],
    ),
    "days and times of America": (
        "d.csv",
        "d,t\n1/31/2026,1/31/2026 1:30 PM\n",
        {"date_format": "M/d/yyyy", "timestamp_format": "M/d/yyyy h:mm a"},
        {"d": "date", "t": "timestamp"},
        [(date(2026, 1, 31), datetime(2026, 1, 31, 13, 30, tzinfo=UTC))],
    ),
    "a name twice in JSON": ("j.jsonl", '{"a":1,"a":2}\n{"a":3}\n', {}, {"a": "bigint"}, [(2,), (3,)]),
    "single quotes in JSON": ("j.jsonl", "{'a': 'x'}\n", {}, {"a": "string"}, [("x",)]),
    "Infinity in JSON": (
        "j.jsonl",
        '{"a":Infinity}\n{"a":1.5}\n{"a":2}\n',
        {},
        {"a": "double"},
        [(float("inf"),), (1.5,), (2.0,)],
    ),
    "GeoJSON": (
        "g.json",
        '{"type":"Feature","geometry":{"type":"Point","coordinates":[10.75,59.91]},"properties":{"name":"Oslo"}}\n',
        {},
        {
            "type": "string",
            "geometry": "struct<type:string,coordinates:array<decimal(18,2)>>",
            "properties": "struct<name:string>",
        },
        [
            (
                "Feature",
                {"type": "Point", "coordinates": [Decimal("10.75"), Decimal("59.91")]},
                {"name": "Oslo"},
            )
        ],
    ),
    "a line of totals": (
        "t.csv",
        "item,qty,price\na,1,2.00\nTotal,1,2.00\n",
        {},
        {"item": "string", "qty": "bigint", "price": "decimal(18,2)"},
        [("a", 1, Decimal("2.00")), ("Total", 1, Decimal("2.00"))],
    ),
    "COPY of PostgreSQL": (
        "pg.csv",
        "1\ta\t\\N\n2\tb\t5\n",
        {"separator": "\\t", "header": False, "null_value": "\\N", "quote": "", "escape": ""},
        {"_c0": "bigint", "_c1": "string", "_c2": "bigint"},
        [(1, "a", None), (2, "b", 5)],
    ),
    "names with blanks and signs": (
        "h.csv",
        "ID,Customer Name,AMOUNT (EUR)\n1,x,2.50\n",
        {},
        {"ID": "bigint", "Customer Name": "string", "AMOUNT (EUR)": "decimal(18,2)"},
        [(1, "x", Decimal("2.50"))],
    ),
}
REFUSED = {
    # name of the file, its bytes, options, place, cause, remedy
    "lines above the names": (
        "bank.csv",
        "Konto;DE02\nSaldo;1,00\n\n" + BANK,
        GERMAN,
        "bank.csv:4",
        "the row has 4 values, and the first line names 2",
        "lines above the names have to go",
    ),
    "a separator for Excel": (
        "e.csv",
        "sep=;\r\nid;name\r\n1;a\r\n",
        {"separator": ";"},
        "e.csv:1",
        "for Excel",
        "sed -i 1d",
    ),
    "a comma for Excel": ("e.csv", "sep=,\nid,name\n1,a\n", {}, "e.csv:1", "for Excel", "sed -i 1d"),
    "Windows-1252 as UTF-8": ("w.csv", "id,v\n1,€5\n".encode("cp1252"), {}, "w.csv:2", "no UTF-8", "windows-1252"),
    "Windows-1252 as Latin-1": (
        "w.csv",
        "id,v\n1,x\n2,€5\n".encode("cp1252"),
        {"encoding": "latin-1"},
        "w.csv:3",
        "0x80, which is no letter in latin-1",
        "encoding: windows-1252",
    ),
    "too few values": ("t.csv", "a,b,c\n1,2,3\nTotal: 1\n", {}, "t.csv:3", "1 value", "on_bad_rows: dead_letter"),
    "a separator at the end": ("t.csv", "a,b\n1,2,\n", {}, "t.csv:2", "3 values", "let the first line end with one"),
    "a name twice": ("h.csv", "id,ID\n1,x\n", {}, "h.csv:1", "case makes no difference", "rename one"),
    "a list in a list": ("j.json", '[[{"a":1},{"a":2}]]\n', {}, "j.json:1", "an array", "jq -c '.[]'"),
    "objects over lines": (
        "j.json",
        '{\n  "a": 1\n}\n{\n  "a": 2\n}\n',
        {},
        "j.json:1",
        "it is no JSON",
        "jq -c . FILE",
    ),
    "JSON as CSV": ("j.csv", '{"id":1,"n":"a"}\n', {}, "j.csv:1", "an object of JSON", "format: json"),
    "gzip": ("x.csv", gzip.compress(b"id,name\n1,a\n"), {}, "x.csv:1", "gzip", "gunzip"),
    "JSON in gzip": ("x.jsonl", gzip.compress(b'{"a":1}\n'), {}, "x.jsonl:1", "gzip", "gunzip"),
    "Parquet in gzip": ("x.parquet", gzip.compress(b"PAR1"), {}, "x.parquet", "gzip", "gunzip"),
    "bzip2": ("x.csv", bz2.compress(b"id,name\n1,a\n"), {}, "x.csv:1", "bzip2", "bunzip2"),
    "a workbook": ("x.csv", zipped(), {}, "x.csv:1", "Excel", "save the sheet as CSV"),
    "a page of login": (
        "x.csv",
        "\n<!DOCTYPE html>\n<html></html>\n",
        {},
        "x.csv:1",
        "HTML",
        "download the data again",
    ),
    "a page as JSON": ("x.json", "<html></html>\n", {}, "x.json:1", "HTML", "download the data again"),
    "XML": ("x.csv", '<?xml version="1.0"?>\n<a/>\n', {}, "x.csv:1", "XML", "convert it"),
    "Parquet as CSV": ("x.csv", b"PAR1\x15\x00PAR1", {}, "x.csv:1", "Parquet", "format: parquet"),
    "CSV as Parquet": ("x.parquet", "id,name\n1,a\n", {}, "x.parquet", "no readable Parquet file", "format: csv"),
    "no line": ("x.csv", "\ufeff\n \n", {}, "x.csv:1", "no line", "declare the columns"),
}


def written(tmp_path, name, data):
    """The folder of a file, which no other case has."""
    folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
    folder.mkdir()
    (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return folder


def inferred(folder, name, options):
    checked = FilesOptions.model_validate({"path": name, **options})
    return infer_files(name, folder, checked.kind, None, checked.csv)


@each(("name", "data", "options", "columns", "rows"), READ.values(), ids=list(READ))
def test_columns_and_rows(tmp_path, name, data, options, columns, rows):
    folder = written(tmp_path, name, data)
    found = inferred(folder, name, options)
    assert {column.name: column.type for column in found.columns} == columns
    source = open_files({"path": name, "columns": columns, **options}, folder)
    table = source.read({}, source.available())
    assert [tuple(row.values()) for row in table.to_pylist()] == rows
    split = open_files({"path": name, "columns": columns, **options, "on_bad_rows": "dead_letter"}, folder)
    assert split.read({}, split.available()) == table


@each(("name", "data", "options", "place", "cause", "remedy"), REFUSED.values(), ids=list(REFUSED))
def test_refused_with_place_and_remedy(tmp_path, name, data, options, place, cause, remedy):
    folder = written(tmp_path, name, data)
    with pytest.raises(SourceError) as refused:
        inferred(folder, name, options)
    assert f"{refused.value.at.file}:{refused.value.at.line}".startswith(place)
    assert cause in refused.value.message
    assert remedy in (refused.value.hint or "")
    source = open_files({"path": name, "columns": {"a": "string"}, **options}, folder)
    if cause == "no line":
        assert source.available() == {name: 0}
        return
    with pytest.raises(SourceError) as refused:
        source.available()
    assert refused.value.hint, "a refusal of the source has a remedy, too"


def test_columns_of_parquet_without_a_type_are_named(tmp_path):
    rows = {"k": [1], "took": pa.array([1], pa.duration("s")), "ns": pa.array([1], pa.timestamp("ns"))}
    pq.write_table(pa.table(rows), tmp_path / "x.parquet")
    found = {column.name: column for column in infer_files("x.parquet", tmp_path).columns}
    assert {name: column.type for name, column in found.items()} == {"k": "bigint", "took": None, "ns": None}
    assert "duration" in found["took"].note
    assert "would lose data" in found["ns"].note


NO_LINE = {
    "a byte order mark": b"\xef\xbb\xbf",
    "a mark and a line end": b"\xef\xbb\xbf\n",
    "lines of nothing": b"\n\n",
    "lines of blanks": b"\n  \n\t\n",
    "comments": b"# made by x\n# on Monday\n",
}


@each(("data", "header"), [(data, header) for data in NO_LINE.values() for header in (True, False)])
def test_a_file_without_a_line_has_no_rows(tmp_path, data, header):
    folder = written(tmp_path, "1.csv", data)
    (folder / "2.csv").write_text("a,b\n1,x\n" if header else "1,x\n")
    options = {"path": "*.csv", "columns": {"a": "int", "b": "string"}, "comment": "#", "header": header}
    for more in ({}, {"on_bad_rows": "dead_letter"}):
        source = open_files(options | more, folder)
        assert source.available()["1.csv"] == 0
        assert source.read({}, source.available()).to_pylist() == [{"a": 1, "b": "x"}]
        assert list(source.lacking({}, source.available())) == []
    found = inferred(folder, "*.csv", {"comment": "#", "header": header})
    assert [column.type for column in found.columns] == ["bigint", "string"]


@each("data", [NO_LINE["a byte order mark"], NO_LINE["a mark and a line end"], b"\xef\xbb\xbf  \n\n", b"\r"])
def test_a_file_of_json_without_a_line_has_no_rows(tmp_path, data):
    folder = written(tmp_path, "1.jsonl", data)
    for more in ({}, {"on_bad_rows": "dead_letter"}):
        source = open_files({"path": "1.jsonl", "columns": {"a": "int"}} | more, folder)
        assert source.available() == {"1.jsonl": 0}
        assert source.read({}, source.available()).num_rows == 0


@each(
    ("data", "is_row"),
    [(b"\xef\xbb\xbf", True), (b"\r", True), (b"\n", False), (b"\r\n\r\n", False), (b"\xef\xbb\xbf\n", False)],
)
def test_a_mark_that_is_a_row_to_spark_is_refused(tmp_path, data, is_row):
    """Where values go over line ends and no names come first."""
    folder = written(tmp_path, "1.csv", data)
    options = {"path": "1.csv", "columns": {"a": "string"}, "multi_line": True}
    source = open_files(options, folder)
    assert source.read({}, source.available()).num_rows == 0
    for more in ({}, {"on_bad_rows": "dead_letter"}):
        source = open_files(options | {"header": False} | more, folder)
        if is_row:
            with pytest.raises(SourceError, match="has a mark, and no row"):
                source.available()
        else:
            assert source.available() == {"1.csv": 0}


def test_names_of_json_that_differ_only_by_case_are_one_column(tmp_path):
    """Spark refuses such columns: COLUMN_ALREADY_EXISTS."""
    folder = written(tmp_path, "1.jsonl", '{"A": 1, "a": 2}\n')
    found = {column.name: column for column in inferred(folder, "1.jsonl", {}).columns}
    assert {name: column.type for name, column in found.items()} == {"A": "bigint", "a": None}
    assert "case makes no difference" in found["a"].note
    with pytest.raises(SourceError, match="'A' and 'a' are one column to Spark"):
        open_files({"path": "1.jsonl"}, folder).columns()
    with pytest.raises(SourceError, match="columns 'A' and 'a' are one"):
        open_files({"path": "1.jsonl", "columns": {"A": "int", "a": "int"}}, folder)
    source = open_files({"path": "1.jsonl", "columns": {"a": "int"}}, folder)
    assert source.read({}, source.available()).to_pylist() == [{"a": 2}]


@each(
    ("values", "is_number"),
    [
        (["1,234.50", "999.00"], True),
        (["1.050,00", "-3,20"], True),
        (["12.5%", "3%"], True),
        (["$12.50", "-€3", "12 USD", "EUR 5"], True),
        (["(12.50)", "3.00", "4.00-"], True),
        (["1'234.50", "1\u00a0234"], True),
        (["10.0.0.1", "10.0.0.2"], False),
        (["2026-W05", "2026-Q1"], False),
        (["12,5 apples", "3"], False),
        (["ABC", "DEF"], False),
        (["+47 12 34 56 78"], False),
    ],
)
def test_numbers_for_people_are_named(values, is_number):
    types, note = TextFacts.of(pa.array(values)).types()
    assert types[0] == "string"
    assert ("signs of thousands" in note) is is_number
    halves = TextFacts.of(pa.array(values[:1])) + TextFacts.of(pa.array(values[1:] or values))
    assert halves.types()[1] == note
