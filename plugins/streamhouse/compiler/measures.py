"""Checks and types the SQL of measures. Pure."""

from collections.abc import Iterator, Mapping

from sqlglot import exp

from streamhouse.errors import Location, StreamhouseError
from streamhouse.model.table import Column
from streamhouse.registry.parse_sql import parse_measure
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.schema import analyse


def measure_type(sql: str, columns: tuple[Column, ...], at: Location = Location("")) -> str:  # noqa: B008  frozen
    """The type of a measure.

    Args:
        sql: An aggregate over the rows of one table.
        columns: Of that table.
        at: Where it is written.

    Raises:
        SqlSyntaxError: it does not parse, or is no aggregate.
        UnknownColumnError: it names a column that the table lacks.
        UntypedColumnError: a function is unknown, or its type cannot be derived.
        DefinitionErrors: several of these.
    """
    select = exp.select(exp.alias_(parse_measure(sql, at), "measure")).from_("rows")
    return analyse(select, {"rows": ActionPort(columns, {})}, "", at).columns[0].type


def measure_errors(
    measures: Mapping[str, str], columns: tuple[Column, ...], places: Mapping[str, Location]
) -> Iterator[StreamhouseError]:
    """An error for each of some measures of a table that has no type.

    Args:
        measures: Name → SQL.
        columns: Of the table.
        places: Name → where its SQL stands.
    """
    for name, sql in measures.items():
        at = places[name]
        try:
            measure_type(sql, columns, at)
        except StreamhouseError as error:
            error.at, error.message = at, f"measures.{name}: {error.message}"
            yield error
