"""A small file that unpacks to endless lines, items or values ends in an error with its place."""

import gzip

import pytest

from streamhouse.errors import SourceError
from streamhouse.ingest.csv_text import MOST_COLUMNS
from streamhouse.ingest.files import open_files

LINES, ITEMS = 1_000, 500


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr("streamhouse.ingest.packed_file.MOST_LINES", LINES)
    monkeypatch.setattr("streamhouse.ingest.records.MOST_ITEMS", ITEMS)
    monkeypatch.setattr("streamhouse.ingest.json_file.MOST_ITEMS", ITEMS)


def available(tmp_path, name, data, **options):
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return open_files({"path": name, "columns": {"id": "int"}, **options}, tmp_path).available()


@pytest.mark.parametrize("dead_letter", [{}, {"on_bad_rows": "dead_letter"}])
@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.json.gz", b"\n" * (LINES + 1), "more than 1,000 lines"),
        ("a.json.gz", b'{"id": 1}\n' * (LINES + 1), "more than 1,000 lines"),
        ("a.csv.gz", b"\r" * (LINES + 1), "more than 1,000 lines"),
        ("a.csv.gz", b"1\n" * (LINES + 1), "more than 1,000 lines"),
        ("a.json.gz", b"[\n" + b"1," * (ITEMS + 1) + b"1\n]", "more than 500 items"),
        ("a.json", b"[" + b"1," * (ITEMS + 1) + b"1]", "more than 500 items"),
        ("a.csv", b"\n," + b"," * MOST_COLUMNS + b"\n", "more than 20,480 values"),
        ("a.csv.gz", b"," * 2 * MOST_COLUMNS, "more than 20,480 values"),
    ],
)
def test_it_is_refused(tmp_path, name, data, message, dead_letter):
    with pytest.raises(SourceError, match=message) as refused:
        available(tmp_path, name, data, **dead_letter)
    assert (refused.value.at.file, refused.value.at.line) == (name, 1)
    assert refused.value.hint


def test_so_many_are_taken(tmp_path):
    assert available(tmp_path, "a.json.gz", b'{"id": 1}\r\n' * LINES) == {"a.json.gz": LINES}
    assert available(tmp_path, "b.json", b"[" + b'{"id": 1},' * ITEMS + b'{"id": 1}]') == {"b.json": ITEMS + 1}
    assert available(tmp_path, "c.csv", b"id\n" + b"1\n" * (LINES + 5)) == {"c.csv": LINES + 5}
    assert available(tmp_path, "d.csv", b"id\r" + b"1\r" * 30_000) == {"d.csv": 30_000}
