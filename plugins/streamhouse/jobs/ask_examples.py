"""Examples of a new action, computed on rows that tables have."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any

from streamhouse.jobs.examples import computed, run_examples
from streamhouse.jobs.query import QueryService
from streamhouse.planner.action_text import NewAction
from streamhouse.planner.catalog import Catalog
from streamhouse.planner.proposal import Check
from streamhouse.planner.request import Request
from streamhouse.planner.sample import base_queries, partner_query, partners_of
from streamhouse.registry.read_action import read_action

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = dict[str, Any]


class NoExampleError(Exception):
    """There is none to be had; its text says why."""


def example_of(
    action: NewAction, request: Request, catalog: Catalog, asking: QueryService, spark: "SparkSession"
) -> Row:
    """One example: rows of the inputs as tables have them, and what the action makes of them.

    Args:
        action: Without examples.
        request: That it computes.
        catalog: Has its inputs.
        asking: Reads rows.
        spark: Its time zone is UTC.

    Raises:
        NoExampleError: the tables have no rows, or values that a header cannot have.
        StreamhouseError: a table cannot be read.
    """
    rows = _rows(action, request, catalog, asking)
    input_rows = {port: [_written(row) for row in rows.get(table, [])] for port, table in action.reads.items()}
    if not any(input_rows.values()):
        raise NoExampleError("the tables have no rows")
    known = read_action(action.text, action.path).action
    expect = computed(spark, known, input_rows)
    return {"given": input_rows, "expect": [_written(row, empty=True) for row in expect]}


def examples_check(action: NewAction, spark: "SparkSession") -> Check:
    """Whether the examples of an action pass on Spark."""
    results = run_examples(spark, read_action(action.text, action.path).action)
    wrong = [one for one in results if not one.passed]
    if wrong:
        return Check(name="examples", verdict="failed", text=wrong[0].error or "other rows came out than were expected")
    tables = ", ".join(action.reads.values())
    return Check(name="examples", verdict="passed", text=f"{len(results)} computed on rows of {tables}")


def _rows(action: NewAction, request: Request, catalog: Catalog, asking: QueryService) -> dict[str, list[Row]]:
    columns = {table: list(action.inputs[port]) for port, table in action.reads.items()}
    partners = [one for one in partners_of(request) if one.table in columns]
    base = _base(request)
    led = [c for one in partners if one.of == base for c in one.on if c not in columns[base]]
    found: dict[str, list[Row]] = {}
    hits, misses = base_queries(request, catalog, [*columns[base], *dict.fromkeys(led)])
    found[base] = [row for text in (hits, misses) if text for row in _query_rows(asking, text)]
    for one in partners:
        text = partner_query(one, found.get(one.of, []), catalog, columns[one.table])
        rows = _query_rows(asking, text) if text else []
        known = found.setdefault(one.table, [])
        known += [row for row in rows if row not in known]
    return {table: [{n: row.get(n) for n in columns[table]} for row in rows] for table, rows in found.items()}


def _base(request: Request) -> str:
    from streamhouse.planner.naming import innermost

    return innermost(request.block).base or ""


def _query_rows(asking: QueryService, text: str) -> list[Row]:
    rows: list[Row] = asking.ask(text).rows.to_pylist()
    return rows


def _written(row: Mapping[str, Any], *, empty: bool = False) -> Row:
    """A row as a header has it; columns without a value are left out unless `empty`."""
    return {name: _value(value) for name, value in row.items() if empty or value is not None}


def _value(value: Any) -> Any:
    if isinstance(value, datetime):
        at = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
        return at.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and isfinite(value):
        return value
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_value(part) for part in value]
    if isinstance(value, Mapping):
        return {str(key): _value(part) for key, part in value.items()}
    raise NoExampleError(f"a header cannot have the value {value!r}")
