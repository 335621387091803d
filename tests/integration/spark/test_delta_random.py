"""Random SQL over random histories: after every epoch a step has the rows of the batch.

`STREAMHOUSE_SEED` gives other queries, `STREAMHOUSE_EXAMPLES` more of them. A failure names its seed and its query.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from streamhouse.engine.frames import Frames
from streamhouse.errors import EpochFailedError, StreamhouseError
from streamhouse.model.types import Strategy
from tests.delta_histories import Paths, batch, counted_paths, history, planned_case, world_of
from tests.delta_queries import Case
from tests.delta_random import random_case
from tests.gate.levels import deep
from tests.memory_world import World
from tests.patience import SOAKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.spark,
    deep(
        "sixty random queries; some of each strategy stay",
        stays=(
            "test_a_random_query_equals_the_batch[0]",
            "test_a_random_query_equals_the_batch[2]",
            "test_other_strategies_equal_the_batch[recompute-1]",
        ),
    ),
]

SEED = os.environ.get("STREAMHOUSE_SEED", "0")
EXAMPLES = int(os.environ.get("STREAMHOUSE_EXAMPLES", "5000" if SOAKING else "28"))


@pytest.fixture(scope="module")
def paths() -> Iterator[Paths]:
    with counted_paths() as counted:
        yield counted


@pytest.fixture(scope="module")
def frames(spark: "SparkSession") -> Frames:
    return Frames(spark)


@pytest.mark.parametrize("number", range(EXAMPLES))
def test_a_random_query_equals_the_batch(number: int, frames: Frames, paths: Paths) -> None:
    chance = Random(f"{SEED}:{number}")
    case = _accepted(chance, Strategy.DELTA)
    _try(number, case, chance, frames)


@pytest.mark.parametrize("number", range(EXAMPLES // 4))
@pytest.mark.parametrize("strategy", [Strategy.RECOMPUTE, Strategy.FULL])
def test_other_strategies_equal_the_batch(strategy: Strategy, number: int, frames: Frames) -> None:
    chance = Random(f"{SEED}:{strategy}:{number}")
    _try(number, _accepted(chance, strategy), chance, frames)


def _try(number: int, case: Case, chance: Random, frames: Frames) -> None:
    with TemporaryDirectory() as folder:
        world = world_of(case, frames, Path(folder))
        try:
            _history(world, case, chance)
        except Exception as error:
            error.add_note(f"seed: {SEED}:{number}, {case.strategy}\nquery: {case.sql}\nkey: {case.key}")
            raise
        finally:
            world.held.close()


def _history(world: World, case: Case, chance: Random) -> None:
    """A history that ends early where the batch fails, too."""
    from pyspark.errors import PySparkException

    try:
        history(world, case, chance, None)
    except EpochFailedError:
        try:
            batch(world)
        except PySparkException:
            return
        raise


def _accepted(chance: Random, strategy: Strategy) -> Case:
    """The next query that a strategy accepts."""
    while True:
        case = random_case(chance)._replace(strategy=strategy)
        try:
            planned_case(case)
        except StreamhouseError:  # also a port that only an unused CTE reads, and a union of other types
            continue
        return case
