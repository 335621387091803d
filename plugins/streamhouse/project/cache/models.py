"""Models as bytes and back, with all of their fields: also those that a model leaves out when it is shown.

And what models say as bytes for a key, which is exact where text for people is not.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from functools import cache
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from streamhouse.errors import Location
from streamhouse.model.types import format_duration

M = TypeVar("M", bound=BaseModel)

_PLAIN = frozenset({str, int, float, bool, type(None)})  # looked at first: to ask whether a value is a model takes long


def packed(model: BaseModel, *, exact: bool = False) -> bytes | None:
    """The model as JSON; None when not exactly this model would be read back, as of NaN or a duration below 1 ms.

    Args:
        model: Of any class of ours.
        exact: Whether it is known that it would be: that is not tried then.
    """
    try:
        data = to_json(_plain(model))
    except (PydanticSerializationError, ValueError):
        return None
    return data if exact or unpacked(type(model), data) == model else None


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
    kind = type(value)
    if kind in _PLAIN:
        return value
    way = _EXACT.get((kind, places))
    if way is None:
        way = _EXACT[kind, places] = _way_to_exact(kind, places=places)
    return way(value)


def _way_to_exact(kind: type, *, places: bool) -> Callable[[Any], Any]:
    """What says a value of a class exactly."""

    def of(value: Any) -> Any:
        return value if type(value) in _PLAIN else _exact(value, places=places)

    if issubclass(kind, dict):
        return lambda value: [(name, of(item)) for name, item in value.items()]
    if issubclass(kind, BaseModel):
        hidden = frozenset[str]() if places else _hidden(kind)
        return lambda value: [(name, of(item)) for name, item in value.__dict__.items() if name not in hidden]
    if issubclass(kind, tuple | list):
        return lambda value: [of(item) for item in value]
    if is_dataclass(kind):
        names = [field.name for field in fields(kind)]
        return lambda value: [(name, of(getattr(value, name))) for name in names]
    return _as_it_is


@cache
def _hidden(kind: type[BaseModel]) -> frozenset[str]:
    """The fields that a model leaves out when it is shown."""
    return frozenset(name for name, field in kind.model_fields.items() if field.exclude)


@cache
def _shows_all(kind: type[BaseModel]) -> bool:
    """Whether a model, and each one that it may hold, leaves out nothing that is not its default when it is shown."""
    if kind is BaseModel:
        return False
    fields_of = kind.model_fields.values()
    return not any(field.exclude for field in fields_of) and all(
        _shows_all(part) if issubclass(part, BaseModel) else not is_dataclass(part)
        for field in fields_of
        for part in _named(field.annotation)
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
    kind = type(value)
    if kind in _PLAIN:
        return value
    way = _WAYS.get(kind)
    if way is None:
        way = _WAYS[kind] = _way_to_plain(kind)
    return way(value)


def _way_to_plain(kind: type) -> Callable[[Any], Any]:
    """How values of a class become what pydantic writes as JSON."""

    def of(value: Any) -> Any:
        return value if type(value) in _PLAIN else _plain(value)

    if issubclass(kind, BaseModel):
        if _shows_all(kind):
            return _as_it_is
        return lambda value: {name: of(item) for name, item in value.__dict__.items()}
    if issubclass(kind, tuple | list):
        return lambda value: [of(item) for item in value]
    if issubclass(kind, dict):
        return lambda value: {name: of(item) for name, item in value.items()}
    if issubclass(kind, Enum):
        return lambda value: value.value
    if issubclass(kind, timedelta):
        return format_duration
    if issubclass(kind, datetime):
        return datetime.isoformat
    if is_dataclass(kind):
        names = [field.name for field in fields(kind)]
        return lambda value: {name: of(getattr(value, name)) for name in names}
    raise ValueError(f"{kind.__name__} is in no model of ours")


def _as_it_is(value: Any) -> Any:
    return value


_WAYS: dict[type, Callable[[Any], Any]] = {Location: _as_it_is}  # which pydantic takes as it is
_EXACT: dict[tuple[type, bool], Callable[[Any], Any]] = {}
