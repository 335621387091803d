"""Checks of the examples in an action's header: names, and values against the types they stand for."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any

from sqlglot import exp

from streamhouse.errors import (
    DefinitionError,
    Location,
    MissingParameterError,
    PortError,
    StreamhouseError,
    TypeMismatchError,
    UnknownColumnError,
    did_you_mean,
)
from streamhouse.model.action import Action, Example
from streamhouse.model.table import Column
from streamhouse.registry.yaml_nodes import Document, KeyPath
from streamhouse.sql.dialect import parse_query
from streamhouse.sql.parameters import fill_parameters, typed_literal
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.schema import analyse
from streamhouse.sql.types import canonical_type, parse_type
from streamhouse.sql.values import typed_value


def example_errors(action: Action, document: Document) -> Iterator[DefinitionError]:
    """What is wrong with the examples of an action, as far as it shows without running them."""
    results = _result_types(action) if any(example.expect for example in action.examples) else {}
    for index, example in enumerate(action.examples):
        path: KeyPath = ("examples", index)
        yield from _parameter_errors(action, example, path, document)
        for port, rows in example.given.items():
            rows_path = (*path, "given", port)
            if port not in action.inputs:
                hint = did_you_mean(port, action.inputs, f"inputs: {', '.join(action.inputs)}")
                yield PortError(
                    f"the example gives rows of '{port}', which is no input", at=document.key_at(rows_path), hint=hint
                )
            elif known := action.inputs[port]:
                yield from _unknown_columns(f"input '{port}'", rows, known, rows_path, document)
                yield from _misfits(rows, known, rows_path, document)
        expected = (*path, "expect")
        if results:
            yield from _unknown_columns("the result", example.expect, results, expected, document)
        yield from _misfits(example.expect, results, expected, document)


def _value_errors(name: str, kind: str, value: Any, at: Location) -> Iterator[DefinitionError]:
    try:
        typed_literal(name, kind, value, at)
    except TypeMismatchError as error:
        yield error
    except (DefinitionError, ValueError):  # the type is none; that is reported where it is written
        return


def _parameter_errors(action: Action, example: Example, path: KeyPath, document: Document) -> Iterator[DefinitionError]:
    for name, value in example.params.items():
        if name in action.params:
            yield from _value_errors(name, action.params[name].type, value, document.value_at((*path, "params", name)))
        else:
            yield MissingParameterError(
                f"the example sets '{name}', which is not declared",
                at=document.key_at((*path, "params", name)),
                hint=did_you_mean(name, action.params, "declare it in the header's `params`"),
            )
    for name, parameter in action.params.items():
        if parameter.required and name not in example.params:
            yield MissingParameterError(
                f"the example gives no value for parameter '{name}'",
                at=document.value_at(path),
                hint=f"add it to the example: 'params: {{{name}: …}}'",
            )


def _unknown_columns(
    whose: str, rows: list[dict[str, Any]], known: Collection[str], path: KeyPath, document: Document
) -> Iterator[DefinitionError]:
    for number, row in enumerate(rows):
        for column in row:
            if column not in known:
                yield UnknownColumnError(
                    f"{whose} has no column '{column}'",
                    at=document.key_at((*path, number, column)),
                    hint=did_you_mean(column, known, f"columns: {', '.join(known)}"),
                )


def _misfits(
    rows: list[dict[str, Any]], types: Mapping[str, str], path: KeyPath, document: Document
) -> Iterator[DefinitionError]:
    """Values that are none of their column's type; columns without a type are passed over."""
    for number, row in enumerate(rows):
        for column, value in row.items():
            if column not in types:
                continue
            try:
                canonical_type(types[column])
            except ValueError:  # reported where it is written
                continue
            try:
                typed_value(value, types[column])
            except ValueError as error:
                yield TypeMismatchError(
                    f"column '{column}' is {types[column]}: {error}",
                    at=document.value_at((*path, number, column)),
                    hint=f"write a value of type {types[column]}",
                )


def _result_types(action: Action) -> dict[str, str]:
    """Column of the result → its type; empty where it depends on what a flow binds, or the SQL is wrong."""
    if not all(action.inputs.values()) or action.output.extra_columns == "pass":
        return {}
    try:
        query = parse_query(action.sql, action.sql_at)
        values = {name: _some_value(action, name) for name in action.params}
        fill_parameters(query, action.params, values, action.sql, action.sql_at)
        ports = {
            name: ActionPort(
                tuple(Column(name=column, type=canonical_type(kind)) for column, kind in columns.items()), columns
            )
            for name, columns in action.inputs.items()
        }
        return {column.name: column.type for column in analyse(query, ports, action.sql, action.sql_at).columns}
    except (StreamhouseError, ValueError):
        return {}


def _some_value(action: Action, name: str) -> exp.Expr:
    """A literal of a parameter's type: of its default, or of an example, or else NULL."""
    kind = action.params[name].type
    for value in (action.params[name].default, *(example.params.get(name) for example in action.examples)):
        if value is not None:
            with suppress(StreamhouseError):  # reported where it is written
                return typed_literal(name, kind, value, action.at)
    return exp.Cast(this=exp.Null(), to=parse_type(kind))
