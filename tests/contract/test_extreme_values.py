"""The extreme values of every type come back from every kind of table, as they were."""

import math
import struct
from datetime import UTC, date, datetime
from decimal import Context, Decimal

import pyarrow as pa
import pytest

from streamhouse.errors import WriteRefusedError
from streamhouse.stores.arrow import arrow_type
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.fluss import ddl

DAY = datetime(1970, 1, 1)
INSTANTS = [
    datetime(1, 1, 1),
    datetime(1, 1, 1, 0, 0, 0, 1),
    datetime(1582, 10, 4, 23, 59, 59, 999999),
    datetime(1582, 10, 15, 0, 0, 0, 1),
    datetime(1677, 9, 21, 0, 12, 43, 145225),
    datetime(1900, 1, 1, 0, 0, 0, 123456),
    datetime(1969, 12, 31, 23, 59, 59, 999999),
    datetime(1969, 12, 31, 23, 59, 59, 999000),
    datetime(1969, 12, 31, 23, 59, 58),
    DAY,
    datetime(1970, 1, 1, 0, 0, 0, 1),
    datetime(2262, 4, 11, 23, 47, 16, 854776),
    datetime(9999, 12, 30, 22, 0, 0, 999999),
    datetime(9999, 12, 30, 22, 0, 1),
    datetime(9999, 12, 31),
    datetime(9999, 12, 31, 23, 59, 59),
    datetime(9999, 12, 31, 23, 59, 59, 999999),
]
WIDE = Decimal(10**38 - 1)
EXACT = Context(prec=100)
VALUES = {
    "boolean": [True, False],
    "tinyint": [-128, 127],
    "smallint": [-(2**15), 2**15 - 1],
    "int": [-(2**31), 2**31 - 1],
    "bigint": [-(2**63), 2**63 - 1],
    "float": [0.0, -0.0, math.inf, -math.inf, math.nan, 1.401298464324817e-45, 3.4028234663852886e38],
    "double": [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1.7976931348623157e308],
    "decimal(38,0)": [WIDE, WIDE.copy_negate(), Decimal(0)],
    "decimal(38,38)": [WIDE.scaleb(-38, EXACT), WIDE.scaleb(-38, EXACT).copy_negate()],
    "decimal(18,2)": [Decimal("9999999999999999.99"), Decimal("-0.01")],
    "decimal(1,1)": [Decimal("-0.9"), Decimal("0.1")],
    "string": ["", "\0", " ", "NULL", "é\U0001f600", "\ufeff\uffff", "x" * 100_000],
    "binary": [b"", b"\0\xff", bytes(range(256))],
    "date": [date(1, 1, 1), date(1582, 10, 4), date(1969, 12, 31), date(1970, 1, 1), date(9999, 12, 31)],
    "timestamp": [at.replace(tzinfo=UTC) for at in INSTANTS],
    "timestamp_ntz": INSTANTS,
    "array<timestamp>": [[at.replace(tzinfo=UTC) for at in INSTANTS], [], [None]],
    "array<timestamp_ntz>": [INSTANTS, [None]],
    "struct<at:timestamp,local:timestamp_ntz,d:double>": [
        {"at": at.replace(tzinfo=UTC), "local": at, "d": -0.0} for at in INSTANTS
    ],
    "map<string,timestamp>": [[(str(n), at.replace(tzinfo=UTC)) for n, at in enumerate(INSTANTS)]],
    "map<string,timestamp_ntz>": [[(str(n), at) for n, at in enumerate(INSTANTS)]],
}
KINDS = ["log", "keyed", "first_row", "merging"]
KEYS = ["timestamp", "timestamp_ntz", "date", "string", "bigint", "decimal(38,0)"]


def bits(value):
    """A value with what == does not tell: the sign of zero, NaN, the type."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack(">d", value)
    if isinstance(value, list | tuple):
        return [bits(one) for one in value]
    if isinstance(value, dict):
        return {name: bits(one) for name, one in value.items()}
    return repr(value.astimezone(UTC)) if isinstance(value, datetime) and value.tzinfo else repr(value)


@pytest.mark.parametrize("how", KINDS)
def test_extreme_values_come_back(store, make_table, how):
    if not {"merging": store.capabilities.merge, "first_row": store.capabilities.selects}.get(how, True):
        pytest.skip("the store has no such tables")
    key = {} if how == "log" else {"key": ("k",)}
    names = {f"c_{n}": kind for n, kind in enumerate(VALUES)}
    merge = {"merge": dict.fromkeys(names, "last_value")} if how == "merging" else {}
    table = make_table(k="int", **names, **key, **merge)
    if how == "first_row":
        table = table.model_copy(update={"first_row": True})
    store.create(table)
    count = max(map(len, VALUES.values())) + 1
    columns = {"k": pa.array(range(count), pa.int32())}
    for name, kind in names.items():
        columns[name] = pa.array([*VALUES[kind], *[None] * (count - len(VALUES[kind]))], arrow_type(kind))
    rows = pa.table(columns)
    end = store.write(table, Changes(rows), WriteContext("flow/extremes", 0))
    for found in (store.read_state(table), store.read_changes(table, {}, end).upserts):
        found = found.sort_by("k")
        for name, kind in names.items():
            back, wanted = found.column(name).to_pylist(), rows.column(name).to_pylist()
            assert [(kind, bits(value)) for value in back] == [(kind, bits(value)) for value in wanted]


@pytest.mark.parametrize("kind", KEYS)
def test_extreme_keys_are_found_again(store, make_table, kind):
    table = make_table(k=kind, v="int", key=("k",))
    store.create(table)
    keys = pa.array(VALUES[kind], arrow_type(kind))
    numbers = pa.array(range(len(keys)), pa.int32())
    rows = pa.table({"k": keys, "v": numbers})
    store.write(table, Changes(rows), WriteContext("flow/extremes", 0))
    again = pa.table({"k": keys.slice(1), "v": pa.compute.add(numbers.slice(1), pa.scalar(100, pa.int32()))})
    store.write(table, Changes(again, rows.select(["k"]).slice(0, 1)), WriteContext("flow/extremes", 1))
    found = store.read_state(table)
    assert sorted(map(repr, found.column("k").to_pylist())) == sorted(map(repr, keys.slice(1).to_pylist()))
    assert set(found.column("v").to_pylist()) == set(again.column("v").to_pylist())


@pytest.mark.parametrize("kind", ["double", "float"])
def test_keys_of_floats_are_those_of_spark(store, make_table, kind):
    table = make_table(k=kind, v="int", key=("k",))
    store.create(table)
    for epoch, keys in enumerate(([0.0, math.nan, 1.0], [-0.0, -math.nan])):
        rows = pa.table({"k": pa.array(keys, arrow_type(kind)), "v": pa.array([epoch] * len(keys), pa.int32())})
        store.write(table, Changes(rows), WriteContext("flow/extremes", epoch))
    found = store.read_state(table)
    assert sorted(map(repr, found.to_pylist())) == ["{'k': 0.0, 'v': 1}", "{'k': 1.0, 'v': 0}", "{'k': nan, 'v': 1}"]
    gone = pa.table({"k": pa.array([-0.0], arrow_type(kind))})
    store.write(table, Changes(found.slice(0, 0), gone), WriteContext("flow/extremes", 2))
    assert store.read_state(table).num_rows == 2


VALID_TO = datetime(9999, 12, 31, 23, 59, 59, 999999)


def test_a_local_time_of_an_added_column_comes_back(store, make_table):
    table = make_table(k="int", key=("k",))
    store.create(table)
    store.write(table, Changes(pa.table({"k": pa.array([1], pa.int32())})), WriteContext("flow/extremes", 0))
    added = make_table(k="int", v="timestamp_ntz", w="array<timestamp_ntz>", key=("k",))
    table = table.model_copy(update={"columns": added.columns})
    store.add_columns(table)
    rows = pa.table({"k": pa.array([2], pa.int32()), "v": pa.array([VALID_TO]), "w": pa.array([[VALID_TO, None]])})
    end = store.write(table, Changes(rows), WriteContext("flow/extremes", 1))
    wanted = [{"k": 1, "v": None, "w": None}, {"k": 2, "v": VALID_TO, "w": [VALID_TO, None]}]
    assert store.read_state(table).sort_by("k").to_pylist() == wanted
    assert store.read_changes(table, {}, end).upserts.sort_by("k").to_pylist() == wanted
    assert [column.type for column in store.columns(table.name)] == ["int", "timestamp_ntz", "array<timestamp_ntz>"]


@pytest.mark.services
@pytest.mark.parametrize("at", [INSTANTS[1], VALID_TO], ids=str)
def test_a_table_of_an_earlier_release_says_what_it_cannot_take(request, make_table, monkeypatch, at):
    store = request.getfixturevalue("fluss_store")
    table = make_table(k="int", v="timestamp_ntz", key=("k",))
    with monkeypatch.context() as earlier:
        earlier.setattr(ddl, "comment", lambda *_: None)
        store.create(table)
    fits = pa.table({"k": pa.array([0], pa.int32()), "v": pa.array([datetime(2026, 1, 31, 12)])})
    store.write(table, Changes(fits), WriteContext("flow/extremes", 0))
    assert store.read_state(table).equals(fits)
    rows = pa.table({"k": pa.array([1], pa.int32()), "v": pa.array([at])})
    with pytest.raises(WriteRefusedError, match="TIMESTAMP_NTZ"):
        store.write(table, Changes(rows), WriteContext("flow/extremes", 1))
