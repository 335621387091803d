"""Strategy `merge` in the engine, over inputs in memory: after every epoch the table equals the batch."""

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING
from zlib import crc32

import pyarrow as pa
import pytest

from streamhouse.engine.frames import Frames
from streamhouse.model.types import Strategy
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes
from tests.delta_histories import compare
from tests.gate.levels import deep
from tests.memory_world import MemoryInput, World, planned
from tests.sql_corpus import KEYS, ORDERS, Case, cases, columns, orders, random_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MORE = [
    ("store", "SELECT store, sum(amt) AS s, min(amt) AS mi, max(ts) AS ma, count(amt) AS n FROM o GROUP BY store"),
    ("store", "SELECT store % 2 AS store, sum(amt) AS s FROM o GROUP BY store % 2"),
    ("store", "SELECT upper(st) AS store, sum(amt) AS s FROM o GROUP BY upper(st)"),
    ("store", "SELECT coalesce(store, -1) AS store, count(*) AS s FROM o GROUP BY coalesce(store, -1)"),
    ("store", "SELECT store, bool_or(amt > 5) AS b, bool_and(amt > 1) AS c2 FROM o GROUP BY store"),
    ("cust", "SELECT * FROM (SELECT cust, st, amt FROM o) PIVOT (sum(amt) AS s FOR st IN ('a' AS a1, 'b' AS b1))"),
    ("h,store", "SELECT window.start AS h, store, count(*) AS n FROM o GROUP BY window(ts, '1 hour'), store"),
    ("store", "SELECT store, count(*) AS n FROM o WHERE EXISTS (SELECT 1 FROM d WHERE d.cust = o.cust) GROUP BY store"),
]
CASES = [
    *(case for case in cases() if case.expected == "merge" and "now()" not in case.sql),
    *(Case("merge", tuple(key.split(",")), sql) for key, sql in MORE),
]
COLUMNS = {name: columns(types) for name, types in ORDERS.items()}
EPOCHS = 4

pytestmark = [
    pytest.mark.spark,
    deep("each query that a store folds, without a store; the stores that fold are in tests/contract"),
]


@pytest.fixture(scope="module")
def frames(spark: "SparkSession") -> Frames:
    return Frames(spark)


@pytest.mark.parametrize("case", CASES, ids=[case.sql[:80] for case in CASES])
def test_each_epoch(case: Case, frames: Frames, tmp_path: Path) -> None:
    seed = crc32(case.sql.encode())
    rows, chance = random_rows(seed), Random(seed)
    ports = {name: name for name in orders(case.sql).reads}
    how = planned(case.sql, case.key, COLUMNS, KEYS, ports, Strategy.MERGE, lookups=("d",))
    inputs = {name: MemoryInput(COLUMNS[name], KEYS[name]) for name in ports}
    world = World(how, inputs, frames, tmp_path)
    try:
        for epoch in range(EPOCHS):
            for name, given in inputs.items():
                part = [row for row in rows[name] if chance.randrange(EPOCHS - epoch) == 0]
                rows[name] = [row for row in rows[name] if row not in part]
                if name != "d" or epoch == 0:
                    part = part if name != "d" else [*part, *rows[name]]
                    given.put(Changes(pa.Table.from_pylist(part, arrow_schema(COLUMNS[name]))))
            world.epoch()
            compare(world)
    finally:
        world.held.close()
    assert inputs["o"].rows.num_rows == len(random_rows(seed)["o"])
