"""Airflow's door to Streamhouse: the page "Flows" in the navigation, behind Airflow's own sign-in.

The project is the folder that `STREAMHOUSE_PROJECT` names, else the one that `plugins/` lies in. Queries are answered
by the `streamhouse` command of an environment with an engine, which the connection `streamhouse_engine` names, else
`STREAMHOUSE_COMMAND`.
"""

import logging
import os
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.base_auth_manager import BaseAuthManager
from airflow.api_fastapi.auth.managers.models.base_user import BaseUser
from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity
from airflow.api_fastapi.auth.managers.simple.simple_auth_manager import SimpleAuthManager
from airflow.api_fastapi.core_api.security import GetUserDep
from airflow.configuration import conf
from airflow.plugins_manager import AirflowPlugin

from streamhouse.errors import EnvironmentProblem
from streamhouse.orchestrator.engine_command import engine_command
from streamhouse.orchestrator.roots import PROJECT_VARIABLE
from streamhouse.project.project import Project
from streamhouse.runtime.command import Command, has_engine, own_command
from streamhouse.ui.app import create_app
from streamhouse.ui.desk import Desk
from streamhouse.ui.person import Person

PREFIX = "/streamhouse"
QUERIES = "Streamhouse Queries"
"""The resource whose permission to be read lets a person ask the tables of the flows."""
_desks: list[Desk] = []
_log = logging.getLogger(__name__)


def desk() -> Desk:
    """The project, with its settings as they are now.

    Raises:
        NotAProjectError: the folder is none.
        DefinitionError: its settings are wrong.
    """
    named = os.environ.get(PROJECT_VARIABLE)
    project = Project.at(Path(named) if named else Path(__file__).parent.parent)
    if not _desks or _desks[0].project != project:
        _desks[:] = [Desk(project)]
    return _desks[0]


def person(user: GetUserDep) -> Person:
    """Who is signed in. Who may edit DAGs decides about flows; asking their tables is a right of its own."""
    manager = get_auth_manager()
    return Person(
        user.get_name(),
        may_decide=manager.is_authorized_dag(method="PUT", user=user),
        may_query=_may_query(manager, user),
    )


def _may_query(manager: BaseAuthManager[Any], user: BaseUser) -> bool:
    """Whether somebody has the permission to read the resource `Streamhouse Queries`.

    Airflow's simple manager knows no permissions, only roles that hold each other, and shows every resource it does not
    know to viewers: there, a person must also be one who may start DAG runs.
    """
    granted = manager.is_authorized_custom_view(method="GET", resource_name=QUERIES, user=user)
    if granted and isinstance(manager, SimpleAuthManager):
        return bool(manager.is_authorized_dag(method="POST", access_entity=DagAccessEntity.RUN, user=user))
    return bool(granted)


def engine() -> Command | None:
    """The command that answers queries, the same that tasks call; None: there is none."""
    try:
        found = engine_command(own_command().words if has_engine() else ())
    except EnvironmentProblem as error:  # flows can be looked at all the same
        _log.warning("%s", error)
        return None
    return found if found.is_there else None


class StreamhousePlugin(AirflowPlugin):  # type: ignore[misc]  # without Airflow, no types of it
    """The page, and its place in the navigation."""

    name = "streamhouse"
    fastapi_apps: ClassVar[list[dict[str, Any]]] = [
        {
            "app": create_app(desk, person, where="airflow", engine=engine),
            "url_prefix": PREFIX,
            "name": "Streamhouse",
        }
    ]
    _base = urlsplit(conf.get("api", "base_url", fallback="")).path.rstrip("/")
    external_views: ClassVar[list[dict[str, Any]]] = [
        {
            "name": "Flows",  # labels of the navigation are cut after some eight letters
            "href": f"{_base}{PREFIX}/",
            "destination": "nav",
            "url_route": "streamhouse",
            "icon": f"{_base}{PREFIX}/static/icon.svg",
            "icon_dark_mode": f"{_base}{PREFIX}/static/icon-dark.svg",
            "nav_top_level": True,
        }
    ]
