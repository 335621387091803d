"""Random changes of random queries: what counts as equal gives equal rows in Spark."""

import os
import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from streamhouse.errors import DefinitionError, DefinitionErrors
from tests.chance import drawn_seed
from tests.gate.levels import deep
from tests.mutants import Mutant, mutants
from tests.patience import SOAKING
from tests.random_queries import TABLES, WIDER, meaning, one_answer, queries, stays
from tests.slotted_queries import slotted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SEED = drawn_seed(17)
NUMBER = int(os.environ.get("STREAMHOUSE_MUTANTS", 10_000 if SOAKING else 200))
ROWS = (9, 14, 0) if SOAKING else (12,)
"""Rows of each table, one data set after the other."""
pytestmark = [
    pytest.mark.spark,
    pytest.mark.timeout(6 * 3600 if SOAKING else 1800),
    deep("random mutants judged by Spark; tests/unit/sql has the rules"),
]


def _value(kind: str, chance: random.Random) -> Any:
    if chance.random() < 0.2:
        return None
    if kind == "string":
        return chance.choice(("a", "b", "A", "ab", "", "1"))
    if kind == "boolean":
        return chance.random() < 0.5
    if kind == "array<int>":
        return [chance.randrange(3) for _ in range(chance.randrange(3))]
    if kind == "map<string,int>":
        return {key: chance.randrange(3) for key in ("a", "A", "b") if chance.random() < 0.6}
    if kind.startswith("struct"):
        return (chance.randrange(3), chance.choice(("a", "b", None)))
    if kind == "timestamp":
        return datetime(2026, 1, chance.randrange(1, 4), chance.randrange(24), 30, tzinfo=UTC)
    if kind == "date":
        return date(2026, 1, chance.randrange(1, 4))
    if kind in {"double", "float"}:
        return chance.choice((0.0, -0.0, 0.5, 1.0, 1.5, 2.0, -1.0, float("nan")))
    number = chance.choice((-2, -1, 0, 1, 1, 2, 3, 5, 6))
    return Decimal(number) / 4 if kind.startswith("decimal") else number


def _data(spark: "SparkSession", rows: int, wanted: dict[str, dict[str, str]] = TABLES) -> "SparkSession":
    """A session with tables of random rows, of the same values with whatever types."""
    session, chance = spark.newSession(), random.Random(rows)
    session.conf.set("spark.sql.shuffle.partitions", "1")
    session.conf.set("spark.sql.ansi.enabled", "true")
    for name, types in TABLES.items():
        schema = ", ".join(f"{column} {kind}" for column, kind in wanted[name].items())
        drawn = [tuple(_value(kind, chance) for kind in types.values()) for _ in range(rows)]
        made = [(at, *row[1:]) for at, row in enumerate(drawn)]
        session.createDataFrame(made, schema).coalesce(1).createOrReplaceTempView(name)
    return session


def _equal(mutant: Mutant) -> bool:
    try:
        return meaning(mutant.first).means(meaning(mutant.second))
    except (DefinitionError, DefinitionErrors):
        return False


class _Asked:
    """A query as Spark takes it: its plan, and its rows."""

    def __init__(self, session: "SparkSession", sql: str) -> None:
        from pyspark.errors import PySparkException
        from pyspark.sql.functions import col

        self.frame: DataFrame | None = None
        self.refused = ""
        try:
            found = session.sql(sql)
            self.frame = found.select(*(col(name) for name in sorted(found.columns)))
        except PySparkException as error:
            self.refused = str(error).strip() or "refused"

    def same_plan(self, other: "_Asked") -> bool:
        from pyspark.errors import PySparkException

        try:
            plans = [f._jdf.queryExecution().optimizedPlan() for f in (self.frame, other.frame) if f is not None]
        except PySparkException:  # the optimiser computes constants, and fails where they do
            return False
        return len(plans) == 2 and bool(plans[0].canonicalized().equals(plans[1].canonicalized()))

    def rows(self) -> tuple[object, ...]:
        """The rows with their types, or that it fails."""
        from pyspark.errors import PySparkException

        if self.frame is None:
            return ("refused",)
        try:
            rows = Counter(tuple(map(repr, row)) for row in self.frame.collect())
        except PySparkException as error:
            return ("fails", error.getCondition())
        return (tuple(kind.simpleString() for kind in (f.dataType for f in self.frame.schema)), frozenset(rows.items()))


def _fault(session: "SparkSession", mutant: Mutant) -> tuple[str, bool]:
    """Why the two are not equal for Spark; and whether Spark has an opinion."""
    first, second = (_Asked(session, sql) for sql in mutant[1:])
    if first.refused or second.refused:  # such a query never ran, so no table holds rows of it
        return "", False
    if first.same_plan(second):
        return "", True
    if not (one_answer(mutant.first) and one_answer(mutant.second)):  # Spark may give either result
        return "", False
    one, other = first.rows(), second.rows()
    return ("" if one == other else f"{one}\n  {other}"), True


@pytest.mark.parametrize(("make", "share"), [(mutants, 5), (slotted, 20)])
def test_what_counts_as_equal_is_equal_for_spark(
    spark: "SparkSession", make: Callable[[int, int], list[Mutant]], share: int
) -> None:
    equal = [mutant for mutant in make(SEED, NUMBER) if _equal(mutant)]
    wrong, judged = [], 0
    for rows in ROWS:
        session = _data(spark, rows)
        for mutant in equal:
            why, known = _fault(session, mutant)
            judged += known
            if why:
                wrong.append(f"{mutant.changes}\n  {mutant.first}\n  {mutant.second}\n  {why}")
    assert not wrong, f"seed {SEED}, {len(wrong)} of {len(equal)}:\n" + "\n".join(wrong[:40])
    assert judged >= len(ROWS) * NUMBER // share, judged


def test_a_wider_column_shows_in_no_value_that_is_said_to_stay(spark: "SparkSession") -> None:
    staying = [sql for sql in queries(SEED, NUMBER) if _stays(sql)]
    wrong, judged = [], 0
    for rows in ROWS:
        session, wider = _data(spark, rows), _data(spark, rows, WIDER)
        for sql in staying:
            was = _Asked(session, sql).rows()
            if was[0] not in {"refused", "fails"}:  # what failed has left no row
                judged += 1
                now = _Asked(wider, sql).rows()
                if was[1:] != now[1:]:
                    wrong.append(f"{sql}\n  {was}\n  {now}")
    assert not wrong, f"seed {SEED}, {len(wrong)} of {len(staying)}:\n" + "\n".join(wrong[:40])
    assert judged >= len(ROWS) * NUMBER // 10, judged


def _stays(sql: str) -> bool:
    try:
        return stays(sql) and one_answer(sql)
    except (DefinitionError, DefinitionErrors):
        return False
