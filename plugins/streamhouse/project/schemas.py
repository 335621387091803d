"""JSON Schemas of the YAML files of a project, with the options of each kind of source, for editors."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from streamhouse.ingest.kinds import option_models
from streamhouse.project.settings import Settings
from streamhouse.registry.schema_export import flow_schema

FOLDER = "schemas"
"""Of a project, relative to its root: where `write_schemas` writes."""


def flow_file_schema() -> dict[str, Any]:
    """Schema of `flows/**/*.yaml`; a source has exactly one kind, and the options of that kind."""
    schema = flow_schema()
    kinds = {}
    for kind, options in option_models().items():
        written = options.model_json_schema(by_alias=True)
        schema["$defs"] |= written.pop("$defs", {})
        kinds[kind] = {**written, "additionalProperties": False}
    source = schema["$defs"]["Source"]
    source.pop("additionalProperties")
    schema["$defs"]["Source"] = {**source, "properties": kinds, "additionalProperties": False}
    return schema


def settings_schema() -> dict[str, Any]:
    """Schema of `streamhouse.yaml`."""
    schema = Settings.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Streamhouse settings"}


def write_schemas(root: Path) -> list[str]:
    """Write the schemas into a project; return their paths in it, in order."""
    (root / FOLDER).mkdir(parents=True, exist_ok=True)
    for name, text in _texts().items():
        (root / FOLDER / name).write_text(text, encoding="utf-8")
    return [f"{FOLDER}/{name}" for name in _texts()]


@cache
def _texts() -> Mapping[str, str]:
    """The files: made once for all projects of a process, as their models do not change."""
    files = {"flow.schema.json": flow_file_schema(), "settings.schema.json": settings_schema()}
    return MappingProxyType({name: json.dumps(schema, indent=2) + "\n" for name, schema in files.items()})
