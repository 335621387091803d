"""Checks of an action's header that look at more than one value."""

import re
from collections.abc import Iterator

from streamhouse.errors import DefinitionError, FileFormatError
from streamhouse.model.action import Action
from streamhouse.model.types import NAME
from streamhouse.registry.declared import default_error
from streamhouse.registry.example_checks import example_errors
from streamhouse.registry.validate import name_error
from streamhouse.registry.yaml_nodes import Document


def header_errors(action: Action, document: Document) -> list[DefinitionError]:
    """What is wrong with a header whose values all have the right shape."""
    return [
        *_input_errors(action, document),
        *_parameter_errors(action, document),
        *_key_errors(action, document),
        *example_errors(action, document),
    ]


def _input_errors(action: Action, document: Document) -> Iterator[DefinitionError]:
    for port, columns in action.inputs.items():
        if not re.fullmatch(NAME, port):
            yield name_error("an input", port, ("inputs", port), document)
        first_spellings: dict[str, str] = {}
        for column in columns:
            first = first_spellings.setdefault(column.lower(), column)
            if first != column:
                yield FileFormatError(
                    f"'{first}' and '{column}' are one name to Spark",
                    at=document.key_at(("inputs", port, column)),
                    hint="rename one of them",
                )


def _parameter_errors(action: Action, document: Document) -> Iterator[DefinitionError]:
    for name, parameter in action.params.items():
        if not re.fullmatch(NAME, name):
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
