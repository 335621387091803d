"""Two rows of one key from one evaluation: an error, unless they are equal, by every strategy that writes by key.

`merge` is none of the table: its rows are those of a GROUP BY by the key (tests/unit/sql/test_coarse_keys.py).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pytest

from streamhouse.engine.frames import Frames
from streamhouse.errors import WriteRefusedError
from streamhouse.model.table import Column
from streamhouse.model.types import Strategy
from streamhouse.runtime.restating import Restating
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import Changes
from tests.gate.levels import deep
from tests.memory_world import MemoryInput, Planned, World, planned

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Case(NamedTuple):
    """A query with the key `id`, whose other column is `e`."""

    strategy: Strategy
    sql: str


ROW, JOINED = "id bigint, cust bigint, ts timestamp, parts array<int>", "n bigint, cust bigint, label int"
COLUMNS = {
    name: tuple(Column(name=one.split()[0], type=one.split()[1]) for one in text.split(", "))
    for name, text in {"o": ROW, "k": ROW, "l": JOINED, "c": JOINED}.items()
}
KEYS: dict[str, tuple[str, ...]] = {"o": (), "k": ("id",), "l": ("n",), "c": ("n",)}
MAP = [
    "SELECT id, explode(parts) AS e FROM o",
    "SELECT o.id, l.label AS e FROM o JOIN l ON l.cust = o.cust",
    "SELECT o.id, l.label AS e FROM o LEFT JOIN l ON l.cust = o.cust",
    "SELECT id, e FROM o LATERAL VIEW explode(parts) t AS e",
    "SELECT id, e FROM (SELECT id, parts FROM o WHERE id > 0) LATERAL VIEW explode(parts) t AS e WHERE e > 0",
    "WITH t AS (SELECT id, posexplode(parts) AS (p, e) FROM o) SELECT id, e FROM t",
    "SELECT id, e FROM o, LATERAL stack(2, parts[0], parts[1]) AS s(e)",
    "SELECT id, e FROM (SELECT id, parts[0] AS a, parts[1] AS b FROM o) UNPIVOT (e FOR name IN (a, b))",
    "SELECT id, x.label AS e FROM o JOIN LATERAL (SELECT label FROM l WHERE l.cust = o.cust) AS x",
]
CASES = [
    *(Case(Strategy.MAP, sql) for sql in MAP),
    Case(Strategy.RECOMPUTE, "SELECT id, explode(parts) AS e FROM k"),
    Case(Strategy.RECOMPUTE, "SELECT k.id, l.label AS e FROM k LEFT JOIN l ON l.cust = k.cust"),
    Case(Strategy.DELTA, "SELECT k.id, c.label AS e FROM k JOIN c ON c.cust = k.cust"),
    Case(Strategy.FULL, "SELECT id, explode(parts) AS e FROM k"),
]
IDS = [f"{case.strategy} {case.sql}" for case in CASES]

pytestmark = [
    pytest.mark.spark,
    deep(
        "one more query of a strategy each",
        stays=(f"test_a_step[{IDS[0]}]", f"test_a_step[{IDS[1]}]", "test_the_last_row_of_a_log_wins"),
    ),
]


@pytest.fixture(scope="module")
def frames(spark: "SparkSession") -> Frames:
    return Frames(spark)


def planned_case(case: Case) -> Planned:
    words = case.sql.replace("(", " ").replace(")", " ").replace(",", " ").split()
    ports = {name: name for name in COLUMNS if name in words}
    found = planned(case.sql, ("id",), COLUMNS, KEYS, ports, case.strategy, lookups=("l",))
    assert found.step.strategy is case.strategy
    return found


def rows(name: str, values: list[int], number: int = 1) -> pa.Table:
    """Rows of an input of which a case makes a row of the key `number` for each value."""
    if name in ("l", "c"):
        made: list[dict[str, Any]] = [{"n": n, "cust": number, "label": value} for n, value in enumerate(values)]
    else:
        at = datetime(2026, 1, 1, tzinfo=UTC)
        made = [{"id": number, "cust": number, "ts": at, "parts": values}]
    return pa.Table.from_pylist(made, arrow_schema(COLUMNS[name]))


@contextmanager
def world_of(case: Case, frames: Frames, folder: Path) -> Iterator[World]:
    how = planned_case(case)
    inputs = {read.table: MemoryInput(COLUMNS[read.table], KEYS[read.table]) for read in how.step.reads}
    world = World(how, inputs, frames, folder)
    try:
        yield world
    finally:
        world.held.close()


def put(world: World, values: list[int]) -> None:
    for name, given in world.inputs.items():
        given.put(Changes(rows(name, values)))


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_step(case: Case, frames: Frames, tmp_path: Path) -> None:
    """Two rows that differ are an error in each attempt; equal ones are one row."""
    with world_of(case, frames, tmp_path) as world:
        put(world, [5, 7])
        for _ in range(2):
            with pytest.raises(WriteRefusedError, match=r"dws\.tried gets two rows with id = 1, .*differ in e") as why:
                world.epoch()
        assert ("made of one row of the input" in str(why.value)) == (case.strategy is Strategy.MAP)
        assert not world.table.rows.num_rows
    (tmp_path / "equal").mkdir()
    with world_of(case, frames, tmp_path / "equal") as world:
        put(world, [5, 5])
        world.epoch()
        assert world.table.rows.to_pylist() == [{"id": 1, "e": 5}]


def test_windows_that_overlap(frames: Frames, tmp_path: Path) -> None:
    case = Case(Strategy.MAP, "SELECT id, window(ts, '2 hours', '1 hour').start AS e FROM o")
    with world_of(case, frames, tmp_path) as world:
        put(world, [])
        with pytest.raises(WriteRefusedError, match="gets two rows with id = 1"):
            world.epoch()


@pytest.mark.parametrize("case", CASES[:2], ids=IDS[:2])
def test_the_last_row_of_a_log_wins(case: Case, frames: Frames, tmp_path: Path) -> None:
    """Of rows that are made of different rows, also where these came in one epoch."""
    with world_of(case, frames, tmp_path) as world:
        put(world, [5])
        if "l" in world.inputs:
            world.inputs["l"].put(Changes(rows("l", [6, 6], 2).set_column(0, "n", pa.array([8, 9]))))
            other = rows("o", [], 1).set_column(1, "cust", pa.array([2]))
        else:
            other = rows("o", [6, 6])
        world.inputs["o"].put(Changes(other))
        world.epoch()
        assert world.table.rows.to_pylist() == [{"id": 1, "e": 6}]


@pytest.mark.parametrize("case", CASES[:2], ids=IDS[:2])
def test_a_rebuild(case: Case, frames: Frames) -> None:
    how = planned_case(case)
    restating = Restating(SimpleNamespace(spark=frames.spark), how.plan, {})  # type: ignore[arg-type]

    def rebuilt(values: list[int]) -> list[Any]:
        bound = {read.port: frames.frame(rows(read.table, values)) for read in how.step.reads}
        found = restating._expected_rows(how.step, frames.run(how.step, bound, 0))
        return [row.asDict() for row in found.collect()]

    assert rebuilt([5, 5]) == [{"id": 1, "e": 5}]
    with pytest.raises(WriteRefusedError, match=r"gets two rows with id = 1.*made of one row of the input"):
        rebuilt([5, 7])
