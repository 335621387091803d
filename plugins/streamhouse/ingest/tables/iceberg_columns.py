"""Columns of an Iceberg table: as a flow knows them, and found by the names that they had."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from streamhouse.errors import Location, SourceError
from streamhouse.model.shape import SeenColumn
from streamhouse.stores.arrow import spark_type

if TYPE_CHECKING:
    from pyiceberg.schema import Schema
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.types import NestedField

_UNREAD = ("time", "uuid", "timestamp_ns", "timestamptz_ns", "unknown", "variant", "geometry", "geography")


def columns_of(schema: "Schema", name: str, at: Location | None) -> tuple[SeenColumn, ...]:
    """The columns of a schema; one whose type no store can hold has the type that Iceberg names.

    Raises:
        SourceError: two columns differ only by their case.
    """
    found = tuple(_seen(field) for field in schema.fields)
    lower = [one.name.lower() for one in found]
    if twice := next((one.name for one in found if lower.count(one.name.lower()) > 1), None):
        raise SourceError(
            f"{name} has two columns '{twice.lower()}' that differ by their case", at=at, hint="let one be renamed"
        )
    return found


def field_named(metadata: "TableMetadata", name: str) -> "NestedField | None":
    """The column that has a name now; else the one that had it last. None: no column ever had it."""
    current = metadata.schema()
    past = sorted((one for one in metadata.schemas if one is not current), key=lambda one: -one.schema_id)
    by_id = {field.field_id: field for field in current.fields}
    for schema in (current, *past):
        for field in schema.fields:
            if field.name == name:
                return by_id.get(field.field_id, field)  # its type may be wider now
    return None


def field_numbered(metadata: "TableMetadata", number: int) -> "NestedField":
    """The column with an id, as it is now, or else was last."""
    schemas = (metadata.schema(), *sorted(metadata.schemas, key=lambda one: -one.schema_id))
    return next(field for schema in schemas for field in schema.fields if field.field_id == number)


def shown_schema(fields: Mapping[str, "NestedField"]) -> "Schema":
    """A schema of these fields under the names that they are asked by; none is required, for old files may lack it."""
    from pyiceberg.schema import Schema

    return Schema(*(field.model_copy(update={"name": name, "required": False}) for name, field in fields.items()))


def _seen(field: "NestedField") -> SeenColumn:
    from pyiceberg.io.pyarrow import schema_to_pyarrow

    kind = str(field.field_type)
    if not set(_UNREAD) & set(re.split(r"[^a-z_]+", kind)):
        kind = spark_type(schema_to_pyarrow(field.field_type))
    return SeenColumn(
        name=field.name,
        type=kind,
        nullable=not field.required,
        id=str(field.field_id),
        comment=field.doc or "",
    )
