"""sqlglot's verdict on two queries against Catalyst's, and against the rows both give."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from tests.equal_pairs import Pair, meaning, pairs
from tests.gate.levels import deep
from tests.patience import SOAKING
from tests.sql_corpus import ORDERS

pytestmark = deep("pairs of random queries judged by Spark; tests/unit/sql has the rules")

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SEEDS = (1, 2) if SOAKING else (1,)
# Catalyst's canonical plans keep the order of these, and of what stands below them; the rows are compared all the same.
UNSEEN_BY_CATALYST = frozenset(
    {
        "joined by WHERE",
        "columns in another order",
        "arms of a UNION turned",
        "group keys turned",
        "held by a CTE",
        "by hand",
    }
)
# A filter on what a LEFT JOIN adds makes it an inner join: taken for a change here, which is work and never wrong.
UNSEEN_BY_US = frozenset({"LEFT for INNER, INNER for LEFT"})
Rows = Counter[tuple[Any, ...]]


@pytest.fixture(scope="module")
def frames(spark: "SparkSession") -> Iterator[Callable[[str, int], "DataFrame"]]:
    """`frames(sql, seed)`: the query over random tables, its columns in the order of their names."""
    from pyspark.sql.functions import col

    spark.conf.set("spark.sql.shuffle.partitions", "1")
    made: dict[int, bool] = {}

    def frame(sql: str, seed: int) -> "DataFrame":
        if seed not in made:
            made.clear()
            made[seed] = True
            chance = random.Random(seed)
            for name, types in ORDERS.items():
                schema = ", ".join(f"{column} {kind}" for column, kind in types.items())
                rows = [tuple(_value(kind, chance) for kind in types.values()) for _ in range(14)]
                spark.createDataFrame(rows, schema).coalesce(1).createOrReplaceTempView(name)
        found = spark.sql(sql)
        return found.select(*(col(name) for name in sorted(found.columns)))

    yield frame
    spark.conf.unset("spark.sql.shuffle.partitions")


def _value(kind: str, chance: random.Random) -> Any:
    from datetime import datetime

    if chance.random() < 0.15:
        return None
    if kind == "string":
        return chance.choice("abc")
    if kind == "timestamp":
        return datetime(2020, 1, 1, chance.randrange(4))
    if kind.startswith("array"):
        return [chance.randrange(4) for _ in range(chance.randrange(3))]
    number = chance.randrange(1, 6)
    return Decimal(number) if kind.startswith("decimal") else number


def _rows(frame: "DataFrame") -> Rows:
    return Counter(tuple(map(repr, row)) for row in frame.collect())


def test_equal_here_is_equal_for_spark(frames: Callable[[str, int], "DataFrame"]) -> None:
    found: dict[tuple[str, int], Rows] = {}
    verdicts: Counter[tuple[bool, bool]] = Counter()
    wrong: list[str] = []
    unseen: list[Pair] = []
    every = list(pairs())
    same = [meaning(pair.first).means(meaning(pair.second)) for pair in every]
    for seed in SEEDS:
        for pair, ours in zip(every, same, strict=True):
            first, second = frames(pair.first, seed), frames(pair.second, seed)
            if seed == SEEDS[0]:
                theirs = _same_plan(first, second)
                verdicts[ours, theirs] += 1
                if theirs and not ours and pair.change not in UNSEEN_BY_US:
                    wrong.append(f"only Catalyst sees it: {pair.change}: {pair.first} | {pair.second}")
                if ours and not theirs:
                    unseen.append(pair)
            if ours:
                for sql, frame in ((pair.first, first), (pair.second, second)):
                    if (sql, seed) not in found:
                        found[sql, seed] = _rows(frame)
                if found[pair.first, seed] != found[pair.second, seed]:
                    wrong.append(f"other rows: {pair.change}: {pair.first} | {pair.second}")
    assert not wrong, "\n".join(wrong)
    assert {pair.change for pair in unseen} <= UNSEEN_BY_CATALYST, "\n".join(f"{p}" for p in unseen)
    assert verdicts[True, True] >= 100
    assert verdicts[False, False] >= 100


def _same_plan(first: "DataFrame", second: "DataFrame") -> bool:
    plans = [frame._jdf.queryExecution().optimizedPlan().canonicalized() for frame in (first, second)]
    return bool(plans[0].equals(plans[1]))
