"""The files of a bundle, as text: one Python file and one JSON file for each flow."""

import json
from collections.abc import Mapping
from pathlib import Path

from streamhouse.orchestrator.compiled import Compiled, file_stem

MANIFEST = "manifest.json"
PROJECT = "_project.py"
"""Has the DAGs that a project has once, or its error; no flow is called so."""

AUTOPILOT = "_autopilot.py"
"""Has the DAG of the autopilot, where it is not off."""

_PROJECT_ERROR = "_project_error.py"

_FLOW = '''\
"""The Airflow DAGs of the flow '{flow}', made by Streamhouse: edit the flow, not this file."""

from streamhouse.orchestrator.dags import dags_in

globals().update(dags_in(__file__))

{yaml}
'''
_BROKEN = '''\
"""Something is wrong with the {what}, and Airflow shows what: mend that, not this file; its dag stays as it was."""

from streamhouse.orchestrator.dags import broken

broken(
    {text}
)
'''
_PROJECT = '''\
"""Airflow DAGs of the project: the Flow Trigger, its questions, and the events of tables."""

from streamhouse.orchestrator.dags import project_dags_at

globals().update(project_dags_at(__file__))
'''
_AUTOPILOT = '''\
"""The Airflow DAG of the project's autopilot."""

from streamhouse.orchestrator.dags import autopilot_dag_at

globals().update(autopilot_dag_at(__file__))
'''


def files_of(compiled: Compiled) -> dict[str, str]:
    """Name → text. Equal projects give equal files."""
    files = {PROJECT: _PROJECT, **({AUTOPILOT: _AUTOPILOT} if compiled.autopilot else {})}
    for flow, spec in compiled.flows.items():
        yaml = "\n".join(f"# {line}".rstrip() for line in compiled.yaml[flow].splitlines())
        files[f"{flow}.py"] = _FLOW.format(flow=flow, yaml=yaml)
        files[f"{flow}.json"] = spec.model_dump_json(indent=1, exclude_defaults=True) + "\n"
    for flow, text in compiled.broken.items():
        stem = file_stem(flow)
        name = f"_edit_{stem}.py" if flow in compiled.flows else f"{stem}.py"  # no flow's name begins with '_'
        files[name] = _BROKEN.format(what=f"flow '{stem}'", text=_literal(text))
    return _with_manifest(files, sorted(compiled.flows), dict(compiled.broken))


def with_project_error(files: Mapping[str, str], error: str) -> dict[str, str]:
    """Files of before, and an error that is of no single flow."""
    manifest = json.loads(files[MANIFEST]) if MANIFEST in files else {"flows": []}
    broken = {_PROJECT_ERROR: _BROKEN.format(what="project", text=_literal(error))}
    return _with_manifest({PROJECT: _PROJECT, **files, **broken}, manifest["flows"], {"": error})


def files_in(folder: Path) -> dict[str, str]:
    """Name → text of what was written to a folder; Python adds a folder with what it compiled of that.

    Args:
        folder: Of one version.
    """
    return {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir() if file.is_file()}


def _with_manifest(files: dict[str, str], flows: list[str], broken: dict[str, str]) -> dict[str, str]:
    manifest = {"flows": flows, "broken": dict(sorted(broken.items()))}
    return {**files, MANIFEST: json.dumps(manifest, indent=1) + "\n"}


def _literal(text: str) -> str:
    return "\n    ".join(repr(line) for line in text.splitlines(keepends=True)) or "''"
