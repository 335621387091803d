import pyarrow as pa
import pytest

from streamhouse.errors import WriteRefusedError
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.stores.base import Changes
from streamhouse.stores.keyed import (
    absent,
    completed,
    last_of_each_key,
    not_outdone,
    rows_to_write,
    winners,
    with_keys,
    without_keys,
)

TABLE = Table(
    name="ods.t",
    columns=(Column(name="k", type="bigint"), Column(name="l", type="string"), Column(name="v", type="array<int>")),
    primary_key=("k", "l"),
    tiers=Tiers(warm="1d"),
)


def rows(*values: tuple[int | None, str, list[int] | None]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip("klv", value, strict=True)) for value in values])


def chunked(*values: tuple[int | None, str, list[int] | None]) -> pa.Table:
    return pa.concat_tables([rows(value) for value in values])


def test_the_last_row_of_each_key_stays_in_order():
    given = chunked((1, "a", [1]), (2, "a", [2]), (1, "b", [3]), (1, "a", [4]))
    assert last_of_each_key(given, ["k", "l"]).column("v").to_pylist() == [[2], [3], [4]]
    assert last_of_each_key(given, ["k"]).column("v").to_pylist() == [[2], [4]]
    assert last_of_each_key(given.slice(0, 1), ["k"]).num_rows == 1


def test_the_row_that_its_merge_engine_keeps_stays_in_order():
    given = pa.table({"k": [1, 2, 1, 2, 3, 1], "v": [5, None, 7, None, 1, 7], "n": list(range(6))})
    columns = tuple(Column(name=name, type="bigint") for name in given.column_names)
    plain = Table(name="ods.t", columns=columns, primary_key=("k",), tiers=Tiers(warm="1d"))
    first = plain.model_copy(update={"first_row": True})
    versioned = plain.model_copy(update={"version_column": "v"})
    assert winners(given, plain).column("n").to_pylist() == [3, 4, 5]
    assert winners(given, first).column("n").to_pylist() == [0, 1, 4]
    assert winners(given, versioned).column("n").to_pylist() == [3, 4, 5]
    assert winners(given.slice(0, 5), versioned).column("n").to_pylist() == [2, 3, 4]
    stored = pa.table({"k": [1, 2, 9], "v": [7, None, 1]})
    rows = given.filter(pa.array([True, True, False, False, True, False]))  # 1: lower, 2: as unknown, 3: new
    assert not_outdone(rows, stored, versioned).column("n").to_pylist() == [1, 4]
    assert not_outdone(rows, stored.select(["k"]), first).column("n").to_pylist() == [4]
    assert not_outdone(rows.slice(0, 0), stored, versioned).num_rows == 0
    assert first.replica == versioned.replica == plain


def test_an_upsert_outdoes_a_delete_of_its_key():
    deleted = pa.table({"l": ["a", "b"], "k": [1, 1]})
    found = rows_to_write(TABLE, Changes(rows((1, "a", [1])), deleted), "kind")
    assert found.to_pylist() == [
        {"k": 1, "l": "b", "v": None, "kind": "-D"},
        {"k": 1, "l": "a", "v": [1], "kind": "+U"},
    ]


def test_rows_are_found_by_one_key_and_by_two():
    given = chunked((1, "a", [1]), (2, "a", [2]), (1, "b", [3]))
    assert with_keys(given, pa.table({"k": [1, 9]})).column("v").to_pylist() == [[1], [3]]
    assert with_keys(given, pa.table({"k": [1, 2], "l": ["b", "b"]})).column("v").to_pylist() == [[3]]


def test_a_refusal_names_table_and_column():
    with pytest.raises(WriteRefusedError, match=r"1 rows for ods\.t have no k"):
        rows_to_write(TABLE, Changes(rows((None, "a", [1]))))


def test_a_partial_write_keeps_the_columns_of_others():
    wide = TABLE.model_copy(update={"columns": (*TABLE.columns, Column(name="w", type="map<string,int>"))})
    stored = pa.concat_tables(
        pa.Table.from_pylist([row], schema=pa.schema([*rows((1, "a", [1])).schema, ("w", pa.map_("string", "int32"))]))
        for row in (
            {"k": 1, "l": "a", "v": [1], "w": [("x", 1)]},
            {"k": 1, "l": "b", "v": [2], "w": None},
            {"k": 1, "l": "c", "v": None, "w": [("y", 1)]},
            {"k": 7, "l": "a", "v": [7], "w": [("z", 7)]},
        )
    )
    gone = pa.table({"l": ["b", "c", "zz"], "k": [1, 1, 1]})
    partial = rows_to_write(wide, Changes(rows((1, "a", None), (2, "a", [9])), gone), "kind", ["v"])
    assert partial.column_names == ["k", "l", "v", "kind"]
    assert completed(partial, stored, ["k", "l"], "kind").to_pylist() == [
        {"k": 1, "l": "b", "v": None, "w": None, "kind": "-D"},
        {"k": 1, "l": "c", "v": None, "w": [("y", 1)], "kind": "+U"},
        {"k": 1, "l": "a", "v": None, "w": [("x", 1)], "kind": "+U"},
        {"k": 2, "l": "a", "v": [9], "w": None, "kind": "+U"},
    ]
    assert completed(partial, stored.slice(0, 0), ["k", "l"], "kind").column("k").to_pylist() == [1, 2]


def test_absent_rows_are_found_by_every_value_with_nulls_equal():
    seen = pa.table({"k": [1, 2, 3, 2], "v": ["a", None, "c", "b"]})
    wanted = pa.table({"k": [3, 2, 1, 4, 3], "v": ["c", None, "b", None, None]})
    assert absent(wanted, seen) == [2, 3, 4]
    assert absent(wanted, seen.slice(0, 0)) == [0, 1, 2, 3, 4]
    assert absent(wanted.slice(0, 2), seen) == []


@pytest.mark.parametrize("keys", [("a",), ("a", "b")])
def test_null_in_a_key_meets_null_and_nothing_else(keys):
    schema = pa.schema([("a", pa.string()), ("b", pa.int64())])
    rows = pa.table(
        {"a": [None, "", "x", None], "b": [0, None, None, None], "v": [1, 2, 3, 4]},
        pa.schema([*schema, ("v", pa.int64())]),
    )
    wanted = pa.Table.from_pylist([{"a": None, "b": None}, {"a": "x", "b": 0}], schema).select(list(keys))
    found = [4] if len(keys) > 1 else [1, 3, 4]
    assert with_keys(rows, wanted).column("v").to_pylist() == found
    assert without_keys(rows, wanted).column("v").to_pylist() == [v for v in (1, 2, 3, 4) if v not in found]
    nothing = wanted.slice(0, 0)
    assert with_keys(rows, nothing).num_rows == 0
    assert without_keys(rows, nothing).num_rows == 4
