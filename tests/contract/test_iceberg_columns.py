"""Columns that come after rows, in the cold tier."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from streamhouse.model.table import Column, Table
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.iceberg import IcebergStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.public_ways]


@pytest.mark.parametrize("key", [(), ("a",)], ids=["log", "keyed"])
def test_rows_from_before_a_column_was_added_have_nulls(
    iceberg_store: IcebergStore, spark: "SparkSession", make_table: Callable[..., Table], key: tuple[str, ...]
) -> None:
    store, old = iceberg_store, make_table(a="bigint", v="int", key=key)
    new = old.model_copy(update={"columns": (*old.columns, Column(name="more", type="string"))})
    store.create(old)
    middle = store.write(old, Changes(pa.table({"a": [1], "v": [3]})), WriteContext("f/s", 0))
    spark.sql(f"ALTER TABLE cold.{old.name} ADD COLUMN more STRING")
    end = store.write(new, Changes(pa.table({"a": [2], "v": [3], "more": ["x"]})), WriteContext("f/s", 1))

    first, second = {"a": 1, "v": 3, "more": None}, {"a": 2, "v": 3, "more": "x"}
    assert sorted(store.read_state(new).to_pylist(), key=str) == [first, second]
    assert store.read_state(new, at=middle).to_pylist() == [first]
    assert store.read_changes(new, {}, middle).upserts.to_pylist() == [first]
    assert store.read_changes(new, middle, end).upserts.to_pylist() == [second]
    # Between the change of the table and that of the flow, the old plan reads and writes what it knows.
    store.write(old, Changes(pa.table({"a": [3], "v": [3]})), WriteContext("f/s", 2))
    assert {"a": 3, "v": 3, "more": None} in store.read_state(new).to_pylist()
    assert store.read_state(old, at=end, columns=("v", "a")).num_rows == 2


def test_a_dataframe_is_fixed_when_it_is_made(iceberg_store: IcebergStore, make_table: Callable[..., Table]) -> None:
    table = make_table(a="bigint", small="tinyint")
    iceberg_store.create(table)
    empty = iceberg_store.dataframe(table)
    first = iceberg_store.write(table, Changes(pa.table({"a": [1], "small": [1]})), WriteContext("f/s", 0))
    now = iceberg_store.dataframe(table)
    iceberg_store.write(table, Changes(pa.table({"a": [2], "small": [2]})), WriteContext("f/s", 1))
    assert empty.count() == 0
    assert [row.asDict() for row in now.collect()] == [{"a": 1, "small": 1}]
    assert dict(now.dtypes) == {"a": "bigint", "small": "tinyint"}
    assert iceberg_store.dataframe(table, first).count() == 1
    assert iceberg_store.dataframe(table).count() == 2
