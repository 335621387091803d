"""Files as programs of several trades write them: the rows that Spark reads, or a refusal with place and remedy."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamhouse.errors import SourceError
from streamhouse.ingest.files import open_files
from streamhouse.ingest.files_options import FilesOptions
from streamhouse.ingest.inferred_columns import infer_files
from tests.tables import each

GERMAN = {"separator": ";", "decimal": ","}
ZONED = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)

READ = {
    # name of the file, its text, options, columns, rows
    "SAP, with the sign behind the number": (
        "sap.csv",
        "Belegnr;Material;Betrag;Datum\n0100000001;000000000000123456;1.234,56-;31.01.2026\n0100000002;07;12,00;01.02.2026\n",
        GERMAN | {"date_format": "dd.MM.yyyy"},
        {"Belegnr": "string", "Material": "string", "Betrag": "string", "Datum": "date"},
        [
            ("0100000001", "000000000000123456", "1.234,56-", date(2026, 1, 31)),
            ("0100000002", "07", "12,00", date(2026, 2, 1)),
        ],
    ),
    "Excel, with thousands": (
        "excel.csv",
        "Artikel;Preis;Menge;Rabatt\r\nA;1.234,56;1.000;12,5 %\r\nB;9,90;12;3 %\r\n",
        GERMAN,
        {"Artikel": "string", "Preis": "string", "Menge": "string", "Rabatt": "string"},
        [("A", "1.234,56", "1.000", "12,5 %"), ("B", "9,90", "12", "3 %")],
    ),
    "a web server, with escapes": (
        "nginx.csv",
        (
            'at,request,agent,bytes\n2026-01-31T09:30:00Z,"GET /?q=\\"x\\" HTTP/1.1","a\\\\b \\x22",512\n'
            '2026-01-31T09:30:00Z,"\\x16\\x03",-,-\n'
        ),
        {},
        {"at": "timestamp", "request": "string", "agent": "string", "bytes": "string"},
        [(ZONED, 'GET /?q="x" HTTP/1.1', "a\\b \\x22", "512"), (ZONED, "\\x16\\x03", "-", "-")],
    ),
    "a bus of a car, with hexadecimal numbers": (
        "can.csv",
        "at,id,data,unit\n1436509052.249713,0x1F3,00 0E,1E5\n1436509052.249720,0x2A,FF,207\n",
        {},
        {"at": "decimal(38,6)", "id": "string", "data": "string", "unit": "string"},
        [(Decimal("1436509052.249713"), "0x1F3", "00 0E", "1E5"), (Decimal("1436509052.249720"), "0x2A", "FF", "207")],
    ),
    "weeks and days of a year": (
        "weeks.csv",
        "week,day,of_year,quarter,month\n2026-W05,2026-W05-3,2026-031,2026-Q1,2026-01\n",
        {},
        dict.fromkeys(("week", "day", "of_year", "quarter", "month"), "string"),
        [("2026-W05", "2026-W05-3", "2026-031", "2026-Q1", "2026-01")],
    ),
    "times with zones": (
        "zones.csv",
        (
            "a,b,c,d,e\n2026-01-31T10:30:00+01:00,2026-01-31 10:30:00 CET,20260131T093000Z,2026-01-31T10:30:00+0100,"
            "2026-01-31T10:30:00[Europe/Oslo]\n2026-01-30T22:00:00-11:30,x,y,2026-01-31T06:00:00-0330,z\n"
        ),
        {},
        {"a": "timestamp", "b": "string", "c": "string", "d": "timestamp", "e": "string"},
        [
            (ZONED, "2026-01-31 10:30:00 CET", "20260131T093000Z", ZONED, "2026-01-31T10:30:00[Europe/Oslo]"),
            (ZONED, "x", "y", ZONED, "z"),
        ],
    ),
    "ELAN, with line ends of other kinds": (
        "elan.csv",
        'tier\tbegin\ttext\nA\t00:00:01.200\t"one\ntwo"\nB\t00:00:02.000\tx\u2028y\u0085z\x0bw\x0cv\n',
        {"separator": "\t"},
        {"tier": "string", "begin": "string", "text": "string"},
        [("A", "00:00:01.200", "one\ntwo"), ("B", "00:00:02.000", "x\u2028y\u0085z\x0bw\x0cv")],
    ),
    "FHIR": (
        "patient.ndjson",
        (
            '{"id":"a","birthDate":"1970","name":[{"family":"Ø","given":["A","B"]}],"value":1.50}\n'
            '{"id":"b","birthDate":"1970-05-01","deceased":false,"extension":[{"url":"u","valueDecimal":0.10}]}\n'
        ),
        {},
        {
            "id": "string",
            "birthDate": "string",
            "name": "array<struct<family:string,given:array<string>>>",
            "value": "decimal(18,2)",
            "deceased": "boolean",
            "extension": "array<struct<url:string,valueDecimal:decimal(18,2)>>",
        },
        [
            ("a", "1970", [{"family": "Ø", "given": ["A", "B"]}], Decimal("1.50"), None, None),
            ("b", "1970-05-01", None, None, False, [{"url": "u", "valueDecimal": Decimal("0.10")}]),
        ],
    ),
    "OpenStreetMap": (
        "osm.json",
        (
            '{"type":"node","id":11000000000,"lat":59.9,"tags":{"addr:street":"A","name":"B"}}\n'
            '{"type":"way","id":5,"nodes":[1,2],"tags":{}}\n'
        ),
        {},
        {
            "type": "string",
            "id": "bigint",
            "lat": "decimal(18,1)",
            "tags": "map<string,string>",
            "nodes": "array<bigint>",
        },
        [
            ("node", 11000000000, Decimal("59.9"), [("addr:street", "A"), ("name", "B")], None),
            ("way", 5, None, [], [1, 2]),
        ],
    ),
    "messages, with halves of characters": (
        "tweets.json",
        (
            '{"id":9007199254740993,"text":"\\ud83d\\ude00 \\u2028 😀","ha\\ud83dlf":1}\n'
            '{"id":18446744073709551615,"text":"\\ud83d x \\ude00"}\n'
        ),
        {},
        {"id": "decimal(38,0)", "text": "string", "ha?lf": "bigint"},
        [(Decimal(9007199254740993), "😀 \u2028 😀", 1), (Decimal(18446744073709551615), "? x ?", None)],
    ),
    "a genome browser": (
        "genes.csv",
        "chr1\t100\t200\tgene\t0\t+\nchrX\t5\t9\tg\t960\t-\n",
        {"separator": "\t", "header": False},
        {"_c0": "string", "_c1": "bigint", "_c2": "bigint", "_c3": "string", "_c4": "bigint", "_c5": "string"},
        [("chr1", 100, 200, "gene", 0, "+"), ("chrX", 5, 9, "g", 960, "-")],
    ),
    "a receiver of satellites": (
        "nmea.csv",
        "$GPGGA,123519,4807.038,N,01131.000,08,,*47\n",
        {"header": False},
        {
            "_c0": "string",
            "_c1": "bigint",
            "_c2": "decimal(18,3)",
            "_c3": "string",
            **dict.fromkeys(("_c4", "_c5", "_c6", "_c7"), "string"),
        },
        [("$GPGGA", 123519, Decimal("4807.038"), "N", "01131.000", "08", None, "*47")],
    ),
    "the bus of an exchange": (
        "fix.csv",
        "8=FIX.4.2\x0135=D\x0155=AAPL\n",
        {"separator": "\x01", "header": False},
        {"_c0": "string", "_c1": "string", "_c2": "string"},
        [("8=FIX.4.2", "35=D", "55=AAPL")],
    ),
    "weather of airports": (
        "metar.csv",
        "id,temp,rain,wind\nENGM,M05/M10,T,-999.0\nENBR,03/01,0.1,12\n",
        {},
        {"id": "string", "temp": "string", "rain": "string", "wind": "decimal(18,1)"},
        [("ENGM", "M05/M10", "T", Decimal("-999.0")), ("ENBR", "03/01", "0.1", Decimal("12.0"))],
    ),
}

REFUSED = {
    # name of the file, its text, options, place, cause, remedy
    "DATEV, with a line above the names": (
        "datev.csv",
        '"EXTF";700;21;"Buchungsstapel";9;20260131;;"RE"\nUmsatz;Soll/Haben;Konto;Belegdatum\n12,50;"S";8400;3101\n',
        GERMAN,
        "datev.csv:2:",
        "the row has 4 values, and the first line names 8",
        "lines above the names have to go",
    ),
    "a list of SAP, with frames": (
        "alv.csv",
        "------------\n|Werk|Menge |\n------------\n|1000|  5,000|\n",
        {"separator": "|"},
        "alv.csv:2:",
        "the row has 4 values",
        "lines above the names have to go",
    ),
}


def inferred(folder, name, options):
    checked = FilesOptions.model_validate({"path": name, **options})
    return infer_files(name, folder, checked.kind, None, checked.csv)


@each(("name", "text", "options", "columns", "rows"), READ.values(), ids=list(READ))
def test_columns_and_rows(tmp_path, name, text, options, columns, rows):
    (tmp_path / name).write_bytes(text.encode())
    found = inferred(tmp_path, name, options)
    assert {column.name: column.type for column in found.columns} == columns
    for more in ({}, {"on_bad_rows": "dead_letter"}):
        source = open_files({"path": name, "columns": columns, **options, **more}, tmp_path)
        table = source.read({}, source.available())
        assert [tuple(row.values()) for row in table.to_pylist()] == rows


@each(("name", "text", "options", "place", "cause", "remedy"), REFUSED.values(), ids=list(REFUSED))
def test_refused_with_place_and_remedy(tmp_path, name, text, options, place, cause, remedy):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(SourceError) as refused:
        inferred(tmp_path, name, options)
    assert str(refused.value).startswith(place)
    assert cause in refused.value.message
    assert remedy in refused.value.hint


NOTED = {
    # text, options, column, note
    "codes with an E": ("id\n123\n1E5\n", {}, "id", "codes such as 1E5"),
    "names in a comment": (
        "##fileformat=VCFv4.2\n#CHROM,POS\n1,10177\nX,5\n",
        {"comment": "#"},
        "10177",
        "header: false",
    ),
    "no names": ("2026-01-31 10:00,-5.2\n2026-01-31 11:00,3\n", {}, "-5.2", "header: false"),
    "a year is a name": ("country,2025\nNO,5\n", {}, "2025", "if the first line is a row"),
}


@each(("text", "options", "column", "note"), NOTED.values(), ids=list(NOTED))
def test_what_may_be_meant_in_another_way_is_said(tmp_path, text, options, column, note):
    (tmp_path / "x.csv").write_text(text)
    found = {one.name: one.note for one in inferred(tmp_path, "x.csv", options).columns}
    assert note in found.pop(column)
    assert not any("codes" in one for one in found.values())


def test_numbers_with_an_exponent_are_numbers(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1.5e3,1E-5\n2,1E+16\n")
    (tmp_path / "x.json").write_text('{"a":1e5}\n')
    assert [column.type for column in infer_files("x.csv", tmp_path).columns] == ["double", "double"]
    assert [column.type for column in infer_files("x.json", tmp_path).columns] == ["double"]


def test_an_object_with_names_that_no_field_has(tmp_path):
    lines = ['{"a":{"x-y":1,"b":"t"}}', '{"m":{"x y":[1]},"n":[{"k:1":{"u v":1.5}}]}']
    (tmp_path / "x.json").write_text("\n".join(lines))
    found = {column.name: column for column in infer_files("x.json", tmp_path).columns}
    types = {"a": None, "m": "map<string,array<bigint>>", "n": "array<map<string,map<string,decimal(18,1)>>>"}
    assert {name: column.type for name, column in found.items()} == types
    assert "declare string" in found["a"].note


def test_parquet_of_pandas(tmp_path):
    columns = {
        "key": pa.array([1, 2], pa.int8()),
        "large": pa.array(["a", None], pa.large_string()),
        "category": pa.array(["x", "y"]).dictionary_encode(),
        "unsigned": pa.array([1, 2**64 - 1], pa.uint64()),
        "zoned": pa.array([0, 1], pa.timestamp("ms", "Europe/Oslo")),
        "lists": pa.array([[1], None], pa.large_list(pa.int64())),
        "nothing": pa.nulls(2),
        "__index_level_0__": pa.array([5, 6]),
        "day": pa.array([-200_000, 0], pa.date32()),
    }
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    found = {column.name: column.type for column in infer_files("x.parquet", tmp_path).columns}
    assert found == {
        "key": "tinyint",
        "large": "string",
        "category": "string",
        "unsigned": "decimal(20,0)",
        "zoned": "timestamp",
        "lists": "array<bigint>",
        "nothing": "string",
        "__index_level_0__": "bigint",
        "day": "date",
    }
    source = open_files({"path": "x.parquet", "columns": found}, tmp_path)
    assert source.read({}, source.available()).to_pylist()[1] == {
        "key": 2,
        "large": None,
        "category": "y",
        "unsigned": Decimal(2**64 - 1),
        "zoned": datetime(1970, 1, 1, 0, 0, 0, 1000, tzinfo=UTC),
        "lists": None,
        "nothing": None,
        "__index_level_0__": 6,
        "day": date(1970, 1, 1),
    }
