"""Strategy `delta` in the engine, over inputs in memory: after every epoch the table equals the batch."""

import os
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from zlib import crc32

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streamhouse.engine.frames import Frames
from streamhouse.errors import EpochFailedError
from streamhouse.model.table import Column
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes
from tests.delta_histories import (
    HAPPENS,
    ROWS,
    Paths,
    accident,
    begin,
    compare,
    counted_paths,
    epoch,
    fill,
    history,
    world_of,
)
from tests.delta_queries import CASES, COLUMNS, Case, version
from tests.gate.levels import deep
from tests.memory_world import MemoryInput, World, planned
from tests.patience import SOAKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.spark,
    deep(
        "thirty queries one by one; a state machine over them stays",
        only=("test_each_query_over_a_history", "test_every_accident"),
    ),
]

EXAMPLES = int(os.environ.get("STREAMHOUSE_EXAMPLES", "2000" if SOAKING else "4"))
EACH = CASES if SOAKING else CASES[::3]


@pytest.fixture(scope="module")
def paths() -> Iterator[Paths]:
    with counted_paths() as counted:
        yield counted


@pytest.fixture(scope="module")
def frames(spark: "SparkSession") -> Frames:
    return Frames(spark)


@pytest.mark.parametrize("case", EACH, ids=[case.sql[:90] for case in EACH])
def test_each_query_over_a_history(case: Case, frames: Frames, paths: Paths, tmp_path: Path) -> None:
    chance = Random(crc32(case.sql.encode()))
    world = world_of(case, frames, tmp_path)
    try:
        begin(world, chance)
        for _ in range(3 if SOAKING else 2):
            fill(world, chance, ROWS)
            epoch(world, chance, paths)
    finally:
        world.held.close()


@settings(
    max_examples=EXAMPLES,
    suppress_health_check=list(HealthCheck),
    deadline=None,
    derandomize=not SOAKING,
    database=None,
)
@given(case=st.sampled_from(CASES), chance=st.randoms(use_true_random=False))
def test_whatever_happens(case: Case, chance: Random, frames: Frames, paths: Paths) -> None:
    with TemporaryDirectory() as folder:
        world = world_of(case, frames, Path(folder))
        try:
            history(world, case, chance, paths)
        finally:
            world.held.close()


def test_every_accident(frames: Frames, paths: Paths, tmp_path: Path) -> None:
    for at, happens in enumerate(HAPPENS):
        for case in (CASES[0], CASES[24], CASES[11]) if SOAKING else (CASES[0],):
            world = world_of(case, frames, tmp_path / f"{at}")
            chance = Random(at)
            try:
                begin(world, chance)
                quiet = accident(world, case, chance, happens)
                fill(world, chance, ROWS)
                epoch(world, chance, paths if quiet else None)
                fill(world, chance, ROWS)
                epoch(world, chance, paths)
            finally:
                world.held.close()
                world.file.unlink(missing_ok=True)


def test_rows_that_only_the_middle_of_an_epoch_has_may_fail(frames: Frames, paths: Paths, tmp_path: Path) -> None:
    """The changed rows of one input meet the others as they were: rows that no batch has."""
    sql = "SELECT c.region AS r, sum(10 DIV (k.v - c.region)) AS n FROM k JOIN c ON k.cust = c.cust GROUP BY c.region"
    world = world_of(Case("r", sql), frames, tmp_path)
    row, other = version("k", Random(1), 1), version("c", Random(1), 1)
    computed = []
    try:
        for v, region in ((1, 5), (5, 6), (6, 7)):
            for name, made in (("k", row | {"cust": 1, "v": v}), ("c", other | {"region": region})):
                world.inputs[name].put(Changes(pa.Table.from_pylist([made], schema=arrow_schema(COLUMNS[name]))))
            world.epoch()
            compare(world)
            computed.append(paths.all)
    finally:
        world.held.close()
    assert computed == [computed[0], computed[0] + 1, computed[0] + 2]


@pytest.mark.parametrize("digits", [6, 9])
def test_a_sum_that_no_longer_fits_is_told_by_spark(frames: Frames, paths: Paths, tmp_path: Path, digits: int) -> None:
    sql = "SELECT c.region AS r, sum(k.big) AS n FROM k JOIN c ON k.cust = c.cust GROUP BY c.region"
    world = world_of(Case("r", sql), frames, tmp_path)

    def put(number: int, big: Decimal) -> None:
        made = version("k", Random(1), number) | {"cust": 1, "big": big}
        world.inputs["k"].put(Changes(pa.Table.from_pylist([made], schema=arrow_schema(COLUMNS["k"]))))

    try:
        row = version("c", Random(1), 1) | {"region": 1}
        world.inputs["c"].put(Changes(pa.Table.from_pylist([row], schema=arrow_schema(COLUMNS["c"]))))
        put(1, Decimal(digits * 10**27))
        epoch(world, Random(1))
        put(2, Decimal(digits * 10**27))
        with pytest.raises(EpochFailedError, match=r"(?i)overflow|out_of_range"):
            world.epoch()
        put(3, Decimal(-digits * 10**27))
        epoch(world, Random(1))
    finally:
        world.held.close()


def test_an_error_that_no_batch_makes_is_none(frames: Frames, paths: Paths, tmp_path: Path) -> None:
    """Between the changes of two inputs a new row meets an old divisor, which is 0."""
    columns = {
        "a": tuple(Column(name=name, type="bigint") for name in ("id", "at", "v")),
        "b": tuple(Column(name=name, type="bigint") for name in ("at", "g", "w")),
    }
    sql = "SELECT b.g AS g, sum(a.v % b.w) AS n FROM a JOIN b ON a.at = b.at GROUP BY b.g"
    how = planned(sql, ("g",), columns, {"a": ("id",), "b": ("at",)}, {"a": "a", "b": "b"})
    inputs = {name: MemoryInput(columns[name], ("id",) if name == "a" else ("at",)) for name in columns}
    world = World(how, inputs, frames, tmp_path)
    try:
        inputs["a"].put(Changes(pa.table({"id": [2], "at": [2], "v": [5]})))
        inputs["b"].put(Changes(pa.table({"at": [1, 2], "g": [7, 8], "w": [0, 3]})))
        world.epoch()
        inputs["a"].put(Changes(pa.table({"id": [1], "at": [1], "v": [3]})))
        inputs["b"].put(Changes(pa.table({"at": [1], "g": [7], "w": [2]})))
        computed = paths.all
        world.epoch()
        assert sorted(world.table.rows.to_pylist(), key=str) == [{"g": 7, "n": 1}, {"g": 8, "n": 2}]
        assert paths.all == computed + 1
    finally:
        world.held.close()
