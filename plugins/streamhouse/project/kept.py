"""Models as bytes and back, with all of their fields: also those that a model leaves out when it is shown.

And what models say as bytes for a key, which is exact where text for people is not.
"""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from functools import cache
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from streamhouse.model.types import format_duration

M = TypeVar("M", bound=BaseModel)

_PLAIN = frozenset({str, int, float, bool, type(None)})  # looked at first: to ask whether a value is a model takes long


def packed(model: BaseModel) -> bytes | None:
    """The model as JSON; None when not exactly this model would be read back, as of NaN or a duration below 1 ms."""
    try:
        data = to_json(_plain(model))
    except (PydanticSerializationError, ValueError):
        return None
    return data if unpacked(type(model), data) == model else None


def unpacked(kind: type[M], data: bytes) -> M | None:
    """What `packed` made into `data`; None when it was no such model."""
    try:
        return kind.model_validate_json(data)
    except ValidationError:
        return None


def facts(value: Any, *, places: bool = False) -> bytes:
    """Bytes that differ when `value` does: a model, or tuples and mappings of such.

    Args:
        value: May hold anything that models hold.
        places: Whether fields count that a model leaves out when it is shown: places in files, mostly.
    """
    return repr(_exact(value, places=places)).encode()


def _exact(value: Any, *, places: bool) -> Any:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, tuple | list):
        return [_exact(held, places=places) for held in value]
    if isinstance(value, dict):
        return [(name, _exact(held, places=places)) for name, held in value.items()]
    if isinstance(value, BaseModel):
        shown = type(value).model_fields
        return [
            (name, _exact(held, places=places))
            for name, held in value.__dict__.items()
            if places or not shown[name].exclude
        ]
    if is_dataclass(value):
        return [(field.name, _exact(getattr(value, field.name), places=places)) for field in fields(value)]
    return value


@cache
def _shows_all(kind: type[BaseModel]) -> bool:
    """Whether a model, and each one that it may hold, leaves out nothing that is not its default when it is shown."""
    if kind is BaseModel:
        return False
    fields_of = kind.model_fields.values()
    return not any(field.exclude for field in fields_of) and all(
        _shows_all(held) if issubclass(held, BaseModel) else not is_dataclass(held)
        for field in fields_of
        for held in _named(field.annotation)
    )


def _named(annotation: Any) -> Iterator[type]:
    """The classes that an annotation names, at any depth."""
    parts = get_args(annotation)
    if parts:
        for part in parts:
            yield from _named(part)
    elif annotation is Any:
        yield BaseModel  # which hides what a subclass adds
    elif isinstance(annotation, type):
        yield annotation


def _plain(value: Any) -> Any:
    if type(value) in _PLAIN or (isinstance(value, BaseModel) and _shows_all(type(value))):
        return value
    if isinstance(value, tuple | list):
        return [_plain(held) for held in value]
    if isinstance(value, dict):
        return {name: _plain(held) for name, held in value.items()}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, BaseModel):
        return {name: _plain(held) for name, held in value.__dict__.items()}
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    raise ValueError(f"{type(value).__name__} is in no model of ours")
