"""A mapping with names that a person makes up reaches no library, unless a door is before it.

A new source, sink or catalog whose settings are such a mapping fails here until its table is in `doors`.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from streamhouse.ingest.kinds import option_models
from streamhouse.model.action import Action
from streamhouse.model.flow import Flow
from streamhouse.project.settings import Settings

OPEN = {
    "kafka": {
        "properties": "doors/kafka.py",
        "secrets": "doors/kafka.py and doors/variables.py",
        "columns": "names and types of columns",
        "key.columns": "names and types of columns",
        "headers": "names of columns, and of headers of messages",
        "metadata": "names of columns, and a choice",
        "start.offsets": "numbers of partitions, and offsets",
    },
    "files": {"columns": "names and types of columns", "metadata": "names of columns, and a choice"},
    "cdc": {
        "metadata": "names of columns, each with a choice",
        "columns": "names and types of columns",
        "kafka.properties": "doors/kafka.py",
        "kafka.secrets": "doors/kafka.py and doors/variables.py",
        "kafka.start.offsets": "numbers of partitions, and offsets",
    },
    "table": {"columns": "names and types of columns"},
    "replay": {},
    "settings": {
        "spark.conf": "doors/spark.py",
        "secret_variables": "doors/variables.py",
        "connections": "names of connections, each of a closed form",
    },
    "flow": {
        "sources": "names of sources, each of a kind of `option_models`",
        "sources.options": "options of a kind of `option_models`",
        "steps.reads": "inputs",
        "steps.with": "values of parameters, which become literals",
        "schema_change.layers": "layers",
        "schema_change.on": "kinds of change, each with a choice",
        "schema_change.tables": "names of tables",
        "schema_change.tables.on": "kinds of change, each with a choice",
        "schema_change.tables.columns": "names of columns",
        "schema_change.tables.columns.on": "kinds of change, each with a choice",
        "tables": "names of tables, each of a closed form",
        "tables.columns": "what columns mean",
        "tables.columns.values": "words",
        "tables.measures": "SQL that is checked",
        "tables.dimensions": "names of columns",
    },
    "action": {
        "inputs": "columns and types",
        "never_null": "names of columns",
        "params": "parameters",
        "output.renamed": "names of columns",
        "expect": "SQL that is checked",
        "examples.given": "rows",
        "examples.params": "values of parameters",
        "examples.expect": "rows",
        "columns": "what columns mean",
        "columns.values": "words",
        "measures": "SQL that is checked",
        "dimensions": "names of columns",
    },
}
MODELS = {**option_models(), "settings": Settings, "flow": Flow, "action": Action}


def free(schema: Any, known: dict[str, Any], path: str = "", seen: tuple[str, ...] = ()) -> Iterator[str]:
    """Paths of the mappings whose keys are free."""
    if isinstance(schema, list):
        for one in schema:
            yield from free(one, known, path, seen)
    if not isinstance(schema, dict):
        return
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    if name and name not in seen:
        yield from free(known[name], known, path, (*seen, name))
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        yield path
    for key, one in schema.get("properties", {}).items():
        yield from free(one, known, f"{path}.{key}".strip("."), seen)
    for key in ("anyOf", "allOf", "oneOf", "items", "prefixItems", "additionalProperties"):
        yield from free(schema.get(key), known, path, seen)


@pytest.mark.parametrize("kind", sorted(MODELS))
def test_each_free_mapping_is_known(kind: str) -> None:
    model: type[BaseModel] = MODELS[kind]
    schema = model.model_json_schema()
    found = set(free(schema, schema.get("$defs", {}))) - {""}
    internal = {path for path in found if path.rpartition(".")[2] == "places"}  # filled by the reader of files
    assert found - internal == set(OPEN[kind])


@pytest.mark.parametrize("kind", sorted(MODELS))
def test_an_unknown_key_is_refused(kind: str) -> None:
    config = MODELS[kind].model_config
    assert config.get("extra") == "forbid"
