"""Types of files are those of all rows, and the source reads all rows with them."""

import json
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamhouse.cli.main import main
from streamhouse.errors import SourceError
from streamhouse.ingest.csv_header import CsvRules
from streamhouse.ingest.csv_options import CsvForm
from streamhouse.ingest.files import open_files
from streamhouse.ingest.inferred_columns import infer_files
from streamhouse.registry.read_flow import read_flow

CSV = {
    "id": (("1", "-2", "999999999999999999"), "bigint"),
    "long": (("1", "", "12345678901234567890"), "decimal(38,0)"),
    "longer": (("1" * 39, "1", "2"), "string"),
    "code": (("007", "10", "11"), "string"),
    "price": (("1.50", "20", "+3.125"), "decimal(18,3)"),
    "fine": (("1.500001", "20", ""), "double"),
    "huge": (("1e300", "20", "1.5"), "double"),
    "codes": (("1E5", "207", ""), "string"),
    "exact": (("0.1234567890123456", "20", ""), "decimal(38,16)"),
    "exact_huge": (("1.234567890123456e300", "20", ""), "string"),
    "more_than_decimal": ((f"{'9' * 30}.123456789", "20", ""), "string"),
    "double_zeros": (("0.000000000000000012345", "20", ""), "double"),
    "flag": (("true", "FALSE", ""), "boolean"),
    "bit": (("0", "1", "1"), "bigint"),
    "day": (("2026-01-01", "", "1960-02-29"), "date"),
    "at": (("2026-01-01 10:00:00", "2026-01-01T10:00:00.123456+02:00", "2026-01-01"), "timestamp"),
    "wrong_day": (("2026-02-30", "2026-01-01", ""), "string"),
    "odd": (("31/12/2026", "1/2/2026", ""), "string"),
    "mixed": (("1", "x", ""), "string"),
    "empty": (("", "", ""), "string"),
}
ROWS = [
    {"a": 1, "b": 1.5, "c": "2026-01-01", "d": {"x": [1, 2], "y": 1.25}, "mix": 1, "e": [], "n": None, "f": "1"},
    {"a": 10**20, "b": 2, "c": "2026-01-02T10:00:00Z", "d": {"x": [], "z": "t"}, "mix": "1", "e": [True], "h": {}},
    {"a": None, "b": 10.25, "d": None, "deep": {"l": [{"m": 1}, {"m": "x"}]}},
]
JSON = {
    "a": "decimal(38,0)",
    "b": "decimal(18,2)",
    "c": "timestamp",
    "d": "struct<x:array<bigint>,y:decimal(18,2),z:string>",
    "mix": None,
    "e": "array<boolean>",
    "n": "string",
    "f": "string",
    "h": None,
    "deep": None,
}


def csv(*names, rows=range(3)):
    lines = [",".join(names), *(",".join(CSV[name][0][n] for name in names) for n in rows)]
    return "\n".join(lines) + "\n"


def types(found):
    return {column.name: column.type for column in found.columns}


def read_all(root, pattern, found):
    columns = {name: type_ for name, type_ in types(found).items() if type_ is not None}
    source = open_files({"path": pattern, "columns": columns}, root)
    return source.read({}, source.available())


@pytest.mark.parametrize("name", CSV)
def test_a_column_of_csv(tmp_path, name):
    (tmp_path / "1.csv").write_text(csv("id", name) if name != "id" else csv("id"))
    found = infer_files("*.csv", tmp_path)
    assert types(found)[name] == CSV[name][1]
    assert (found.rows, found.files, found.is_proved) == (3, 1, True)
    assert read_all(tmp_path, "*.csv", found).num_rows == 3


def test_all_files_count(tmp_path):
    (tmp_path / "1.csv").write_text("v,d\n1,2026-01-01\n")
    (tmp_path / "2.csv").write_text("d,v,w\n2026-01-01T10:00,1.5,true\n")
    (tmp_path / "3.csv").write_text("v\nx\n")
    assert types(infer_files("[12].csv", tmp_path)) == {"v": "decimal(18,1)", "d": "timestamp", "w": "boolean"}
    found = infer_files("*.csv", tmp_path)
    assert types(found) == {"v": "string", "d": "timestamp", "w": "boolean"}
    few = infer_files("*.csv", tmp_path, most_rows=1)
    assert types(few) == {"v": "bigint", "d": "date"}
    assert (few.rows, few.files, few.is_proved) == (1, 1, False)


def test_json_at_any_depth(tmp_path):
    (tmp_path / "1.jsonl").write_text("\n".join(json.dumps(row) for row in ROWS) + "\n\n")
    found = infer_files("1.jsonl", tmp_path)
    assert types(found) == JSON
    notes = {column.name: column.note for column in found.columns}
    assert notes["mix"] == "some values are numbers and others texts"
    assert "some values are numbers and others texts" in notes["deep"]
    rows = read_all(tmp_path, "1.jsonl", found).to_pylist()
    assert [row["b"] for row in rows] == [Decimal("1.50"), Decimal("2.00"), Decimal("10.25")]


@pytest.mark.parametrize("line", ['{"a": 1', "[1]", "[" * 5000, '{"a": "\udc80"}'])
def test_a_line_that_is_no_object(tmp_path, line):
    (tmp_path / "1.json").write_bytes(b'{"a": 1}\n' + line.encode(errors="surrogateescape") + b"\n")
    with pytest.raises(SourceError) as refused:
        infer_files("1.json", tmp_path)
    assert str(refused.value).startswith("1.json:2:")


def test_parquet_files_with_other_types(tmp_path):
    pq.write_table(pa.table({"a": [1], "b": ["x"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": [1], "b": [2], "c": [1.5]}), tmp_path / "2.parquet")
    found = infer_files("*.parquet", tmp_path)
    assert types(found) == {"a": "bigint", "b": None, "c": "double"}
    assert found.columns[1].note == "some files have string and others bigint"


def test_what_cannot_be_looked_at(tmp_path):
    (tmp_path / "twice.csv").write_text("a,a\n1,2\n")
    for pattern, why in (("twice.csv", "names 'a' twice"), ("x*.csv", "no file matches"), ("a.xlsx", "its format")):
        with pytest.raises(SourceError, match=why):
            infer_files(pattern, tmp_path)


NUMBERS = (
    "0",
    "1",
    "-1",
    "007",
    "1.5",
    ".5",
    "1.",
    "1e5",
    "1E400",
    "9" * 18,
    "9" * 19,
    "9" * 40,
    "1.12345",
    "+5",
    "--5",
)
TIMES = (
    "2026-01-01",
    "2026-13-01",
    "2026-01-01 10:00",
    "2026-01-01T25:00",
    "2026-01-01T10:00:00.123456789Z",
    "1/2/2026",
)
OTHERS = ("", "true", "False", "nan", "x", "-", "0001-01-01", "9999-12-31T23:59:59+14:00", " 1", "1 ", "NULL")
TEXTS = st.sampled_from((*NUMBERS, *TIMES, *OTHERS))


@settings(max_examples=150, deadline=None)
@given(rows=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6), cut=st.integers(0, 6))
def test_the_source_reads_what_is_proved(tmp_path_factory, rows, cut):
    root = tmp_path_factory.mktemp("files")
    for number, part in enumerate((rows[:cut], rows[cut:])):
        (root / f"{number}.csv").write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in part))
    found = infer_files("*.csv", root)
    assert found.is_proved
    assert read_all(root, "*.csv", found).num_rows == found.rows


FLOW = """\
flow: shop
sources:
  lines: {files: {path: data/*.csv}}   # of the shop
steps:
  - {use: keep, reads: {rows: lines}, writes: ods.lines}
"""


def test_columns_are_written_once(tmp_path, capsys):
    for folder in ("flows", "actions", "data"):
        (tmp_path / folder).mkdir()
    (tmp_path / "actions" / "keep.sql").write_text(
        "/* ---\naction: keep\nstep: ingest\ninputs: {rows: {}}\n--- */\nSELECT * FROM rows\n"
    )
    flow = tmp_path / "flows" / "shop.yaml"
    flow.write_text(FLOW)
    (tmp_path / "data" / "1.csv").write_text(csv("id", "price", "code"))
    words = ["source", "infer", "--project", str(tmp_path)]
    assert main([*words, "data/*.csv"]) == 0
    assert capsys.readouterr().out == (
        "# types that all have: 3 rows of 1 file\ncolumns:\n  id: bigint\n"
        '  price: "decimal(18,3)"\n  code: string  # numbers such as 007 would lose their zeros\n'
    )
    assert main([*words, "data/*.csv", "--write"]) == 3
    assert flow.read_text() == FLOW
    assert main([*words, "shop.lines", "--write", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["written"] == "flows/shop.yaml"
    found = read_flow(flow.read_text(), "flows/shop.yaml").sources["lines"].options
    assert found["columns"] == {"id": "bigint", "price": "decimal(18,3)", "code": "string"}
    assert "# of the shop" in flow.read_text()
    assert main([*words, "shop.lines", "--write"]) == 3
    assert "SH221 'shop.lines' has columns" in capsys.readouterr().err


FORMS = {
    "separator": ("separator=;", "a;b\n1;2026-01-01\n2;\n", {"a": "bigint", "b": "date"}),
    "tab": ("separator=\\t", "a\tb\n1\tx\n", {"a": "bigint", "b": "string"}),
    "quote": ("quote='", "a\n'1'\n'2'\n", {"a": "bigint"}),
    "escape": ('escape="', 'a,b\n"x ""y""",1\n', {"a": "string", "b": "bigint"}),
    "encoding": ("encoding=latin-1", "a,b\n\xe9,1\n", {"a": "string", "b": "bigint"}),
    "date_format": ("date_format=dd.MM.yyyy", "a\n31.12.2026\n", {"a": "date"}),
    "timestamp_format": ("timestamp-format=MM/dd/yyyy HH:mm", "a\n12/31/2026 10:30\n", {"a": "timestamp"}),
    "header": ("header=false", "1,x\n2,y\n", {"_c0": "bigint", "_c1": "string"}),
    "comment": ("comment=#", "# a file\na\n1\n# end\n", {"a": "bigint"}),
    "null_value": ("null_value=NA", "a,b\n1,NA\nNA,1.5\n", {"a": "bigint", "b": "decimal(18,1)"}),
    "multi_line": ("multi_line=true", 'a,b\n"x\ny",1\n', {"a": "string", "b": "bigint"}),
}


@pytest.mark.parametrize("name", FORMS)
def test_options_of_csv(tmp_path, capsys, name):
    option, text, expected = FORMS[name]
    project_of(tmp_path, text)
    words = ["source", "infer", "--project", str(tmp_path), "--option", option, "--json"]
    assert main([*words, "data/*.csv"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["columns"] == expected
    assert main([*words, "shop.lines", "--write"]) == 0
    options = read_flow((tmp_path / "flows" / "shop.yaml").read_text(), "flows/shop.yaml").sources["lines"].options
    assert options["columns"] == expected
    assert {key: options[key] for key in document["options"]} == document["options"]
    source = open_files(options, tmp_path)
    assert source.read({}, source.available()).num_rows == document["rows"]
    capsys.readouterr()
    assert main([*words, "shop.lines"]) == 3
    assert "itself" in capsys.readouterr().out


def test_several_options_and_what_is_printed(tmp_path, capsys):
    project_of(tmp_path, "a;b\n1,50;31.12.2026\n2;NA\n")
    words = ["--option", "separator=;", "--option", "decimal=,", "--option", "null_value=NA", "--option", "header=true"]
    assert main(["source", "infer", "--project", str(tmp_path), "data/*.csv", *words]) == 0
    printed = capsys.readouterr().out
    assert 'separator: ";"\ndecimal: ","\nnull_value: NA\nheader: true\ncolumns:\n  a: "decimal(18,2)"' in printed


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("separatr=;", "did you mean 'separator'"),
        ("separator", "has no value"),
        ("separator=;;", "is not one character"),
        ("encoding=windows-1250", "convert the file"),
        ("header=perhaps", "header"),
        ("columns=a", "no option of csv"),
    ],
)
def test_wrong_options(tmp_path, capsys, option, why):
    project_of(tmp_path, "a;b\n1;2\n")
    for place in ("data/*.csv", "shop.lines"):
        assert main(["source", "infer", "--project", str(tmp_path), place, "--option", option]) == 3
        assert why in capsys.readouterr().err


def project_of(root, text):
    for folder in ("flows", "actions", "data"):
        (root / folder).mkdir()
    action = "/* ---\naction: keep\nstep: ingest\ninputs: {rows: {}}\n--- */\nSELECT * FROM rows\n"
    (root / "actions" / "keep.sql").write_text(action)
    (root / "flows" / "shop.yaml").write_text(FLOW)
    (root / "data" / "1.csv").write_bytes(text.encode("latin-1"))


def test_names_of_csv_and_parquet_are_one_in_any_case(tmp_path):
    (tmp_path / "1.csv").write_text("Id,v\n1,2\n")
    (tmp_path / "2.csv").write_text("ID,V\n2,x\n")
    found = infer_files("*.csv", tmp_path)
    assert types(found) == {"Id": "bigint", "v": "string"}
    assert read_all(tmp_path, "*.csv", found).to_pydict() == {"Id": [1, 2], "v": ["2", "x"]}
    pq.write_table(pa.table({"Id": [1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"iD": [2], "w": ["x"]}), tmp_path / "2.parquet")
    found = infer_files("*.parquet", tmp_path)
    assert types(found) == {"Id": "bigint", "w": "string"}
    assert read_all(tmp_path, "*.parquet", found).to_pydict() == {"Id": [1, 2], "w": [None, "x"]}


def test_files_of_json_that_share_no_field(tmp_path):
    (tmp_path / "1.json").write_text('{"a": 1}\n')
    (tmp_path / "2.json").write_text('{"b": "2026-01-01T10:30Z"}\n')
    found = infer_files("*.json", tmp_path)
    assert types(found) == {"a": "bigint", "b": "string"}
    assert read_all(tmp_path, "*.json", found).to_pydict() == {"a": [1, None], "b": [None, "2026-01-01T10:30Z"]}


def test_files_that_the_source_would_refuse(tmp_path):
    pq.write_table(pa.table({"a": [1], "b": [1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"b": ["x"]}), tmp_path / "2.parquet")  # of no column with one type
    with pytest.raises(SourceError, match=r"2\.parquet:1:1: SH212 the file has none of the columns"):
        infer_files("*.parquet", tmp_path)
    (tmp_path / "1.csv").write_text("1,2\n")
    (tmp_path / "2.csv").write_text("1,2,3\n")
    rules = CsvRules(CsvForm(header=False))
    with pytest.raises(SourceError, match="not all files have column '_c0'"):
        infer_files("*.csv", tmp_path, rules=rules)


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_the_first_rows_are_read_with_the_types_of_the_first_rows(tmp_path, kind):
    texts = ["2026-01-01T10:30Z", "2026-01-01T10:30:00Z", "x"]
    lines = ["v", *texts] if kind == "csv" else [json.dumps({"v": text}) for text in texts]
    (tmp_path / f"1.{kind}").write_text("\n".join(lines) + "\n")
    found = infer_files(f"*.{kind}", tmp_path, most_rows=2)
    assert types(found) == {"v": "string"}
    assert "not timestamp" in found.columns[0].note
