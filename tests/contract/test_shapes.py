"""What stores tell of tables that somebody else changes: the trigger sees it, and what it was."""

from collections.abc import Callable
from typing import Any

import pytest

from streamhouse.model.table import Column, Table
from streamhouse.stores.base import ShapedStore, Store
from streamhouse.upstream.shape_diff import compare

Make = Callable[..., Table]


def shaped(store: Store) -> ShapedStore:
    assert isinstance(store, ShapedStore)
    return store


def told(before: Any, after: Any) -> list[str]:
    return sorted(str(event).split(": ", 1)[1] for event in compare(before, after))


def wider(table: Table, **columns: str) -> Table:
    added = tuple(Column(name=name, type=kind) for name, kind in columns.items())
    return Table.model_validate(table.model_dump() | {"columns": [*table.columns, *added]})


def test_a_table_that_nobody_touches(store: Store, make_table: Make) -> None:
    table = make_table(k="bigint", v="string", key=("k",))
    assert shaped(store).shape(table.name) is None
    store.create(table)
    first = shaped(store).shape(table.name)
    assert first is not None
    assert [(c.name, c.type) for c in first.columns] == [("k", "bigint"), ("v", "string")]
    assert (first.object, first.tier, first.primary_key) == (table.name, store.tier, ("k",))
    assert first.identity
    assert shaped(store).shape(table.name) == first


def test_an_added_column(store: Store, make_table: Make) -> None:
    table = make_table(k="bigint", v="string", key=("k",))
    store.create(table)
    before = shaped(store).shape(table.name)
    store.add_columns(wider(table, w="decimal(12,2)"))
    assert told(before, shaped(store).shape(table.name)) == ["add_column w decimal(12,2)"]


def test_another_table_of_the_same_name(store: Store, make_table: Make) -> None:
    table = make_table(k="bigint", v="string", key=("k",))
    store.create(table)
    before = shaped(store).shape(table.name)
    store.drop(table.name)
    assert told(before, shaped(store).shape(table.name)) == ["drop_table"]
    store.create(table)
    (event,) = told(before, shaped(store).shape(table.name))
    assert event.startswith("recreate_table")


def test_paimon_columns_are_known_by_their_ids(paimon_store: Any, make_table: Make) -> None:
    from pypaimon.schema.data_types import AtomicType
    from pypaimon.schema.schema_change import SchemaChange

    table = make_table(k="bigint", v="string", n="int", gone="int", key=("k",))
    paimon_store.create(table)
    before = paimon_store.shape(table.name)
    changes = [
        SchemaChange.rename_column("v", "value"),
        SchemaChange.update_column_type("n", AtomicType("BIGINT")),
        SchemaChange.drop_column("gone"),
    ]
    paimon_store._catalog.alter_table(table.name, changes, False)
    assert told(before, paimon_store.shape(table.name)) == [
        "drop_column gone int",
        "rename_column v → value (string)",
        "widen_type n int → bigint",
    ]


@pytest.mark.spark
def test_iceberg_columns_are_known_by_their_ids(iceberg_store: Any, spark: Any, make_table: Make) -> None:
    table = make_table(k="bigint", v="string", n="int", gone="int", s="struct<a:int>", key=("k",))
    iceberg_store.create(table)
    before = iceberg_store.shape(table.name)
    name = f"cold.{table.name}"
    for change in (
        "RENAME COLUMN v TO value",
        "ALTER COLUMN n TYPE bigint",
        "DROP COLUMN gone",
        "ADD COLUMN s.b string",
        "ADD COLUMN later date",
    ):
        spark.sql(f"ALTER TABLE {name} {change}")
    after = iceberg_store.shape(table.name)
    assert told(before, after) == [
        "add_column later date",
        "add_field s struct<a:int> → struct<a:int,b:string>",
        "drop_column gone int",
        "rename_column v → value (string)",
        "widen_type n int → bigint",
    ]
