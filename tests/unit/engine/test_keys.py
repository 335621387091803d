"""Rows by key, against plain Python."""

import struct

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.engine.keys import (
    key_rows,
    last_of_each_key,
    one_of_each_key,
    refuse_several,
    union_keys,
    without_keys,
)
from streamhouse.errors import WriteRefusedError
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores import keyed

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


def test_keys_of_floats_are_those_of_spark():
    nan, other_nan = float("nan"), struct.unpack(">d", bytes.fromhex("fff8000000000001"))[0]
    floats = pa.table({"k": pa.array([0.0, -0.0, nan, other_nan, 1.0, None]), "n": range(6)})
    keys = key_rows(floats, ["k"])
    assert repr(sorted(keys.column("k").to_pylist(), key=repr)) == "[0.0, 1.0, None, nan]"
    assert union_keys([keys, floats]).num_rows == 4
    last = last_of_each_key(floats, ["k"])
    assert repr(last.to_pylist()) == (
        "[{'k': 0.0, 'n': 1}, {'k': nan, 'n': 3}, {'k': 1.0, 'n': 4}, {'k': None, 'n': 5}]"
    )
    minus = pa.table({"k": pa.array([-0.0, other_nan])})
    assert without_keys(floats, minus).column("n").to_pylist() == [4, 5]
    assert keyed.with_keys(floats, minus).column("n").to_pylist() == [0, 1, 2, 3]


KEYED = Table(
    name="dws.t",
    columns=(Column(name="k", type="double"), Column(name="s", type="string"), Column(name="v", type="array<bigint>")),
    primary_key=("k", "s"),
    tiers=Tiers(warm="1d"),
)


def keyed_rows(*rows):
    return pa.table(
        {
            "k": pa.array([row[0] for row in rows], pa.float64()),
            "s": [row[1] for row in rows],
            "v": pa.array([row[2] for row in rows], pa.list_(pa.int64())),
        }
    )


@pytest.mark.parametrize(
    "others",
    [[(1.0, "x", [2])], [(1.0, "x", None)], [(2.0, "y", [1]), (1.0, "x", [2, 1]), (2.0, "y", [1])]],
)
def test_two_rows_of_one_key_in_a_whole_result_are_an_error(others):
    with pytest.raises(WriteRefusedError, match=r"dws\.t gets two rows with k = 1\.0, s = 'x', .* which differ in v"):
        one_of_each_key(keyed_rows((1.0, "x", [1]), *others), KEYED)


def test_a_zero_and_a_number_that_is_none_are_one_key_each():
    for one, other in ((0.0, -0.0), (float("nan"), -float("nan"))):
        with pytest.raises(WriteRefusedError, match="gets two rows"):
            one_of_each_key(keyed_rows((one, "x", [1]), (other, "x", [2])), KEYED)


def test_equal_rows_of_a_key_are_one():
    rows = keyed_rows((1.0, "x", [1]), (1.0, "x", [1]), (0.0, "y", None), (-0.0, "y", None))
    assert one_of_each_key(rows, KEYED).num_rows == 2


VERSIONED = Table(
    name="dws.t",
    columns=tuple(Column(name=name, type="bigint") for name in ("k", "n", "v")),
    primary_key=("k",),
    version_column="n",
    tiers=Tiers(warm="1d"),
)


def made_of(*rows):
    """Rows of a key, a version and a value; the last number says what each is made of."""
    return pa.table(dict(zip(("k", "n", "v", "from"), map(list, zip(*rows, strict=True)), strict=True)))


@pytest.mark.parametrize("versions", [(1, 1), (None, None)])
def test_two_rows_of_one_key_that_one_row_gives_are_an_error(versions):
    first, second = versions
    rows = made_of((1, 0, 5, 1), (2, first, 5, 2), (2, second, 7, 2), (2, 9, 9, 3))
    with pytest.raises(
        WriteRefusedError, match=r"two rows with k = 2, .*, which differ in v; both are made of one row"
    ):
        refuse_several(rows, VERSIONED, "from")


def test_rows_of_one_key_of_which_one_wins_are_none():
    refuse_several(made_of((1, 0, 5, 1), (1, 0, 7, 2), (1, 0, 5, 3)), VERSIONED, "from")  # made of several rows
    refuse_several(made_of((1, 0, 5, 1), (1, 0, 5, 1), (2, 0, 5, 1)), VERSIONED, "from")  # equal, or of several keys
    refuse_several(made_of((1, 0, 5, 1), (1, 2, 7, 1)), VERSIONED, "from")  # of several versions
    plain = VERSIONED.model_copy(update={"version_column": None})
    with pytest.raises(WriteRefusedError, match="differ in n, v"):
        refuse_several(made_of((1, 0, 5, 1), (1, 2, 7, 1)), plain, "from")
