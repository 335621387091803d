"""What `dags/streamhouse_flows.py` calls: a project's DAGs without a bundle."""

import json
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from streamhouse.orchestrator.roots import PROJECT_VARIABLE

if TYPE_CHECKING:
    from airflow.sdk import DAG


def dags_by_id(file: str) -> "dict[str, DAG]":
    """The DAGs of the project that STREAMHOUSE_PROJECT names, else of the one that `file` lies in.

    A broken flow is left out and reported as a warning of the file. Where a `FlowBundle` is set up there are none:
    that one makes them, and reports each broken flow as an import error of its own.

    Raises:
        NotAProjectError: there is no project.
        DefinitionError: its settings are wrong.
    """
    from airflow.configuration import conf

    from streamhouse.orchestrator.compiled import compile_flows
    from streamhouse.orchestrator.dags import autopilot_dag, flow_dags, project_dags
    from streamhouse.project.project import Project

    if any("FlowBundle" in b["classpath"] for b in json.loads(conf.get("dag_processor", "dag_bundle_config_list"))):
        return {}
    named = os.environ.get(PROJECT_VARIABLE)
    root = Path(named).resolve() if named else Project.find(Path(file).parent).root
    compiled = compile_flows(root)
    for text in compiled.broken.values():
        warnings.warn(text, stacklevel=2)
    found = project_dags(str(root)) | (autopilot_dag(str(root)) if compiled.autopilot else {})
    for spec in compiled.flows.values():
        found |= flow_dags(spec, str(root))
    return found
