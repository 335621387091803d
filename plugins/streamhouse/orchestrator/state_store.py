"""The state store of a project that is known by its folder, as tasks and triggers know it."""

from pathlib import Path

from streamhouse.project.project import Project
from streamhouse.state.store import StateStore


def project_state(folder: str) -> StateStore:
    """The state store, made where there is none; close it after use.

    Raises:
        NotAProjectError, DefinitionError: the folder is no project, or its settings are wrong.
    """
    return Project.at(Path(folder)).state()


def existing_state(folder: str) -> StateStore | None:
    """The state store; None: nothing ever ran. Errors as of `project_state`."""
    return Project.at(Path(folder)).existing_state()
