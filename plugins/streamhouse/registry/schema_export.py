"""JSON Schemas of the two kinds of files, for editors.

They come from the models, so they cannot fall behind. What people write differs from the models in few
places: a read may be a plain table name, a source names its kind by a key, and a column's meaning may be its
description alone, a measure its SQL, a dimension its levels.
"""

from typing import Any

from pydantic import BaseModel

from streamhouse.model.action import Action
from streamhouse.model.flow import Flow
from streamhouse.model.types import NAME, TABLE_NAME, USE

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_Schema = dict[str, Any]
_SHORT_FORMS: dict[str, _Schema] = {
    "ColumnMeaning": {"type": "string", "description": "its description"},
    "MeasureMeaning": {"type": "string", "description": "its SQL"},
    "DimensionMeaning": {
        "type": "array",
        "items": {"type": "string"},
        "description": "its levels, from coarse to fine",
    },
}


def action_schema() -> _Schema:
    """Schema of the YAML header of `actions/**/*.sql`."""
    schema = _written(Action, "Streamhouse action")
    properties = schema["properties"]
    properties["inputs"]["propertyNames"] = {"pattern": NAME}
    properties["inputs"]["description"] = (
        "input → column → Spark SQL type, with `not null` behind it where a row must have the column; "
        "{} takes any columns"
    )
    properties["params"]["propertyNames"] = {"pattern": NAME}
    properties["params"]["description"] = "values a step may set; the SQL uses them as :name"
    return schema


def flow_schema() -> _Schema:
    """Schema of `flows/**/*.yaml`."""
    schema = _written(Flow, "Streamhouse flow")
    definitions = schema["$defs"]
    definitions["Source"] = {
        "type": "object",
        "description": "one kind of source (replay, files, kafka, cdc) and its options",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": {"type": ["object", "null"]},
    }
    definitions["Read"] = {
        "description": "a source of this flow, or a table",
        "anyOf": [{"type": "string"}, definitions["Read"]],
    }
    definitions["Step"]["properties"]["use"]["pattern"] = USE
    schema["properties"]["sources"]["propertyNames"] = {"pattern": NAME}
    schema["properties"]["tables"]["propertyNames"] = {"pattern": TABLE_NAME}
    definitions["SchemaChange"]["properties"]["tables"]["propertyNames"] = {"pattern": TABLE_NAME}
    return schema


def _written(model: type[BaseModel], title: str) -> _Schema:
    """The model's schema without the fields that no file holds."""
    schema = model.model_json_schema(by_alias=True)
    _drop_excluded(schema, model)
    for nested in _models(model):
        if nested.__name__ in schema.get("$defs", {}):
            _drop_excluded(schema["$defs"][nested.__name__], nested)
    definitions = schema.get("$defs", {})
    definitions.pop("Location", None)
    for name in _SHORT_FORMS.keys() & definitions.keys():
        definitions[name] = {
            "description": definitions[name].pop("description", ""),
            "anyOf": [_SHORT_FORMS[name], definitions[name]],
        }
    return {"$schema": _DRAFT, **schema, "title": title}


def _drop_excluded(schema: _Schema, model: type[BaseModel]) -> None:
    for name, field in model.model_fields.items():
        if field.exclude:
            schema["properties"].pop(field.alias or name)


def _models(model: type[BaseModel]) -> list[type[BaseModel]]:
    """Every model reachable from the fields of `model`, itself left out."""
    found: list[type[BaseModel]] = []
    queue: list[Any] = [field.annotation for field in model.model_fields.values()]
    while queue:
        kind = queue.pop()
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            if kind not in found:
                found.append(kind)
                queue.extend(field.annotation for field in kind.model_fields.values())
        else:
            queue.extend(getattr(kind, "__args__", ()))
    return found
