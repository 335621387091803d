"""How far a reader of a table goes at once, and that nothing is lost or repeated on the way."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from streamhouse.errors import RowsLostError
from streamhouse.model.table import Table
from streamhouse.model.types import Position
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes, Store, WriteContext
from streamhouse.stores.paimon import PaimonStore
from streamhouse.stores.paimon.upkeep import PaimonUpkeep
from tests.gate.levels import deep

pytestmark = deep(
    "a hundred commits of Iceberg; a log stays", only=("test_a_keyed_table_is_followed_in_steps[iceberg]",)
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Make = Callable[..., Table]
State = dict[int, dict[str, Any]]


def write(
    store: Store, table: Table, epoch: int, upserts: dict[int, int], deletes: list[int] | None = None
) -> Position:
    rows = [{"k": k, "v": v} for k, v in upserts.items()]
    gone = pa.table({"k": pa.array(deletes, pa.int64())}) if deletes else None
    changes = Changes(pa.Table.from_pylist(rows, schema=arrow_schema(table.columns)), gone)
    return store.write(table, changes, WriteContext("flow/segment", epoch))


def state(store: Store, table: Table) -> dict[int, int]:
    return {row["k"]: row["v"] for row in store.read_state(table).to_pylist()}


def follow(seen: dict[int, int], changes: Changes) -> dict[int, int]:
    gone = changes.deletes.column("k").to_pylist() if changes.deletes is not None else []
    return {k: v for k, v in seen.items() if k not in gone} | {r["k"]: r["v"] for r in changes.upserts.to_pylist()}


def test_a_log_is_read_in_steps(store: Store, make_table: Make) -> None:
    table = make_table(k="bigint", v="bigint")
    store.create(table)
    assert store.advance(table, {}, 10) in ({}, store.end(table))
    start = position = store.end(table)
    for epoch, size in enumerate((30, 1, 1, 1, 25, 10)):
        write(store, table, epoch, {epoch * 100 + n: n for n in range(size)})
    end = store.end(table)
    assert store.rows_between(table, start, end) == 68
    assert store.rows_between(table, end, end) == 0
    found: list[int] = []
    steps = []
    while position != end:
        further = store.advance(table, position, 20)
        assert further != position
        steps.append(store.rows_between(table, position, further))
        found += store.read_changes(table, position, further).upserts.column("k").to_pylist()
        position = further
    assert sorted(found) == sorted(e * 100 + n for e, size in enumerate((30, 1, 1, 1, 25, 10)) for n in range(size))
    assert sum(steps) == 68
    assert store.advance(table, end, 20) == end
    if store.capabilities.cuts_commits:
        assert max(steps) <= 20
    else:
        assert steps == [30, 3, 25, 10]
    assert store.advance(table, start, 1000) == end


def test_a_keyed_table_is_followed_in_steps(store: Store, make_table: Make) -> None:
    table = make_table(k="bigint", v="bigint", key=("k",))
    store.create(table)
    chance = random.Random(5)
    for epoch in range(7):
        touched = chance.sample(range(25), 12)
        write(store, table, epoch, dict.fromkeys(touched[:8], epoch), touched[8:])
    write(store, table, 7, {})
    write(store, table, 8, {3: 8}, [4])
    for budget in (1, 13, 40):
        position: Position = {}
        seen: dict[int, int] = {}
        steps = 0
        while position != store.end(table):
            further = store.advance(table, position, budget)
            assert store.rows_between(table, position, further) > 0
            seen = follow(seen, store.read_changes(table, position, further))
            position, steps = further, steps + 1
            assert steps < 1000
        assert seen == state(store, table), budget
        assert steps > 1


def test_a_merging_table_is_followed_in_steps(store: Store, make_table: Make) -> None:
    if not store.capabilities.merge:
        pytest.skip("covered by test_merge_functions_fold: such a table cannot be created")
    table = make_table(k="bigint", v="bigint", key=("k",), merge={"v": "sum"})
    store.create(table)
    for epoch in range(4):
        write(store, table, epoch, dict.fromkeys(range(epoch, epoch + 6), 1))
    rows = pa.Table.from_pylist([{"k": 1, "v": 100}], schema=arrow_schema(table.columns))
    store.replace(table, Changes(rows, pa.table({"k": [2]})), WriteContext("flow/segment", 4))
    write(store, table, 5, {1: 1, 9: 1})
    position: Position = {}
    seen: dict[int, int] = {}
    while position != store.end(table):
        further = store.advance(table, position, 5)
        seen = follow(seen, store.read_changes(table, position, further))
        position = further
    assert seen == state(store, table) == {0: 1, 1: 101, 3: 4, 4: 4, 5: 4, 6: 3, 7: 2, 8: 1, 9: 1}


@pytest.mark.spark
def test_paimon_tells_a_reader_that_came_too_late(spark: "SparkSession", tmp_path: Path, make_table: Make) -> None:
    store = PaimonStore(tmp_path / "warm", tmp_path / "locks")
    table = make_table(k="bigint", v="bigint", key=("k",))
    store.create(table)
    ends = [
        write(store, table, epoch, dict.fromkeys(range(epoch, epoch + 3), epoch), [epoch + 9]) for epoch in range(4)
    ]
    upkeep = PaimonUpkeep(lambda: spark, tmp_path / "warm", tmp_path / "locks")
    upkeep.compact(table, full=True)
    upkeep.expire(table, datetime.now(UTC) + timedelta(days=1), {})
    anew = PaimonStore(tmp_path / "warm", tmp_path / "locks")  # one that remembers no snapshot
    for call in (
        lambda: anew.rows_between(table, ends[1], ends[3]),
        lambda: anew.advance(table, ends[1], 100),
        lambda: anew.read_changes(table, ends[1], ends[3]),
        lambda: store.read_changes(table, ends[1], ends[3]),
        lambda: store.read_changes(table, {}, ends[1]),
    ):
        with pytest.raises(RowsLostError, match="no longer holds"):
            call()
    # The reader that had read all but the compaction goes on, and one that begins gets the oldest state there is.
    position = store.end(table)
    assert store.rows_between(table, ends[3], position) == 1
    assert store.advance(table, ends[3], 1) == position
    assert store.read_changes(table, ends[3], position).upserts.num_rows == 0
    write(store, table, 4, {0: 9})
    first = store.advance(table, {}, 1)
    assert first == {"snapshot": ends[3]["snapshot"] + 1}  # the compaction, which has the same rows
    assert follow({}, store.read_changes(table, {}, first)) == {0: 0, 1: 1, 2: 2, 3: 3, 4: 3, 5: 3}
    second = store.advance(table, position, 1)
    assert store.read_changes(table, position, second).upserts.to_pylist() == [{"k": 0, "v": 9}]
    assert second == store.end(table)
