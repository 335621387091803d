"""Finds the connections of one kind that `streamhouse.yaml` names."""

from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from streamhouse.errors import Location, SourceError, did_you_mean
from streamhouse.ingest.project_file import SETTINGS, written_settings
from streamhouse.model.types import Frozen

_Place = TypeVar("_Place", bound=Frozen)


def connections_of(model: type[_Place], root: Path) -> dict[str, _Place | None]:
    """Name → the connection as its model reads it; None: it is of another kind, or wrong, which opening reports.

    Args:
        model: Of the kind.
        root: The project's folder.
    """
    named = written_settings(root, "connections")
    return {str(name): _parsed(model, one) for name, one in named.items()} if isinstance(named, dict) else {}


def connection_named(
    name: str, model: type[_Place], root: Path, *, noun: str, kind: str, at: Location | None = None
) -> _Place:
    """One connection.

    Args:
        name: Of the connection.
        model: Of its kind.
        root: The project's folder.
        noun: What the kind is called in a message.
        kind: Its `kind:` in the settings.
        at: Where the source is defined.

    Raises:
        SourceError: the settings have no such connection, or it is of another kind.
    """
    known = connections_of(model, root)
    found = known.get(name)
    if found is not None:
        return found
    there = tuple(other for other, one in known.items() if one is not None)
    what = f"'{name}' is no {noun}" if name in known else f"there is no connection '{name}'"
    hint = did_you_mean(name, there, f"name it under 'connections' in {SETTINGS}, with kind: {kind}")
    raise SourceError(what, at=at, hint=hint)


def _parsed(model: type[_Place], written: object) -> _Place | None:
    try:
        return model.model_validate(written)
    except ValidationError:
        return None
