"""A Parquet file served as slices: the same rows however it is cut, and little of it in memory."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.errors import SourceError
from streamhouse.ingest import parquet
from streamhouse.ingest.files import open_files
from streamhouse.ingest.parquet import ParquetRows

ROWS = 57
GIVEN = pa.table(
    {"n": pa.array(range(ROWS), pa.int64()), "word": [None if n % 5 == 0 else f"w{n}" for n in range(ROWS)]}
)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("parquet") / "rows.parquet"
    pq.write_table(GIVEN, path, row_group_size=10)
    return path


@given(st.integers(0, ROWS + 5), st.integers(0, ROWS + 5), st.sampled_from([None, ("word",), ("word", "n")]))
def test_any_slice_is_that_of_the_file(file, start, end, columns):
    found = ParquetRows(file).slice(start, max(start, end), columns)
    names = [name for name in GIVEN.column_names if columns is None or name in columns]
    assert found.equals(GIVEN.select(names).slice(start, max(0, end - start)))


def test_no_more_is_held_than_allowed(file, monkeypatch):
    held = parquet._Decoded(400)  # a row group of `n` takes 80 bytes
    monkeypatch.setattr(parquet, "_decoded", held)
    rows = ParquetRows(file)
    for start in (*range(0, ROWS, 7), *range(0, ROWS, 7)):
        assert rows.slice(start, start + 7, ("n",))["n"].to_pylist() == list(range(start, min(start + 7, ROWS)))
        assert 0 < sum(column.nbytes for column in held._columns.values()) == held._bytes <= 400


def test_a_row_group_is_decoded_once_for_ranges_that_follow_each_other(file, monkeypatch):
    monkeypatch.setattr(parquet, "_decoded", parquet._Decoded(1 << 20))
    rows, read = ParquetRows(file), []
    opened = rows._file
    monkeypatch.setattr(
        rows,
        "_file",
        type(
            "Seen",
            (),
            {
                "metadata": opened.metadata,
                "read_row_group": lambda _, g, **k: read.append(g) or opened.read_row_group(g, **k),
            },
        )(),
    )
    for start in range(0, ROWS, 3):
        rows.slice(start, start + 3)
    assert read == [0, 1, 2, 3, 4, 5]


def test_a_row_group_larger_than_allowed_is_held_as_a_whole_and_alone(file, monkeypatch):
    held = parquet._Decoded(1)
    monkeypatch.setattr(parquet, "_decoded", held)
    rows = ParquetRows(file)
    for start in range(0, ROWS, 3):
        rows.slice(start, start + 3)
        assert len(held._columns) == 2
        assert len({key[:2] for key in held._columns}) == 1


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("boolean", {"true": True, "FALSE": False}, "1"),
        ("double", {"1.5": 1.5, "-Infinity": float("-inf")}, "1e400"),
        ("float", {"0.5": 0.5}, "4e38"),
        ("array<boolean>", {"true": True}, "1"),
    ],
)
def test_a_text_is_a_value_by_the_rules_of_csv(tmp_path, kind, right, wrong):
    nested = kind.startswith("array")

    def read(texts):
        pq.write_table(pa.table({"a": [[text] if nested else text for text in texts]}), tmp_path / "texts.parquet")
        source = open_files({"path": "texts.parquet", "columns": {"a": kind}}, tmp_path)
        return source.read({}, source.available())["a"].to_pylist()

    assert read([*right]) == [[value] if nested else value for value in right.values()]
    with pytest.raises(SourceError, match=f"'{wrong}' is no") as refused:
        read([*right, wrong])
    assert refused.value.at is not None
    assert nested or refused.value.at.line == len(right) + 1
