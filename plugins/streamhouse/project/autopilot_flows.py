"""Checks the names of flows in the limits of the autopilot: one that no flow has would let it change none."""

from collections.abc import Collection

from streamhouse.errors import Location, UnknownFlowError
from streamhouse.project.project import Project
from streamhouse.project.settings import FILE_NAME
from streamhouse.registry.yaml_nodes import read_yaml


def unknown_flows(project: Project, known: Collection[str]) -> dict[str, UnknownFlowError]:
    """Name under `autopilot: flows:` that no flow has → the error, with its place and the nearest name.

    Args:
        project: Its settings are those that were read.
        known: Names of all flows.
    """
    names = project.settings.autopilot.flows
    return {
        name: UnknownFlowError(name, known, at=_place(project, position))
        for position, name in enumerate(names)
        if name not in known
    }


def _place(project: Project, position: int) -> Location:
    file = project.root / FILE_NAME
    return read_yaml(file.read_text(encoding="utf-8"), FILE_NAME).value_at(("autopilot", "flows", position))
