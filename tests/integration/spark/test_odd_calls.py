"""What Spark refuses for its types is refused before Spark sees it, and what Spark takes is not refused for them."""

import random
from typing import TYPE_CHECKING

import pytest

from streamhouse.errors import StreamhouseError, UntypedColumnError
from streamhouse.model.table import Column
from streamhouse.registry.parse_sql import parse_query
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.schema import analyse
from tests.chance import drawn_seed
from tests.gate.levels import deep
from tests.odd_calls import COLUMNS, odd_calls
from tests.patience import SOAKING
from tests.sql_corpus import AT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEED = drawn_seed(17)
NUMBER = 5_000 if SOAKING else 400
MOST_MISSED = 0.05
pytestmark = [
    pytest.mark.spark,
    pytest.mark.timeout(3600 if SOAKING else 1800),
    deep("odd calls of every function judged by Spark; test_types.py stays"),
]


ITSELF = "Spark's analysis ends with an error of its own"


def refused(sql: str) -> StreamhouseError | None:
    try:
        port = ActionPort(tuple(Column(name=name, type=kind) for name, kind in COLUMNS.items()), {})
        analyse(parse_query(sql, AT).copy(), {"r": port}, sql, AT)
    except StreamhouseError as error:
        return error
    return None


def by_spark(spark: "SparkSession", sql: str) -> str | None:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        spark.sql(sql).schema  # noqa: B018
    except PySparkException as error:
        return str(error).partition("\n")[0]
    except Py4JJavaError:
        return ITSELF
    return None


def test_types_are_judged_as_spark_does(spark: "SparkSession") -> None:
    session = spark.newSession()
    session.createDataFrame([], ", ".join(f"{n} {k}" for n, k in COLUMNS.items())).createOrReplaceTempView("r")
    chosen = random.Random(SEED).sample(list(odd_calls()), NUMBER)
    missed, wrong = [], []
    for sql in chosen:
        ours, theirs = refused(sql), by_spark(session, sql)
        if theirs == ITSELF:
            continue
        if ours is None and theirs is not None:
            missed.append(f"{sql}: {theirs}")
        elif ours is not None and theirs is None and not isinstance(ours, UntypedColumnError):
            wrong.append(f"{sql}: {ours.message}")
    assert not wrong, "\n".join([f"{len(wrong)} of {len(chosen)}", *wrong[:40]])
    # Literals of a wrong type where only a constant may stand; Spark refuses them before a row is written.
    assert len(missed) <= len(chosen) * MOST_MISSED, "\n".join([f"{len(missed)} of {len(chosen)}", *missed[:40]])
