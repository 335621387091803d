"""How a range is cut into shares for Spark's tasks."""

from traceback import format_exception

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.engine import rows_source
from streamhouse.engine.rows_source import source_shares, table_shares
from streamhouse.errors import Location, RowsLostError, UnknownFlowError
from streamhouse.ingest.files import open_files
from streamhouse.spark.worker_error import from_worker, telling


@pytest.fixture(autouse=True)
def small_shares(monkeypatch):
    monkeypatch.setattr(rows_source, "_FEWEST_ROWS", 10)


@given(
    st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), min_size=1, max_size=4),
    st.integers(1, 5),
)
def test_shares_of_a_table_are_its_range_cut_evenly(spans, tasks):
    start = {str(bucket): first for bucket, (first, _) in enumerate(spans) if first}
    end = {str(bucket): first + rows for bucket, (first, rows) in enumerate(spans)}
    shares = table_shares(start, end, tasks)
    covered = [(b, offset) for s, e in shares for b in e for offset in range(s[b], e[b])]
    assert sorted(covered) == [(str(b), o) for b, (first, rows) in enumerate(spans) for o in range(first, first + rows)]
    total = sum(rows for _, rows in spans)
    largest = max((sum(e[b] - s[b] for b in e) for s, e in shares), default=0)
    assert largest <= max(-(-total // tasks), 10)
    assert len(shares) <= 2 * -(-total // max(-(-total // tasks), 10)) + 1  # many small buckets take few tasks


def numbered(source, shares):
    return [row["n"] for start, end in shares for row in source.read(start, end).to_pylist()]


def test_shares_of_files_are_their_range_cut_in_order(tmp_path):
    for name, rows in (("a", range(35)), ("b", range(35, 40)), ("d", range(40, 100))):
        (tmp_path / f"{name}.csv").write_text("n\n" + "".join(f"{n}\n" for n in rows))
    source = open_files({"path": "*.csv"}, tmp_path)
    start, end = {"a.csv": 5}, {"a.csv": 35, "b.csv": 5, "d.csv": 40}
    shares = source_shares(source, start, end, 4)
    assert numbered(source, shares) == list(range(5, 80))
    assert [source.rows_between(s, e) for s, e in shares] == [19, 19, 19, 18]


def test_a_file_that_came_later_is_in_no_share(tmp_path):
    (tmp_path / "b.csv").write_text("n\n" + "".join(f"{n}\n" for n in range(90)))
    source = open_files({"path": "*.csv"}, tmp_path)
    end = source.available()
    (tmp_path / "a.csv").write_text("n\n" + "".join(f"{n}\n" for n in range(1000, 1090)))
    assert sorted(numbered(source, source_shares(source, {}, end, 4))) == list(range(90))


def test_an_empty_range_has_no_shares(tmp_path):
    (tmp_path / "b.csv").write_text("n\n1\n")
    source = open_files({"path": "*.csv"}, tmp_path)
    assert source_shares(source, source.available(), source.available(), 4) == ()
    assert table_shares({"0": 7}, {"0": 7, "1": 0}, 4) == ()


@pytest.mark.parametrize(
    "error",
    [
        RowsLostError('bucket 1: "3" {is} gone\nand more', at=Location("f.yaml", 3), hint="do that"),
        UnknownFlowError("f", ["g"]),
    ],
)
def test_an_error_of_ours_comes_back_from_a_worker(error):
    with pytest.raises(RuntimeError) as told, telling():
        raise error
    trace = "".join(format_exception(told.value))  # with lines of source, as Spark shows it
    wrapped = RuntimeError(f"Job aborted\n{trace}\n\tat java")
    found = from_worker(wrapped)
    assert type(found) is type(error)
    assert str(found) == str(error).replace(f"{error.at}: {error.code} ", f"{error.code} {error.at}: ")


def test_an_error_of_others_stays_theirs():
    assert from_worker(ValueError("no")) is None
    with pytest.raises(KeyError), telling():
        raise KeyError("x")
