"""Rows of persons in data files: what a store has in place of NULL is the key of no person."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamhouse.jobs.forget_search import rows_in_file
from streamhouse.model.forgetting import KeyPart
from streamhouse.model.table import Column, Table
from streamhouse.stores.null_keys import encoded


@pytest.mark.parametrize(
    ("kind", "keys", "value", "rows"),
    [
        ("string", ["", None, "ann"], "", 1),
        ("string", [None, "ann"], "", 0),
        ("string", [None, "ann"], "ann", 1),
        ("bigint", [0, None, 1], "0", 1),
        ("bigint", [None, 1], "0", 0),
    ],
)
def test_what_stands_for_null_is_not_found(tmp_path, kind, keys, value, rows):
    columns = (Column(name="id", type=kind), Column(name="v", type="int"))
    made = {"name": "dwd.people", "primary_key": ("id",), "null_keys": ("id",), "tiers": {"warm": "30d"}}
    table = Table(columns=columns, **made)
    types = {"string": pa.string(), "bigint": pa.int64()}
    stored = pa.table({"id": pa.array(keys, types[kind]), "v": pa.array(range(len(keys)), pa.int32())})
    pq.write_table(encoded(table, stored), tmp_path / "data.parquet")
    part = KeyPart(columns=("id",), values=(value,))
    assert rows_in_file(tmp_path / "data.parquet", table, [part]) == rows
    plain = table.model_copy(update={"null_keys": ()})
    pq.write_table(stored.filter(stored["id"].is_valid()), tmp_path / "plain.parquet")
    assert rows_in_file(tmp_path / "plain.parquet", plain, [part]) == rows
