"""Where the order of rows shows in what Spark gives there is a notice, and where there is none it never shows."""

import random
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from streamhouse.registry.parse_sql import parse_query
from streamhouse.sql import functions
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.schema import analyse
from tests.gate.levels import deep
from tests.patience import SOAKING
from tests.sql_corpus import AT, columns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    deep("each window function judged by Spark; what a limit takes stays", only=("test_window_functions",)),
    pytest.mark.spark,
]


TABLE = {"id": "int", "g": "int", "o": "int", "v": "int", "s": "string"}
ROWS = [
    (1, 1, 1, 3, "c"),
    (2, 1, 1, 1, "a"),
    (3, 1, 2, 2, "b"),
    (4, 1, 2, 5, "e"),
    (5, 2, 1, 4, "d"),
    (6, 2, 1, 7, "f"),
]
ORDERS = (ROWS, ROWS[::-1], ROWS[2:] + ROWS[:2], random.Random(1).sample(ROWS, len(ROWS)))

_ARGUMENTS = {
    **dict.fromkeys(("bool_and", "bool_or", "every", "any", "some", "count_if"), "(v > 2)"),
    **dict.fromkeys(("percentile", "percentile_approx", "approx_percentile"), "(v, 0.5)"),
    **dict.fromkeys(("listagg", "string_agg"), "(s, ',')"),
    **{name: "(v, o)" for name in functions.AGGREGATES if name.startswith(("corr", "covar", "regr"))},
    **dict.fromkeys(("max_by", "min_by"), "(v, o)"),
    **dict.fromkeys((*(functions.RANKS - {"ntile"}),), "()"),
    **dict.fromkeys(("ntile",), "(2)"),
    "nth_value": "(v, 2)",
    "count_min_sketch": "(v, 0.1D, 0.9D, 1)",
    "histogram_numeric": "(v, 3)",
    **dict.fromkeys(("bitmap_and_agg", "bitmap_or_agg"), "(CAST(s AS BINARY))"),
    "schema_of_variant_agg": "(parse_json(CAST(v AS STRING)))",
}
_OTHER_CLAUSES = {"grouping", "grouping_id", "percentile_cont", "percentile_disc"}
_OF_SKETCHES = {"approx_top_k_combine", "hll_union_agg", "theta_intersection_agg", "theta_union_agg"}  # `r` has none
_NOT_HERE = _OTHER_CLAUSES | _OF_SKETCHES
_NOT_IN_SO_FEW_ROWS = {
    "mode",
    "collect_set",
    "percentile_approx",
    "approx_percentile",
    "histogram_numeric",
    "theta_sketch_agg",
}
_SHOW_EACH_ROW = {"sum", "count", "collect_list"}  # what others make of two sets of rows may be equal
_FOLDS = sorted((functions.AGGREGATES - _NOT_HERE) | {"nth_value"})
_ALONE = sorted(functions.RANKS | {"lag", "lead"})
_FRAMES = (
    "",
    "ROWS UNBOUNDED PRECEDING",
    "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    "ROWS CURRENT ROW",
    "RANGE UNBOUNDED PRECEDING",
    "RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    "RANGE CURRENT ROW",
)
_LIMITED = (
    "SELECT id FROM r LIMIT 2",
    "SELECT id FROM r ORDER BY g LIMIT 2",
    "SELECT id FROM r ORDER BY o, id LIMIT 2",
    "SELECT id FROM r ORDER BY o LIMIT 2 OFFSET 1",
    "SELECT id FROM r ORDER BY g OFFSET 1",
    "SELECT g FROM r ORDER BY g LIMIT 3",
    "SELECT g + 1 AS h FROM r ORDER BY g LIMIT 3",
    "SELECT DISTINCT g FROM r ORDER BY g LIMIT 1",
    "SELECT g, o FROM r GROUP BY g, o ORDER BY g LIMIT 1",
    "SELECT g, o, count(*) AS n FROM r GROUP BY g, o ORDER BY g, o LIMIT 1",
    "SELECT id, o FROM r ORDER BY ALL LIMIT 1",
    "SELECT id FROM r LIMIT 0",
    "SELECT max(v) AS m FROM r LIMIT 1",
    "SELECT o AS id FROM r UNION ALL SELECT g FROM r ORDER BY id LIMIT 3",
    "SELECT id, o FROM r UNION ALL SELECT v, g FROM r ORDER BY o LIMIT 3",
    "SELECT id, row_number() OVER (ORDER BY id) AS n FROM r ORDER BY n LIMIT 2",
    "SELECT id FROM r WHERE id IN (SELECT v FROM r ORDER BY g LIMIT 2)",
    "SELECT id FROM r WHERE EXISTS (SELECT v FROM r ORDER BY g LIMIT 2)",
    "SELECT id, (SELECT sum(v) AS v FROM r LIMIT 1) AS x FROM r",
    "SELECT first(v) AS x FROM r WHERE g = 1",
    "SELECT g, any_value(v) AS x FROM r GROUP BY g",
    "SELECT g, any_value(g) AS x FROM r GROUP BY g",
    "SELECT g, collect_list(v) AS x FROM r GROUP BY g",
    "SELECT g, sort_array(collect_list(v)) AS x FROM r GROUP BY g",
    "SELECT g, array_sort(collect_list(v), (a, b) -> 0) AS x FROM r GROUP BY g",
    "SELECT g, max_by(v, o) AS x, g AS y FROM r GROUP BY g",
    "SELECT g, max_by(o, o) AS x FROM r GROUP BY g",
    "SELECT g, listagg(s, ',') WITHIN GROUP (ORDER BY o) AS x FROM r GROUP BY g",
    "SELECT g, listagg(s, ',') WITHIN GROUP (ORDER BY s) AS x FROM r GROUP BY g",
    "SELECT g, mode(v, TRUE) AS x FROM r GROUP BY g",
)


def _windows() -> Iterator[str]:
    for order in ("ORDER BY o", "PARTITION BY g ORDER BY o", "PARTITION BY g ORDER BY id", "PARTITION BY o", ""):
        ranged = [frame for frame in _FRAMES if "ORDER" in order or not frame.startswith("RANGE")]
        yield from (f"({order} {frame})" for frame in ranged)


def _noticed(sql: str) -> bool:
    return bool(analyse(parse_query(sql, AT), {"r": ActionPort(columns(TABLE), {}, key=("id",))}, sql, AT).notices)


@pytest.fixture(scope="module")
def sessions(spark: "SparkSession") -> list["SparkSession"]:
    """Sessions with the same table, whose rows are in another order in each."""
    found = []
    for rows in ORDERS:
        session = spark.newSession()
        session.conf.set("spark.sql.shuffle.partitions", "1")
        session.conf.set("spark.sql.ansi.enabled", "false")  # CORR of one row divides by zero
        schema = ", ".join(f"{name} {kind}" for name, kind in TABLE.items())
        session.createDataFrame(rows, schema).coalesce(1).createOrReplaceTempView("r")
        found.append(session)
    return found


def _shown(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else repr(value)  # sums of floats differ in the last digits


@pytest.mark.parametrize("window", list(_windows())[:: 1 if SOAKING else 7])
def test_window_functions(sessions: list["SparkSession"], window: str) -> None:
    alone = window.endswith(" )") and "ORDER" in window  # a function that has a frame of its own
    refused = {"median"} if window not in ("( )", "(PARTITION BY o )") else set()
    refused |= {"nth_value"} if "ORDER" not in window else set()
    names = [name for name in (*_FOLDS, *(_ALONE if alone else ())) if name not in refused]
    calls = [f"{name}{_ARGUMENTS.get(name, '(v)')}" for name in names]
    calls += [f"{name}(o)" for name in ("first", "last", "collect_list", *(["lag", "lead"] if alone else []))]
    items = [f"{call} OVER {window} AS x" for call in calls]
    joined = ", ".join(f"{item}{at}" for at, item in enumerate(items))
    results = [sorted(session.sql(f"SELECT id, {joined} FROM r").collect()) for session in sessions]
    wrong = []
    for at, call in enumerate(calls):
        differs = len({tuple(_shown(row[at + 1]) for row in rows) for rows in results}) > 1
        noticed = _noticed(f"SELECT id, {items[at]} FROM r")
        name = call.partition("(")[0]
        by_chance = name in _NOT_IN_SO_FEW_ROWS or ("ROWS" in window and name not in _SHOW_EACH_ROW)
        if differs != noticed and not (noticed and by_chance):
            wrong.append(f"{call} OVER {window}: {differs=} {noticed=}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("sql", _LIMITED)
def test_limits_and_aggregates(sessions: list["SparkSession"], sql: str) -> None:
    results = {frozenset(Counter(map(repr, session.sql(sql).collect())).items()) for session in sessions}
    assert _noticed(sql) == (len(results) > 1)
