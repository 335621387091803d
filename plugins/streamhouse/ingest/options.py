"""Checks the options of a source against the model of its kind."""

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from streamhouse.errors import Location, SourceError, did_you_mean
from streamhouse.model.types import Frozen
from streamhouse.sql.written_type import WrittenTypeError, written_type

Options = TypeVar("Options", bound=Frozen)


def check_options(model: type[Options], kind: str, options: Mapping[str, Any], at: Location | None) -> Options:
    """The options as `model`; the first mistake is reported.

    Raises:
        SourceError: an option is unknown, missing or of the wrong shape.
    """
    try:
        return model.model_validate(dict(options))
    except ValidationError as error:
        # A misspelt option is both unknown and missing; only the first says what to change.
        first = min(error.errors(include_url=False), key=lambda found: found["type"] != "extra_forbidden")
        name = ".".join(str(part) for part in first["loc"])
        known = tuple(sorted(model.model_fields, key=lambda field: field == "not_null"))  # of every kind, so last
        listed = f"options of {kind}: {', '.join(known)}"
        if first["type"] == "extra_forbidden":
            message, hint = f"unknown option '{name}' of {kind}", did_you_mean(name, known, listed)
        elif first["type"] == "missing":
            field = model.model_fields.get(name)
            description = f"{name}: {field.description}; " if field is not None and field.description else ""
            message, hint = f"{kind} needs the option '{name}'", description + listed
        else:
            text = first["msg"].removeprefix("Value error, ")
            message, hint = (f"option '{name}' of {kind}: {text}" if name else f"{kind}: {text}"), listed
        refused = SourceError(message, at=at, hint=hint)
        refused.option = "" if first["type"] == "missing" else name
        raise refused from error


def stored_types(columns: Mapping[str, str]) -> dict[str, str]:
    """Column → its type in canonical form.

    Raises:
        ValueError: a type is none of Spark SQL's, or no store can hold it; or two names differ only by their case.
    """
    checked = {}
    lower: dict[str, str] = {}
    for name, text in columns.items():
        if (known := lower.setdefault(name.lower(), name)) != name:
            raise ValueError(f"columns '{known}' and '{name}' are one: case makes no difference in Spark")
        try:
            checked[name] = written_type(text)
        except WrittenTypeError as error:
            hint = f": {error.hint}" if error.hint else ""
            raise ValueError(f"column '{name}': {error}{hint}") from error
    return checked


def refuse_odd_keys(columns: Mapping[str, str]) -> None:
    """Check that JSON can hold the types.

    Raises:
        ValueError: a map has keys that are no texts.
    """
    for name, type_ in columns.items():
        if re.search(r"map<(?!string,)", type_):
            raise ValueError(f"column '{name}': JSON holds no {type_}; the keys are texts: map<string,…>")
