"""Compressed files: read by the endings of their names, as Spark's reader does, or refused with place and remedy."""

import bz2
import gzip
import tracemalloc
import zlib
from itertools import product

import pyarrow as pa
import pytest

from streamhouse.errors import SourceError
from streamhouse.ingest import packed_file
from streamhouse.ingest.cdc_options import CdcOptions
from streamhouse.ingest.csv_file import csv_names
from streamhouse.ingest.csv_header import CsvRules
from streamhouse.ingest.csv_options import PLAIN
from streamhouse.ingest.files import open_files
from streamhouse.ingest.inferred_columns import infer_files
from streamhouse.ingest.lines import Lines
from tests.tables import each

COLUMNS = {"id": "bigint", "name": "string"}
CSV = "\ufeffid,name\n" + "".join(f'{n},"zoë, {n}"\n' for n in range(500))
JSON = "".join(f'{{"id":{n},"name":"zoë {n}"}}\n' for n in range(500))


def by_arrow(codec):
    def packed(data):
        with pa.CompressedOutputStream(out := pa.BufferOutputStream(), codec) as stream:
            stream.write(data)
        return out.getvalue().to_pybytes()

    return packed


PACKERS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": by_arrow("zstd"),
    ".lz4": by_arrow("lz4"),
    ".deflate": zlib.compress,
}
WITH_PARTS = [ending for ending in PACKERS if ending != ".deflate"]
WITH_CHECKS = (".gz", ".bz2", ".deflate")


def rows_of(folder, path, **more):
    source = open_files({"path": path, "columns": COLUMNS, **more}, folder)
    return source.read({}, source.available())


def refusal(folder, path, **more):
    with pytest.raises(SourceError) as refused:
        rows_of(folder, path, **more)
    assert (refused.value.at.file, refused.value.at.line) == (path, 1)
    assert refused.value.hint
    return refused.value


@each(("ending", "text"), product(PACKERS, (("x.csv", CSV), ("x.json", JSON), ("x.ndjson", JSON))))
def test_rows_are_those_of_the_file_that_was_compressed(tmp_path, ending, text):
    name, data = text
    folder = tmp_path / f"{name}{ending}"
    folder.mkdir()
    (folder / name).write_text(data, encoding="utf-8")
    (folder / f"{name}{ending}").write_bytes(PACKERS[ending](data.encode()))
    plain, packed = rows_of(folder, name), rows_of(folder, f"{name}{ending}")
    assert plain.num_rows == 500
    assert packed == plain
    assert rows_of(folder, f"{name}{ending}", on_bad_rows="dead_letter") == plain
    inferred = infer_files(f"{name}{ending}", folder)
    assert {column.name: column.type for column in inferred.columns} == COLUMNS
    assert inferred.is_proved
    source = open_files({"path": f"{name}{ending}"}, folder)
    assert {column.name: column.type for column in source.columns()} == COLUMNS
    first = source.advance({}, 200)
    second = source.advance(first, 200)
    assert source.read(first, second, ("id",)).column("id").to_pylist() == list(range(200, 400))


@each("ending", WITH_PARTS)
def test_several_parts_one_behind_the_other(tmp_path, ending):
    pack, name = PACKERS[ending], f"x.csv{ending}"
    (tmp_path / name).write_bytes(pack(b"id,name\n1,a\n2,") + pack(b"") + pack(b"b\n3,c\n"))
    assert rows_of(tmp_path, name).column("name").to_pylist() == ["a", "b", "c"]


@each("ending", PACKERS)
def test_a_file_that_is_cut_is_refused_wherever_it_ends(tmp_path, ending):
    data, name = PACKERS[ending](CSV.encode()), f"x.csv{ending}"
    for end in (12, 20, len(data) // 2, len(data) - 9, len(data) - 1):
        (tmp_path / name).write_bytes(data[:end])
        for more in ({}, {"on_bad_rows": "dead_letter"}):
            assert "cut" in refusal(tmp_path, name, **more).message, end


@each("ending", PACKERS)
def test_what_is_behind_the_compressed_data_is_refused(tmp_path, ending):
    name = f"x.csv{ending}"
    (tmp_path / name).write_bytes(PACKERS[ending](b"id,name\n1,a\n") + b"2,b of another program\n")
    assert "damaged" in refusal(tmp_path, name).message


@each("ending", WITH_CHECKS)
def test_a_byte_that_changed_is_refused(tmp_path, ending):
    data, name = bytearray(PACKERS[ending](CSV.encode())), f"x.csv{ending}"
    data[len(data) // 2] ^= 1
    (tmp_path / name).write_bytes(data)
    assert {"damaged", "cut"} & set(refusal(tmp_path, name).message.replace(":", "").split())


WRONG = {
    # name of the file, its bytes, what is wrong, remedy
    "text": ("x.csv.gz", b"id,name\n1,a\n", "does not begin as", "take .gz away"),
    "text as deflate": ("x.csv.deflate", b"id,name\n1,a\n", "does not begin as", "take .deflate away"),
    "one byte": ("x.csv.gz", b"\x1f", "does not begin as", "take .gz away"),
    "another form": ("x.csv.gz", bz2.compress(b"id,name\n"), "bzip2", "let its name end in .bz2"),
    "another form of deflate": ("x.json.deflate", gzip.compress(b"{}"), "gzip", "let its name end in .gz"),
    "no ending": ("x.csv", gzip.compress(b"id,name\n"), "gzip", "let its name end in .gz, or unpack it: gunzip FILE"),
    "xz": ("x.csv", b"\xfd7zXZ\x00\x00\x04", "xz", "unxz FILE"),
    "xz as gzip": ("x.csv.gz", b"\xfd7zXZ\x00\x00\x04", "xz", "unpack it"),
    "twice": ("x.csv.gz", gzip.compress(gzip.compress(b"id,name\n")), "compressed twice", "unpack it once"),
    "a workbook": ("x.csv.gz", gzip.compress(b"PK\x03\x04workbook"), "Excel", "save the sheet as CSV"),
    "snappy": ("x.csv.snappy", b"\x00\x00\x00\x0c\x00\x00\x00\x0e\x0c\x2c", "snappy", "gzip"),
    "lz4 of Hadoop": ("x.json.lz4", b"\x00\x00\x00\x0c\x00\x00\x00\x0e\xc0{}", "does not begin as", "Hadoop"),
}


@each(("name", "data", "cause", "remedy"), WRONG.values(), ids=list(WRONG))
def test_another_form_than_the_name_says_is_refused(tmp_path, name, data, cause, remedy):
    (tmp_path / name).write_bytes(data)
    refused = refusal(tmp_path, name)
    assert cause in refused.message
    assert remedy in refused.hint
    with pytest.raises(SourceError, match=cause):
        infer_files(name, tmp_path)


def test_a_line_is_counted_in_the_unpacked_text(tmp_path):
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(CSV.encode() + b"none,x\n"))
    with pytest.raises(SourceError, match="'none'") as refused:
        rows_of(tmp_path, "x.csv.gz")
    assert str(refused.value).startswith("x.csv.gz:502:")
    (tmp_path / "x.json.gz").write_bytes(gzip.compress(JSON.encode() + b'{"id":"none"}\n'))
    with pytest.raises(SourceError) as refused:
        rows_of(tmp_path, "x.json.gz")
    assert str(refused.value).startswith("x.json.gz:501:")


@each("ending", PACKERS)
def test_a_small_file_does_not_fill_the_memory(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(packed_file, "MOST_BYTES", 2 << 20)
    name = f"x.csv{ending}"
    (tmp_path / name).write_bytes(PACKERS[ending](b"id,name\n" + b"0" * (16 << 20)))
    assert (tmp_path / name).stat().st_size < 1 << 20
    tracemalloc.start()
    try:
        assert "more than 2 MiB" in refusal(tmp_path, name).message
        with pytest.raises(SourceError, match="more than 2 MiB"):
            rows_of(tmp_path, name, on_bad_rows="dead_letter")
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()


def test_names_are_found_without_all_of_the_file(tmp_path):
    """What is wrong far behind the names is a matter of the reader of rows."""
    data = gzip.compress(b"id,name\n" + b"1,a\n" * 2_000_000)
    (tmp_path / "x.csv.gz").write_bytes(data[:-4])
    assert csv_names(tmp_path / "x.csv.gz", "x.csv.gz", CsvRules(PLAIN)) == ("id", "name")


def test_each_file_of_a_pattern_by_its_own_name(tmp_path):
    (tmp_path / "1.csv").write_text("id,name\n1,a\n")
    (tmp_path / "2.csv.gz").write_bytes(gzip.compress(b"id,name\n2,b\n"))
    (tmp_path / "3.CSV.BZ2").write_bytes(bz2.compress(b"id,name\n3,c\n"))
    (tmp_path / "4.csv.gz").write_bytes(gzip.compress(b""))
    (tmp_path / "5.csv.gz").write_bytes(b"")
    assert rows_of(tmp_path, "*", format="csv").column("name").to_pylist() == ["a", "b", "c"]


@each(("name", "data"), [("x.jsonl.gz", gzip.compress(b"{}\n")), ("x.jsonl", gzip.compress(b"{}\n"))])
def test_change_events_are_not_compressed(tmp_path, name, data):
    """Their files grow, and are read from the middle."""
    (tmp_path / name).write_bytes(data)
    with pytest.raises(SourceError, match="compressed with gzip") as refused:
        Lines(tmp_path / name, name).count()
    assert "gunzip" in refused.value.hint


def test_a_path_of_compressed_change_events_is_refused():
    with pytest.raises(ValueError, match=r"not read in compressed form.*gunzip"):
        CdcOptions.model_validate({"path": "x/*.jsonl.gz", "primary_key": ["id"], "columns": {"id": "int"}})
