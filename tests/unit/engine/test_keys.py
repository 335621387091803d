"""Rows by key, against plain Python."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.engine.keys import key_rows, last_of_each_key, union_keys, without_keys

SCHEMA = pa.schema([("k", pa.int64()), ("s", pa.string()), ("v", pa.list_(pa.int64()))])
rows_of = st.lists(
    st.fixed_dictionaries(
        {"k": st.integers(0, 4), "s": st.sampled_from("xy"), "v": st.lists(st.integers(0, 3), max_size=2)}
    ),
    max_size=12,
)


def table(rows):
    return pa.Table.from_pylist(rows, SCHEMA)


@given(rows_of, rows_of)
def test_without_leaves_the_others_in_their_order(rows, others):
    keys = key_rows(table(others), ("k", "s"))
    wanted = {(row["k"], row["s"]) for row in others}
    assert without_keys(table(rows), keys).to_pylist() == [r for r in rows if (r["k"], r["s"]) not in wanted]


@given(rows_of)
def test_the_last_row_of_each_key_stays(rows):
    last = {row["k"]: row for row in rows}
    kept = last_of_each_key(table(rows), ("k",)).to_pylist()
    assert {row["k"]: row for row in kept} == last
    assert len(kept) == len(last)


def test_key_rows_rename_and_are_distinct():
    keys = key_rows(table([{"k": 1, "s": "x", "v": []}, {"k": 1, "s": "y", "v": [1]}]), {"id": "k"})
    assert keys.to_pylist() == [{"id": 1}]


def test_union_keys_takes_columns_by_name():
    left = pa.table({"a": [1], "b": [2]})
    right = pa.table({"b": [2, 3], "a": [1, 1]})
    assert sorted(r["b"] for r in union_keys([left, right]).to_pylist()) == [2, 3]
