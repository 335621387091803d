"""Runs the examples in an action's header on real Spark: its unit tests."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from streamhouse.errors import MissingParameterError, StrategyError, StreamhouseError, did_you_mean
from streamhouse.jobs.example_rows import arrow_rows, comparable, inferred_columns
from streamhouse.model.action import Action, Example
from streamhouse.model.table import Column
from streamhouse.spark.results import collected_arrow
from streamhouse.spark.stack_traces import quiet_python_log
from streamhouse.spark.wall import refuse_all_but
from streamhouse.sql.admit import process_words
from streamhouse.sql.bind import bind
from streamhouse.sql.check import check_functions, check_relations
from streamhouse.sql.dialect import parse_query, place_of, render
from streamhouse.sql.parameters import fill_parameters, typed_literal
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.schema import analyse
from streamhouse.sql.values import typed_value
from streamhouse.stores.arrow import spark_type
from streamhouse.stores.arrow_values import python_rows

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_EXAMPLE_MS = 1_767_225_600_000  # the time of every example, for clock functions: 2026-01-01 00:00 UTC
Row = tuple[Any, ...]


@dataclass(frozen=True)
class ExampleResult:
    """What one example gave.

    Attributes:
        number: Place in the header, from 1.
        columns: Names of the columns that were compared.
        missing: Rows that were expected and did not come out, values in the order of `columns`.
        unexpected: Rows that came out and were not expected.
        error: Why it could not be run or compared; None: it could.
    """

    number: int
    columns: tuple[str, ...] = ()
    missing: tuple[Row, ...] = ()
    unexpected: tuple[Row, ...] = ()
    error: str | None = None

    @property
    def passed(self) -> bool:
        """Whether exactly the expected rows came out."""
        return self.error is None and not self.missing and not self.unexpected


def run_examples(spark: "SparkSession", action: Action) -> list[ExampleResult]:
    """Run every example of an action; what is wrong with one is its result, not an exception.

    Rows are compared in any order and as often as they come, in the columns that any expected row
    names. Expectations of the header (`expect:`) are not applied: an example tests the SQL.

    Args:
        spark: Its time zone is UTC. Its temporary views stay as they are.
        action: Its SQL may not be valid Spark yet.
    """
    quiet_python_log()
    return [_run(spark.newSession(), action, number, example) for number, example in enumerate(action.examples, 1)]


def computed(
    spark: "SparkSession", action: Action, input_rows: dict[str, list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """The rows that an action makes of some rows, with the defaults of its parameters, in the order of its key.

    Args:
        spark: Its time zone is UTC.
        action: Its SQL is sound.
        input_rows: Port → rows, as an example has them.

    Raises:
        ValueError: a given value is none of its column's type.
        PySparkException: the SQL fails on these rows.
    """
    result = _result(spark.newSession(), action, Example(given=input_rows, expect=[]))
    rows = [dict(zip(result.column_names, row, strict=True)) for row in python_rows(result)]
    key = action.output.primary_key or tuple(rows[0] if rows else ())
    return sorted(rows, key=lambda row: [(row[name] is not None, str(row[name])) for name in key])


def _run(spark: "SparkSession", action: Action, number: int, example: Example) -> ExampleResult:
    from pyspark.errors import PySparkException

    try:
        return _compared(number, example.expect, _result(spark, action, example))
    except PySparkException as error:
        return ExampleResult(number, error=_cause(error))
    except (StreamhouseError, ValueError) as error:
        return ExampleResult(number, error=str(error))


def _result(spark: "SparkSession", action: Action, example: Example) -> "pa.Table":
    ports: dict[str, ActionPort] = {}
    for port, declared in action.inputs.items():
        rows = example.given.get(port, [])
        columns = tuple(Column(name=name, type=type_) for name, type_ in declared.items()) or inferred_columns(rows)
        if not columns:
            raise ValueError(f"input '{port}' takes any columns: give at least one row of it")
        ports[port.lower()] = ActionPort(bound=columns, declared={})
        spark.createDataFrame(_input_table(rows, columns, port)).createOrReplaceTempView(port)
    text = _bound(action, example, ports)
    refuse_all_but(action.inputs, text, spark)
    return collected_arrow(spark.sql(text))


def _input_table(rows: Iterable[Mapping[str, Any]], columns: tuple[Column, ...], port: str) -> "pa.Table":
    try:
        return arrow_rows(rows, columns)
    except ValueError as error:
        raise ValueError(f"given {port}, {error}") from error


def _values(action: Action, example: Example) -> dict[str, exp.Expr]:
    values = {}
    for name, parameter in action.params.items():
        value = example.params.get(name, parameter.default)
        if value is None and parameter.required:
            raise MissingParameterError(
                f"the example gives no value for parameter '{name}'",
                at=action.at,
                hint=f"add it to the example: 'params: {{{name}: …}}'",
            )
        values[name] = typed_literal(name, parameter.type, value, action.at)
    return values


def _bound(action: Action, example: Example, ports: Mapping[str, ActionPort]) -> str:
    """The text that a flow would run over tables of these columns."""
    values = _values(action, example)
    query = parse_query(action.sql, action.sql_at)
    check_relations(list(query.walk()), action.sql, action.sql_at)
    check_functions(list(query.walk()), action.sql, action.sql_at)
    columns = {name.lower() for rows in example.given.values() for row in rows for name in row}
    columns |= {name.lower() for declared in action.inputs.values() for name in declared}
    for word in process_words(query, columns):
        raise StrategyError(word.message, at=place_of(word.node, action.sql, action.sql_at), hint=word.hint)
    fill_parameters(query, action.params, values, action.sql, action.sql_at)
    try:
        planned: str | exp.Query = analyse(query.copy(), ports, action.sql, action.sql_at).sql
    except StreamhouseError:
        planned = query  # what an example does not give, its table may have; Spark reports what is wrong
    return render(bind(planned, {}, _EXAMPLE_MS))


def _compared(number: int, expected: list[dict[str, Any]], result: "pa.Table") -> ExampleResult:
    columns = tuple(dict.fromkeys(name for row in expected for name in row)) or tuple(result.column_names)
    for name in columns:
        if name not in result.column_names:
            hint = did_you_mean(name, result.column_names) or f"columns: {', '.join(result.column_names)}"
            return ExampleResult(number, error=f"the result has no column '{name}'; {hint}")
    types = {name: spark_type(result.schema.field(name).type) for name in columns}
    wanted: list[Row] = []
    for place, row in enumerate(expected, 1):
        try:
            wanted.append(tuple(typed_value(row.get(name), types[name]) for name in columns))
        except ValueError as error:
            raise ValueError(f"expect, row {place}: {error}") from error
    came: list[Row] = python_rows(result.select(list(columns)))
    return ExampleResult(number, columns, _minus(wanted, came), _minus(came, wanted))


def _minus(rows: list[Row], others: list[Row]) -> tuple[Row, ...]:
    """The rows that `others` lacks, as often as it lacks them."""
    left = Counter(tuple(comparable(value) for value in row) for row in others)
    lacking = []
    for row in rows:
        key = tuple(comparable(value) for value in row)
        if left[key]:
            left[key] -= 1
        else:
            lacking.append(row)
    return tuple(lacking)


def _cause(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].removesuffix(" SQLSTATE") if lines else type(error).__name__
