"""What stores tell about themselves: moments, change logs, snapshots and files."""

import time
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from streamhouse.errors import RowsLostError
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import KIND_COLUMNS, Changes, WriteContext
from streamhouse.stores.where import RowCondition


def write(store, table, rows, epoch, deletes=None):
    schema = arrow_schema(table.columns)
    keys = pa.schema([schema.field(name) for name in table.primary_key])
    changes = Changes(
        pa.Table.from_pylist(rows, schema=schema), pa.Table.from_pylist(deletes, schema=keys) if deletes else None
    )
    return store.write(table, changes, WriteContext(writer="test/metadata", epoch=epoch))


def now_ms():
    time.sleep(0.005)  # commits before and after are not of the same millisecond
    found = time.time_ns() // 1_000_000
    time.sleep(0.005)
    return found


@pytest.mark.parametrize("key", [(), ("k",)])
def test_a_moment_has_what_was_committed_until_then(store, make_table, key):
    table = make_table(k="bigint", v="string", key=key)
    store.create(table)
    moments = [now_ms()]
    for epoch in range(3):
        write(store, table, [{"k": epoch, "v": "x"}], epoch)
        moments.append(now_ms())
    for count, moment in enumerate(moments):
        at = store.position_at(table, moment)
        assert sorted(store.read_state(table, at).column("k").to_pylist()) == list(range(count))


def test_a_log_tells_kind_place_and_time_of_each_change(fluss_store, make_table):
    store, table = fluss_store, make_table(k="bigint", v="string", w="int", key=("k",))
    store.create(table)
    begun = now_ms()
    write(store, table, [{"k": 1, "v": "a", "w": 1}], 0)
    write(store, table, [{"k": 1, "v": "b", "w": 2}, {"k": 2, "v": "c", "w": 3}], 1)
    write(store, table, [], 2, deletes=[{"k": 1}])
    found = store.read_log(table, store.start(table), store.end(table), ("v",))
    assert found.column_names == [*KIND_COLUMNS, "v"]
    rows = found.to_pylist()
    by_key = {"c": [r for r in rows if r["v"] == "c"], "ab": [r for r in rows if r["v"] != "c"]}
    assert [(r["_kind"], r["v"]) for r in by_key["ab"]] == [("+I", "a"), ("-U", "a"), ("+U", "b"), ("-D", "b")]
    assert [r["_kind"] for r in by_key["c"]] == ["+I"]
    assert [r["_offset"] for r in by_key["ab"]] == sorted({r["_offset"] for r in by_key["ab"]})
    assert {r["_bucket"] for r in rows} <= {0, 1}
    assert all(begun <= r["_at"].timestamp() * 1000 <= now_ms() for r in rows)
    assert store.read_log(table, store.end(table), store.end(table), ("k",)).num_rows == 0


def test_a_log_table_is_appended_to(fluss_store, make_table):
    table = make_table(k="bigint")
    fluss_store.create(table)
    write(fluss_store, table, [{"k": 1}, {"k": 2}], 0)
    found = fluss_store.read_log(table, {}, fluss_store.end(table), ("k",)).to_pylist()
    assert sorted((r["_kind"], r["k"]) for r in found) == [("+I", 1), ("+I", 2)]


def test_a_lake_lists_its_snapshots(lake, make_table):
    table = make_table(k="bigint", v="string", key=("k",))
    lake.create(table)
    assert lake.list_snapshots(table) == []
    assert lake.list_files(table) == []
    for epoch in range(2):
        write(lake, table, [{"k": epoch, "v": "x"}, {"k": 10 + epoch, "v": "y"}], epoch)
    found = lake.list_snapshots(table)
    assert found[-1].number == lake.end(table)["snapshot"]
    assert [s.total_rows for s in found] == [2, 4]
    assert [s.added_rows for s in found] == [2, 2]
    assert [s.properties["streamhouse.epoch"] for s in found] == ["0", "1"]
    assert found[0].committed_ms <= found[1].committed_ms <= now_ms()
    first = lake.list_files(table, {"snapshot": found[0].number})
    every = lake.list_files(table)
    assert sum(file.rows for file in first) == 2
    assert {file.path for file in first} < {file.path for file in every}
    assert all(file.bytes > 0 and not file.deletes for file in every)
    with pytest.raises(RowsLostError, match="no snapshot 99"):
        lake.list_files(table, {"snapshot": 99})


TYPED = {
    "b": "boolean",
    "n": "int",
    "d": "decimal(12,2)",
    "s": "string",
    "on_": "date",
    "at": "timestamp",
    "ntz": "timestamp_ntz",
}


def typed(number):
    return {
        "k": number,
        "b": number % 2 == 0,
        "n": number,
        "d": Decimal(number) / 4,
        "s": f"s{number}",
        "on_": date(2020, 1, 1 + number),
        "at": datetime(2020, 1, 1 + number, 12, tzinfo=UTC),
        "ntz": datetime(2020, 1, 1 + number, 12),
    }


@pytest.mark.parametrize("column", ["k", *TYPED])
@pytest.mark.parametrize("operator", ["=", "<", "<=", ">", ">=", "in", "is null", "is not null"])
def test_conditions_leave_out_files_and_never_a_row(lake, shared_typed, operator, column):
    table = shared_typed(lake)
    rows = [typed(number) for number in (*range(4), *range(10, 14))] + [dict.fromkeys(typed(0)) | {"k": 99}]
    value = typed(2)[column]
    values = {"in": (value, typed(3)[column]), "is null": (), "is not null": ()}.get(operator, (value,))
    test = {
        "=": lambda v: v == value,
        "<": lambda v: v < value,
        "<=": lambda v: v <= value,
        ">": lambda v: v > value,
        ">=": lambda v: v >= value,
        "in": lambda v: v in values,
        "is not null": lambda v: True,
    }.get(operator)
    wanted = [
        r["k"] for r in rows if (r[column] is None if test is None else r[column] is not None and test(r[column]))
    ]
    where = [RowCondition(column, operator, values)]
    files = lake.list_files(table, where=where)
    if hasattr(lake, "read_where"):
        found = lake.read_where(table, None, ("k",), where).column("k").to_pylist()
        assert set(wanted) <= set(found)
    assert sum(file.rows for file in files) >= len(wanted)
    if operator == "=" and column not in ("b",):
        assert sum(file.rows for file in files) == 4  # of nine: the first of three files


@pytest.fixture(scope="session")
def shared_typed():
    """A table of three files: rows 0 to 3, 10 to 13, and one of nulls."""
    made = {}

    def of(lake):
        from streamhouse.model.table import Column, Table, Tiers

        table = Table(
            name="ods.contract_typed",
            columns=tuple(Column(name=n, type=t) for n, t in {"k": "bigint", **TYPED}.items()),
            tiers=Tiers(warm="1d", cold="1d"),
        )
        if lake not in made:
            lake.create(table)
            write(lake, table, [typed(n) for n in range(4)], 0)
            write(lake, table, [typed(n) for n in range(10, 14)], 1)
            write(lake, table, [{"k": 99}], 2)
            made[lake] = table
        return made[lake]

    return of
