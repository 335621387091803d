"""Files with many lines that cannot be read: the cost follows the lines, and each has the reason that it has alone."""

import random
from functools import partial
from itertools import product

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.json as pa_json
import pytest

from streamhouse.ingest.bad_rows import json_reason, part
from streamhouse.ingest.csv_file import CsvError, csv_records, rows_reader
from streamhouse.ingest.csv_header import CsvRules
from streamhouse.ingest.csv_options import CsvForm
from streamhouse.ingest.csv_values import UnfitError, typed, unfit
from streamhouse.ingest.csv_wrong import wrong_records
from streamhouse.ingest.file_split import csv_reason
from streamhouse.ingest.files import open_files
from streamhouse.ingest.json_rows import json_rows, wrong_objects
from streamhouse.ingest.other_fields import OtherFields
from streamhouse.model.table import Column
from tests.malformed import JSON, json_line
from tests.malformed import TYPES as MALFORMED

TYPES = {"id": "bigint", "day": "date", "at": "timestamp", "price": "decimal(8,2)", "name": "string not null"}
GOOD = b"1,2026-01-31,2026-01-31T10:00:00,1.50,a"
BAD = {
    "text as number": b"x%d,2026-01-31,2026-01-31T10:00:00,1.50,a",
    "number too large": b"%d99999999999999999999,2026-01-31,2026-01-31T10:00:00,1.50,a",
    "no such day": b"%d,2026-02-30,2026-01-31T10:00:00,1.50,a",
    "no such hour": b"%d,2026-01-31,2026-01-31T25:00:00,1.50,a",
    "decimal too large": b"%d,2026-01-31,2026-01-31T10:00:00,1234567.50,a",
    "no value": b"%d,2026-01-31,2026-01-31T10:00:00,1.50,",
    "too many values": b"%d,2026-01-31,2026-01-31T10:00:00,1.50,a,b",
    "text behind a quote": b'%d,2026-01-31,2026-01-31T10:00:00,1.50,"a"b',
    "Latin 1": b"%d,2026-01-31,2026-01-31T10:00:00,1.50,\xe4 a",
}
_MOST_READS = 4


def lines_of(*lines):
    return b"\n".join([",".join(TYPES).encode(), *lines, b""])


def source_of(tmp_path, text):
    (tmp_path / "a.csv").write_bytes(text)
    return open_files({"path": "*.csv", "columns": TYPES, "on_bad_rows": "dead_letter"}, tmp_path)


@pytest.fixture
def reads(monkeypatch):
    """The number of texts that Arrow has read."""
    found = []
    plain = pa_csv.read_csv

    def read_csv(*args, **options):
        found.append(args)
        return plain(*args, **options)

    monkeypatch.setattr(pa_csv, "read_csv", read_csv)
    return found


@pytest.mark.parametrize("line", BAD.values(), ids=BAD)
def test_a_file_of_bad_lines_is_read_a_few_times(tmp_path, reads, line):
    source = source_of(tmp_path, lines_of(*(line % number for number in range(500))))
    found = source.read_split({}, source.available())
    assert (found.rows.num_rows, len(found.bad)) == (0, 500)
    assert [one.letter.position for one in found.bad] == [f"a.csv:{number + 2}" for number in range(500)]
    assert len(reads) <= _MOST_READS
    reads.clear()
    again = source.read_again([one.letter for one in found.bad], None)
    assert [(one.reason, one.message) for one in again.bad] == [(one.reason, one.message) for one in found.bad]
    assert len(reads) <= _MOST_READS


def test_bad_lines_of_all_kinds_among_good_ones(tmp_path, reads):
    lines = [one for number in range(40) for line in BAD.values() for one in (GOOD, line % number)]
    source = source_of(tmp_path, lines_of(*lines))
    found = source.read_split({}, source.available())
    assert (found.rows.num_rows, len(found.bad)) == (360, 360)
    assert len(reads) <= _MOST_READS


VALUES = {
    "bigint": ["", "1", "+1", "-0", "007", "x", "1.0", " 1", "9223372036854775807", "9223372036854775808",
               "-9223372036854775808", "-9223372036854775809", "0" * 40 + "1", "-" + "0" * 40 + "1", "9" * 5000],
    "tinyint": ["127", "128", "-128", "-129", "00127", "1e2"],
    "date": ["2026-01-31", "2026-02-29", "2024-02-29", "1900-02-29", "2000-02-29", "2026-13-01", "2026-00-10",
             "2026-04-31", "0000-01-01", "0001-01-01", "2026-1-1", "2026-01-00", " 2026-01-32", "2026-01-01T00:00:00",
             "2026-01-01 10:00:00", "99-01-01"],
    "timestamp": ["2026-01-31T10:00:00", "2026-01-31 23:59:59.999999", "2026-01-31T24:00:00", "2026-01-31T10:60:00",
                  "2026-01-31T10:00:60", "2026-02-30T10:00:00", "2026-01-31", "2026-01-31T10:00:00+25:00",
                  "2026-01-31T10:00:00+02:00", "2026-01-31T1:2:3Z", "0000-12-31T23:00:00-02:00", "0000-01-01T00:00:00"],
    "timestamp_ntz": ["2026-01-31T10:00:00", "2026-01-31T24:00:00", "2026-02-30 10:00:00", "2026-01-31T10:00:00Z"],
    "decimal(8,2)": ["1.5", "1.505", "123456.78", "999999.99", "1000000", "1e2", "1e30", "1e-30", "15e-1", "1500e-3",
                     ".5", "5.", "-.5", "1e-1000000000", "1e1000000000", "000000000001.5", "1,5", "0e99", "0.000"],
    "decimal(38,0)": ["9" * 38, "1" + "0" * 38, "0" * 50 + "1", "1.0", "1.5", "1e37", "1e38"],
    "double": ["1.5", "1e400", "-1e400", "NaN", "Inf", "nan", "1e-400"],
    "boolean": ["true", "FALSE", "yes", "1"],
    "string": ["a", ""],
}  # fmt: skip
FORMS = {
    "as Spark": (CsvForm(), {}),
    "German": (
        CsvForm(separator=";", decimal=",", date_format="d.M.yy", timestamp_format="d.M.yyyy h:mm a"),
        {
            "decimal(8,2)": ["1,5", "1,505", "+5,00", "-1.050,00", "1000000,00"],
            "double": ["1,5", "1.5"],
            "date": ["31.1.26", "30.2.26", "1.13.26", "31.01.2026"],
            "timestamp": ["31.1.2026 1:00 PM", "31.2.2026 1:00 PM", "31.1.2026 13:00 PM", "31.1.2026 1:60 am"],
        },
    ),
}


@pytest.mark.parametrize(("form", "more"), FORMS.values(), ids=FORMS)
def test_values_together_are_as_each_alone(form, more):
    for type_, texts in VALUES.items():
        some = [text or None for text in texts + more.get(type_, [])]
        alone = {}
        for row, text in enumerate(some):
            try:
                typed(pa.array([text], pa.string()), "c", type_, form)
            except UnfitError as error:
                alone[row] = (error.text, error.hint)
        found = {error.row: (error.text, error.hint) for error in unfit(pa.array(some, pa.string()), "c", type_, form)}
        assert found == alone, type_


COLUMNS = (
    Column(name="id", type="bigint"),
    Column(name="day", type="date", nullable=False),
    Column(name="price", type="decimal(8,2)"),
    Column(name="name", type="string", nullable=False),
)
PARTS = (
    [b"1", b"x", b"", b"9" * 30, b"\xe4"],
    [b"2026-01-31", b"2026-02-30", b"", b'"2026-01-31"', b'"2026'],
    [b"1.5", b"1.555", b"NULL", b"\xff"],
    [b"a", b"", b'"a, b"', b'"a"b', b"a,b", b'"a\\"b"', b"\xe4", b"NULL"],
    [b"other", b"\xe4", b""],
)
WAYS = {
    "as Spark": (COLUMNS, CsvForm()),
    "with a word for NULL": (COLUMNS, CsvForm(null_value="NULL")),
    "lines that may break": (COLUMNS, CsvForm(multi_line=True)),
    "no quotes": (COLUMNS, CsvForm(quote="")),
    "a column that the file lacks": ((*COLUMNS, Column(name="zz", type="int")), CsvForm()),
    "a column of each row that the file lacks": ((*COLUMNS, Column(name="zz", type="int", nullable=False)), CsvForm()),
    "one column": (COLUMNS[:1], CsvForm()),
    "other fields": (
        (*COLUMNS, OtherFields(name="rest", type="string", named=frozenset(one.name for one in COLUMNS))),
        CsvForm(),
    ),
}


@pytest.mark.parametrize(("columns", "form"), WAYS.values(), ids=WAYS)
def test_records_together_are_as_each_alone(columns, form):
    lines = [b",".join(values) for values in product(*PARTS)]
    random.Random(17).shuffle(lines)
    text = b"id,day,price,name,unread\n" + b"\n".join([b"only one", b"", *lines[:400]]) + b"\n"
    records, multi_line = csv_records(text, "a.csv", CsvRules(form))
    reader = rows_reader(records.header, columns, CsvRules(form), (), multi_line=multi_line)
    alone = {}
    for number, record in enumerate(records.texts):
        try:
            reader.of([record])
        except CsvError as error:
            alone[number] = csv_reason(reader, record, error)
    found = wrong_records(reader, records.texts)
    assert {number: csv_reason(reader, records.texts[number], why) for number, why in found.items()} == alone
    parted = part(records.texts, reader.of, partial(csv_reason, reader), partial(wrong_records, reader))
    assert parted.numbers == [number for number in range(len(records.texts)) if number not in alone]
    assert sorted(parted.wrong) == sorted(alone)


def test_bad_records_one_behind_the_other_are_parsed_once_each():
    parsed = []

    def parse(records):
        parsed.append(len(records))
        return pa.table({"n": [1 // record for record in records]})

    def reason(_record, error):
        return "type", str(error)

    def divided(records):
        try:
            return parse(records)
        except ZeroDivisionError as error:
            raise ValueError(str(error)) from error

    bad = part([0] * 1000, divided, reason)
    assert len(bad.wrong) == 1000
    assert len(parsed) < 1100
    some = part([1, 0, 0] * 100 + [1] * 1000 + [0] * 20 + [1] * 50, divided, reason)
    assert some.numbers == [n for n in range(1370) if n not in some.wrong]
    assert len(some.wrong) == 220


@pytest.mark.parametrize("name", [name for name, _, reason in JSON if reason != "null"])
def test_a_file_of_bad_objects_is_read_a_few_times(tmp_path, monkeypatch, name):
    reads = []
    plain = pa_json.read_json
    monkeypatch.setattr(pa_json, "read_json", lambda *args: reads.append(args) or plain(*args))
    [(line, reason)] = [(line, reason) for one, line, reason in JSON if one == name]
    (tmp_path / "a.jsonl").write_bytes(b"\n".join([line] * 200) + b"\n")
    source = open_files({"path": "*.jsonl", "columns": MALFORMED, "on_bad_rows": "dead_letter"}, tmp_path)
    found = source.read_split({}, source.available())
    assert [(one.letter.position, one.reason) for one in found.bad] == [
        (f"a.jsonl:{n + 1}", reason) for n in range(200)
    ]
    assert len(reads) <= _MOST_READS
    reads.clear()
    again = source.read_again([one.letter for one in found.bad], None)
    assert [(one.reason, one.message) for one in again.bad] == [(one.reason, one.message) for one in found.bad]
    assert len(reads) <= _MOST_READS


def test_objects_together_are_as_each_alone():
    columns = tuple(Column(name=name, type=type_, nullable=name != "big") for name, type_ in MALFORMED.items())
    lines = [line for _, line, _ in JSON] + [json_line(), json_line(big=None), b'{"id": 1}', b"{}", b" ", b'{"big": 1}']
    alone = {}
    for number, line in enumerate(lines):
        try:
            json_rows([line], columns)
        except (pa.ArrowException, ValueError, KeyError) as error:
            alone[number] = json_reason(line, error)
    found = wrong_objects(columns, lines)
    assert {number: json_reason(lines[number], why) for number, why in found.items()} == alone
