"""Rows looked up by their keys."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from streamhouse.errors import StoreError
from streamhouse.model.table import Table
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, Store, WriteContext

Make = Callable[..., Table]
KEYS: dict[str, list[Any]] = {
    "boolean": [False, True],
    "tinyint": [-128, 0, 127],
    "int": [-(2**31), 0, 2**31 - 1],
    "bigint": [-(2**63), -1, 2**63 - 1],
    "string": ["", "a", "Grüße, 世界 \U0001f680", "a" * 300],
    "date": [date(1969, 12, 31), date(2020, 1, 1)],
    "timestamp": [datetime(2017, 1, 1, 11, 53, 26, 999_999, tzinfo=UTC), datetime(2020, 1, 1, tzinfo=UTC)],
    "decimal(12,2)": [Decimal("-9999999999.99"), Decimal("0.00"), Decimal("7.10")],
    "decimal(38,10)": [Decimal("1234567890123456789012345678.0123456789"), Decimal("-0.0000000001")],
}


def at(epoch: int, columns: tuple[str, ...] | None = None) -> WriteContext:
    return WriteContext("flow/segment", epoch, columns=columns)


@pytest.mark.parametrize("kind", KEYS)
def test_keys_of_every_type_are_found(store: Store, make_table: Make, kind: str) -> None:
    table = make_table(k=kind, v="int", w="int", key=("k",))
    store.create(table)
    stored = [{"k": key, "v": n, "w": None} for n, key in enumerate(KEYS[kind])]
    store.write(table, Changes(pa.Table.from_pylist(stored, schema=arrow_schema(table.columns))), at(0))
    schema = arrow_schema([table.column("k")])
    for row in stored:
        assert store.read_keys(table, pa.table({"k": [row["k"]]}, schema=schema)).to_pylist() == [row]
    # A partial write finds the rows it changes in the same way.
    wanted = arrow_schema([table.column("k"), table.column("w")])
    part = pa.Table.from_pylist([{"k": key, "w": 1} for key in KEYS[kind]], schema=wanted)
    store.write(table, Changes(part), at(1, ("w",)))
    found = store.read_keys(table, pa.table({"k": KEYS[kind]}, schema=schema), ("v", "w"))
    assert found.sort_by("v").to_pylist() == [{"v": n, "w": 1} for n in range(len(stored))]


def test_keys_of_two_columns(store: Store, make_table: Make) -> None:
    table = make_table(v="int", day="date", name="string", key=("name", "day"))
    store.create(table)
    days = [date(2020, 1, day) for day in (1, 2, 3)]
    rows = [{"v": n * 10 + i, "day": day, "name": f"n{n}"} for n in range(4) for i, day in enumerate(days)]
    store.write(table, Changes(pa.Table.from_pylist(rows, schema=arrow_schema(table.columns))), at(0))
    asked = pa.table(
        {"day": [days[0], days[2], days[1], days[0], None], "x": [0] * 5, "name": ["n1", "n1", "n3", "n9", "n1"]}
    )
    found = store.read_keys(table, asked)
    assert found.schema.equals(arrow_schema(table.columns))
    assert found.sort_by("v").to_pylist() == [rows[3], rows[5], rows[10]]
    assert store.read_keys(table, pa.concat_tables([asked, asked]), ("v",)).num_rows == 3
    assert store.read_keys(table, asked.slice(0, 0)).num_rows == 0


def test_many_keys_and_what_changed_since(store: Store, make_table: Make) -> None:
    table = make_table(k="bigint", v="bigint", key=("k",))
    store.create(table)
    assert store.read_keys(table, pa.table({"k": [1]})).num_rows == 0
    store.write(table, Changes(pa.table({"k": range(3000), "v": range(3000)})), at(0))
    store.write(table, Changes(pa.table({"k": [5], "v": [-5]}), pa.table({"k": [6]})), at(1))
    found = store.read_keys(table, pa.table({"k": [5, 6, 7, 5000]})).sort_by("k")
    assert found.to_pylist() == [{"k": 5, "v": -5}, {"k": 7, "v": 7}]
    assert store.read_keys(table, pa.table({"k": range(0, 6000, 2)})).num_rows == 1499


def test_a_log_has_no_keys(store: Store, make_table: Make) -> None:
    table = make_table(k="bigint")
    store.create(table)
    with pytest.raises(StoreError, match="no primary key"):
        store.read_keys(table, pa.table({"k": [1]}))
