"""Secrets that a source names: the variables of the environment that a project lets its flows have."""

import os
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from streamhouse.doors.setting import shown
from streamhouse.doors.variables import PREFIX, SETTING, PermittedVariables, is_text, why_not
from streamhouse.errors import Location, SourceError
from streamhouse.ingest.project_file import SETTINGS, written_settings


def check_variable(variable: str, servers: Collection[str], root: Path, at: Location | None) -> None:
    """Check that a source at these servers may have the value of a variable.

    Raises:
        SourceError: the settings of the project do not permit it.
    """
    if (why := why_not(variable, servers, permitted_variables(root))) is not None:
        raise SourceError(
            why,
            at=at,
            hint=f"permit it in {SETTINGS}: {SETTING}: {{{shown(variable)}: [{', '.join(sorted(servers))}]}}; "
            f"or name one that begins with {PREFIX}",
        )


def value_of(variable: str, setting: str, servers: Collection[str], root: Path, at: Location | None) -> str:
    """The value of a variable, for a setting of a source.

    Raises:
        SourceError: the settings of the project do not permit it, or it is not set, or no text.
    """
    check_variable(variable, servers, root, at)
    if variable not in os.environ:
        raise SourceError(
            f"the environment variable {variable} is not set; it holds {setting}", at=at, hint=f"export {variable}=…"
        )
    if not is_text(os.environ[variable]):
        raise SourceError(f"the environment variable {variable} is no text in UTF-8", at=at, hint="set it again")
    return os.environ[variable]


def permitted_variables(root: Path) -> PermittedVariables:
    """Those that the settings of the project at `root` name; none where they are wrong."""
    named = written_settings(root, SETTING)
    if not isinstance(named, list | dict):
        return {}
    try:
        return _adapter().validate_python(named)
    except ValidationError:  # loading the settings reports it
        return {}


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[PermittedVariables]:
    return TypeAdapter(PermittedVariables)
