"""What a flow's tables must hold: the same SQL run once, as one batch, by plain Spark.

Nothing of the engine takes part: no strategies, no stores, no epochs. Steps run in the order of the
plan; each sees all rows of what it reads.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamhouse.model.plan import EXPECTATION, FlowPlan, PlannedStep
from streamhouse.model.table import Table
from streamhouse.model.types import Strategy
from streamhouse.stores.arrow import arrow_schema, conform

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ULPS = 8  # sums of doubles depend on the order of the rows
SHOWN = 10
_ROW = "__row"


def batch(
    spark: "SparkSession",
    plan: FlowPlan,
    sources: Mapping[str, pa.Table],
    external: Mapping[str, pa.Table] | None = None,
) -> dict[str, pa.Table]:
    """Run a flow once over complete inputs.

    Args:
        spark: Any session in UTC.
        plan: What to run.
        sources: All rows of every source of the plan, in the order the source delivers them.
        external: All rows of every table the plan reads from other flows.

    Returns:
        Table → all its rows, with the columns and types of the plan.

    Raises:
        ValueError: two rows of a result have one key, or the key has a null where it must not: then the flow says no
            definite thing, and no incremental run could be compared with it.
    """
    known = {name: _frame(spark, rows) for name, rows in {**sources, **(external or {})}.items()}
    results: dict[str, pa.Table] = {}
    for step in plan.steps:
        rows = conform(_run(spark, step, known).toArrow(), step.columns)
        if step.writes.primary_key:
            # Of the rows that are appended for one key, the last one is the row, or what the merge engine says.
            rows = _winner_of_each_key(rows, step.writes) if step.strategy is Strategy.MAP else rows
            _check_key(step.id, rows, step.writes)
        name = step.writes.name
        results[name] = _joined(step, results.get(name), rows) if step.part else rows
        known[name] = _frame(spark, results[name])
    return results


def run_step(
    spark: "SparkSession", step: PlannedStep, inputs: Mapping[str, pa.Table]
) -> tuple[pa.Table, pa.Table | None]:
    """What the SQL of one step makes of given rows: those for its table, and those for its quarantine table.

    Args:
        spark: Any session in UTC.
        step: What to run.
        inputs: Port → rows.
    """
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

    for port, rows in inputs.items():
        _frame(spark, rows).createOrReplaceTempView(port)
    frame = spark.sql(step.sql)
    for port in inputs:
        spark.catalog.dropTempView(port)
    out = []
    for name, rule in step.expect.items():
        if rule.on_violation in ("drop", "quarantine"):
            met = F.expr(f"coalesce(({rule.check}), false)")
            if rule.on_violation == "quarantine":
                out.append(frame.where(~met).withColumn(EXPECTATION, F.lit(name)))
            frame = frame.where(met)
    kept = conform(frame.toArrow(), step.columns)
    if step.quarantine is None:
        return kept, None
    return kept, pa.concat_tables([conform(rows.toArrow(), step.quarantine.columns) for rows in out])


def _joined(step: PlannedStep, others: pa.Table | None, part: pa.Table) -> pa.Table:
    """A row of a shared table has what each of its writers says of the key, and NULL where one says nothing."""
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in [*(others.to_pylist() if others is not None else []), *part.to_pylist()]:
        known = rows.setdefault(tuple(row[k] for k in step.writes.primary_key), {})
        known.update({name: value for name, value in row.items() if value is not None})
    return pa.Table.from_pylist(list(rows.values()), schema=arrow_schema(step.writes.columns))


def _frame(spark: "SparkSession", rows: pa.Table) -> "DataFrame":
    # One partition for each 10,000 rows would make more tasks than work; coalescing keeps the order.
    # Spark takes an empty chunk of a small table for its end.
    whole = rows.combine_chunks() if rows.num_rows else rows
    return spark.createDataFrame(whole).coalesce(spark.sparkContext.defaultParallelism)


def _run(spark: "SparkSession", step: PlannedStep, known: Mapping[str, "DataFrame"]) -> "DataFrame":
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

    if limiting := [name for name, e in step.expect.items() if e.on_violation == "quarantine"]:
        raise ValueError(f"{step.id}: the oracle does not know which rows {limiting} take away")
    for read in step.reads:
        known[read.table].createOrReplaceTempView(read.port)
    frame = spark.sql(step.sql)  # resolved here and now: the next step may use the same port names
    for read in step.reads:
        spark.catalog.dropTempView(read.port)
    for rule in step.expect.values():
        if rule.on_violation == "drop":
            frame = frame.where(F.expr(f"coalesce(({rule.check}), false)"))
    return frame


def _winner_of_each_key(rows: pa.Table, table: Table) -> pa.Table:
    if table.first_row:
        return _last_of_each_key(rows.take(np.arange(rows.num_rows)[::-1]), table.primary_key)
    if table.version_column is not None:
        versions = rows[table.version_column].to_pylist()
        unknown = [number for number, version in enumerate(versions) if version is None]
        known = sorted(set(range(len(versions))) - set(unknown), key=lambda number: versions[number])  # stable
        rows = rows.take(pa.array([*unknown, *known], pa.int64()))
    return _last_of_each_key(rows, table.primary_key)


def _last_of_each_key(rows: pa.Table, key: Sequence[str]) -> pa.Table:
    numbered = rows.append_column(_ROW, pa.array(np.arange(rows.num_rows)))
    last = numbered.group_by(list(key)).aggregate([(_ROW, "max")])[f"{_ROW}_max"]
    return rows.take(last.combine_chunks().sort())


def _check_key(name: str, rows: pa.Table, table: Table) -> None:
    key = table.primary_key
    if any(rows[column].null_count for column in key if column not in table.null_keys):
        raise ValueError(f"{name}: a key is null")
    distinct = rows.group_by(list(key)).aggregate([]).num_rows
    if distinct != rows.num_rows:
        raise ValueError(f"{name}: {rows.num_rows} rows have {distinct} keys")


def assert_same_rows(
    actual: pa.Table, expected: pa.Table, *, key: Sequence[str] = (), ulps: int = ULPS, name: str = "rows"
) -> None:
    """Fail, and show how they differ, unless both tables hold the same rows in whatever order.

    All types are compared exactly, but doubles and floats may be `ulps` units in the last place apart.

    Args:
        actual: What a store or a run gave; the order of its columns does not matter.
        expected: What it should hold.
        key: Columns that tell rows apart, for a diff by key. Empty: rows are compared as a multiset.
        ulps: How far two doubles may be apart, in units in the last place of the larger.
        name: What the message calls the rows.
    """
    given, wanted = ({f.name: f.type for f in t.schema} for t in (actual, expected))
    assert given == wanted, f"{name}: columns differ\n  actual:   {given}\n  expected: {wanted}"
    actual = actual.select(expected.column_names)
    if actual.num_rows == expected.num_rows and _all_equal(_ordered(actual, key), _ordered(expected, key), ulps):
        return
    lines = _diff_by_key(actual, expected, key, ulps) if key else _diff_by_row(actual, expected)
    shown = "\n".join(f"  {line}" for line in lines[:SHOWN])
    more = f"\n  … and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
    raise AssertionError(
        f"{name}: {actual.num_rows} rows, expected {expected.num_rows}; {len(lines)} differences\n{shown}{more}"
    )


def _ordered(rows: pa.Table, key: Sequence[str]) -> pa.Table:
    """Sorted by the key, then by the rest; doubles last, since they may differ a little."""
    rest = sorted((f.name for f in rows.schema if f.name not in key), key=lambda n: _is_float(rows[n].type))
    order = [*key, *rest]
    comparable = pa.table({n: _comparable(rows[n]) for n in order})
    return rows.take(pc.sort_indices(comparable, sort_keys=[(n, "ascending") for n in order]))


def _comparable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_nested(column.type) or pa.types.is_boolean(column.type):
        return pa.chunked_array([pa.array([repr(value) for value in column.to_pylist()], pa.string())])
    return column


def _is_float(data_type: pa.DataType) -> bool:
    return bool(pa.types.is_floating(data_type))


def _all_equal(actual: pa.Table, expected: pa.Table, ulps: int) -> bool:
    return all(
        _floats_equal(a, e, ulps).all() if _is_float(a.type) else _comparable(a).equals(_comparable(e))
        for a, e in zip(actual.columns, expected.columns, strict=True)
    )


def _floats_equal(actual: pa.ChunkedArray, expected: pa.ChunkedArray, ulps: int) -> Any:
    nulls = [np.asarray(c.is_null()) for c in (actual, expected)]
    a, e = (np.asarray(c.fill_null(0.0)) for c in (actual, expected))
    with np.errstate(invalid="ignore"):
        near = np.abs(a - e) <= ulps * np.spacing(np.maximum(np.abs(a), np.abs(e)))
    return (nulls[0] == nulls[1]) & (near | (a == e) | (np.isnan(a) & np.isnan(e)))


def _diff_by_key(actual: pa.Table, expected: pa.Table, key: Sequence[str], ulps: int) -> list[str]:
    given, wanted = _by_key(actual, key), _by_key(expected, key)
    twice = [f"{_show_key(key, k)}: {len(rows)} rows" for k, rows in given.items() if len(rows) > 1]
    missing = [f"{_show_key(key, k)}: missing, expected {wanted[k][0]}" for k in wanted if k not in given]
    extra = [f"{_show_key(key, k)}: unexpected {given[k][0]}" for k in given if k not in wanted]
    changed = []
    for k in given:
        cells = _cells(given[k][0], wanted[k][0], ulps) if k in wanted else []
        if cells:
            changed.append(f"{_show_key(key, k)}: {', '.join(cells)}")
    return [*twice, *missing, *extra, *changed]


def _by_key(rows: pa.Table, key: Sequence[str]) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows.to_pylist():
        found.setdefault(tuple(repr(row[k]) for k in key), []).append(row)
    return found


def _show_key(key: Sequence[str], values: tuple[str, ...]) -> str:
    return ", ".join(f"{name}={value}" for name, value in zip(key, values, strict=True))


def _cells(given: dict[str, Any], wanted: dict[str, Any], ulps: int) -> list[str]:
    return [f"{n} is {given[n]!r}, expected {w!r}" for n, w in wanted.items() if not _cell_equal(given[n], w, ulps)]


def _cell_equal(given: Any, wanted: Any, ulps: int) -> bool:
    if isinstance(given, float) and isinstance(wanted, float):
        one, other = (pa.chunked_array([pa.array([value], pa.float64())]) for value in (given, wanted))
        return bool(_floats_equal(one, other, ulps)[0])
    return bool(given == wanted)


def _diff_by_row(actual: pa.Table, expected: pa.Table) -> list[str]:
    given, wanted = (Counter(repr(row) for row in t.to_pylist()) for t in (actual, expected))
    return [
        *(f"missing ({n}): {row}" for row, n in (wanted - given).items()),
        *(f"unexpected ({n}): {row}" for row, n in (given - wanted).items()),
    ]
