"""Finds the connection that a source of kind `table` names, in `streamhouse.yaml`."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from streamhouse.errors import Location, SourceError, did_you_mean
from streamhouse.ingest.project_file import SETTINGS, written_settings
from streamhouse.model.connection import DATABASES, Connection
from streamhouse.model.lake_connection import TABLES, TablesConnection

WithTables = TablesConnection | Connection
"""What a source of kind `table` may name."""

_ADAPTER: TypeAdapter[WithTables] = TypeAdapter(Annotated[WithTables, Field(discriminator="kind")])
_KINDS = (*TABLES, *DATABASES)


def tables_connection(name: str, root: Path, at: Location | None = None) -> WithTables:
    """A connection of `streamhouse.yaml` that has tables. Nothing is asked yet.

    Raises:
        SourceError: the settings have no such connection, or it has no tables that can be read.
    """
    named = written_settings(root, "connections")
    known = {str(one): _parsed(written) for one, written in named.items()} if isinstance(named, dict) else {}
    place = known.get(name)
    if place is not None:
        return place
    found = tuple(one for one, parsed in known.items() if parsed is not None)
    what = f"the connection '{name}' has no tables" if name in known else f"there is no connection '{name}'"
    kinds = f"kind: {', '.join(_KINDS[:-1])} or {_KINDS[-1]}"
    raise SourceError(
        what, at=at, hint=did_you_mean(name, found, f"name it under 'connections' in {SETTINGS}, with {kinds}")
    )


def _parsed(written: Any) -> WithTables | None:
    try:
        return _ADAPTER.validate_python(written)
    except ValidationError:  # loading the settings reports it
        return None
