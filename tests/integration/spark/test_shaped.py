"""What we make of brackets, commas, merged columns and digits gives the rows, names and types of the text itself."""

import random
from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from streamhouse.errors import DefinitionError, DefinitionErrors
from streamhouse.sql.bind import bind, render
from tests.chance import drawn_seed
from tests.gate.levels import deep
from tests.patience import SOAKING
from tests.shaped_queries import TABLES, checked, meaning, pairs, shaped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SEED = drawn_seed(17)
NUMBER = 2_000 if SOAKING else 100
MOST_REFUSED = 0.25
pytestmark = [
    pytest.mark.spark,
    pytest.mark.timeout(3600 if SOAKING else 1800),
    deep("random shapes judged by Spark; tests/unit/sql has the rules"),
]


@pytest.fixture(scope="module")
def session(spark: "SparkSession") -> "SparkSession":
    own, chance = spark.newSession(), random.Random(5)
    own.conf.set("spark.sql.shuffle.partitions", "1")
    for name, types in TABLES.items():
        schema = ", ".join(f"{column} {kind}" for column, kind in types.items())
        rows = [tuple(_value(kind, chance) for kind in types.values()) for _ in range(7)]
        own.createDataFrame(rows, schema).coalesce(1).createOrReplaceTempView(name)
    return own


def _value(kind: str, chance: random.Random) -> Any:
    if chance.random() < 0.15:
        return None
    number = chance.randrange(1, 6)
    return Decimal(number) / 4 if kind.startswith("decimal") else number


def _frame(session: "SparkSession", sql: str) -> "DataFrame | str":
    from pyspark.errors import PySparkException

    try:
        return session.sql(sql)
    except PySparkException as error:
        return str(error).partition("\n")[0]


def _answer(found: "DataFrame | str") -> tuple[object, ...]:
    """Names, types and rows; or that it fails."""
    from pyspark.errors import PySparkException

    if isinstance(found, str):
        return ("refused",)
    try:
        rows = Counter(tuple(map(repr, row)) for row in found.collect())
    except PySparkException as error:
        return ("fails", error.getCondition())
    names = tuple((field.name.lower(), field.dataType.simpleString()) for field in found.schema)
    return (names, frozenset(rows.items()))


def _text(sql: str) -> str | None:
    """What Spark runs; None: we refuse it."""
    try:
        return render(bind(checked(sql).tree, {}, 0))
    except (DefinitionError, DefinitionErrors):
        return None


def test_the_text_that_runs_gives_what_the_text_gives(session: "SparkSession") -> None:
    wrong, refused, taken = [], [], 0
    for sql in shaped(SEED, NUMBER):
        theirs, text = _frame(session, sql), _text(sql)
        if isinstance(theirs, str):
            continue  # what Spark refuses runs nowhere
        taken += 1
        if text is None:
            refused.append(sql)
        elif (one := _answer(theirs)) != (other := _answer(_frame(session, text))):
            wrong.append(f"{sql}\n  {text}\n  {one}\n  {other}")
    assert not wrong, f"seed {SEED}, {len(wrong)} of {taken}:\n" + "\n".join(wrong[:20])
    assert len(refused) <= taken * MOST_REFUSED, "\n".join(refused[:20])
    assert taken >= NUMBER * 0.6


def test_what_counts_as_equal_gives_equal_rows(session: "SparkSession") -> None:
    wrong, judged = [], 0
    for first, second in pairs(SEED, NUMBER * 2):
        try:
            same = meaning(first).means(meaning(second))
        except (DefinitionError, DefinitionErrors):
            continue
        one, other = _frame(session, first), _frame(session, second)
        if not same or isinstance(one, str) or isinstance(other, str):
            continue
        judged += 1
        if _by_name(_answer(one)) != _by_name(_answer(other)):
            wrong.append(f"{first}\n  {second}")
    assert not wrong, f"seed {SEED}, {len(wrong)} of {judged}:\n" + "\n".join(wrong[:20])


def _by_name(answer: tuple[object, ...]) -> object:
    """Columns in any order are the same columns of a table."""
    if len(answer) != 2 or answer[0] == "fails":
        return answer
    names, rows = answer
    assert isinstance(names, tuple)
    assert isinstance(rows, frozenset)
    order = sorted(range(len(names)), key=lambda at: names[at])
    turned = Counter({tuple(row[at] for at in order): times for row, times in rows})
    return tuple(sorted(names)), frozenset(turned.items())
