"""A small file of Parquet that says that it has endless rows ends in an error with its place, and in bounded memory."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.formats import infer_columns, read_file
from streamhouse.ingest.parquet_size import MOST_BYTES, _page_bytes, read_group

MIB = 1 << 20


def repeated_text(**how):
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, pa.int32()), pa.array(["y" * (MIB // 4)]))
    return pa.table({"id": pa.array(range(20_000), pa.int32()), "t": text}), how


BOMBS = {
    "a text in each row": lambda: repeated_text(store_schema=False),
    "a text in each row, as its writer had it": repeated_text,
    "rows": lambda: (pa.table({"id": pa.array([1] * (20 * MIB), pa.int8())}), {"row_group_size": 20 * MIB}),
    "values of one list": lambda: (
        pa.table({"l": pa.ListArray.from_arrays([0, 20 * MIB], pa.array([1] * (20 * MIB), pa.int8()))}),
        {"store_schema": False},
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_row_group_that_unpacks_to_endless_rows_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.setattr("streamhouse.ingest.parquet_size.MOST_BYTES", 64 * MIB)
    monkeypatch.setattr("streamhouse.ingest.parquet_size._PART_BYTES", 8 * MIB)
    table, how = BOMBS[name]()
    file = tmp_path / "bomb.parquet"
    pq.write_table(table, file, compression="zstd", **how)
    assert file.stat().st_size < MIB
    columns = infer_columns(file, "parquet", file.name)
    with pytest.raises(SourceError, match="row group 1 has more than 64 MiB when it is unpacked") as refused:
        read_file(file, "parquet", columns, "data/bomb.parquet", (0, 3))
    assert refused.value.at == Location("data/bomb.parquet", 1)


def test_the_name_of_a_column_that_is_no_text_is_refused(tmp_path):
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"NAME": [1]}), file, store_schema=False)
    file.write_bytes(file.read_bytes().replace(b"NAME", b"N\xffME"))
    with pytest.raises(SourceError, match="a name in it is no UTF-8"):
        infer_columns(file, "parquet", file.name)


def test_rows_that_are_read_in_parts_are_the_same(tmp_path, monkeypatch):
    texts = [f"{at % 7}" * 300 for at in range(5000)]
    table = pa.table({"n": range(5000), "t": texts, "l": [[text, None] for text in texts]})
    for version in ("1.0", "2.6"):
        for dictionary in (True, ["t"], False):
            file = tmp_path / "a.parquet"
            pq.write_table(table, file, version=version, use_dictionary=dictionary, row_group_size=2000)
            opened = pq.ParquetFile(file)
            whole = [opened.read_row_group(group, columns=["t", "l", "n"]) for group in range(3)]
            for most, part in ((MOST_BYTES, 256 * MIB), (1_500_000, 3_000)):
                monkeypatch.setattr("streamhouse.ingest.parquet_size.MOST_BYTES", most * 2)
                monkeypatch.setattr("streamhouse.ingest.parquet_size._PART_BYTES", part)
                assert [read_group(opened, file, group, ["t", "l", "n"]) for group in range(3)] == whole


def test_the_size_of_a_page_is_read(tmp_path):
    for size in (1, 63, 64, 8_000, 500_000):
        file = tmp_path / "a.parquet"
        pq.write_table(pa.table({"t": ["x" * size] * 3}), file, compression="none")
        chunk = pq.ParquetFile(file).metadata.row_group(0).column(0)
        with Path(file).open("rb") as opened:
            opened.seek(chunk.dictionary_page_offset)
            assert _page_bytes(opened.read(32)) == size + 4
    assert _page_bytes(b"") == _page_bytes(b"\x15\xff") == _page_bytes(b"x" * 32) == 0
