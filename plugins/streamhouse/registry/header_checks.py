"""Checks of an action's header that look at more than one value."""

import re
from collections.abc import Collection, Iterator
from typing import Any

from streamhouse.errors import (
    DefinitionError,
    FileFormatError,
    MissingParameterError,
    PortError,
    UnknownColumnError,
    did_you_mean,
)
from streamhouse.model.action import Action
from streamhouse.model.types import NAME
from streamhouse.registry.declared import default_error
from streamhouse.registry.shape import name_error
from streamhouse.registry.yaml_nodes import Document, KeyPath


def header_errors(action: Action, document: Document) -> list[DefinitionError]:
    """What is wrong with a header whose values all have the right shape."""
    return [
        *_input_errors(action, document),
        *_parameter_errors(action, document),
        *_key_errors(action, document),
        *_example_errors(action, document),
    ]


def _input_errors(action: Action, document: Document) -> Iterator[DefinitionError]:
    for port, columns in action.inputs.items():
        if not re.match(NAME, port):
            yield name_error("an input", port, ("inputs", port), document)
        seen: dict[str, str] = {}
        for column in columns:
            first = seen.setdefault(column.lower(), column)
            if first != column:
                yield FileFormatError(
                    f"'{first}' and '{column}' are one name to Spark",
                    at=document.key_at(("inputs", port, column)),
                    hint="rename one of them",
                )


def _parameter_errors(action: Action, document: Document) -> Iterator[DefinitionError]:
    for name, parameter in action.params.items():
        if not re.match(NAME, name):
            yield name_error("a parameter", name, ("params", name), document)
        if error := default_error(parameter, ("params", name), document):
            yield error


def _key_errors(action: Action, document: Document) -> Iterator[DefinitionError]:
    keys = action.output.primary_key
    for index, key in enumerate(keys):
        if key in keys[:index]:
            yield FileFormatError(
                f"'{key}' is in the primary key twice",
                at=document.value_at(("output", "primary_key", index)),
                hint="name each column once",
            )


def _example_errors(action: Action, document: Document) -> Iterator[DefinitionError]:
    for index, example in enumerate(action.examples):
        path: KeyPath = ("examples", index)
        for name in example.params:
            if name not in action.params:
                yield MissingParameterError(
                    f"the example sets '{name}', which is not declared",
                    at=document.key_at((*path, "params", name)),
                    hint=did_you_mean(name, action.params, "declare it in the header's `params`"),
                )
        for port, rows in example.given.items():
            given = (*path, "given", port)
            if port not in action.inputs:
                hint = did_you_mean(port, action.inputs, f"inputs: {', '.join(action.inputs)}")
                yield PortError(
                    f"the example gives rows of '{port}', which is no input", at=document.key_at(given), hint=hint
                )
            elif known := action.inputs[port]:
                yield from _row_errors(port, rows, known, given, document)


def _row_errors(
    port: str, rows: list[dict[str, Any]], known: Collection[str], path: KeyPath, document: Document
) -> Iterator[DefinitionError]:
    for number, row in enumerate(rows):
        for column in row:
            if column not in known:
                yield UnknownColumnError(
                    f"input '{port}' has no column '{column}'",
                    at=document.key_at((*path, number, column)),
                    hint=did_you_mean(column, known, f"columns: {', '.join(known)}"),
                )
