"""What the classifier proves holds on rows: a part computed alone is that part of the whole."""

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from streamhouse.model.types import MergeFunction, Strategy
from streamhouse.sql.bind import bind
from streamhouse.sql.classify import Classification
from streamhouse.sql.dialect import render
from streamhouse.sql.schema import CheckedQuery
from streamhouse.stores.arrow import arrow_schema
from tests.gate.levels import deep
from tests.sql_corpus import NOT_IN_DUCKDB, ORDERS, Case, Rows, cases, classified, columns, orders, random_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
DEEP = deep("cases that tests/unit/sql/test_strategies_hold.py tries on more tables, answered by DuckDB")
CASES = [
    pytest.param(case, id=case.sql[:70], marks=() if any(text in case.sql for text in NOT_IN_DUCKDB) else DEEP)
    for case in cases()
    if case.expected in {"map", "merge", "recompute"}
]


@pytest.mark.parametrize("case", CASES)
def test_part_is_part_of_whole(spark: "SparkSession", case: Case) -> None:
    seed = sum(case.sql.encode())
    query, how, tables = orders(case.sql), classified(case), random_rows(seed)
    whole = _run(spark, query, tables)
    driving = [port for port in query.reads if port != "d"]
    if how.strategy is Strategy.MERGE:
        parts = _halves(tables, driving, seed)
        folded = _folded([row for part in parts for row in _run(spark, query, part)], how)
        assert Counter(map(_shown, folded)) == Counter(map(_shown, whole))
    elif how.key_columns:
        tables = _extended(spark, how, tables)
        chosen = _touched(tables, how, seed)
        kept = {port: _with_key(tables[port], how.key_columns.get(port), chosen) for port in tables}
        names = list(next(iter(how.key_columns.values())))
        wanted = [row for row in whole if tuple(row[n] for n in names) in chosen]
        assert Counter(map(_shown, _run(spark, query, kept))) == Counter(map(_shown, wanted))
    else:
        rows = [row for part in _halves(tables, driving, seed) for row in _run(spark, query, part)]
        assert Counter(map(_shown, rows)) == Counter(map(_shown, whole))


def _extended(spark: "SparkSession", how: Classification, tables: Rows) -> Rows:
    """The rows with the values that are computed to find them by."""
    made = dict(tables)
    for port, computed in how.computed.items():
        if computed:
            rows = pa.Table.from_pylist(tables[port], arrow_schema(columns(ORDERS[port])))
            values = spark.createDataFrame(rows).selectExpr(*(f"{c.sql} AS {c.name}" for c in computed)).collect()
            made[port] = [row | value.asDict() for row, value in zip(tables[port], values, strict=True)]
    return made


def _touched(tables: Rows, how: Classification, seed: int) -> set[tuple[Any, ...]]:
    dice = random.Random(seed)
    every = sorted(
        {tuple(row[c] for c in held.values()) for port, held in how.key_columns.items() for row in tables[port]},
        key=repr,
    )
    return set(dice.sample(every, max(1, len(every) // 3)))


def _with_key(rows: list[dict[str, Any]], held: dict[str, str] | None, keys: set[tuple[Any, ...]]) -> Any:
    return rows if held is None else [r for r in rows if tuple(r[c] for c in held.values()) in keys]


def _halves(tables: Rows, driving: list[str], seed: int) -> list[Rows]:
    dice = random.Random(seed)
    first = {port: [row for row in tables[port] if dice.random() < 0.5] for port in driving}
    rest = {port: [row for row in tables[port] if row not in first[port]] for port in driving}
    return [{**tables, **first}, {**tables, **rest}]


def _folded(rows: list[dict[str, Any]], how: Classification) -> list[dict[str, Any]]:
    folded: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        key = tuple(row[c] for c in how.primary_key)
        if key not in folded:
            folded[key] = row
            continue
        for column, function in how.merge.items():
            folded[key][column] = _fold(function, folded[key][column], row[column])
    return list(folded.values())


def _fold(function: MergeFunction, old: Any, new: Any) -> Any:
    if old is None or new is None:
        return new if old is None else old
    match function:
        case MergeFunction.SUM:
            return old + new
        case MergeFunction.MIN:
            return min(old, new)
        case MergeFunction.MAX:
            return max(old, new)
        case MergeFunction.BOOL_OR:
            return old or new
        case MergeFunction.BOOL_AND:
            return old and new
        case _:
            return new


def _run(spark: "SparkSession", query: CheckedQuery, tables: Rows) -> list[dict[str, Any]]:
    names = {}
    for port in query.reads:
        names[port] = f"part_{port}"
        rows = pa.Table.from_pylist(tables[port], arrow_schema(columns(ORDERS[port])))
        spark.createDataFrame(rows).createOrReplaceTempView(names[port])
    return [row.asDict(recursive=True) for row in spark.sql(render(bind(query.tree, names, 0))).collect()]


def _shown(row: dict[str, Any]) -> str:
    return str({k: sorted(v) if isinstance(v, list) else v for k, v in row.items()})
